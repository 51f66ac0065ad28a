//! The problem: which matrices are to be transposed, how they lie in memory, and how many bytes that moves.

mod layout;
mod window;

use std::fmt;

use crate::element::{Element, Width};

pub(crate) use layout::told;
pub use layout::{Layout, LayoutError, Side};

/// `batch` row-major matrices of `rows` × `cols` elements, and as many of `cols` × `rows` for the destination.
///
/// On either side they lie as its [`Layout`] says; unless one is given, one directly after the other. Both sides
/// together, gaps included, fit in 63 bits of bytes, so that offsets and byte counts never overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    rows: u64,
    cols: u64,
    batch: u64,
    element: Element,
    source: Layout,
    destination: Layout,
}

/// A problem whose bytes cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{batch} × {rows}×{cols} of {element} ({} bytes each){} is more than {} bytes, the most that source and \
     destination can have together",
    element.width().bytes(), layouts.map_or(String::new(), |both| format!(" with {}", told(both, *batch))),
    Problem::MAX_BYTES
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
    /// The layouts of source and destination, where they were given.
    pub layouts: Option<[Layout; 2]>,
}

impl Problem {
    /// The most bytes that source and destination may have together: what a signed 64-bit offset can reach.
    pub const MAX_BYTES: u64 = i64::MAX as u64;

    /// A problem of `batch` packed matrices of `rows` × `cols`; any of them may be zero.
    ///
    /// # Errors
    /// [`ProblemTooLarge`] if source and destination together exceed [`Problem::MAX_BYTES`].
    pub fn new(rows: u64, cols: u64, batch: u64, element: Element) -> Result<Problem, ProblemTooLarge> {
        let (source, destination) = (Layout::packed(rows, cols), Layout::packed(cols, rows));
        let problem = Problem { rows, cols, batch, element, source, destination };
        // A zero anywhere makes the problem empty, however large the other factors are.
        match problem.is_empty() || problem.fits() {
            true => Ok(problem),
            false => Err(ProblemTooLarge { rows, cols, batch, element, layouts: None }),
        }
    }

    /// The same matrices in other places of the source, which has `rows` × `cols`, and of the destination, which has
    /// `cols` × `rows`.
    ///
    /// ```
    /// use cornerturn::element::Element;
    /// use cornerturn::problem::{Layout, Problem};
    ///
    /// // The 100 × 200 elements from row 30 and column 40 on of a matrix with 1920 columns, into the upper left corner of
    /// // one with 640.
    /// let source = Layout { first: 30 * 1920 + 40, ld: 1920, stride: 0 };
    /// let destination = Layout { first: 0, ld: 640, stride: 0 };
    /// let part = Problem::new(100, 200, 1, Element::F32)?.with_layouts(source, destination)?;
    /// assert_eq!(part.source_of(640), Some(30 * 1920 + 41)); // row 1 of the destination is column 1 of the source
    /// # Ok::<(), cornerturn::problem::LayoutError>(())
    /// ```
    ///
    /// The leading dimension of a single row, the stride of a single matrix and all of an empty problem mean nothing:
    /// they are not heeded, and problems that differ in nothing else are equal.
    ///
    /// # Errors
    /// [`LayoutError`] if a leading dimension is less than a row, if a batch stride is less than what a matrix reaches
    /// over, or if both sides together, gaps included, exceed [`Problem::MAX_BYTES`].
    pub fn with_layouts(self, source: Layout, destination: Layout) -> Result<Problem, LayoutError> {
        let Problem { rows, cols, batch, element, .. } = self;
        if self.is_empty() {
            return Ok(self);
        }
        let problem = Problem {
            source: source.of(Side::Source, rows, cols, batch)?,
            destination: destination.of(Side::Destination, cols, rows, batch)?,
            ..self
        };
        match problem.fits() {
            true => Ok(problem),
            false => {
                let layouts = Some([source, destination]);
                Err(ProblemTooLarge { rows, cols, batch, element, layouts }.into())
            }
        }
    }

