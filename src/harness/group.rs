//! A group: all cells of one problem on one device. They share buffers and are measured in turns.

use super::cell::{Cell, Outcome};
use super::turns::{Pace, Turns};
use super::{Plan, Progress, Target};
use crate::backend::Support;
use crate::problem::Problem;
use crate::record::Row;
use crate::verify::VerifyError;

pub struct Group<'a> {
    pub(super) target: &'a Target<'a>,
    pub(super) problem: Problem,
    pub(super) cells: Vec<Cell>,
    pace: Pace,
}

impl<'a> Group<'a> {
    pub fn new(target: &'a Target<'a>, problem: Problem, plan: &Plan) -> Group<'a> {
        let mut group = Group { target, problem, cells: Vec::new(), pace: Pace::new(plan.min_time, plan.rounds) };
        for variant in plan.all_variants() {
            let runs = target.backend.choose(variant, &problem);
            // The setting changes our shaders only, not the API's own copy.
            let settings = match target.info().has_bounds_checks && runs.spec().kernel.is_some() {
                true => plan.bounds_checks.iter().copied().map(Some).collect(),
                false => vec![None],
            };
            group.cells.extend(settings.into_iter().map(|setting| Cell::new(variant, runs, setting)));
        }
        group.cells.sort_by_key(|cell| cell.bounds_checks == Some(true));
        for cell in &mut group.cells {
            cell.outcome = unsupported(target, cell, &problem);
        }
        group
    }

    /// Steps that are announced while it runs, at the most.
    pub fn steps(&self) -> u64 {
        let alive = self.cells.iter().filter(|cell| cell.alive()).count() as u64;
        1 + alive * self.pace.steps()
    }

    pub fn run(mut self, progress: &mut Progress) -> Vec<Row> {
        let end = progress.done + self.steps();
        let sets = if self.cells.iter().any(Cell::alive) { self.measure(progress) } else { 0 };
        progress.done = end.min(progress.total);
        self.rows(sets, progress.stopped())
    }

    /// Measures all cells and returns the number of sets it was done with.
    fn measure(&mut self, progress: &mut Progress) -> usize {
        let prefix = format!("{}: {}", self.target.info().id, self.problem);
        progress.next(&format!("{prefix}: filling buffers"));
        let (workspace, sets) = match self.target.filled_workspace(&self.problem, &progress.stop_flag()) {
            Ok(made) => made,
            Err(VerifyError::Stopped) => return 0,
            Err(error) => {
                self.cells.iter_mut().for_each(|cell| cell.fail(&error));
                return 0;
            }
        };
        let turns = Turns { workspace: workspace.as_ref(), problem: self.problem, sets, pace: self.pace, prefix };
        let mut runs = turns.ready(&mut self.cells, progress);
        turns.rounds(&mut self.cells, &mut runs, progress);
        for (cell, run) in self.cells.iter_mut().zip(&mut runs) {
            turns.still_right(cell, run, progress);
        }
        sets
    }
}

fn unsupported(target: &Target, cell: &Cell, problem: &Problem) -> Option<Outcome> {
    match target.backend.support(cell.variant, problem) {
        Support::Unsupported(reason) => Some(Outcome::Unsupported(reason)),
        Support::Supported if problem.is_empty() => {
            Some(Outcome::Unsupported(format!("{problem} is empty: there is nothing to move")))
        }
        Support::Supported => None,
    }
}
