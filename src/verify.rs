//! Whether a destination holds what it should, bit for bit.
//!
//! The oracle is independent of every kernel: the expected value of an element is the [pattern](crate::pattern) at
//! the index that [`Problem::source_of`] names.

use std::fmt;
use std::num::NonZeroU32;

use rayon::prelude::*;

use crate::backend::{BAND_BYTES, BackendError, PreparedRun, Workspace};
use crate::pattern::Pattern;
use crate::problem::Problem;
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

/// Fills the source of every set with its pattern.
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
        for_bands(problem, stopped, |offset, band| {
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
    (0..sets).try_for_each(|set| check_destination(workspace, problem, moves, set, stopped))
}

/// Compares the destination of `set` with what `moves` should have made of its source.
///
/// # Errors
/// [`VerifyError::Mismatch`] names the first wrong cell; [`VerifyError::Backend`] if the device fails;
/// [`VerifyError::Stopped`] once `stopped` says so.
pub fn check_destination(
    workspace: &dyn Workspace,
    problem: &Problem,
    moves: Moves,
    set: usize,
    stopped: Stopped,
) -> Result<(), VerifyError> {
    let check = Check { problem, moves, pattern: pattern_of(set) };
    for_bands(problem, stopped, |offset, band| {
        workspace.read_destination(set, offset, band)?;
        let first = offset / problem.width().bytes() as u64;
        check.first_wrong(first, band).map_or(Ok(()), |(index, got)| Err(check.explain(set, index, got).into()))
    })
}

/// Calls `visit` with every band of one side: its offset in bytes and a buffer of its length.
fn for_bands(
    problem: &Problem,
    stopped: Stopped,
    mut visit: impl FnMut(u64, &mut [u8]) -> Result<(), VerifyError>,
) -> Result<(), VerifyError> {
    let total = problem.side_bytes();
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
    pattern: Pattern,
}

impl Check<'_> {
    fn source_of(&self, destination: u64) -> u64 {
        match self.moves {
            Moves::Copy => destination,
            Moves::Transpose => self.problem.source_of(destination),
        }
    }

    /// The first element of `band` that is wrong, and its bytes; `first` is the index of the band's first element.
    fn first_wrong(&self, first: u64, band: &[u8]) -> Option<(u64, [u8; 16])> {
        let width = self.problem.width().bytes();
        let wrong = band
            .par_chunks_exact(width)
            .enumerate()
            .find_first(|(i, got)| self.pattern.element(self.source_of(first + *i as u64))[..width] != **got);
        wrong.map(|(i, got)| {
            let mut bytes = [0; 16];
            bytes[..width].copy_from_slice(got);
            (first + i as u64, bytes)
        })
    }

    fn explain(&self, set: usize, index: u64, got: [u8; 16]) -> Mismatch {
        let width = self.problem.width().bytes();
        let expected = self.pattern.element(self.source_of(index));
        Mismatch {
            set,
            cell: self.cell(index),
            got: hex(&got[..width]),
            expected: hex(&expected[..width]),
            origin: self.origin(&got[..width]),
        }
    }

    /// Matrix, row and column of a destination element.
    fn cell(&self, index: u64) -> Cell {
        let (rows, cols) = match self.moves {
            Moves::Copy => (self.problem.rows(), self.problem.cols()),
            Moves::Transpose => (self.problem.cols(), self.problem.rows()),
        };
        Cell { matrix: index / (rows * cols), row: index % (rows * cols) / cols, col: index % cols }
    }

    fn origin(&self, got: &[u8]) -> Origin {
        if POISON.iter().any(|&poison| got.iter().all(|&byte| byte == poison)) {
            return Origin::Unwritten;
        }
        // A value of one or two bytes stands in many places and so tells nothing.
        if got.len() < 4 {
            return Origin::Unknown;
        }
        let searched = self.problem.elements().min(SEARCHED);
        let holds_it = |&index: &u64| self.pattern.element(self.source_of(index))[..got.len()] == *got;
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
#[error("destination {cell} of set {set} holds 0x{got} instead of 0x{expected}{}", match origin {
    Origin::Unwritten => ": nothing was written there".to_string(),
    Origin::Cell(cell) => format!(": that value belongs at {cell}"),
    Origin::Unknown => String::new(),
})]
pub struct Mismatch {
    /// Number of the buffer pair.
    pub set: usize,
    /// Where.
    pub cell: Cell,
    /// What is there, in hexadecimal, most significant byte first.
    pub got: String,
    /// What should be there.
    pub expected: String,
    /// Where the wrong value came from.
    pub origin: Origin,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn destination(check: &Check) -> Vec<u8> {
        let width = check.problem.width().bytes();
        (0..check.problem.elements())
            .flat_map(|d| check.pattern.element(check.source_of(d))[..width].to_vec())
            .collect()
    }

    #[test]
    fn a_swap_is_found_and_traced() {
        let problem = Problem::new(6, 4, 2, Element::F32).unwrap();
        let check = Check { problem: &problem, moves: Moves::Transpose, pattern: pattern_of(1) };
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
        let check = Check { problem: &problem, moves: Moves::Copy, pattern: pattern_of(0) };
        assert_eq!(check.origin(&[0x5A]), Origin::Unwritten);
        assert_eq!(check.origin(&[0x11]), Origin::Unknown);
    }
}
