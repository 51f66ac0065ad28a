//! Places in a source.

use super::error::Location;
use super::findings::Place;

/// The lines of a source.
pub(super) struct Lines<'a> {
    source: &'a str,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Lines<'_> {
    /// The lines of `source`.
    pub fn new(source: &str) -> Lines<'_> {
        let newlines = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { source, starts: std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect() }
    }

    /// Where a place begins; `None` for what has none.
    pub fn of(&self, (start, end): Place) -> Option<Location> {
        if start >= end {
            return None;
        }
        let line = self.starts.partition_point(|first| *first <= start);
        Some(Location { line: line as u32, column: (start - self.starts[line - 1]) as u32 + 1 })
    }

    /// The text of a line, counted from 1 on.
    pub fn text(&self, line: u32) -> &str {
        self.source.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("")
    }
}
