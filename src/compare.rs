//! Two records held against each other, row by row.
//!
//! What a row has become is told from the samples of both, never from two medians: `docs/RECORD.md` says how, and
//! where the constants come from. Nothing here measures, and nothing is random: two records have one comparison.

mod devices;
mod differences;
mod interval;
mod json;
mod rows;
#[cfg(test)]
mod tests;
mod verdict;

use crate::record::{Device, Record, Row};

pub use devices::MatchedBy;
pub use interval::{CONFIDENCE, Change};
pub use json::SCHEMA;
pub use verdict::{SMALLEST_CHANGE, Verdict};

/// Percent of its bandwidth that a row may lose before that is a regression, if nothing else is asked for: more than
/// twice [`SMALLEST_CHANGE`], so that what fails a run is never at the edge of what can be told.
pub const REGRESSION_PERCENT: f64 = 5.0;

/// A record against an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison<'a> {
    /// The earlier record.
    pub base: &'a Record,
    /// The later one.
    pub new: &'a Record,
    /// The devices of both, those of the earlier one first.
    pub devices: Vec<DevicePair<'a>>,
    /// What the records differ in besides their figures, a sentence each.
    pub warnings: Vec<String>,
    /// The rows of both, in the order of the earlier one and then of the later.
    pub rows: Vec<Pair<'a>>,
    /// How many rows are left out because they have figures in neither record, and did not fail in either.
    pub left_out: usize,
}

/// A device of both records, or of one that has no match in the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DevicePair<'a> {
    /// The device in the earlier record.
    pub base: Option<&'a Device>,
    /// The device in the later one.
    pub new: Option<&'a Device>,
    /// How the two were found to belong together; `None` where there is only one.
    pub by: Option<MatchedBy>,
}

/// A row of both records, or of one that has no match in the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The index of its device in [`Comparison::devices`].
    pub device: usize,
    /// The row in the earlier record.
    pub base: Option<&'a Row>,
    /// The row in the later one.
    pub new: Option<&'a Row>,
    /// The later bandwidth over the earlier one; `None` where either has no figures.
    pub change: Option<Change>,
    /// What that means.
    pub verdict: Verdict,
    /// What is to be known about it, a phrase each.
    pub notes: Vec<String>,
}

impl<'a> Comparison<'a> {
    /// Holds `new` against `base`.
    pub fn of(base: &'a Record, new: &'a Record) -> Comparison<'a> {
        let devices = devices::pairs(base, new);
        let (rows, left_out) = rows::pairs(base, new, &devices);
        let warnings = differences::warnings(base, new, &devices);
        Comparison { base, new, devices, warnings, rows, left_out }
    }

    /// The rows that ran and fail now or cannot run any more, and those that are [`Verdict::Slower`] and have lost more
    /// than so many percent of their bandwidth. What is missing in the later record was not asked for there and is none.
    pub fn regressions(&self, percent: f64) -> impl Iterator<Item = &Pair<'a>> {
        let most = 1.0 - percent / 100.0;
        let slower = move |pair: &Pair| {
            pair.verdict == Verdict::Slower && pair.change.as_ref().is_some_and(|change| change.ratio < most)
        };
        self.rows.iter().filter(move |pair| slower(pair) || pair.broke())
    }

    /// How many rows have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|pair| pair.verdict == verdict).count()
    }
}

impl<'a> Pair<'a> {
    /// The row that says what it is: the later one, where there is one.
    ///
    /// # Panics
    /// If it has neither, which [`Comparison::of`] never makes.
    pub fn row(&self) -> &'a Row {
        self.new.or(self.base).expect("a pair has at least one row")
    }

    /// Whether it had figures, was run again, and has none any more.
    pub fn broke(&self) -> bool {
        let had = self.base.is_some_and(|row| row.status.has_figures());
        had && self.new.is_some_and(|row| !row.status.has_figures())
    }
}

impl<'a> DevicePair<'a> {
    /// The device as the later record has it, where it is there, else as the earlier one does.
    ///
    /// # Panics
    /// If it has neither, which [`Comparison::of`] never makes.
    pub fn device(&self) -> &'a Device {
        self.new.or(self.base).expect("a pair has at least one device")
    }
}
