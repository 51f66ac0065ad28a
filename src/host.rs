//! Windows of matrices in host memory, on their way to a device and back: packed for the one, and put in place from the
//! other.

use rayon::prelude::*;

use crate::problem::{LayoutError, Problem};

/// The problem that a window of host matrices is on a device: the same matrices, one row directly after the other.
///
/// # Errors
/// None for a window of a problem.
pub(crate) fn packed(window: &Problem) -> Result<Problem, LayoutError> {
    Ok(Problem::new(window.rows(), window.cols(), window.batch(), window.element())?)
}

/// The bytes of a row of the window, of those of all its matrices, in the source, whose bytes these are.
pub(crate) fn source_row<'a>(window: &Problem, source: &'a [u8], row: u64) -> &'a [u8] {
    let (width, layout) = (window.width().bytes(), window.source());
    let begin = layout.first + row / window.rows() * layout.stride + row % window.rows() * layout.ld;
    &source[begin as usize * width..][..window.cols() as usize * width]
}

/// Puts a window's packed part of the destination where it belongs in that, whose bytes these are.
pub(crate) fn unpack(window: &Problem, from: &[u8], destination: &mut [u8]) {
    let width = window.width().bytes();
    // The destination has as many rows as the source has columns.
    let (rows, layout) = (window.cols() as usize, window.destination());
    let [first, ld, stride] = [layout.first, layout.ld, layout.stride].map(|elements| elements as usize * width);
    let row_bytes = window.rows() as usize * width;
    let matrices = destination[first..].par_chunks_mut(stride).zip(from.par_chunks_exact(rows * row_bytes));
    matrices.for_each(|(matrix, from)| {
        let rows = matrix.par_chunks_mut(ld).zip(from.par_chunks_exact(row_bytes));
        rows.for_each(|(row, from)| row[..row_bytes].copy_from_slice(from));
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    proptest! {
        /// Windows that are packed, transposed element by element, and unpacked, are the whole's transpose.
        #[test]
        fn there_and_back_is_the_transpose(
            (rows, cols, batch) in (1u64..30, 1u64..30, 1u64..4),
            (gap, to_gap, stride, first) in (0u64..9, 0u64..9, 0u64..9, 0u64..9),
            most in 1u64..900,
        ) {
            let source = Layout::with_gaps(rows, cols, gap, stride).from(first);
            let destination = Layout::with_gaps(cols, rows, to_gap, stride).from(first);
            let whole = Problem::new(rows, cols, batch, Element::U16).unwrap().with_layouts(source, destination).unwrap();
            let from: Vec<u16> = (0..whole.source_extent() as u16).collect();
            let mut to = vec![u16::MAX; whole.destination_extent() as usize];
            for window in whole.shares(most) {
                let window = window.unwrap();
                let packed = packed(&window).unwrap();
                let rows = 0..window.rows() * window.batch();
                let there: Vec<u8> =
                    rows.flat_map(|row| source_row(&window, bytemuck::cast_slice(&from), row)).copied().collect();
                let there: Vec<u16> = there.chunks_exact(2).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]])).collect();
                let turned: Vec<u16> =
                    packed.sources_from(0).take(there.len()).map(|index| there[index.unwrap() as usize]).collect();
                unpack(&window, bytemuck::cast_slice(&turned), bytemuck::cast_slice_mut(&mut to));
            }
            let expected: Vec<u16> = (0..whole.destination_extent())
                .map(|index| whole.source_of(index).map_or(u16::MAX, |at| from[at as usize]))
                .collect();
            prop_assert_eq!(to, expected);
        }
    }
}
