//! The report of `cornerturn banks`.

use super::super::about::Subject;
use super::super::layout::{Grid, left, right};
use super::super::method::{self, Timed};
use super::super::notes::Footnotes;
use super::super::number::{self, NONE, or_none};
use super::{METHOD, Report, by_device, figures, marks, report};
use crate::record::{BanksRow, ProbeRecord, Series};

const MEANING: [&str; 2] = [
    "Stride: words of 4 bytes from one lane's access to the next one's. \
     Degree: passes that the access model predicts for a request of 32 lanes.",
    "Cycles and ns: of one request, while one block keeps the shared memory of one \
     multiprocessor busy; ratio: against stride 1.",
];

const SUBJECT: Subject = Subject { name: "Bank conflicts", meaning: &MEANING, method: &METHOD };

/// Model and measurement of each device's strides.
pub fn banks(record: &ProbeRecord<BanksRow>) -> Report {
    let mut footnotes = Footnotes::default();
    let sections = by_device(record, |device, rows| {
        let mut grid = Grid::default();
        grid.columns.extend(["stride", "degree", "cycles", "ns", "ratio", "spread"].map(right));
        grid.columns.push(left("notes"));
        grid.rows = rows.iter().map(|row| cells(row, &mut footnotes)).collect();
        (grid, figures::banks::figure(device, rows).into_iter().collect())
    });
    let measured = record.results.iter().filter_map(|row| Some((row, row.request_s.as_ref()?)));
    let timed =
        measured.map(|(row, series)| Timed { batches: series.samples.len(), launches: row.launches, timer: row.timer });
    report(record, &SUBJECT, method::told(record.results.len(), timed, ""), sections, footnotes)
}

fn cells(row: &BanksRow, footnotes: &mut Footnotes) -> Vec<String> {
    let median = |series: &Option<Series>, scale: f64| {
        or_none(series.as_ref().map(|series| scale * series.median), number::significant)
    };
    vec![
        row.stride.to_string(),
        row.degree.map_or(NONE.into(), |degree| degree.to_string()),
        median(&row.request_cycles, 1.0),
        median(&row.request_s, 1e9),
        or_none(row.ratio, number::ratio),
        or_none(row.request_cycles.as_ref().or(row.request_s.as_ref()).map(|series| series.spread), number::fraction),
        marks(footnotes, row.status, row.reason.as_deref(), row.timer, row.timer_note.as_deref()),
    ]
}
