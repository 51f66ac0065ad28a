//! Whether a destination holds what it should, bit for bit.
//!
//! The oracle is independent of every kernel: the expected value of an element is the [pattern](crate::pattern) at
//! the index that [`Problem::source_of`] names. Where it names none, in the gaps between rows and between matrices, what
//! the destination was filled with must still stand.

use std::fmt;
use std::num::NonZeroU32;

use rayon::prelude::*;

use crate::backend::{BAND_BYTES, BackendError, PreparedRun, Workspace};
use crate::pattern::{Pattern, TASK_ELEMENTS};
use crate::problem::{Layout, Problem};
use crate::variant::Moves;

/// The values that destinations are filled with before a check. An element that nothing wrote can equal one of them by
/// chance, but not both.
pub const POISON: [u8; 2] = [0xA5, 0x5A];

/// Source elements that are searched for the one that a wrong cell holds.
const SEARCHED: u64 = 1 << 27;

/// The pattern of a set's source: each set has its own, so that a mix-up of sets shows.
pub fn pattern_of(set: usize) -> Pattern {
    Pattern { seed: set as u64 }
}

/// Whether to stop in the middle; asked before every band.
pub type Stopped<'a> = &'a dyn Fn() -> bool;

/// Fills the source of every set with its pattern, gaps included.
///
/// # Errors
/// [`VerifyError::Backend`] if the device fails, [`VerifyError::Stopped`] once `stopped` says so.
pub fn fill_sources(
    workspace: &dyn Workspace,
    problem: &Problem,
    sets: usize,
    stopped: Stopped,
) -> Result<(), VerifyError> {
    let width = problem.width().bytes();
    for set in 0..sets {
        for_bands(problem.source_bytes(), stopped, |offset, band| {
            pattern_of(set).fill(offset / width as u64, width, band);
            Ok(workspace.write_source(set, offset, band)?)
        })?;
    }
    Ok(())
}

/// Runs once on each of the workspace's `sets`, with destinations full of `poison`, and compares them all with what
/// `moves` should have made of the sources.
///
/// # Errors
/// As [`check_destination`].
pub fn check_run(
    run: &mut dyn PreparedRun,
    workspace: &dyn Workspace,
    problem: &Problem,
    moves: Moves,
    sets: usize,
    poison: u8,
    stopped: Stopped,
) -> Result<(), VerifyError> {
    workspace.poison(poison)?;
    run.run(NonZeroU32::new(sets as u32).unwrap_or(NonZeroU32::MIN))?;
    (0..sets).try_for_each(|set| check_destination(workspace, problem, moves, poison, set, stopped))
}

/// Compares the destination of `set` with what `moves` should have made of its source, and its gaps with the `poison`
/// that it was filled with before.
///
/// # Errors
/// [`VerifyError::Mismatch`] names the first wrong cell; [`VerifyError::Backend`] if the device fails;
/// [`VerifyError::Stopped`] once `stopped` says so.
pub fn check_destination(
    workspace: &dyn Workspace,
    problem: &Problem,
    moves: Moves,
    poison: u8,
    set: usize,
    stopped: Stopped,
) -> Result<(), VerifyError> {
    let check = Check { problem, moves, poison, pattern: pattern_of(set) };
    for_bands(problem.destination_bytes(), stopped, |offset, band| {
        workspace.read_destination(set, offset, band)?;
        let first = offset / problem.width().bytes() as u64;
        check.first_wrong(first, band).map_or(Ok(()), |(index, got)| Err(check.explain(set, index, got).into()))
    })
}

/// Calls `visit` with every band of a buffer of `total` bytes: its offset in bytes and a buffer of its length.
fn for_bands(
    total: u64,
    stopped: Stopped,
    mut visit: impl FnMut(u64, &mut [u8]) -> Result<(), VerifyError>,
) -> Result<(), VerifyError> {
    let mut buffer = vec![0; total.min(BAND_BYTES as u64) as usize];
    for offset in (0..total).step_by(BAND_BYTES) {
        if stopped() {
            return Err(VerifyError::Stopped);
        }
        let length = (total - offset).min(BAND_BYTES as u64) as usize;
        visit(offset, &mut buffer[..length])?;
    }
    Ok(())
}

struct Check<'a> {
    problem: &'a Problem,
    moves: Moves,
    poison: u8,
    pattern: Pattern,
}