    /// Whether the bytes of both sides, neither of which is empty, can be counted.
    fn fits(&self) -> bool {
        let bytes = || {
            let source = self.source.extent(self.rows, self.cols, self.batch)?;
            let destination = self.destination.extent(self.cols, self.rows, self.batch)?;
            source.checked_add(destination)?.checked_mul(self.width().bytes() as u64)
        };
        bytes().is_some_and(|bytes| bytes <= Problem::MAX_BYTES)
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

    /// How the matrices of `rows` × `cols` lie in the source. A single matrix has a stride of what it reaches over.
    pub fn source(&self) -> Layout {
        self.source
    }

    /// How the matrices of `cols` × `rows` lie in the destination; the same of its stride.
    pub fn destination(&self) -> Layout {
        self.destination
    }

    /// The layouts of source and destination as kernels take them: a single matrix has a stride of 0, which is aligned to
    /// everything, since nothing depends on it.
    pub(crate) fn kernel_layouts(&self) -> [Layout; 2] {
        let single = self.batch == 1;
        [self.source, self.destination].map(|layout| if single { Layout { stride: 0, ..layout } } else { layout })
    }

    /// Whether there is no gap on either side.
    pub fn is_packed(&self) -> bool {
        self.source == Layout::packed(self.rows, self.cols) && self.destination == Layout::packed(self.cols, self.rows)
    }

    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0 || self.batch == 0
    }

    /// Elements in all source matrices together, gaps not counted.
    pub fn elements(&self) -> u64 {
        if self.is_empty() { 0 } else { self.rows * self.cols * self.batch }
    }

    /// Elements of the source's buffer up to its last one, gaps included: indices into it are below.
    pub fn source_extent(&self) -> u64 {
        if self.is_empty() { 0 } else { self.source.extent(self.rows, self.cols, self.batch).unwrap_or(0) }
    }

    /// Elements of the destination's buffer up to its last one, gaps included: indices into it are below.
    pub fn destination_extent(&self) -> u64 {
        if self.is_empty() { 0 } else { self.destination.extent(self.cols, self.rows, self.batch).unwrap_or(0) }
    }

    /// Bytes of the source's buffer, gaps included.
    pub fn source_bytes(&self) -> u64 {
        self.source_extent() * self.width().bytes() as u64
    }

    /// Bytes of the destination's buffer, gaps included.
    pub fn destination_bytes(&self) -> u64 {
        self.destination_extent() * self.width().bytes() as u64
    }

    /// Bytes of both buffers together, gaps included: what has to be allocated.
    pub fn buffer_bytes(&self) -> u64 {
        self.source_bytes() + self.destination_bytes()
    }

    /// Bytes of all elements of one side, gaps not counted: what a copy moves from one buffer to the other.
    pub fn copied_bytes(&self) -> u64 {
        self.elements() * self.width().bytes() as u64
    }

    /// Bytes moved by one transpose or copy: each element read once and written once.
    ///
    /// This is the only place that counts bytes for a bandwidth: 2 × rows × cols × batch × width.
    pub fn bytes_moved(&self) -> u64 {
        2 * self.copied_bytes()
    }

    /// The index in the source of the element that belongs at index `destination` of the destination; `None` where no
    /// element belongs, in a gap or past the end.
    ///
    /// This is the definition of a transpose that everything else is checked against; the problem must not be empty.
    pub fn source_of(&self, destination: u64) -> Option<u64> {
        let index = destination.checked_sub(self.destination.first)?;
        let (matrix, within) = (index / self.destination.stride, index % self.destination.stride);
        let (col, row) = (within / self.destination.ld, within % self.destination.ld);
        let inside = matrix < self.batch && col < self.cols && row < self.rows;
        inside.then(|| self.source.first + matrix * self.source.stride + row * self.source.ld + col)
    }

    /// What [`Problem::source_of`] says of index `first` of the destination and of all after it, without dividing anew
    /// for each element of a row.
    pub fn sources_from(&self, first: u64) -> impl Iterator<Item = Option<u64>> {
        // The source's index, and how many elements the destination row has from there on.
        let (mut source, mut left) = (0, 0);
        (first..).map(move |index| {
            if left == 0 {
                source = self.source_of(index)?;
                let index = index - self.destination.first;
                left = self.rows - index % self.destination.stride % self.destination.ld;
            }
            let found = source;
            source += self.source.ld;
            left -= 1;
            Some(found)
        })
    }

