//! The problem: which matrices are to be transposed, and how many bytes that moves.

use std::fmt;

use crate::element::{Element, Width};

/// `batch` row-major matrices of `rows` × `cols` elements, one directly after the other.
///
/// The destination holds `batch` row-major matrices of `cols` × `rows` elements. Both sides together fit in 63 bits
/// of bytes, so that offsets and byte counts never overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    rows: u64,
    cols: u64,
    batch: u64,
    element: Element,
}

/// A problem whose bytes cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{batch} × {rows}×{cols} of {element} ({} bytes each) is more than {} bytes, the most that source and \
     destination can have together",
    element.width().bytes(), Problem::MAX_BYTES
)]
pub struct ProblemTooLarge {
    /// Rows of one source matrix.
    pub rows: u64,
    /// Columns of one source matrix.
    pub cols: u64,
    /// Number of matrices.
    pub batch: u64,
    /// Element type.
    pub element: Element,
}

impl Problem {
    /// The most bytes that source and destination may have together: what a signed 64-bit offset can reach.
    pub const MAX_BYTES: u64 = i64::MAX as u64;

    /// A problem of `batch` matrices of `rows` × `cols`; any of them may be zero.
    ///
    /// # Errors
    /// [`ProblemTooLarge`] if source and destination together exceed [`Problem::MAX_BYTES`].
    pub fn new(rows: u64, cols: u64, batch: u64, element: Element) -> Result<Problem, ProblemTooLarge> {
        let problem = Problem { rows, cols, batch, element };
        // A zero anywhere makes the problem empty, however large the other factors are.
        if problem.is_empty() {
            return Ok(problem);
        }
        let bytes = rows
            .checked_mul(cols)
            .and_then(|n| n.checked_mul(batch))
            .and_then(|n| n.checked_mul(2 * element.width().bytes() as u64));
        match bytes {
            Some(bytes) if bytes <= Problem::MAX_BYTES => Ok(problem),
            _ => Err(ProblemTooLarge { rows, cols, batch, element }),
        }
    }

    /// Rows of one source matrix.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns of one source matrix.
    pub fn cols(&self) -> u64 {
        self.cols
    }

    /// Number of matrices.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// Element type.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Element width.
    pub fn width(&self) -> Width {
        self.element.width()
    }

    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0 || self.batch == 0
    }

    /// Elements in all source matrices together.
    pub fn elements(&self) -> u64 {
        if self.is_empty() { 0 } else { self.rows * self.cols * self.batch }
    }

    /// Bytes of the source, which are also the bytes of the destination.
    pub fn side_bytes(&self) -> u64 {
        self.elements() * self.width().bytes() as u64
    }

    /// Bytes moved by one transpose or copy: each element read once and written once.
    ///
    /// This is the only place that counts bytes for a bandwidth: 2 × rows × cols × batch × width.
    pub fn bytes_moved(&self) -> u64 {
        2 * self.side_bytes()
    }

    /// The source index of the element that belongs at index `destination` of the destination.
    ///
    /// This is the definition of a transpose that everything else is checked against; the problem must not be empty.
    pub fn source_of(&self, destination: u64) -> u64 {
        let matrix = self.rows * self.cols;
        let (batch, within) = (destination / matrix, destination % matrix);
        let (col, row) = (within / self.rows, within % self.rows);
        batch * matrix + row * self.cols + col
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.batch != 1 {
            write!(f, "{} × ", self.batch)?;
        }
        write!(f, "{}×{} {}", self.rows, self.cols, self.element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_each_element_once_on_each_side() {
        let problem = Problem::new(4096, 4096, 1, Element::F32).unwrap();
        assert_eq!(problem.bytes_moved(), 134_217_728);
        assert_eq!(Problem::new(5, 7, 3, Element::C128).unwrap().bytes_moved(), 2 * 5 * 7 * 3 * 16);
    }

    #[test]
    fn the_limit_is_exact() {
        let max = Problem::MAX_BYTES / 2;
        assert!(Problem::new(max, 1, 1, Element::U8).is_ok());
        let error = Problem::new(max + 1, 1, 1, Element::U8).unwrap_err();
        assert!(error.to_string().contains("4611686018427387904×1 of u8 (1 bytes each)"), "{error}");
        assert!(Problem::new(u64::MAX, u64::MAX, u64::MAX, Element::C128).is_err());
    }

    #[test]
    fn zero_times_anything_is_empty_and_not_too_large() {
        let problem = Problem::new(0, u64::MAX, u64::MAX, Element::C128).unwrap();
        assert!(problem.is_empty());
        assert_eq!(problem.bytes_moved(), 0);
    }

    #[test]
    fn source_of_is_the_transpose_of_each_matrix() {
        // Two 2×3 matrices 0..6 and 6..12.
        let problem = Problem::new(2, 3, 2, Element::U8).unwrap();
        let order: Vec<u64> = (0..12).map(|d| problem.source_of(d)).collect();
        assert_eq!(order, [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
    }
}
