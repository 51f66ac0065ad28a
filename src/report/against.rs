//! A record against an earlier one, as tables.

use super::layout::{Grid, Layout, Section, left, right, setting, shape, size};
use super::notes::{Footnotes, LAYOUTS};
use super::number::{NONE, or_none, significant};
use super::text;
use crate::compare::{CONFIDENCE, Comparison, DevicePair, Pair, SMALLEST_CHANGE, Verdict};
use crate::record::{Record, Row, Status};

/// The comparison; `names` are what the two records are called, the earlier one first.
pub(super) fn layout(comparison: &Comparison, names: [&str; 2]) -> Layout {
    let mut footnotes = Footnotes::default();
    let bounds = |on| comparison.rows.iter().any(|pair| pair.row().bounds_checks == Some(on));
    let bounds = bounds(true) && bounds(false);
    let sections = comparison.devices.iter().enumerate();
    let sections = sections.map(|(i, device)| {
        let rows = comparison.rows.iter().filter(|pair| pair.device == i);
        section(device, rows, bounds, &mut footnotes)
    });
    let sections = sections.filter(|section| !section.grid.rows.is_empty()).collect();
    let mut facts = vec![fact("Base", names[0], comparison.base), fact("New", names[1], comparison.new)];
    facts.push(summary(comparison));
    let mut notes = meaning();
    notes.extend(comparison.rows.iter().any(|pair| pair.row().layouts().is_some()).then(|| LAYOUTS.into()));
    Layout { facts, warnings: comparison.warnings.clone(), sections, notes, footnotes: footnotes.0 }
}

fn fact(side: &str, name: &str, record: &Record) -> String {
    let environment = &record.environment;
    let (version, date) = (&environment.version, &environment.date);
    format!("{side}: {name}, cornerturn {version}, {date}: {}", text::command(&environment.command))
}

/// How many rows have which verdict, in a line.
fn summary(comparison: &Comparison) -> String {
    let counts = Verdict::ALL.map(|verdict| (comparison.count(verdict), verdict));
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, verdict)| format!("{count} {verdict}")).collect();
    let counts = if counts.is_empty() { "no rows to compare".into() } else { counts.join(", ") };
    match comparison.left_out {
        0 => format!("Rows: {counts}."),
        left_out => format!("Rows: {counts}; left out, as they can run in neither: {left_out}."),
    }
}

/// What the columns mean.
fn meaning() -> Vec<String> {
    let (percent, change) = (100.0 * CONFIDENCE, 100.0 * (SMALLEST_CHANGE - 1.0));
    vec![
        "new / base: the ratio of the bandwidths, estimated from all samples; below 1, new is slower.".into(),
        format!(
            "{percent} % interval: where that ratio is, as the samples have it. The verdict is faster or slower where \
             all of it is more than {change:.0} % from 1, same where none is, and else unsure: measure with a longer \
             --min-time, or on a quieter machine."
        ),
    ]
}

fn section<'a>(
    device: &DevicePair,
    pairs: impl Iterator<Item = &'a Pair<'a>>,
    bounds: bool,
    footnotes: &mut Footnotes,
) -> Section {
    let mut grid = Grid::default();
    for pair in pairs {
        let row = pair.row();
        let mut cells = vec![row.label(), row.element.clone(), shape(size(row))];
        cells.extend(bounds.then(|| setting(row.bounds_checks).into()));
        cells.extend([pair.base, pair.new].map(figure));
        let change = pair.change.as_ref();
        cells.push(or_none(change.map(|change| change.ratio), ratio));
        let interval = change.and_then(|change| change.interval);
        cells.push(interval.map_or(NONE.into(), |[low, high]| format!("{} to {}", ratio(low), ratio(high))));
        cells.push(pair.verdict.to_string());
        cells.push(footnotes.numbers(pair.notes.iter().cloned()));
        grid.rows.push(cells);
    }
    grid.columns = vec![left("variant"), left("element"), left("size")];
    grid.columns.extend(bounds.then(|| left("bounds checks")));
    let interval = format!("{} % interval", 100.0 * CONFIDENCE);
    grid.columns.extend(["base GB/s", "new GB/s", "new / base", &interval].map(right));
    grid.columns.extend([left("verdict"), left("notes")]);
    grid.drop_empty_last();
    let device = device.device();
    Section { heading: format!("{}: {}", device.id, device.name), grid, ..Section::default() }
}

/// The bandwidth of a row, or how else it ended.
fn figure(row: Option<&Row>) -> String {
    match row {
        Some(row) if row.status == Status::Ok => or_none(row.gbps, significant),
        Some(row) => row.status.to_string(),
        None => NONE.into(),
    }
}

fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

/// A row in a few words, for a message.
pub(super) fn told(pair: &Pair, comparison: &Comparison) -> String {
    let row = pair.row();
    let what =
        format!("{} {} {} {}", comparison.devices[pair.device].device().id, row.label(), shape(size(row)), row.element);
    match &pair.change {
        Some(change) => format!("{what} ({:.1} % slower)", 100.0 * (1.0 - change.ratio)),
        None => format!("{what} ({})", figure(pair.new)),
    }
}
