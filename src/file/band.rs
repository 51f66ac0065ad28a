//! A problem in bands: pieces of the destination one after the other, each a transpose of its own.

use crate::problem::{Layout, LayoutError, Problem};

/// A piece of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// The transpose that makes it: its source has the leading dimension of the whole.
    pub(super) problem: Problem,
    /// Index of its first element in the whole source.
    pub(super) source: u64,
}

/// The bands of a packed problem that is not empty, each of at most `bytes`, or of one element if that is more.
pub(super) fn bands(whole: Problem, bytes: u64) -> impl Iterator<Item = Result<Band, LayoutError>> {
    let room = (bytes / whole.width().bytes() as u64).max(1);
    let (rows, cols, batch) = (whole.rows(), whole.cols(), whole.batch());
    // Whole matrices if one fits, else whole rows of the destination, else parts of one.
    let matrices = (room / (rows * cols)).clamp(1, batch);
    let wide = match room / rows {
        0 => 1,
        fit if fit >= cols => cols,
        // Whole cache lines of the source, where there are some.
        fit if fit >= LINE => fit / LINE * LINE,
        fit => fit,
    };
    let high = room.min(rows);
    let starts = move |length: u64, step: u64| (0..length).step_by(step as usize);
    starts(batch, matrices).flat_map(move |matrix| {
        starts(cols, wide).flat_map(move |col| {
            starts(rows, high).map(move |row| {
                let count = matrices.min(batch - matrix);
                let problem = Problem::new(high.min(rows - row), wide.min(cols - col), count, whole.element())?;
                let (rows, columns) = (problem.rows(), problem.cols());
                let source = Layout { first: 0, ld: cols, stride: whole.source().stride };
                let problem = problem.with_layouts(source, Layout::packed(columns, rows))?;
                Ok(Band { problem, source: matrix * whole.source().stride + row * cols + col })
            })
        })
    })
}

/// Elements of any width that begin and end with a cache line of 64 bytes, if rows do.
const LINE: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    #[test]
    fn bands_are_the_whole_destination_in_order() {
        let shapes = [(1, 1, 1), (3, 5, 7), (200, 70, 2), (70, 200, 3), (1000, 3, 2), (3, 1000, 2), (2, 2, 50)];
        for (rows, cols, batch) in shapes {
            let whole = Problem::new(rows, cols, batch, Element::F32).unwrap();
            for bytes in [1, 4, 100, 1000, 4096, 60_000, 1 << 20] {
                let mut sources = Vec::new();
                for band in bands(whole, bytes) {
                    let band = band.unwrap();
                    assert!(band.problem.destination_bytes() <= bytes.max(4), "{bytes} B: {band:?}");
                    assert_eq!(band.problem.destination_bytes(), band.problem.copied_bytes(), "packed");
                    sources.extend(band.problem.sources_from(0).map_while(|source| Some(source? + band.source)));
                }
                let expected: Vec<u64> = whole.sources_from(0).map_while(|source| source).collect();
                assert!(sources == expected, "{rows}x{cols}x{batch} in {bytes} B");
            }
        }
    }
}
