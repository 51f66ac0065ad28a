//! The report of `cornerturn coalescing`.

use super::super::about::Subject;
use super::super::layout::{Grid, left, right};
use super::super::method::{self, Timed};
use super::super::notes::Footnotes;
use super::super::number::{self, or_none};
use super::{METHOD, Report, by_device, figures, marks, report};
use crate::record::{CoalescingRow, ProbeRecord, Status};

const MEANING: [&str; 4] = [
    "Sectors (32 B) and lines (128 B): what one request of 32 lanes touches, by the access model; \
     use: the part of their bytes that was asked for.",
    "GB/s: bytes asked for, 10⁹ a second; moved: the bytes of the sectors, in the same time. \
     Neighbouring requests may share sectors in a cache, and then fewer move.",
    "% of stride 1: against the same accesses one after the other; % of peak: \
     against the theoretical peak of the device's memory.",
    "The textbook's 32 transactions for 32 lanes, each 4 bytes in a line of its own, \
     use 12.5 % of the sectors and 3.1 % of the lines.",
];

const CACHE: &str = "fewer lines are touched than four times the last-level cache holds: the figure may be the cache's";

const SUBJECT: Subject = Subject { name: "Coalescing", meaning: &MEANING, method: &METHOD };

/// Model and measurement of each device's strides and starts.
pub fn coalescing(record: &ProbeRecord<CoalescingRow>) -> Report {
    let mut footnotes = Footnotes::default();
    let sections = by_device(record, |device, rows| {
        let mut grid = Grid { columns: vec![left("access")], ..Grid::default() };
        let model = ["stride", "start", "sectors", "use", "lines", "use"];
        let measured = ["GB/s", "moved", "% of stride 1", "% of peak", "spread"];
        grid.columns.extend(model.into_iter().chain(measured).map(right));
        grid.columns.push(left("notes"));
        for (i, row) in rows.iter().enumerate() {
            let kind = |row: &CoalescingRow| (row.access.clone(), row.width, row.first > 0);
            if i > 0 && kind(rows[i - 1]) != kind(row) {
                grid.breaks.push(i);
            }
            grid.rows.push(cells(row, &mut footnotes));
        }
        (grid, figures::coalescing::figures(device, rows))
    });
    let measured = record.results.iter().filter_map(|row| Some((row, row.launch_s.as_ref()?)));
    let timed =
        measured.map(|(row, series)| Timed { batches: series.samples.len(), launches: row.launches, timer: row.timer });
    report(record, &SUBJECT, method::told(record.results.len(), timed, ""), sections, footnotes)
}

fn cells(row: &CoalescingRow, footnotes: &mut Footnotes) -> Vec<String> {
    let ok = |value: Option<f64>| value.filter(|_| row.status == Status::Ok);
    let moved = row.launch_s.as_ref().map(|launch| row.sector_bytes as f64 / launch.median / 1e9);
    let spread = row.launch_s.as_ref().map(|launch| launch.spread);
    let mut notes = marks(footnotes, row.status, row.reason.as_deref(), row.timer, row.timer_note.as_deref());
    if row.cache_resident == Some(true) && row.status.has_figures() {
        let number = footnotes.number(CACHE.into());
        notes = if notes.is_empty() { number.to_string() } else { format!("{notes}, {number}") };
    }
    vec![
        format!("{} {} B", row.access, row.width),
        row.stride.to_string(),
        row.first.to_string(),
        row.sectors.to_string(),
        use_of(row.useful_bytes, row.sector_bytes),
        row.lines.to_string(),
        use_of(row.useful_bytes, row.line_bytes),
        or_none(ok(row.gbps), number::significant),
        or_none(ok(moved), number::significant),
        or_none(ok(row.percent_of_unit_stride), number::percent),
        or_none(ok(row.percent_of_peak), number::percent),
        or_none(ok(spread), number::fraction),
        notes,
    ]
}

fn use_of(useful: u64, moved: u64) -> String {
    or_none((moved > 0).then(|| useful as f64 / moved as f64), number::fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TimerKind;
    use crate::record::example::{record, series};

    fn row() -> CoalescingRow {
        CoalescingRow {
            device: "cuda:0".into(),
            access: "load".into(),
            width: 4,
            stride: 32,
            first: 0,
            status: Status::Ok,
            reason: None,
            timer: Some(TimerKind::Device),
            timer_note: None,
            set_bytes: 1 << 30,
            useful_bytes: 32 << 20,
            sector_bytes: 256 << 20,
            line_bytes: 1 << 30,
            sectors: 32,
            lines: 32,
            launches: 2,
            launch_s: Some(series(1e-3)),
            gbps: Some(250.0),
            percent_of_unit_stride: Some(5.3),
            percent_of_peak: Some(5.2),
            cache_resident: Some(false),
        }
    }

    #[test]
    fn the_textbooks_case_has_both_its_figures() {
        let text = coalescing(&record(vec![row()])).table();
        let line = text.lines().find(|line| line.starts_with("| load 4 B ")).unwrap();
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        assert_eq!(cells[2..9], ["32", "0", "32", "12.5 %", "32", "3.1 %", "250.0"]);
    }

    #[test]
    fn what_did_not_run_has_its_reason_and_what_may_be_the_caches_a_note() {
        let unsupported = CoalescingRow {
            status: Status::Unsupported,
            reason: Some("it cannot".into()),
            gbps: None,
            launch_s: None,
            ..row()
        };
        let text =
            coalescing(&record(vec![CoalescingRow { cache_resident: Some(true), ..row() }, unsupported])).table();
        assert!(text.contains("1. fewer lines are touched") && text.contains("2. unsupported: it cannot"), "{text}");
    }
}
