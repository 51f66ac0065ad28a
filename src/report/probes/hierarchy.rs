//! The report of `cornerturn hierarchy`.

use super::super::about::Subject;
use super::super::layout::{Grid, Section, left, right};
use super::super::method;
use super::super::notes::Footnotes;
use super::super::number::{self, NONE, or_none};
use super::{METHOD, Report, figures, lines, name, report};
use crate::device::TimerKind;
use crate::probe::Level;
use crate::record::{Bandwidth, HierarchyRow, LevelRow, ProbeRecord, Series};

const MEANING: [&str; 4] = [
    "Capacity: as the driver tells it, and as the curve of latencies shows it: the last size before the latency \
     leaves its plateau.",
    "Latency: the median of an access that waits for the one before; of registers, a multiply-add. Spread: \
     interquartile range over median.",
    "GB/s: what all multiprocessors together read, in 10⁹ bytes a second; of registers, operands of multiply-adds. \
     B/cycle: of one multiprocessor.",
    "docs/HIERARCHY.md says how each figure comes about, and what biases it.",
];

const SUBJECT: Subject = Subject { name: "Memory hierarchy", meaning: &MEANING, method: &METHOD };

/// The levels of each device, the curve they are read from, and all bandwidths.
pub fn hierarchy(record: &ProbeRecord<HierarchyRow>) -> Report {
    let mut sections = Vec::new();
    for row in &record.results {
        sections.push(levels(record, row));
        sections.extend(curve(row));
        sections.extend(bandwidths(row));
    }
    report(record, &SUBJECT, told(record), sections, Footnotes::default())
}

/// How much was measured.
fn told(record: &ProbeRecord<HierarchyRow>) -> Option<String> {
    let curves = record.results.iter().filter(|row| !row.curve.is_empty());
    let sizes = method::range(curves.clone().map(|row| row.curve.len()))?;
    let points = curves.clone().flat_map(|row| &row.curve);
    let samples = method::range(points.map(|point| point.latency_s.samples.len()))?;
    let clocks = method::clocks(curves.clone().filter_map(|row| row.timer));
    let (some, all) = (curves.count(), record.results.len());
    Some(format!("{some} of {all} devices have a curve: {sizes} sizes, {samples} samples of each, {clocks}."))
}

fn levels(record: &ProbeRecord<HierarchyRow>, row: &HierarchyRow) -> Section {
    let mut lines = lines(record, &row.device);
    lines.extend(row.reason.as_ref().map(|reason| format!("{}: {reason}", row.status)));
    let clock = row.clock_hz.map(|hz| format!(", {} MHz while it was measured", number::significant(hz / 1e6)));
    lines.extend(row.multiprocessors.map(|n| format!("{n} multiprocessors{}", clock.unwrap_or_default())));
    lines.extend(row.timer_note.as_ref().map(|note| format!("timed by the host's clock: {note}")));
    if row.timer_note.is_none() && row.timer == Some(TimerKind::Host) {
        lines.push("timed by the host's clock".into());
    }
    lines.extend(row.levels.iter().filter_map(|level| Some(format!("{}: {}", title(level), level.note.as_ref()?))));
    lines.extend(beyond(row));
    let mut grid = Grid::default();
    if !row.levels.is_empty() {
        let figures = ["driver says", "measured", "cycles", "ns", "spread", "GB/s", "B/cycle"];
        let words = ["where", "scope", "lifetime"];
        grid.columns = [left("level")].into_iter().chain(figures.map(right)).chain(words.map(left)).collect();
        grid.rows = row.levels.iter().map(|level| cells(row, level)).collect();
    }
    let device = record.device(&row.device);
    let figures = device.map_or(Vec::new(), |device| figures::hierarchy::figures(device, row));
    Section { heading: device.map_or(row.device.clone(), name), lines, figures, grid }
}

pub(super) fn title(level: &LevelRow) -> &str {
    Level::of_name(&level.level).map_or(&level.level, |level| level.title())
}