impl Check<'_> {
    /// The index in the source of what belongs at an index of the destination; `None` where nothing does.
    fn source_of(&self, destination: u64) -> Option<u64> {
        match self.moves {
            Moves::Copy => (destination < self.problem.elements()).then_some(destination),
            Moves::Transpose => self.problem.source_of(destination),
        }
    }

    /// What should be at an index of the destination, as 16 bytes of which an element takes the first.
    fn expected(&self, destination: u64) -> [u8; 16] {
        self.element(self.source_of(destination))
    }

    /// The element of the source with this index, or what stands where none belongs.
    fn element(&self, source: Option<u64>) -> [u8; 16] {
        source.map_or([self.poison; 16], |source| self.pattern.element(source))
    }

    /// The first element of `band` that is wrong, and its bytes; `first` is the index of the band's first element.
    fn first_wrong(&self, first: u64, band: &[u8]) -> Option<(u64, [u8; 16])> {
        let width = self.problem.width().bytes();
        let tasks = band.par_chunks(TASK_ELEMENTS * width).enumerate();
        let wrong =
            tasks.find_map_first(|(task, chunk)| self.first_wrong_of(first + (task * TASK_ELEMENTS) as u64, chunk));
        wrong.map(|(index, got)| {
            let mut bytes = [0; 16];
            bytes[..width].copy_from_slice(got);
            (index, bytes)
        })
    }

    /// The same of a part of a band, one element after the other.
    fn first_wrong_of<'b>(&self, first: u64, chunk: &'b [u8]) -> Option<(u64, &'b [u8])> {
        let width = self.problem.width().bytes();
        let differs = |source, got: &[u8]| self.element(source)[..width] != *got;
        let mut found = (first..).zip(chunk.chunks_exact(width));
        match self.moves {
            Moves::Copy => found.find(|&(index, got)| differs(self.source_of(index), got)),
            Moves::Transpose => {
                let mut sources = self.problem.sources_from(first);
                found.find(|&(_, got)| differs(sources.next().flatten(), got))
            }
        }
    }

    fn explain(&self, set: usize, index: u64, got: [u8; 16]) -> Mismatch {
        let width = self.problem.width().bytes();
        let cell = self.cell(index);
        Mismatch {
            set,
            cell,
            gap: self.source_of(index).is_none().then(|| self.gap(index, cell)),
            got: hex(&got[..width]),
            expected: hex(&self.expected(index)[..width]),
            origin: self.origin(&got[..width]),
        }
    }

    /// Matrix, row and column of a destination index; for a copy, those that packed matrices would have there.
    fn cell(&self, index: u64) -> Cell {
        let Layout { first, ld, stride } = match self.moves {
            Moves::Copy => Layout::packed(self.problem.rows(), self.problem.cols()),
            Moves::Transpose => self.problem.destination(),
        };
        // What is before the first matrix is told by its distance to that.
        let index = index.abs_diff(first);
        Cell { matrix: index / stride, row: index % stride / ld, col: index % stride % ld }
    }

    /// Where a cell lies to which nothing belongs.
    fn gap(&self, index: u64, cell: Cell) -> Gap {
        match self.moves {
            Moves::Copy => Gap::Rest,
            Moves::Transpose if index < self.problem.destination().first => Gap::Before,
            // The destination has as many rows as the source has columns.
            Moves::Transpose if cell.row < self.problem.cols() => Gap::Rows,
            Moves::Transpose => Gap::Matrices,
        }
    }

    fn origin(&self, got: &[u8]) -> Origin {
        if POISON.iter().any(|&poison| got.iter().all(|&byte| byte == poison)) {
            return Origin::Unwritten;
        }
        // A value of one or two bytes stands in many places and so tells nothing.
        if got.len() < 4 {
            return Origin::Unknown;
        }
        let searched = self.problem.destination_extent().min(SEARCHED);
        let holds = |source| self.pattern.element(source)[..got.len()] == *got;
        let holds_it = |&index: &u64| self.source_of(index).is_some_and(holds);
        (0..searched).into_par_iter().find_first(holds_it).map_or(Origin::Unknown, |at| Origin::Cell(self.cell(at)))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// Why a check did not pass.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A destination is wrong.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The device failed before it could be told.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// It was told to stop before it could be told.
    #[error("stopped")]
    Stopped,
}

/// A place in the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Number of the matrix in the batch.
    pub matrix: u64,
    /// Row of the destination matrix.
    pub row: u64,
    /// Column of the destination matrix.
    pub col: u64,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.row, self.col)?;
        if self.matrix > 0 { write!(f, " of matrix {}", self.matrix) } else { Ok(()) }
    }
}

/// A part of the destination to which no element belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Between the end of a row and the beginning of the next.
    Rows,
    /// Before the first matrix.
    Before,
    /// Between two matrices.
    Matrices,
    /// Past what a copy moves.
    Rest,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gap::Rows => "between rows",
            Gap::Before => "before the first matrix",
            Gap::Matrices => "between matrices",
            Gap::Rest => "past what a copy moves",
        })
    }
}

/// Where a wrong value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The cell still holds what the destination was filled with.
    Unwritten,
    /// The value belongs in this cell of the destination.
    Cell(Cell),
    /// Not found, or too short to be told from others.
    Unknown,
}

