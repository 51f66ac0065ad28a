//! A profile's layout.

use super::layout::{self, Grid, Layout, Section, left, right};
use super::number::{self, NONE, or_none};
use crate::profile::{COUNTERS, Profile, Row, Value};

/// What the figures mean.
const MEANING: [&str; 2] = [
    "Predicted: what the tracer counts in the WGSL twin, from a sample of its workgroups; DRAM moves what the problem has, once.",
    "Measured: by ncu, one launch, caches empty before it, clocks as they are. Conflicts include what arbitration adds.",
];

/// The report of a profile.
pub(super) fn of(profile: &Profile) -> Layout {
    let titles = ["predicted", "measured", "measured / predicted"].map(right);
    let columns = [left("variant"), left("counter")].into_iter().chain(titles).collect();
    let rows =
        profile.results.iter().flat_map(|row| COUNTERS.iter().zip(&row.counters).map(move |pair| cells(row, pair)));
    let breaks = (1..profile.results.len()).map(|row| row * COUNTERS.len()).collect();
    Layout {
        facts: layout::environment(&profile.environment),
        warnings: Vec::new(),
        sections: vec![Section {
            heading: format!("{}, {}", profile.device.name, profile.problem),
            lines: vec![format!("{}: driver {}", profile.device.id, profile.device.driver)],
            grid: Grid { columns, rows: rows.collect(), breaks, ..Grid::default() },
            ..Section::default()
        }],
        notes: MEANING.map(String::from).into(),
        footnotes: Vec::new(),
    }
}

fn cells(row: &Row, (counter, value): (&crate::profile::Counter, &Value)) -> Vec<String> {
    let count = |value: Option<f64>| value.map_or(NONE.into(), |value| format!("{value:.0}"));
    let ratio = value.measured.zip(value.predicted).filter(|(_, predicted)| *predicted > 0.0);
    vec![
        row.variant.clone(),
        counter.title.into(),
        count(value.predicted),
        count(value.measured),
        or_none(ratio.map(|(measured, predicted)| measured / predicted), number::ratio),
    ]
}
