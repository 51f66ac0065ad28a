//! The figures of a record of `cornerturn bench`.

use std::collections::BTreeSet;

use super::chart::{Axis, Bar, Bars, Drawing, Figure, Group, Hue, Key, Limit, Lines, Scale, Series, Stroke, Trace};
use super::layout::{Axes, Hardware, Meter, parts, shape, size};
use super::{notes, number};
use crate::device::DeviceKind;
use crate::record::{Device, Row, Status};
use crate::variant::Variant;

/// The bandwidth of a row, where it counts.
pub(super) fn counted(row: &Row) -> Option<f64> {
    row.gbps.filter(|gbps| row.status == Status::Ok && gbps.is_finite())
}

/// The copy ceiling that a row was held against, in GB/s.
pub(super) fn ceiling(row: &Row) -> Option<f64> {
    let ceiling = counted(row)? * 100.0 / row.percent_of_copy?;
    ceiling.is_finite().then_some(ceiling)
}

/// The theoretical peak in GB/s, where a figure may be held against it.
pub(super) fn peak(device: &Device) -> Option<f64> {
    device.peak.filter(|_| device.kind != DeviceKind::Software).map(|peak| peak.gbps)
}

fn is_copy(row: &Row) -> bool {
    row.variant.parse().is_ok_and(Variant::is_ceiling)
}

/// The ladder: every variant of a device that has a figure or failed to get one, against the copy and the peak.
pub(super) fn ladders(hardware: &Hardware, axes: &Axes) -> Vec<Figure> {
    hardware.devices.iter().filter_map(|device| ladder(device, hardware, axes)).collect()
}

fn ladder(device: &Device, hardware: &Hardware, axes: &Axes) -> Option<Figure> {
    let rows: Vec<&Row> = hardware
        .rows
        .iter()
        .copied()
        .filter(|row| row.device == device.id && row.status != Status::Unsupported)
        .collect();
    if rows.iter().all(|row| counted(row).is_none()) {
        return None;
    }
    let problems: Vec<&[&Row]> = rows.chunk_by(|one, next| !parts(axes, one, next)).collect();
    let alone = problems.len() == 1;
    let mut groups: Vec<Group> = problems.iter().map(|rows| group(rows, axes)).collect();
    let mut limits = Vec::new();
    let peak = peak(device);
    limits.extend(peak.map(|value| limit("theoretical peak", value, Stroke::Solid)));
    let mut title = format!("Effective bandwidth of {} ({})", device.name, device.id);
    let mut legend = vec![(Key::Bar(Hue::COPY), "copies".into()), (Key::Bar(Hue::series(0)), "transposes".into())];
    if let ([group], true) = (&mut groups[..], alone) {
        limits.extend(group.ceiling.take().map(|value| limit("copy ceiling", value, Stroke::Broken)));
        title = format!("{title}, {}", std::mem::take(&mut group.title));
    } else {
        legend.push((Key::Line(Stroke::Broken), "copy ceiling".into()));
    }
    let caption =
        [caveat(device), fastest(&problems), Some("Beside each bar: GB/s, and\u{a0}% of the copy ceiling.".into())];
    let caption = caption.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let drawing = Drawing::Bars(Bars { axis: "GB/s".into(), groups, limits, legend });
    Some(Figure { title, caption, drawing })
}

/// What must be known before a device's figure is looked at.
pub(super) fn caveat(device: &Device) -> Option<String> {
    (device.kind == DeviceKind::Software).then(|| format!("This is a {}.", notes::SOFTWARE))
}

fn limit(name: &str, value: f64, stroke: Stroke) -> Limit {
    Limit { label: format!("{name}: {} GB/s", number::significant(value)), value, stroke }
}

/// The bars of one problem and setting.
fn group(rows: &[&Row], axes: &Axes) -> Group {
    let bar = |row: &&Row| Bar {
        label: row.label(),
        value: counted(row),
        text: match (counted(row), row.percent_of_copy) {
            (Some(gbps), Some(percent)) => format!("{}, {} %", number::significant(gbps), number::percent(percent)),
            (Some(gbps), None) => number::significant(gbps),
            (None, _) => row.status.to_string(),
        },
        hue: if is_copy(row) { Hue::COPY } else { Hue::series(0) },
    };
    let title = rows.first().map_or(String::new(), |row| problem(row, axes));
    Group { title, bars: rows.iter().map(bar).collect(), ceiling: rows.iter().find_map(|row| ceiling(row)) }
}

/// What a row was measured on.
fn problem(row: &Row, axes: &Axes) -> String {
    let setting = match row.bounds_checks {
        Some(true) if axes.bounds => ", with bounds checks",
        _ if axes.bounds => ", without bounds checks",
        _ => "",
    };
    format!("{} {}{setting}", shape(size(row)), row.element)
}

/// The fastest transpose in a sentence, where there is one problem.
fn fastest(problems: &[&[&Row]]) -> Option<String> {
    let [rows] = problems else { return None };
    let transposes = rows.iter().filter(|row| !is_copy(row));
    let best = transposes.max_by(|one, other| counted(one).unwrap_or(0.0).total_cmp(&counted(other).unwrap_or(0.0)))?;
    let mut parts = vec![format!("{}\u{a0}GB/s", number::significant(counted(best)?))];
    parts
        .extend(best.percent_of_copy.map(|percent| format!("{}\u{a0}% of the copy ceiling", number::percent(percent))));
    parts.extend(
        best.percent_of_peak.map(|percent| format!("{}\u{a0}% of the theoretical peak", number::percent(percent))),
    );
    Some(format!("Fastest transpose: {}, {}.", best.label(), parts.join(", ")))
}

