//! Finding out by measuring what `auto` is to run.

use std::time::Duration;

use super::cell::Cell;
use super::turns::{Pace, Turns};
use super::{Progress, Target, stats};
use crate::backend::{Support, TransposeBackend};
use crate::problem::Problem;
use crate::tune::{Key, Winners};
use crate::variant::{Moves, Variant};

/// Time and batches of each candidate: enough to tell apart what differs by more than noise. Whatever wins is measured
/// as long as every other row afterwards.
const MIN_TIME: Duration = Duration::from_millis(100);
const ROUNDS: u32 = 5;

/// Which transpose is the fastest for a problem on a device, with a setting of the shaders' bounds checks.
pub struct Question {
    key: Key,
    candidates: Vec<Variant>,
}

impl Question {
    pub fn new(target: &Target, problem: &Problem, bounds_checks: Option<bool>) -> Question {
        Question {
            key: Key::new(target.info(), problem, bounds_checks),
            candidates: candidates(target.backend, problem),
        }
    }

    /// Steps that are announced while it is answered, at the most.
    pub fn steps(&self, winners: &Winners) -> u64 {
        match self.has_choice() && self.stored(winners).is_none() {
            true => self.candidates.len() as u64 * pace().steps(),
            false => 0,
        }
    }

    /// The answer, measured in `turns` unless it is known; `None` where there is nothing to choose from, where nothing
    /// is right, and where it was stopped before all had their turns.
    pub fn answer(&self, turns: &Turns, winners: &mut Winners, progress: &mut Progress) -> Option<Variant> {
        if !self.has_choice() {
            return None;
        }
        if let Some(stored) = self.stored(winners) {
            winners.note_taken(&self.key);
            return Some(stored);
        }
        let fastest = self.fastest(turns, progress)?;
        winners.insert(self.key.clone(), fastest);
        Some(fastest)
    }

    /// Whether there is anything to choose from.
    fn has_choice(&self) -> bool {
        self.candidates.len() > 1
    }

    /// The winner that is known, unless it cannot run here and now.
    fn stored(&self, winners: &Winners) -> Option<Variant> {
        winners.find(&self.key).filter(|winner| self.candidates.contains(winner))
    }

    fn fastest(&self, turns: &Turns, progress: &mut Progress) -> Option<Variant> {
        let turns = Turns { pace: pace(), prefix: format!("{}: tuning", turns.prefix), ..*turns };
        let cell = |candidate: &Variant| Cell::new(Variant::Auto, *candidate, self.key.bounds_checks);
        let mut cells: Vec<Cell> = self.candidates.iter().map(cell).collect();
        let mut runs = turns.ready(&mut cells, progress);
        turns.rounds(&mut cells, &mut runs, progress);
        if progress.stopped() {
            return None;
        }
        let order = by_median(&cells);
        let still_right = |&i: &usize| turns.still_right(&mut cells[i], &mut runs[i], progress);
        order.into_iter().find(still_right).map(|i| self.candidates[i])
    }
}

fn pace() -> Pace {
    Pace::new(MIN_TIME, ROUNDS)
}

/// The indices of the cells that have figures, the fastest first; of equals the first of the table.
fn by_median(cells: &[Cell]) -> Vec<usize> {
    let median = |cell: &Cell| Some(stats::summarise(&cell.samples).filter(|_| cell.alive())?.median);
    let mut order: Vec<(usize, f64)> =
        cells.iter().enumerate().filter_map(|(i, cell)| Some((i, median(cell)?))).collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    order.into_iter().map(|(i, _)| i).collect()
}

/// What may run for `auto`, in the order of the table: every transpose kernel of ours that the device has for the
/// problem, and what the planner takes, which for a single row or column is a copy.
fn candidates(backend: &dyn TransposeBackend, problem: &Problem) -> Vec<Variant> {
    let planned = backend.choose(Variant::Auto, problem);
    let ours = |variant: Variant| {
        variant.spec().moves == Moves::Transpose && variant.spec().kernel.is_some() && !variant.is_in_place()
    };
    let can = |variant: &Variant| {
        (ours(*variant) || *variant == planned) && backend.support(*variant, problem) == Support::Supported
    };
    Variant::ALL.iter().copied().filter(can).collect()
}
