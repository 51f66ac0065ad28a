//! What `fuzz/` runs, and a test here on inputs of its own: whatever comes in, nothing panics; what is wrong is said in
//! one line, and what is not is what the types promise.
//!
//! No part of the API: it is there with the feature `fuzzing` alone, since the parser of headers is private.

#[cfg(feature = "explain")]
mod shader;

use std::fmt::Display;

use crate::element::Element;
#[cfg(feature = "cli")]
use crate::file::{npy::Header, turn::Turn};
use crate::problem::{Layout, Problem};

#[cfg(feature = "explain")]
pub use shader::shader;

/// Takes the bytes for a `.npy` file, then for the text of a header in one, which random bytes would seldom be. Reads
/// the header, plans the transpose and writes the header of its result; returns whether one of the two got so far.
#[cfg(feature = "cli")]
pub fn npy(bytes: &[u8]) -> bool {
    let length = (bytes.len() as u32).to_le_bytes();
    let framed = [b"\x93NUMPY\x03\x00", &length[..], bytes].concat();
    [bytes, &framed].map(file).contains(&true)
}

#[cfg(feature = "cli")]
fn file(bytes: &[u8]) -> bool {
    let header = match Header::read(&mut &bytes[..]) {
        Ok(header) => header,
        Err(error) => return refused(&error),
    };
    assert!(header.data <= bytes.len() as u64, "{header:?} of {} B", bytes.len());
    let turn = match Turn::of(&header) {
        Ok(turn) => turn,
        Err(error) => return refused(&error),
    };
    let elements = match header.shape.contains(&0) {
        true => 0,
        false => header.shape.iter().map(|&length| u128::from(length)).product(),
    };
    assert_eq!(u128::from(turn.bytes), elements * header.width.bytes() as u128, "{header:?}");
    let written = Header::of_shape(&header.descr, &turn.shape);
    let expected = Header { shape: turn.shape, fortran_order: false, data: written.len() as u64, ..header };
    assert_eq!(Header::read(&mut &written[..]).expect("it is well-formed"), expected);
    true
}

/// Takes the bytes for the numbers of a problem and its layouts, and compares what is made of them with 128-bit
/// arithmetic. Returns whether there is such a problem, and one that is not empty.
pub fn problem(bytes: &[u8]) -> bool {
    let mut numbers = Numbers(bytes);
    let element = Element::ALL[numbers.byte() as usize % Element::ALL.len()];
    let (rows, cols, batch) = (numbers.next(), numbers.next(), numbers.next());
    let empty = [rows, cols, batch].contains(&0);
    let (source, destination) = (numbers.layout(rows, cols), numbers.layout(cols, rows));
    let extents = |source, destination| extents([rows, cols, batch], element, source, destination);

    let packed = Problem::new(rows, cols, batch, element);
    let packed_extents = extents(Layout::packed(rows, cols), Layout::packed(cols, rows));
    assert_eq!(packed.is_ok(), empty || packed_extents.is_some(), "{packed:?}");
    let packed = match packed {
        Ok(packed) => packed,
        Err(error) => return refused(&error),
    };
    let expected = extents(source, destination);
    let problem = match packed.with_layouts(source, destination) {
        Ok(problem) => problem,
        Err(error) => {
            assert!(!empty && expected.is_none(), "{error}");
            return refused(&error);
        }
    };
    if empty {
        assert_eq!((problem, problem.buffer_bytes(), problem.bytes_moved()), (packed, 0, 0));
        return false;
    }
    assert_eq!(Some([problem.source_extent(), problem.destination_extent()].map(u128::from)), expected);
    consistent(&problem, numbers.next());
    true
}

/// What holds for every problem that is not empty. `index` is any.
fn consistent(problem: &Problem, index: u64) {
    let (source, destination) = (problem.source_extent(), problem.destination_extent());
    assert!(problem.buffer_bytes() <= Problem::MAX_BYTES, "{problem}");
    assert!(problem.bytes_moved() <= problem.buffer_bytes(), "{problem}");
    assert_eq!(problem.with_layouts(problem.source(), problem.destination()), Ok(*problem));
    assert_eq!(problem.packed_only("it").is_none(), problem.is_packed());
    // The first element belongs first, and the last one last.
    assert_eq!(problem.source_of(problem.destination().first), Some(problem.source().first));
    assert_eq!(problem.source_of(destination - 1), Some(source - 1));
    assert_eq!(problem.source_of(destination), None);
    assert_eq!(problem.source_of(u64::MAX), None);
    let from = problem.source_of(index % destination);
    assert!(from.is_none_or(|from| from < source), "{problem}: {index}");
    assert_eq!(problem.sources_from(index % destination).next(), Some(from));
}

