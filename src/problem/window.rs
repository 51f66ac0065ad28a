//! Windows: parts of a problem of which each side is short enough for what cannot take it whole.

use super::{LayoutError, Problem};

/// Rows and columns of a window are multiples of this many, so that windows begin where the whole is aligned too: no
/// tile is longer.
const GRAIN: u64 = 256;

impl Problem {
    /// The part of `batch` matrices of `rows` × `cols` from this matrix, row and column of the source on. Its layouts are
    /// those of the whole, in the same buffers.
    ///
    /// # Errors
    /// None for a part that lies in the whole.
    fn part(&self, [matrix, row, col]: [u64; 3], [batch, rows, cols]: [u64; 3]) -> Result<Problem, LayoutError> {
        let (from, to) = (self.source, self.destination);
        let source = from.starting_at(from.first + matrix * from.stride + row * from.ld + col);
        let destination = to.starting_at(to.first + matrix * to.stride + col * to.ld + row);
        Problem::new(rows, cols, batch, self.element)?.with_layouts(source, destination)
    }

    /// Parts that are together the whole, and of which each reaches over at most `most` elements of either side, which
    /// is at least 1. A problem that does so is its only window.
    pub fn windows(&self, most: u64) -> impl Iterator<Item = Result<Problem, LayoutError>> + use<> {
        self.cut(self.window(most.max(1)))
    }

    /// Parts that are together the whole, and of which each has at most `most` elements, which is at least 1, however far they
    /// lie apart.
    pub fn shares(&self, most: u64) -> impl Iterator<Item = Result<Problem, LayoutError>> + use<> {
        self.cut(self.share(most.max(1), grained))
    }

    /// As [`shares`](Self::shares), but rows of either side that are cut are cut at multiples of `piece` elements, as long as
    /// so many fit, and what is left of them is shorter.
    pub fn pieced_shares(&self, most: u64, piece: u64) -> impl Iterator<Item = Result<Problem, LayoutError>> + use<> {
        self.cut(self.share(most.max(1), |length, most| match most.checked_div(piece) {
            Some(pieces @ 1..) if most < length => pieces * piece,
            _ => grained(length, most),
        }))
    }

    /// The whole in parts of so many matrices, rows and columns, or fewer at its ends.
    fn cut(&self, [batch, rows, cols]: [u64; 3]) -> impl Iterator<Item = Result<Problem, LayoutError>> + use<> {
        let whole = *self;
        let starts = |length: u64, step: u64| (0..length).step_by(step.max(1) as usize);
        starts(whole.batch, batch).flat_map(move |matrix| {
            starts(whole.cols, cols).flat_map(move |col| {
                starts(whole.rows, rows).map(move |row| {
                    let size =
                        [batch.min(whole.batch - matrix), rows.min(whole.rows - row), cols.min(whole.cols - col)];
                    whole.part([matrix, row, col], size)
                })
            })
        })
    }

    /// Matrices, rows and columns of a window.
    fn window(&self, most: u64) -> [u64; 3] {
        let Problem { rows, cols, batch, source, destination, .. } = *self;
        if self.is_empty() {
            return [batch, rows, cols];
        }
        // What is in a problem can be counted.
        let span = |side: super::Layout, rows, cols| side.span(rows, cols).unwrap_or(u64::MAX);
        let matrix = span(source, rows, cols).max(span(destination, cols, rows));
        if matrix <= most {
            let further = |stride: u64| (most - matrix) / stride;
            let more = further(source.stride).min(further(destination.stride));
            return [batch.min(more + 1), rows, cols];
        }
        // As many rows as fit however long they are, and then as much of them as fits beside the columns, which are rows
        // of the destination.
        let fit = |ld: u64, length: u64| grained(length, (most / ld).max(1));
        let (tall, wide) = (fit(source.ld, rows), fit(destination.ld, cols));
        let wide = wide.min(most - (tall - 1) * source.ld);
        let tall = tall.min(most - (wide - 1) * destination.ld);
        [1, tall, wide]
    }

    /// Matrices, rows and columns of a share: about squares, so that pieces of rows are long on both sides. `cut` tells how
    /// much of a length to take, and is told how much at most.
    fn share(&self, most: u64, cut: impl Fn(u64, u64) -> u64) -> [u64; 3] {
        let Problem { rows, cols, batch, .. } = *self;
        if self.is_empty() {
            return [batch, rows, cols];
        }
        match rows.checked_mul(cols) {
            Some(matrix) if matrix <= most => [batch.min(most / matrix), rows, cols],
            _ => {
                let wide = cut(cols, most.isqrt().max(most / rows));
                [1, cut(rows, most / wide), wide]
            }
        }
    }
}