fn cells(row: &HierarchyRow, level: &LevelRow) -> Vec<String> {
    let known = Level::of_name(&level.level);
    let word = |word: fn(Level) -> &'static str| known.map_or(NONE, word).to_owned();
    let each = |bytes: Option<u64>| {
        let bytes = bytes.map(number::bytes)?;
        let times = row.multiprocessors.filter(|_| level.per == Level::Registers.per());
        Some(times.map_or(bytes.clone(), |n| format!("{n} × {bytes}")))
    };
    let of_block = || level.block_bytes.map(|bytes| format!("{} a block", number::bytes(bytes)));
    let bandwidth = row.bandwidth(&level.level);
    let median = |series: &Option<Series>, scale: f64| {
        or_none(series.as_ref().map(|series| scale * series.median), number::significant)
    };
    vec![
        title(level).into(),
        each(level.driver_bytes).or_else(of_block).unwrap_or(NONE.into()),
        each(level.measured_bytes).unwrap_or(NONE.into()),
        median(&level.latency_cycles, 1.0),
        median(&level.latency_s, 1e9),
        or_none(level.latency_s.as_ref().map(|series| series.spread), number::fraction),
        or_none(bandwidth.map(|bandwidth| bandwidth.gbps), number::significant),
        or_none(bandwidth.and_then(|bandwidth| per_cycle(row, bandwidth)), number::significant),
        word(Level::space),
        word(Level::scope),
        word(Level::lifetime),
    ]
}

/// Bytes in a cycle of a multiprocessor: by its own clock, or from the time and the clock's rate.
pub(super) fn per_cycle(row: &HierarchyRow, bandwidth: &Bandwidth) -> Option<f64> {
    let counted = bandwidth.bytes_per_cycle.as_ref().map(|series| series.median);
    counted.or_else(|| Some(bandwidth.gbps * 1e9 / row.clock_hz? / row.multiprocessors? as f64))
}

/// A latency that rises by no more than this part beyond the last-level cache is flat.
const FLAT: f64 = 0.03;

/// What large sets show: how the latency goes on beyond the last-level cache.
fn beyond(row: &HierarchyRow) -> Option<String> {
    let cache = row.level(Level::L2.name())?.driver_bytes?;
    let mut beyond = row.curve.iter().filter(|point| point.bytes >= cache.saturating_mul(2));
    let (first, last) = (beyond.next()?, beyond.next_back()?);
    let ns = |series: &Series| number::significant(series.median * 1e9);
    let (low, high) = (ns(&first.latency_s), ns(&last.latency_s));
    let what = match last.latency_s.median / first.latency_s.median - 1.0 {
        rise if rise > FLAT => "what it rises by is what the TLBs, which keep the addresses of pages, no longer hold",
        _ => "no cost of translating addresses shows in sets of this size",
    };
    let sizes = [first.bytes, last.bytes].map(number::bytes);
    Some(format!("beyond the cache: {low} ns in {}, {high} ns in {}: {what}", sizes[0], sizes[1]))
}

/// A point of the curve for each doubling of the size.
fn curve(row: &HierarchyRow) -> Option<Section> {
    let mut grid = Grid { columns: ["set", "cycles", "ns", "spread"].map(right).into(), ..Grid::default() };
    let mut next = 0;
    let last = row.curve.last()?.bytes;
    for point in &row.curve {
        if point.bytes < next && point.bytes != last {
            continue;
        }
        next = point.bytes.saturating_mul(2);
        grid.rows.push(vec![
            number::bytes(point.bytes),
            or_none(point.latency_cycles.as_ref().map(|series| series.median), number::significant),
            number::significant(point.latency_s.median * 1e9),
            number::fraction(point.latency_s.spread),
        ]);
    }
    let lines = vec![format!("{} sizes were measured; these are some of them", row.curve.len())];
    Some(Section {
        heading: format!("Latency over the size of the set, {}", row.device),
        lines,
        grid,
        ..Section::default()
    })
}

