//! How the figures of `cornerturn bench` come about, for readers of a report.

use std::fmt::Display;

use crate::device::TimerKind;
use crate::record::Record;

/// What holds for every record.
pub(super) const METHOD: [&str; 5] = [
    "The copy ceiling is what the device can do where no element has to move: the faster of its API's own copy (memcpy) \
     and a copy kernel with one 16-byte load and store a thread (copy), run in the same turns as the rest.",
    "Sources are filled with pseudo-random data and destinations with other values; every destination is compared bit by \
     bit before and after timing, and one wrong element fails the row.",
    "A GPU is kept at work until its clocks are up before anything is timed. The variants then take turns, so that a \
     drift of the clocks meets all of them; each turn times a batch of launches, long enough that the clock's resolution \
     and the cost of a launch vanish.",
    "Launches rotate over pairs of buffers that together are at least four times the last-level cache; where they are \
     not, a note says so.",
    "GPUs are timed by their own clock (CUDA events; timestamp queries through wgpu). Where that is of no use, the host's \
     clock times N against 2N launches, and a note says so. A figure above the theoretical peak is suspect, and no \
     result.",
];

/// What this record says of it.
pub(super) fn of(record: &Record) -> Option<String> {
    let figures = record.results.iter().filter(|row| row.status.has_figures());
    let sets = range(figures.clone().map(|row| row.sets))?;
    let timed = figures.map(|row| Timed { batches: row.samples_s.len(), launches: row.launches, timer: row.timer });
    told(record.results.len(), timed, &format!(", over {sets} pairs of buffers"))
}

/// How a figure was timed.
#[derive(Clone, Copy)]
pub(super) struct Timed {
    pub batches: usize,
    pub launches: u32,
    pub timer: Option<TimerKind>,
}

/// How many of the rows have a figure, and how those were `timed`; `more` is what else is to be said of the launches.
pub(super) fn told(rows: usize, timed: impl Iterator<Item = Timed> + Clone, more: &str) -> Option<String> {
    let batches = range(timed.clone().map(|timed| timed.batches))?;
    let launches = range(timed.clone().map(|timed| timed.launches))?;
    Some(format!(
        "{} of {rows} rows have a figure: {batches} batches of {launches} launches each{more}, {}.",
        timed.clone().count(),
        clocks(timed.filter_map(|timed| timed.timer))
    ))
}

/// The clocks that something was timed by.
pub(super) fn clocks(timers: impl Iterator<Item = TimerKind>) -> String {
    let mut clocks: Vec<String> = timers.map(|timer| timer.to_string()).collect();
    clocks.sort();
    clocks.dedup();
    format!("timed by the clock of the {}", clocks.join(" or the "))
}

/// The least and the greatest, or the only one.
pub(super) fn range<T: Ord + Display>(values: impl Iterator<Item = T> + Clone) -> Option<String> {
    let (least, greatest) = (values.clone().min()?, values.max()?);
    Some(if least == greatest { least.to_string() } else { format!("{least} to {greatest}") })
}