/// Into how long parts to cut a length, of which each is at most `most`: alike, but in whole grains where that can be.
fn grained(length: u64, most: u64) -> u64 {
    let even = length.div_ceil(length.div_ceil(most));
    let whole = even.next_multiple_of(GRAIN);
    match whole <= most {
        true => whole.min(length),
        false if most < GRAIN => even,
        false => most / GRAIN * GRAIN,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    #[test]
    fn what_fits_is_one_window_and_larger_ones_are_cut_alike() {
        let windows = |rows, cols, batch, most| -> Vec<[u64; 3]> {
            let problem = Problem::new(rows, cols, batch, Element::F32).unwrap();
            problem.windows(most).map(|w| w.unwrap()).map(|w| [w.batch(), w.rows(), w.cols()]).collect()
        };
        assert_eq!(windows(30, 40, 1, 1200), [[1, 30, 40]]);
        assert_eq!(windows(30, 40, 5, 2400), [[2, 30, 40], [2, 30, 40], [1, 30, 40]]);
        assert_eq!(windows(3, 4, 1, 1), [[1; 3]; 12]);
        let cut = windows(30_000, 30_001, 1, 1 << 27);
        assert_eq!((cut.len(), cut[0]), (49, [1, 4352, 4352]));
        assert_eq!(windows(0, 7, 1, 1), [[0; 3]; 0]);
    }

    #[test]
    fn pieced_shares_are_cut_at_pieces_where_they_fit() {
        let shares = |rows, cols, most, piece| -> Vec<[u64; 2]> {
            let problem = Problem::new(rows, cols, 1, Element::F32).unwrap();
            problem
                .pieced_shares(most, piece)
                .map(|share| share.unwrap())
                .map(|share| [share.rows(), share.cols()])
                .collect()
        };
        assert_eq!(shares(10, 10, 36, 3), [[6, 6], [4, 6], [6, 4], [4, 4]]);
        // One side is whole, and the other as long as that leaves room for.
        assert_eq!(shares(4, 100, 200, 32), [[4, 32], [4, 32], [4, 32], [4, 4]]);
        assert_eq!(shares(100, 4, 200, 32), [[32, 4], [32, 4], [32, 4], [4, 4]]);
        // Not even a piece fits.
        assert_eq!(shares(4, 4, 4, 3), [[2, 2]; 4]);
    }

    proptest! {
        /// Windows are short enough, and every element of the whole is in one of them, in its place.
        #[test]
        fn windows_are_the_whole(
            (rows, cols, batch) in (1u64..40, 1u64..40, 1u64..4),
            (ld, to_ld, stride) in (0u64..50, 0u64..50, 0u64..50),
            firsts in (0u64..9, 0u64..9),
            most in 1u64..3000,
        ) {
            let source = Layout::with_gaps(rows, cols, ld, stride).starting_at(firsts.0);
            let destination = Layout::with_gaps(cols, rows, to_ld, stride).starting_at(firsts.1);
            let whole = Problem::new(rows, cols, batch, Element::U8).unwrap().with_layouts(source, destination).unwrap();
            let mut found = vec![None; whole.destination_extent() as usize];
            for window in whole.windows(most) {
                let window = window.unwrap();
                prop_assert!(window.source_extent() - window.source().first <= most);
                prop_assert!(window.destination_extent() - window.destination().first <= most);
                for index in 0..window.destination_extent() {
                    if let Some(from) = window.source_of(index) {
                        prop_assert_eq!(found[index as usize].replace(from), None);
                    }
                }
            }
            let expected: Vec<_> = (0..whole.destination_extent()).map(|index| whole.source_of(index)).collect();
            prop_assert_eq!(found, expected);
        }

        /// So are shares, which are small enough.
        #[test]
        fn shares_are_the_whole(
            (rows, cols, batch) in (1u64..90, 1u64..90, 1u64..5),
            most in 1u64..5000,
            piece in 0u64..40,
        ) {
            let whole = Problem::new(rows, cols, batch, Element::U8).unwrap();
            let mut found = vec![0; whole.elements() as usize];
            for share in whole.shares(most).chain(whole.pieced_shares(most, piece)) {
                let share = share.unwrap();
                prop_assert!(share.elements() <= most);
                (0..whole.elements()).filter_map(|index| share.source_of(index)).for_each(|at| found[at as usize] += 1);
            }
            prop_assert!(found.iter().all(|&count| count == 2));
        }

        #[test]
        fn parts_are_no_longer_than_asked_for(length in 1u64..1 << 40, most in 1u64..1 << 40) {
            let part = grained(length, most);
            prop_assert!(part >= 1 && part <= most && part <= length);
            prop_assert!(part.is_multiple_of(GRAIN) || part == length || most < GRAIN);
        }
    }
}