/// Bandwidth against size: a figure for each device, element, setting and shape of which there are several sizes.
pub(super) fn sizes(hardware: &Hardware, axes: &Axes) -> Vec<Figure> {
    let mut figures = Vec::new();
    for device in &hardware.devices {
        let mut families: Vec<(Family, Vec<&Row>)> = Vec::new();
        for &row in hardware.rows.iter().filter(|row| row.device == device.id && counted(row).is_some()) {
            let Some(family) = Family::of(row, axes) else { continue };
            match families.iter_mut().find(|(other, _)| *other == family) {
                Some((_, rows)) => rows.push(row),
                None => families.push((family, vec![row])),
            }
        }
        figures.extend(families.iter().filter_map(|(family, rows)| curves(device, family, rows)));
    }
    figures
}

/// What rows have in common that a curve may join. Matrices of another shape are another matter, and so are gaps.
#[derive(PartialEq)]
struct Family {
    element: String,
    /// Rows over columns, in eighths of an octave: 10000×10007 is a square to the eye.
    aspect: i64,
    batched: bool,
    setting: Option<bool>,
}

/// Steps of the aspect in an octave.
const STEPS: f64 = 8.0;

impl Family {
    fn of(row: &Row, axes: &Axes) -> Option<Family> {
        if row.rows == 0 || row.cols == 0 || row.layouts().is_some() {
            return None;
        }
        let aspect = (row.rows as f64 / row.cols as f64).log2();
        Some(Family {
            element: row.element.clone(),
            aspect: (aspect * STEPS).round() as i64,
            batched: row.batch > 1,
            setting: axes.bounds.then_some(row.bounds_checks == Some(true)),
        })
    }

    fn name(&self) -> String {
        let shape = match self.aspect {
            0 => "square matrices".into(),
            aspect if aspect > 0 => format!("matrices about {} times as high as wide", ratio(aspect)),
            aspect => format!("matrices about {} times as wide as high", ratio(-aspect)),
        };
        let batched = if self.batched { "batches of " } else { "" };
        let setting = match self.setting {
            Some(true) => ", with bounds checks",
            Some(false) => ", without bounds checks",
            None => "",
        };
        format!("{batched}{shape} of {}{setting}", self.element)
    }
}

fn ratio(steps: i64) -> String {
    number::plain(((steps as f64 / STEPS).exp2() * 10.0).round() / 10.0)
}

/// A curve for each variant. `None` where all sizes are about the same.
fn curves(device: &Device, family: &Family, rows: &[&Row]) -> Option<Figure> {
    let bytes: BTreeSet<u64> = rows.iter().map(|row| row.bytes).filter(|bytes| *bytes > 0).collect();
    if *bytes.last()? < bytes.first()?.saturating_mul(2) {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.variant.as_str()) {
            names.push(&row.variant);
        }
    }
    let mut colours = (0..).map(Hue::series);
    let series = names.into_iter().map(|name| {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.variant == name).collect();
        let hue = if of.iter().all(|row| is_copy(row)) { Hue::COPY } else { colours.next().unwrap_or(Hue::COPY) };
        let mut points: Vec<(f64, f64)> = of.iter().filter_map(|row| Some((row.bytes as f64, counted(row)?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Series { name: name.into(), points, hue, trace: Trace::Curve }
    });
    let lines = Lines {
        x: Axis { title: "bytes that a launch moves".into(), scale: Scale::Octaves, show: number::bytes_of },
        y: Axis { title: "GB/s".into(), scale: Scale::Linear, show: number::plain },
        series: series.collect(),
        limits: peak(device)
            .map(|value| Limit { label: "peak".into(), value, stroke: Stroke::Solid })
            .into_iter()
            .collect(),
        marks: vec![],
    };
    let axes = "The horizontal axis is logarithmic, in bytes read plus bytes written; grey: the copies.";
    Some(Figure {
        title: format!("Bandwidth against size on {} ({}): {}", device.name, device.id, family.name()),
        caption: caveat(device).into_iter().chain([axes.into()]).collect::<Vec<_>>().join(" "),
        drawing: Drawing::Lines(lines),
    })
}

/// The ladder as bars beside the rows of a table, before a column of it: against the peak of the hardware where that is
/// known, and against its fastest row otherwise.
pub(super) fn meter(hardware: &Hardware, before: Option<usize>) -> Option<Meter> {
    let before = before?;
    let fastest = hardware.rows.iter().filter_map(|row| counted(row)).reduce(f64::max).filter(|gbps| *gbps > 0.0)?;
    let peak = hardware.devices.iter().filter_map(|device| peak(device)).reduce(f64::max);
    let (full, name) = match peak {
        Some(peak) if peak >= fastest => (peak, "peak"),
        _ => (fastest, "fastest"),
    };
    let part = |row: &&Row| counted(row).map(|gbps| [gbps / full, row.percent_of_copy.unwrap_or(0.0) / 100.0]);
    let title = format!("of the {name}, {} GB/s", number::significant(full));
    Some(Meter { title, before, parts: hardware.rows.iter().map(part).collect() })
}
