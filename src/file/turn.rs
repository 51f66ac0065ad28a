//! What it takes to turn an array around: the last two axes exchanged, in C order.

use super::npy::Header;
use crate::element::Element;
use crate::problem::{Problem, ProblemTooLarge};

/// What is to be done with a file's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The transposes that bring the elements into their order; `None` where they are in it already.
    pub(crate) transpose: Option<Problem>,
    /// The lengths of the result's axes.
    pub(crate) shape: Vec<u64>,
    /// The bytes of all elements.
    pub(crate) bytes: u64,
}

/// Why an array cannot be transposed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error("has {0} axes; a matrix has 2, a batch of matrices has 3")]
    Axes(usize),
    #[error("is too large: {0}")]
    TooLarge(#[from] ProblemTooLarge),
}

impl Turn {
    /// The turn of a `.npy` file's array.
    pub(crate) fn of(header: &Header) -> Result<Turn, TurnError> {
        let element = Element::of_width(header.width);
        match (header.shape.as_slice(), header.fortran_order) {
            (&[rows, cols], false) => Turn::packed(1, rows, cols, element, &[cols, rows]),
            (&[batch, rows, cols], false) => Turn::packed(batch, rows, cols, element, &[batch, cols, rows]),
            // A matrix in Fortran order is its transpose in C order.
            (&[rows, cols], true) => {
                Ok(Turn { transpose: None, ..Turn::packed(1, rows, cols, element, &[cols, rows])? })
            }
            // The first axis varies fastest: in C order these are `cols` × `rows` × `batch` elements, and those of a
            // matrix are to come together.
            (&[batch, rows, cols], true) => {
                let whole = Problem::new(rows, cols, batch, element)?;
                let together = if whole.is_empty() { 0 } else { rows * cols };
                Turn::packed(1, together, batch, element, &[batch, cols, rows])
            }
            (axes, _) => Err(TurnError::Axes(axes.len())),
        }
    }

    /// The turn of `batch` matrices of `rows` × `cols` in C order, after which the axes are `shape`.
    pub(crate) fn packed(batch: u64, rows: u64, cols: u64, element: Element, shape: &[u64]) -> Result<Turn, TurnError> {
        let problem = Problem::new(rows, cols, batch, element)?;
        let in_order = problem.is_empty() || rows == 1 || cols == 1;
        Ok(Turn { transpose: (!in_order).then_some(problem), shape: shape.into(), bytes: problem.copied_bytes() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Width;

    fn header(shape: &[u64], fortran_order: bool) -> Header {
        Header { descr: "<f4".into(), width: Width::W4, shape: shape.into(), fortran_order, data: 64 }
    }

    #[test]
    fn each_order_and_number_of_axes_has_its_problem() {
        let turn = |shape: &[u64], fortran| Turn::of(&header(shape, fortran)).unwrap();
        let problem = |rows, cols, batch| Some(Problem::new(rows, cols, batch, Element::F32).unwrap());
        let cases = [
            (turn(&[3, 5], false), problem(3, 5, 1), vec![5, 3]),
            (turn(&[3, 5], true), None, vec![5, 3]),
            (turn(&[2, 3, 5], false), problem(3, 5, 2), vec![2, 5, 3]),
            (turn(&[2, 3, 5], true), problem(15, 2, 1), vec![2, 5, 3]),
            (turn(&[1, 5], false), None, vec![5, 1]),
            (turn(&[7, 5, 1], false), None, vec![7, 1, 5]),
            (turn(&[0, 5], false), None, vec![5, 0]),
            (turn(&[0, u64::MAX, 2], true), None, vec![0, 2, u64::MAX]),
        ];
        for (turn, transpose, shape) in cases {
            assert_eq!((turn.transpose, turn.shape), (transpose, shape));
        }
        assert_eq!(turn(&[2, 3, 5], true).bytes, 120);
    }

    #[test]
    fn what_cannot_be_turned_is_refused_with_the_numbers() {
        let refused = |shape: &[u64]| Turn::of(&header(shape, false)).unwrap_err().to_string();
        assert!(refused(&[]).contains("has 0 axes"));
        assert!(refused(&[4]).contains("has 1 axes"));
        assert!(refused(&[4, 4, 4, 4]).contains("has 4 axes"));
        let large = Turn::of(&header(&[1 << 40, 1 << 40, 1 << 40], true)).unwrap_err().to_string();
        assert!(large.contains("1099511627776"), "{large}");
    }
}