/// The extents of source and destination; `None` where they are more than can be counted, or something would overlap.
fn extents([rows, cols, batch]: [u64; 3], element: Element, source: Layout, destination: Layout) -> Option<[u128; 2]> {
    let both = [extent(source, rows, cols, batch)?, extent(destination, cols, rows, batch)?];
    let bytes = both[0].saturating_add(both[1]).saturating_mul(element.width().bytes() as u128);
    (bytes <= Problem::MAX_BYTES.into()).then_some(both)
}

/// Elements up to the last one, by the words of [`Layout`]; `None` where some would overlap.
fn extent(layout: Layout, rows: u64, cols: u64, batch: u64) -> Option<u128> {
    let [rows, cols, batch] = [rows, cols, batch].map(u128::from);
    let ld = if rows == 1 { cols } else { layout.ld.into() };
    let span = ld * rows.saturating_sub(1) + cols;
    let stride = if batch == 1 { span } else { layout.stride.into() };
    let last = stride.saturating_mul(batch.saturating_sub(1));
    (ld >= cols && stride >= span).then(|| last.saturating_add(span).saturating_add(layout.first.into()))
}

fn refused(error: &dyn Display) -> bool {
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "{text:?}");
    false
}

/// Numbers that are often small, or next to a power of two, where limits are.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    /// The next byte; zeros follow the last.
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Any, or one with gaps, in which rows and matrices do not overlap.
    fn layout(&mut self, rows: u64, cols: u64) -> Layout {
        let (any, first, ld, stride) = (self.byte().is_multiple_of(4), self.next(), self.next(), self.next());
        if any { Layout { first, ld, stride } } else { Layout::with_gaps(rows, cols, ld, stride).starting_at(first) }
    }

    fn next(&mut self) -> u64 {
        let (kind, value) = (self.byte(), self.byte());
        let power = 1_u64.rotate_left(value.into());
        match kind {
            0..160 => (value % 16).into(),
            160..190 => power,
            190..210 => power.wrapping_sub(1),
            210..225 => power + 1,
            225..240 => u64::MAX / 16 * u64::from(value % 16) + 15,
            _ => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    /// So many inputs, of bytes that are random but always the same.
    fn inputs(count: usize, length: usize) -> Vec<Vec<u8>> {
        let mut bytes = vec![0; count * length];
        Pattern { seed: 7 }.fill(0, 1, &mut bytes);
        bytes.chunks(length).map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn any_numbers_are_a_problem_or_refused() {
        let taken = inputs(200_000, 103).iter().filter(|bytes| problem(bytes)).count();
        assert!(taken > 20_000, "{taken}");
    }

    #[cfg(feature = "cli")]
    mod headers {
        use super::*;

        const TEXTS: [&str; 4] = [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }\n",
            "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 0, 18446744073709551615)}",
            "{\"shape\": (2, 288230376151711743), 'fortran_order':True,'descr':'<M8[25s]'}",
            "{'descr': [('x', '>c16', (2,)), ('y', 'O')], 'fortran_order': False, 'shape': ()}",
        ];
        /// What means something to the parser.
        const WORDS: [&str; 32] = [
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "'",
            "\"",
            "'''",
            ",",
            ":",
            ".",
            "\\",
            "\\x00",
            "\\N{DASH}",
            "\n",
            "\r\n",
            "\0",
            " ",
            "0",
            "-1",
            "0x10",
            "1e5",
            "3j",
            "1_0",
            "b''",
            "None",
            "True",
            "'descr'",
            "<m8",
            "\u{2028}",
            "340282366920938463463374607431768211456",
        ];

        /// Changes the text in one place: takes bytes away, puts a word there, repeats bytes, or changes one.
        fn change(text: &mut Vec<u8>, [kind, at, length, what]: [u8; 4]) {
            let at = at as usize % (text.len() + 1);
            let end = (at + (length as usize % 32).saturating_sub(16)).min(text.len());
            let repeated = text[at..end].repeat(1 + what as usize % 4);
            let new = match kind % 4 {
                0 => &[],
                1 => WORDS[what as usize % WORDS.len()].as_bytes(),
                2 => &repeated,
                _ => &[what][..],
            };
            text.splice(at..end, new.iter().copied());
        }

        #[test]
        fn any_bytes_are_a_header_or_refused() {
            let mut taken = 0;
            for bytes in inputs(20_000, 18) {
                let mut text = TEXTS[bytes[0] as usize % TEXTS.len()].as_bytes().to_vec();
                for bytes in bytes[2..].chunks_exact(4).take(1 + bytes[1] as usize % 4) {
                    change(&mut text, [bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
                taken += usize::from(npy(&text));
            }
            assert!(taken > 1_000, "{taken}");
        }
    }
}
