//! How the matrices of one side lie in its buffer.

use std::fmt;

use super::ProblemTooLarge;

/// How row-major matrices lie in a buffer. Lengths are in elements.
///
/// What is between the end of a row and the beginning of the next, or between two matrices, is a gap. Nothing is
/// written there. So a part of a larger matrix has a layout of its own, with the larger one's leading dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Index of the first element of the first matrix: what is before is a gap, too.
    pub first: u64,
    /// Leading dimension: from the beginning of a row to that of the next.
    pub ld: u64,
    /// Batch stride: from the beginning of a matrix to that of the next.
    pub stride: u64,
}

impl Layout {
    /// One row directly after the other, and one matrix directly after the other.
    pub fn packed(rows: u64, cols: u64) -> Layout {
        Layout::with_gaps(rows, cols, 0, 0)
    }

    /// A gap of `row_gap` after each row of `cols` elements, and another of `matrix_gap` after each `rows` of them.
    ///
    /// A sum beyond 64 bits becomes `u64::MAX`, and where it matters, no problem can have that.
    pub fn with_gaps(rows: u64, cols: u64, row_gap: u64, matrix_gap: u64) -> Layout {
        let ld = cols.saturating_add(row_gap);
        Layout { first: 0, ld, stride: rows.saturating_mul(ld).saturating_add(matrix_gap) }
    }

    /// The same from this index on. A part of a larger matrix begins at its first row × the leading dimension + its first
    /// column.
    pub fn starting_at(self, first: u64) -> Layout {
        Layout { first, ..self }
    }

    /// The same for `batch` matrices of `rows` × `cols`, none of which is zero: where there is no second row or matrix,
    /// its distance is as if packed.
    pub(super) fn of(self, side: Side, rows: u64, cols: u64, batch: u64) -> Result<Layout, LayoutError> {
        let ld = if rows == 1 { cols } else { self.ld };
        if ld < cols {
            return Err(LayoutError::RowsOverlap { side, ld, cols });
        }
        // A matrix beyond 64 bits is refused for its size, whatever its stride.
        let Some(span) = (Layout { ld, ..self }).span(rows, cols) else { return Ok(Layout { ld, ..self }) };
        let stride = if batch == 1 { span } else { self.stride };
        match stride < span {
            true => Err(LayoutError::MatricesOverlap { side, stride, rows, cols, ld, span }),
            false => Ok(Layout { ld, stride, ..self }),
        }
    }

    /// Whether every row begins with a whole unit of so many elements, as the buffer does.
    pub(crate) fn begins_with(self, unit: u64) -> bool {
        self.first.is_multiple_of(unit) && self.ld.is_multiple_of(unit) && self.stride.is_multiple_of(unit)
    }

    /// Elements from the first to the last of one matrix.
    pub(super) fn span(self, rows: u64, cols: u64) -> Option<u64> {
        self.ld.checked_mul(rows - 1)?.checked_add(cols)
    }

    /// Elements from the buffer's first to the last of all.
    pub(super) fn extent(self, rows: u64, cols: u64, batch: u64) -> Option<u64> {
        self.stride.checked_mul(batch - 1)?.checked_add(self.span(rows, cols)?)?.checked_add(self.first)
    }
}

/// The layouts of source and destination in few words, such as `ld 4100 → 4104`; of several matrices with their stride.
pub(crate) fn told([source, destination]: [Layout; 2], batch: u64) -> String {
    let mut text = format!("ld {} → {}", source.ld, destination.ld);
    if batch > 1 {
        text += &format!(", stride {} → {}", source.stride, destination.stride);
    }
    if [source.first, destination.first] != [0; 2] {
        text += &format!(", from {} → {}", source.first, destination.first);
    }
    text
}

/// One of the two buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is read.
    Source,
    /// What is written.
    Destination,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Source => "source",
            Side::Destination => "destination",
        })
    }
}

/// A layout that a problem cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Rows would overlap.
    #[error("the {side}'s leading dimension of {ld} is less than the {cols} elements of its rows")]
    RowsOverlap {
        /// Which buffer.
        side: Side,
        /// Its leading dimension.
        ld: u64,
        /// Elements of one of its rows.
        cols: u64,
    },
    /// Matrices would overlap, or lie in the gaps of each other.
    #[error(
        "the {side}'s batch stride of {stride} is less than the {span} elements over which a matrix of {rows}×{cols} \
         with a leading dimension of {ld} reaches"
    )]
    MatricesOverlap {
        /// Which buffer.
        side: Side,
        /// Its batch stride.
        stride: u64,
        /// Rows of one of its matrices.
        rows: u64,
        /// Columns of one of its matrices.
        cols: u64,
        /// Its leading dimension.
        ld: u64,
        /// Elements from the first to the last of one matrix.
        span: u64,
    },
    /// The bytes cannot be counted.
    #[error(transparent)]
    TooLarge(#[from] ProblemTooLarge),
}
