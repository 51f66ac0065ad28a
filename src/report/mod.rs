//! Reports: a record as a table for the terminal, as Markdown, as a page, or as CSV; a trace as text. Nothing here
//! measures.
//!
//! The first three show one and the same layout; CSV is the rows as they are. A [`Comparison`] of two records is shown as
//! text or Markdown.

mod about;
mod against;
mod chart;
mod compare;
mod csv;
mod explain;
mod figures;
mod html;
mod layout;
mod markdown;
mod meter;
mod method;
mod notes;
mod number;
mod probes;
mod profile;
mod svg;
mod table;
#[cfg(test)]
mod tests;
mod text;

use crate::compare::{Comparison, Pair};
use crate::profile::Profile;
use crate::record::{AnyRecord, Record};
use about::About;
use layout::{Layout, Section};

pub use csv::csv;
pub use explain::explain;
pub use html::{Source, html};
pub use notes::peak_source;
pub use number::bytes;
pub use probes::{banks, coalescing, hierarchy};
pub use table::Screen;
pub use text::{escape, escape_lines};

/// The report of a record, to be shown in several ways.
pub struct Report {
    layout: Layout,
    about: About,
}

impl Report {
    /// As text for a terminal: the tables of each device, and below what the figures mean.
    ///
    /// The text has no colour and no control characters but newlines, of which the last character is one.
    pub fn table(&self) -> String {
        table::render(&self.layout, None)
    }

    /// What [`Report::table`] shows, for a terminal: with bars beside the figures if there are such and there is room for
    /// them.
    pub fn table_on(&self, screen: Screen) -> String {
        table::render(&self.layout, Some(screen))
    }

    /// What [`Report::table`] shows, as GitHub Markdown that can stand in a README as it is.
    ///
    /// Names and reasons are shown literally: what is markup in Markdown or HTML is escaped.
    pub fn markdown(&self) -> String {
        markdown::render(&self.layout)
    }
}

/// The report of a record, of whatever kind it is.
pub fn of(record: &AnyRecord) -> Report {
    match record {
        AnyRecord::Bench(record) => bench(record),
        AnyRecord::Hierarchy(record) => hierarchy(record),
        AnyRecord::Coalescing(record) => coalescing(record),
        AnyRecord::Banks(record) => banks(record),
        AnyRecord::Profile(profile) => self::profile(profile),
    }
}

/// The report of a benchmark: per physical device a table of variants, their effective bandwidth in GB/s, its part of the
/// copy ceiling and of the theoretical peak in percent, the time of a launch and its spread, and what limits them.
pub fn bench(record: &Record) -> Report {
    layout::of(record)
}

/// The report of a profile: of each variant's counters what was predicted and what was measured.
pub fn profile(profile: &Profile) -> Report {
    profile::of(profile)
}

/// A comparison of two records as text for a terminal: per device a table of rows, their bandwidth in either record in
/// GB/s, the ratio of the two with its interval, and the verdict; above, what the records differ in. `names` are what
/// the records are called, the earlier one first.
///
/// The text has no control characters, as with [`Report::table`].
pub fn comparison_table(comparison: &Comparison, names: [&str; 2]) -> String {
    table::render(&against::layout(comparison, names), None)
}

/// What [`comparison_table`] shows, as GitHub Markdown, escaped as with [`Report::markdown`].
pub fn comparison_markdown(comparison: &Comparison, names: [&str; 2]) -> String {
    markdown::render(&against::layout(comparison, names))
}

/// A row of a comparison in a few words: what it is, and how much slower, or how it ended.
pub fn told(pair: &Pair, comparison: &Comparison) -> String {
    against::told(pair, comparison)
}

/// Each value once, in the order in which they come.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
