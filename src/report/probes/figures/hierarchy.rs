//! The figures of `cornerturn hierarchy`: the curve that the levels are read from, and their bandwidths.

use super::super::super::chart::{
    Axis, Bar, Bars, Drawing, Figure, Group, Hue, Limit, Lines, Scale, Series, Stroke, Trace,
};
use super::super::super::figures::peak;
use super::super::super::number;
use super::super::hierarchy::{per_cycle, title};
use super::super::name;
use super::caption;
use crate::probe::Level;
use crate::record::{Bandwidth, Device, HierarchyRow, LevelRow};

/// What there is to see of a device.
pub(in super::super) fn figures(device: &Device, row: &HierarchyRow) -> Vec<Figure> {
    [latency(device, row), bandwidth(device, row)].into_iter().flatten().collect()
}

/// A level as a line of a drawing has room for it.
fn short(level: &LevelRow) -> &str {
    title(level).trim_end_matches(" cache").trim_end_matches(" memory")
}

const NS: f64 = 1e9;

/// Latency against the size of the set, with the levels that were found in it.
fn latency(device: &Device, row: &HierarchyRow) -> Option<Figure> {
    let points = row.curve.iter().map(|point| (point.bytes as f64, NS * point.latency_s.median)).collect();
    let [first, last] = [row.curve.first()?.bytes, row.curve.last()?.bytes];
    let level = |level: &LevelRow| {
        let value = NS * level.latency_s.as_ref()?.median;
        Some(Limit { label: short(level).into(), value, stroke: Stroke::Broken })
    };
    let caption = caption(
        device,
        [
            "One lane follows a random chain of loads through sets of growing size. Broken lines across: the latency of \
             each level in ns; upright: where it ends, as measured.",
            "Solid upright lines: where the driver says that it ends. Both axes are logarithmic.",
        ],
    );
    Some(Figure {
        title: format!("Latency against the size of the set: {}", name(device)),
        caption,
        drawing: Drawing::Lines(Lines {
            x: Axis { title: "bytes of the set".into(), scale: Scale::Octaves, show: number::bytes_of },
            y: Axis { title: "ns of an access".into(), scale: Scale::Decades, show: number::plain },
            series: vec![Series { name: "chain".into(), points, hue: Hue::series(0), trace: Trace::Curve }],
            limits: row.levels.iter().filter_map(level).collect(),
            marks: row.levels.iter().flat_map(|level| ends(level, [first, last])).collect(),
        }),
    })
}

/// Where a level ends, as measured and as the driver tells it, if a chain through memory can see it there.
fn ends(level: &LevelRow, [first, last]: [u64; 2]) -> Vec<Limit> {
    let cached = [Level::L1, Level::L2].iter().any(|cache| cache.name() == level.level);
    let mark = |bytes: Option<u64>, said: &str, stroke| {
        let bytes = bytes.filter(|bytes| (first..=last).contains(bytes))?;
        let label = format!("{} {said}{}", short(level), number::bytes(bytes));
        Some(Limit { label, value: bytes as f64, stroke })
    };
    let driver = mark(level.driver_bytes.filter(|_| cached), "by the driver: ", Stroke::Solid);
    mark(level.measured_bytes, "", Stroke::Broken).into_iter().chain(driver).collect()
}

/// What all multiprocessors read from each level; on a device without levels, from each set.
fn bandwidth(device: &Device, row: &HierarchyRow) -> Option<Figure> {
    let bar = |label: String, bandwidth: &Bandwidth| {
        let cycle = per_cycle(row, bandwidth).map(|bytes| format!(", {} B/cycle", number::significant(bytes)));
        let text = number::significant(bandwidth.gbps) + &cycle.unwrap_or_default();
        Bar { label, value: Some(bandwidth.gbps), text, hue: Hue::series(0) }
    };
    let of_level = |level: &LevelRow| Some(bar(title(level).into(), row.bandwidth(&level.level)?));
    let of_set =
        |bandwidth: &Bandwidth| bar(format!("{}, {}", bandwidth.probe, number::bytes(bandwidth.set_bytes)), bandwidth);
    let bars: Vec<Bar> = match row.levels[..] {
        [] => row.bandwidths.iter().map(of_set).collect(),
        _ => row.levels.iter().filter_map(of_level).collect(),
    };
    let group = Group { title: String::new(), bars, ceiling: None };
    let memory = row.bandwidth(Level::Global.name()).zip(peak(device)).filter(|_| !row.levels.is_empty());
    let memory = memory.map(|(bandwidth, peak)| {
        let percent = number::percent(100.0 * bandwidth.gbps / peak);
        format!("Global memory reaches {percent}\u{a0}% of its theoretical peak.")
    });
    let told = "Read by all multiprocessors; of registers, operands of multiply-adds. Beside each bar: GB/s, and bytes in a \
                cycle of one multiprocessor where its clock is known.";
    (!group.bars.is_empty()).then(|| Figure {
        title: format!("Bandwidth of each level: {}", name(device)),
        caption: caption(device, [told.to_owned()].into_iter().chain(memory)),
        drawing: Drawing::Bars(Bars {
            axis: "GB/s".into(),
            groups: vec![group],
            limits: Vec::new(),
            legend: Vec::new(),
        }),
    })
}
