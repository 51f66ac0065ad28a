//! Reports: a record as a table for the terminal, as Markdown, as a page, or as CSV; a trace as text. Nothing here
//! measures.
//!
//! The first three show one and the same layout; CSV is the rows as they are. A [`Comparison`] of two records is shown as
//! text or Markdown.

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
use crate::record::Record;

pub use csv::csv;
pub use explain::explain;
pub use html::{Source, html};
pub use notes::peak_source;
pub use number::bytes;
pub use probes::{Report, banks, coalescing, hierarchy};
pub use table::Screen;
pub use text::{escape, escape_lines};

/// The record as text for a terminal: per physical device a table of variants, their effective bandwidth in GB/s, its
/// part of the copy ceiling and of the theoretical peak in percent, the time of a launch and its spread, and what
/// limits them; below, what the figures mean.
///
/// The text has no colour and no control characters but newlines, of which the last character is one.
pub fn table(record: &Record) -> String {
    table::render(&layout::of(record), None)
}

/// What [`table()`] shows, for a terminal: with the ladder as bars beside the figures if there is room for them.
pub fn table_on(record: &Record, screen: Screen) -> String {
    table::render(&layout::of(record), Some(screen))
}

/// The counters of a profile as text for a terminal: of each variant what was predicted and what was measured.
pub fn profile(profile: &Profile) -> String {
    table::render(&profile::of(profile), None)
}

/// What [`table()`] shows, as GitHub Markdown that can stand in a README as it is.
///
/// Names and reasons are shown literally: what is markup in Markdown or HTML is escaped.
pub fn markdown(record: &Record) -> String {
    markdown::render(&layout::of(record))
}

/// A comparison of two records as text for a terminal: per device a table of rows, their bandwidth in either record in
/// GB/s, the ratio of the two with its interval, and the verdict; above, what the records differ in. `names` are what
/// the records are called, the earlier one first.
///
/// The text has no control characters, as with [`table()`].
pub fn comparison_table(comparison: &Comparison, names: [&str; 2]) -> String {
    table::render(&against::layout(comparison, names), None)
}

/// What [`comparison_table`] shows, as GitHub Markdown, escaped as with [`markdown()`].
pub fn comparison_markdown(comparison: &Comparison, names: [&str; 2]) -> String {
    markdown::render(&against::layout(comparison, names))
}

/// A row of a comparison in a few words: what it is, and how much slower, or how it ended.
pub fn told(pair: &Pair, comparison: &Comparison) -> String {
    against::told(pair, comparison)
}
