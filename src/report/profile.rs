//! A profile's layout.

use super::Report;
use super::about::{About, Subject};
use super::layout::{Grid, Section, left, right};
use super::notes::Footnotes;
use super::number::{self, NONE, or_none};
use crate::profile::{COUNTERS, Profile, Row, Value};

/// What the figures mean.
const MEANING: [&str; 2] = [
    "Predicted: what the tracer counts in the WGSL twin, in all workgroups of up to 8192, else in a sample; DRAM moves what the problem has, once.",
    "Measured: by ncu, one launch, caches empty before it, clocks as they are. Conflicts include what arbitration adds.",
];

const SUBJECT: Subject = Subject { name: "Hardware counters", meaning: &MEANING, method: &[] };

/// The report of a profile.
pub(super) fn of(profile: &Profile) -> Report {
    let titles = ["predicted", "measured", "measured / predicted"].map(right);
    let mut grid =
        Grid { columns: [left("variant"), left("counter")].into_iter().chain(titles).collect(), ..Grid::default() };
    for row in &profile.results {
        grid.breaks.extend((!grid.rows.is_empty()).then_some(grid.rows.len()));
        grid.rows.extend(row.counters.iter().map(|value| cells(row, value)));
    }
    let section = Section {
        heading: format!("{}, {}", profile.device.name, profile.problem),
        lines: vec![format!("{}: driver {}", profile.device.id, profile.device.driver)],
        grid,
        ..Section::default()
    };
    let about = About {
        subject: &SUBJECT,
        environment: profile.environment.clone(),
        devices: vec![profile.device.clone()],
        absent: Vec::new(),
        meaning: Vec::new(),
        told: None,
        empty: profile.results.is_empty(),
        interrupted: false,
    };
    about.report(vec![section], Footnotes::default())
}

fn cells(row: &Row, value: &Value) -> Vec<String> {
    let known = COUNTERS.iter().find(|counter| counter.metric == value.metric);
    let count = |value: Option<f64>| value.map_or(NONE.into(), |value| format!("{value:.0}"));
    let ratio = value.measured.zip(value.predicted).filter(|(_, predicted)| *predicted > 0.0);
    vec![
        row.variant.clone(),
        known.map_or(value.metric.as_str(), |counter| counter.title).into(),
        count(value.predicted),
        count(value.measured),
        or_none(ratio.map(|(measured, predicted)| measured / predicted), number::ratio),
    ]
}
