//! The figures of `cornerturn coalescing`: what strides and starts leave of the bandwidth, beside what the model says.

use super::super::super::chart::{
    Axis, Bar, Bars, Drawing, Figure, Group, Hue, Key, Lines, Scale, Series, Stroke, Trace,
};
use super::super::super::{distinct, number};
use super::super::name;
use super::caption;
use crate::record::{CoalescingRow, Device, Status};

/// For each width of an access a figure of the strides, and one of the misaligned starts.
pub(in super::super) fn figures(device: &Device, rows: &[&CoalescingRow]) -> Vec<Figure> {
    let of_width = |width| {
        let rows: Vec<&CoalescingRow> = rows.iter().copied().filter(|row| row.width == width).collect();
        [strides(device, width, &rows), starts(device, width, &rows)]
    };
    let widths = distinct(rows.iter().map(|row| row.width));
    widths.into_iter().flat_map(of_width).flatten().collect()
}

/// The kinds of access, each with the colour that it has in all figures.
fn accesses<'a>(rows: &[&'a CoalescingRow]) -> Vec<(&'a str, Hue)> {
    distinct(rows.iter().map(|row| row.access.as_str())).into_iter().zip((0..).map(Hue::series)).collect()
}

/// What was measured, in percent of stride 1 from an aligned start.
fn measured(row: &CoalescingRow) -> Option<f64> {
    row.percent_of_unit_stride.filter(|_| row.status == Status::Ok)
}

/// The part of so many bytes that was asked for, in percent.
fn used(row: &CoalescingRow, moved: u64) -> Option<f64> {
    (moved > 0).then(|| 100.0 * row.useful_bytes as f64 / moved as f64)
}

fn by_sectors(row: &CoalescingRow) -> Option<f64> {
    used(row, row.sector_bytes)
}

fn by_lines(row: &CoalescingRow) -> Option<f64> {
    used(row, row.line_bytes)
}

fn strides(device: &Device, width: u64, rows: &[&CoalescingRow]) -> Option<Figure> {
    let rows: Vec<&CoalescingRow> = rows.iter().copied().filter(|row| row.first == 0).collect();
    if distinct(rows.iter().filter(|row| measured(row).is_some()).map(|row| row.stride)).len() < 2 {
        return None;
    }
    let accesses = accesses(&rows);
    let points = |access: &str, value: fn(&CoalescingRow) -> Option<f64>| {
        let of = rows.iter().filter(|row| row.access == access);
        of.filter_map(|row| Some((row.stride as f64, value(row)?))).collect::<Vec<_>>()
    };
    let series = |name: String, points, hue, trace| Series { name, points, hue, trace };
    // The model knows no difference between loads and stores.
    let (first, _) = *accesses.first()?;
    let mut all = vec![
        series("sectors".into(), points(first, by_sectors), Hue::COPY, Trace::Line),
        series("lines".into(), points(first, by_lines), Hue::series(accesses.len()), Trace::Line),
    ];
    all.extend(
        accesses.iter().map(|(access, hue)| series(format!("{access}s"), points(access, measured), *hue, Trace::Curve)),
    );
    let axis = |title: &str, scale| Axis { title: title.into(), scale, show: number::plain };
    let caption = caption(
        device,
        [
            "Marks: measured, in % of the same accesses at stride 1.",
            "Lines without marks: the part of the bytes moved that was asked for, by the access model, if whole sectors \
             of 32 bytes move or whole lines of 128. Both axes are logarithmic.",
        ],
    );
    Some(Figure {
        title: format!("Strides of {width}-byte accesses: {}", name(device)),
        caption,
        drawing: Drawing::Lines(Lines {
            x: axis("stride between lanes, in elements", Scale::Octaves),
            y: axis("% of stride 1, or of the bytes moved", Scale::Decades),
            series: all,
            limits: Vec::new(),
            marks: Vec::new(),
        }),
    })
}

fn starts(device: &Device, width: u64, rows: &[&CoalescingRow]) -> Option<Figure> {
    let rows: Vec<&CoalescingRow> = rows.iter().copied().filter(|row| row.stride == 1).collect();
    let accesses = accesses(&rows);
    let bar = |row: &&CoalescingRow| Bar {
        label: String::new(),
        value: measured(row),
        text: match measured(row) {
            Some(percent) => format!("{}s {} %", row.access, number::percent(percent)),
            None => format!("{}s {}", row.access, row.status),
        },
        hue: accesses.iter().find(|(access, _)| *access == row.access).map_or(Hue::COPY, |(_, hue)| *hue),
    };
    let group = |start: u64| {
        let of: Vec<&CoalescingRow> = rows.iter().copied().filter(|row| row.first == start).collect();
        let ceiling = of.first().and_then(|row| by_sectors(row));
        Group { title: format!("start {start}"), bars: of.iter().map(bar).collect(), ceiling }
    };
    let starts = distinct(rows.iter().map(|row| row.first));
    if starts.len() < 2 || rows.iter().all(|row| measured(row).is_none()) {
        return None;
    }
    let mut legend: Vec<(Key, String)> =
        accesses.iter().map(|(access, hue)| (Key::Bar(*hue), format!("{access}s"))).collect();
    legend.push((Key::Line(Stroke::Broken), "sectors, by the model".into()));
    let caption = caption(
        device,
        [
            format!("Stride 1 from a start so many elements of {width} bytes beyond an aligned one; bars: measured."),
            "Broken lines: the part of the sectors' bytes that was asked for, if none is shared with a neighbour."
                .into(),
        ],
    );
    Some(Figure {
        title: format!("Misaligned starts of {width}-byte accesses: {}", name(device)),
        caption,
        drawing: Drawing::Bars(Bars {
            axis: "% of an aligned start".into(),
            groups: starts.into_iter().map(group).collect(),
            limits: Vec::new(),
            legend,
        }),
    })
}
