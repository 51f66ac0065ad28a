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

    /// The text of a line, counted from 1 on; empty for others.
    pub fn text(&self, line: u32) -> &str {
        let start = (line as usize).checked_sub(1).and_then(|index| self.starts.get(index));
        start.and_then(|start| self.source.get(*start..)?.lines().next()).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_texts_of_lines() {
        let lines = Lines::new("one\r\ntwo\n\nfour");
        let texts: Vec<_> = (0..=5).map(|line| lines.text(line)).collect();
        assert_eq!(texts, ["", "one", "two", "", "four", ""]);
        assert_eq!(lines.of((6, 7)), Some(Location { line: 2, column: 2 }));
        assert_eq!(lines.of((10, 14)), Some(Location { line: 4, column: 1 }));
        assert_eq!(lines.of((3, 3)), None);
    }
}