    /// Why `taker`, which takes nothing but packed matrices, does not take these; `None` where they are packed.
    pub fn packed_only(&self, taker: &str) -> Option<String> {
        if self.is_packed() {
            return None;
        }
        let sides = [
            (Side::Source, self.source, self.rows, self.cols),
            (Side::Destination, self.destination, self.cols, self.rows),
        ];
        let gap = |(side, Layout { first, ld, stride }, rows, cols): (Side, Layout, u64, u64)| match first {
            1.. => Some(format!("the {side}'s begin at element {first}")),
            _ if ld > cols => Some(format!("the {side}'s have a leading dimension of {ld} for {cols} columns")),
            _ if stride > rows * cols => Some(format!("the {side}'s have a stride of {stride} for {rows}×{cols}")),
            _ => None,
        };
        sides.into_iter().find_map(gap).map(|gap| format!("{taker} takes packed matrices; {gap}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.batch != 1 {
            write!(f, "{} × ", self.batch)?;
        }
        write!(f, "{}×{} {}", self.rows, self.cols, self.element)?;
        match self.is_packed() {
            true => Ok(()),
            false => write!(f, ", {}", told([self.source, self.destination], self.batch)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        let order: Vec<u64> = (0..12).filter_map(|d| problem.source_of(d)).collect();
        assert_eq!(order, [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
        assert_eq!(problem.source_of(12), None);
    }

    fn layout(ld: u64, stride: u64) -> Layout {
        Layout { first: 0, ld, stride }
    }

    /// `batch` matrices of 2×3 u16.
    fn two_by_three(batch: u64, source: Layout, destination: Layout) -> Result<Problem, LayoutError> {
        Problem::new(2, 3, batch, Element::U16).unwrap().with_layouts(source, destination)
    }

    #[test]
    fn no_element_belongs_in_a_gap() {
        // Source rows of 3 in 5, matrices 11 apart; destination rows of 2 in 3, matrices 10 apart.
        let problem = two_by_three(2, layout(5, 11), layout(3, 10)).unwrap();
        let order: Vec<Option<u64>> = (0..19).map(|d| problem.source_of(d)).collect();
        let first = [Some(0), Some(5), None, Some(1), Some(6), None, Some(2), Some(7)];
        let second = first.map(|index| index.map(|index| index + 11));
        assert_eq!(order, [&first[..], &[None, None], &second[..], &[None]].concat());
        assert_eq!((problem.source_extent(), problem.destination_extent()), (19, 18));
        assert_eq!((problem.source_bytes(), problem.destination_bytes(), problem.buffer_bytes()), (38, 36, 74));
        assert_eq!((problem.copied_bytes(), problem.bytes_moved()), (24, 48));
        assert_eq!(problem.to_string(), "2 × 2×3 u16, ld 5 → 3, stride 11 → 10");
    }

    #[test]
    fn rows_and_matrices_may_touch_and_not_overlap() {
        let packed = [layout(3, 6), layout(2, 6)];
        let [source, destination] = packed;
        assert!(two_by_three(2, source, destination).unwrap().is_packed());
        let error = |source, destination| two_by_three(2, source, destination).unwrap_err().to_string();
        assert_eq!(
            error(layout(2, 6), destination),
            "the source's leading dimension of 2 is less than the 3 elements of its rows"
        );
        assert_eq!(
            error(source, layout(1, 6)),
            "the destination's leading dimension of 1 is less than the 2 elements of its rows"
        );
        // The gap after the last row need not be there: 5 + 3 elements, and 3 + 3 + 2.
        assert!(two_by_three(2, layout(5, 8), layout(3, 8)).is_ok());
        let reaches = "elements over which a matrix of";
        assert_eq!(
            error(layout(5, 7), layout(3, 8)),
            format!(
                "the source's batch stride of 7 is less than the 8 {reaches} 2×3 with a leading dimension of 5 reaches"
            )
        );
        assert_eq!(
            error(layout(5, 8), layout(3, 7)),
            format!(
                "the destination's batch stride of 7 is less than the 8 {reaches} 3×2 with a leading dimension of 3 \
                 reaches"
            )
        );
        // Into the gaps of one another, rows would fit; that is refused too.
        assert!(error(layout(6, 3), destination).contains("stride of 3 is less than the 9"));
    }

    #[test]
    fn the_limit_counts_gaps() {
        // Two rows of one byte `ld` apart, and a destination of 2 bytes.
        let gap = |ld| Problem::new(2, 1, 1, Element::U8).unwrap().with_layouts(layout(ld, 0), layout(2, 0));
        let most = Problem::MAX_BYTES - 2 - 1;
        assert_eq!(gap(most).unwrap().buffer_bytes(), Problem::MAX_BYTES);
        for ld in [most + 1, u64::MAX] {
            let LayoutError::TooLarge(error) = gap(ld).unwrap_err() else { panic!("not for its size") };
            assert!(
                error.to_string().contains(&format!("2×1 of u8 (1 bytes each) with ld {ld} → 2 is more")),
                "{error}"
            );
        }
        // Two matrices of one byte `stride` apart, and two in the destination.
        let apart = |stride| Problem::new(1, 1, 2, Element::U8).unwrap().with_layouts(layout(0, stride), layout(0, 1));
        let most = Problem::MAX_BYTES - 2 - 1;
        assert_eq!(apart(most).unwrap().buffer_bytes(), Problem::MAX_BYTES);
        assert!(matches!(apart(most + 1), Err(LayoutError::TooLarge(_))));
        assert!(matches!(apart(u64::MAX), Err(LayoutError::TooLarge(_))));
        let saturated = Layout::with_gaps(2, 2, u64::MAX, 7);
        assert_eq!(saturated, layout(u64::MAX, u64::MAX));
    }

    #[test]
    fn what_means_nothing_is_not_heeded() {
        let equal = |rows, cols, batch, source, destination| {
            let packed = Problem::new(rows, cols, batch, Element::F32).unwrap();
            assert_eq!(packed.with_layouts(source, destination), Ok(packed));
        };
        equal(1, 7, 1, layout(3, 0), layout(1, 0));
        equal(7, 1, 1, layout(1, u64::MAX), layout(0, 5));
        equal(0, u64::MAX, 3, layout(1, 1), layout(1, 1));
        equal(3, 4, 1, layout(4, 1), layout(3, u64::MAX));
        equal(1, 5, 2, layout(u64::MAX, 5), layout(1, 5));
    }

    #[test]
    fn who_takes_packed_matrices_only_says_what_is_in_the_way() {
        let text = |source, destination| two_by_three(3, source, destination).unwrap().packed_only("it");
        assert_eq!(text(layout(3, 6), layout(2, 6)), None);
        let starts = |end: &str| Some(format!("it takes packed matrices; the {end}"));
        assert_eq!(text(layout(4, 8), layout(9, 99)), starts("source's have a leading dimension of 4 for 3 columns"));
        assert_eq!(
            text(layout(3, 6), layout(9, 99)),
            starts("destination's have a leading dimension of 9 for 2 columns")
        );
        assert_eq!(text(layout(3, 7), layout(2, 6)), starts("source's have a stride of 7 for 2×3"));
        assert_eq!(text(layout(3, 6), layout(2, 7)), starts("destination's have a stride of 7 for 3×2"));
        assert_eq!(text(layout(3, 6), layout(2, 6).starting_at(4)), starts("destination's begin at element 4"));
    }

    proptest! {
        /// Each element of the source belongs in one place of the destination, and every other place is a gap.
        #[test]
        fn source_of_turns_every_element_once(
            (rows, cols, batch) in (1u64..12, 1u64..12, 1u64..4),
            firsts in (0u64..4, 0u64..4),
            row_gaps in (0u64..5, 0u64..5),
            matrix_gaps in (0u64..5, 0u64..5),
        ) {
            let source = Layout::with_gaps(rows, cols, row_gaps.0, matrix_gaps.0).starting_at(firsts.0);
            let destination = Layout::with_gaps(cols, rows, row_gaps.1, matrix_gaps.1).starting_at(firsts.1);
            let packed = Problem::new(rows, cols, batch, Element::U8).unwrap();
            let problem = packed.with_layouts(source, destination).unwrap();
            let mut expected = vec![None; problem.destination_extent() as usize];
            for cell in 0..problem.elements() {
                let (matrix, row, col) = (cell / (rows * cols), cell / cols % rows, cell % cols);
                let place = destination.first + matrix * destination.stride + col * destination.ld + row;
                let from = source.first + matrix * source.stride + row * source.ld + col;
                prop_assert!(from < problem.source_extent());
                prop_assert_eq!(expected[place as usize].replace(from), None);
            }
            let got: Vec<_> = (0..problem.destination_extent()).map(|index| problem.source_of(index)).collect();
            for first in [0, problem.destination_extent() / 3] {
                let walked: Vec<_> = problem.sources_from(first).take(got.len()).collect();
                prop_assert_eq!(&walked[..got.len() - first as usize], &got[first as usize..]);
            }
            prop_assert_eq!(&got, &expected);
            prop_assert_eq!(got.iter().flatten().count() as u64, problem.elements());
            // The last element is not a gap, and nothing follows it.
            prop_assert!(got.last().unwrap().is_some());
            prop_assert_eq!(problem.source_of(problem.destination_extent()), None);
            prop_assert_eq!(problem.bytes_moved(), packed.bytes_moved());
            prop_assert_eq!(problem.is_packed(), problem == packed);
            prop_assert_eq!(problem.is_packed(), problem.buffer_bytes() == packed.buffer_bytes());
            prop_assert_eq!(problem.packed_only("it").is_none(), problem.is_packed());
            prop_assert_eq!(problem.with_layouts(problem.source(), problem.destination()), Ok(problem));
        }
    }
}