/// The first wrong cell of a destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("destination {cell} of set {set} {}holds 0x{got} instead of 0x{expected}{}", match gap {
    Some(gap) => format!("lies {gap} and must stay untouched, but "),
    None => String::new(),
}, match origin {
    Origin::Unwritten => ": nothing was written there".to_string(),
    Origin::Cell(cell) => format!(": that value belongs at {cell}"),
    Origin::Unknown => String::new(),
})]
pub struct Mismatch {
    /// Number of the buffer pair.
    pub set: usize,
    /// Where.
    pub cell: Cell,
    /// The gap that it lies in, if it does: nothing should have been written there.
    pub gap: Option<Gap>,
    /// What is there, in hexadecimal, most significant byte first.
    pub got: String,
    /// What should be there; in a gap, what the destination was filled with.
    pub expected: String,
    /// Where the wrong value came from.
    pub origin: Origin,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn check(problem: &Problem, moves: Moves) -> Check<'_> {
        Check { problem, moves, poison: POISON[0], pattern: pattern_of(1) }
    }

    fn destination(check: &Check) -> Vec<u8> {
        let width = check.problem.width().bytes();
        (0..check.problem.destination_extent()).flat_map(|d| check.expected(d)[..width].to_vec()).collect()
    }

    #[test]
    fn a_swap_is_found_and_traced() {
        let problem = Problem::new(6, 4, 2, Element::F32).unwrap();
        let check = check(&problem, Moves::Transpose);
        let mut bytes = destination(&check);
        assert_eq!(check.first_wrong(0, &bytes), None);
        // Destination matrices are 4×6: element 31 is matrix 1, row 1, column 1; element 40 is row 2, column 4.
        let (a, b) = bytes.split_at_mut(40 * 4);
        a[31 * 4..][..4].swap_with_slice(&mut b[..4]);
        let (index, got) = check.first_wrong(0, &bytes).unwrap();
        let mismatch = check.explain(0, index, got);
        assert_eq!(mismatch.cell, Cell { matrix: 1, row: 1, col: 1 });
        assert_eq!(mismatch.origin, Origin::Cell(Cell { matrix: 1, row: 2, col: 4 }));
        let message = mismatch.to_string();
        assert!(
            message.contains("[1, 1] of matrix 1") && message.ends_with("belongs at [2, 4] of matrix 1"),
            "{message}"
        );
    }

    #[test]
    fn poison_reads_as_unwritten_and_short_values_are_not_traced() {
        let problem = Problem::new(3, 3, 1, Element::U8).unwrap();
        let check = check(&problem, Moves::Copy);
        assert_eq!(check.origin(&[0x5A]), Origin::Unwritten);
        assert_eq!(check.origin(&[0x11]), Origin::Unknown);
    }
    /// Two matrices of 3×2; destination rows, of 3, begin every 5 elements, and destination matrices every 11.
    fn gappy() -> Problem {
        let packed = Problem::new(3, 2, 2, Element::F32).unwrap();
        packed.with_layouts(Layout { first: 0, ld: 4, stride: 12 }, Layout { first: 0, ld: 5, stride: 11 }).unwrap()
    }

    #[test]
    fn a_write_into_a_gap_is_found() {
        let problem = gappy();
        let check = check(&problem, Moves::Transpose);
        let right = destination(&check);
        assert_eq!((right.len(), check.first_wrong(0, &right)), (4 * 19, None));
        // What belongs at [1, 2] is written as if destination rows were 4 elements apart.
        let message = |index: usize, from: usize| {
            let mut bytes = right.clone();
            bytes.copy_within(4 * from..4 * from + 4, 4 * index);
            let (found, got) = check.first_wrong(0, &bytes).unwrap();
            assert_eq!(found, index as u64);
            check.explain(0, found, got).to_string()
        };
        let rows = message(4, 7);
        assert!(
            rows.starts_with("destination [0, 4] of set 0 lies between rows and must stay untouched, but"),
            "{rows}"
        );
        assert!(rows.ends_with("instead of 0xa5a5a5a5: that value belongs at [1, 2]"), "{rows}");
        let matrices = message(10, 0);
        assert!(matrices.starts_with("destination [2, 0] of set 0 lies between matrices and must"), "{matrices}");
        let second = message(15, 0);
        assert!(second.starts_with("destination [0, 4] of matrix 1 of set 0 lies between rows"), "{second}");
        // The other poison would be right in a destination that was filled with it.
        let wrong_poison = Check { poison: POISON[1], ..check };
        assert_eq!(wrong_poison.first_wrong(0, &right).map(|(index, _)| index), Some(3));
    }

    #[test]
    fn bands_know_where_they_begin() {
        let problem = gappy();
        let check = check(&problem, Moves::Transpose);
        let right = destination(&check);
        for first in 0..right.len() / 4 {
            assert_eq!(check.first_wrong(first as u64, &right[4 * first..]), None, "{first}");
        }
    }

    #[test]
    fn a_copy_moves_as_many_elements_and_leaves_the_rest() {
        let problem = gappy();
        let check = check(&problem, Moves::Copy);
        let mut bytes = destination(&check);
        assert_eq!(check.source_of(11), Some(11));
        assert_eq!(bytes[4 * 12..], [POISON[0]; 4 * 7]);
        bytes[4 * 12] ^= 1;
        let (index, got) = check.first_wrong(0, &bytes).unwrap();
        let message = check.explain(0, index, got).to_string();
        assert!(message.contains("lies past what a copy moves and must stay untouched"), "{message}");
    }
}