fn bandwidths(row: &HierarchyRow) -> Option<Section> {
    let gpu = !row.levels.is_empty();
    let mut grid = Grid { columns: vec![left("probe")], ..Grid::default() };
    grid.columns.extend(gpu.then(|| left("level")));
    grid.columns.extend(["set", "GB/s", "B/cycle", "spread"].map(right));
    for bandwidth in &row.bandwidths {
        let mut cells = vec![bandwidth.probe.clone()];
        cells.extend(gpu.then(|| bandwidth.level.clone()));
        cells.extend([
            number::bytes(bandwidth.set_bytes),
            number::significant(bandwidth.gbps),
            or_none(per_cycle(row, bandwidth), number::significant),
            number::fraction(bandwidth.launch_s.spread),
        ]);
        grid.rows.push(cells);
    }
    let heading = format!("Bandwidth, {}", row.device);
    (!row.bandwidths.is_empty()).then_some(Section { heading, grid, ..Section::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Status;
    use crate::record::example::{record, series};

    fn level(level: Level, bytes: Option<u64>, ns: f64) -> LevelRow {
        LevelRow {
            level: level.name().into(),
            per: level.per().into(),
            driver_bytes: bytes,
            block_bytes: None,
            measured_bytes: None,
            measured_below: None,
            latency_s: Some(series(ns * 1e-9)),
            latency_cycles: Some(series(2.0 * ns)),
            note: None,
        }
    }

    fn row() -> HierarchyRow {
        let bandwidth = |probe: &str, gbps| Bandwidth {
            level: "global".into(),
            probe: probe.into(),
            set_bytes: 1 << 30,
            bytes: 1 << 30,
            launches: 3,
            timer: TimerKind::Device,
            launch_s: series(1e-3),
            gbps,
            bytes_per_cycle: None,
        };
        HierarchyRow {
            device: "cuda:0".into(),
            status: Status::Ok,
            reason: None,
            timer: Some(TimerKind::Device),
            timer_note: None,
            multiprocessors: Some(100),
            clock_hz: Some(2e9),
            line_bytes: 128,
            levels: vec![
                level(Level::Registers, Some(256 << 10), 2.0),
                LevelRow { block_bytes: Some(48 << 10), ..level(Level::Shared, None, 12.0) },
                LevelRow { measured_bytes: Some(200 << 10), ..level(Level::L1, None, 16.0) },
                level(Level::L2, Some(50 << 20), 140.0),
                level(Level::Global, Some(16 << 30), 345.0),
            ],
            curve: Vec::new(),
            bandwidths: vec![bandwidth("read-once-1", 3000.0), bandwidth("read-once-2", 4000.0)],
        }
    }

    #[test]
    fn levels_have_their_words_and_figures() {
        let text = hierarchy(&record(vec![row()])).table();
        let line = |name: &str| text.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap().to_owned();
        for (name, words) in [
            ("registers", ["one thread", "the thread", " 100 × 256 KiB ", " 4.000 ", " 2.000 "]),
            ("shared memory", ["one block", "the block", " 48 KiB a block ", " 24.00 ", " 12.00 "]),
            ("L1 cache", ["one multiprocessor", "hardware", " 100 × 200 KiB ", " 32.00 ", " 16.00 "]),
            ("L2 cache", ["all multiprocessors", "hardware", " 50 MiB ", " 280.0 ", " 140.0 "]),
            // The better of two probes, and per cycle what 100 multiprocessors at 2 GHz make of it.
            ("global memory", ["the host", "the application", " 16 GiB ", " 4000 ", " 20.00 "]),
        ] {
            let line = line(name);
            assert!(words.iter().all(|word| line.contains(word)), "{words:?} in {line}");
        }
        assert!(text.contains("100 multiprocessors, 2000 MHz while it was measured"), "{text}");
    }

    #[test]
    fn what_large_sets_show_follows_from_the_curve() {
        let point = |mib: u64, ns: f64| crate::record::CurvePoint {
            bytes: mib << 20,
            latency_s: series(ns * 1e-9),
            latency_cycles: None,
        };
        let told = |last| {
            let curve = vec![point(50, 140.0), point(100, 340.0), point(200, last)];
            hierarchy(&record(vec![HierarchyRow { curve, ..row() }])).table()
        };
        assert!(told(345.0).contains("340.0 ns in 100 MiB, 345.0 ns in 200 MiB: no cost of translating"));
        assert!(told(380.0).contains("380.0 ns in 200 MiB: what it rises by is what the TLBs"));
    }
}
