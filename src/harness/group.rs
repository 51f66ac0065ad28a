//! A group: all cells of one problem on one device. They share buffers and are measured in turns, so that what drifts
//! (clocks, temperature, other programs) drifts for all of them.

use super::cell::{Cell, Outcome};
use super::{Plan, Progress, Target, batch};
use crate::backend::{PreparedRun, Support, Workspace};
use crate::problem::Problem;
use crate::record::Row;
use crate::verify::{self, POISON, Stopped, VerifyError};

/// Longer batches tell no more, and nothing stops in the middle of one; a long measurement takes more of them.
const LONGEST_BATCH_SECONDS: f64 = 2.0;

/// A prepared cell, or `None` where there was nothing to prepare.
type Run<'w> = Option<Box<dyn PreparedRun + 'w>>;

pub struct Group<'a> {
    pub(super) target: &'a Target<'a>,
    pub(super) problem: Problem,
    pub(super) cells: Vec<Cell>,
    min_seconds: f64,
    batch_seconds: f64,
    rounds: u32,
}

impl<'a> Group<'a> {
    pub fn new(target: &'a Target<'a>, problem: Problem, plan: &Plan) -> Group<'a> {
        let min_seconds = plan.min_time.as_secs_f64();
        let batch_seconds = (min_seconds / f64::from(plan.rounds.max(1))).min(LONGEST_BATCH_SECONDS);
        let rounds = (min_seconds / batch_seconds).round() as u32;
        let mut group = Group { target, problem, cells: Vec::new(), min_seconds, batch_seconds, rounds };
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
        1 + alive * (u64::from(self.rounds) + 2)
    }

    pub fn run(mut self, progress: &mut Progress) -> Vec<Row> {
        let end = progress.done + self.steps();
        let sets = if self.cells.iter().any(Cell::alive) { self.measure(progress) } else { 0 };
        progress.done = end.min(progress.total);
        self.rows(sets, progress.stopped())
    }

    /// Measures all cells and returns the number of sets it was done with.
    fn measure(&mut self, progress: &mut Progress) -> usize {
        progress.next(&format!("{}: filling buffers", self.prefix()));
        let (workspace, sets) = match self.target.filled_workspace(&self.problem, &progress.stop_flag()) {
            Ok(made) => made,
            Err(VerifyError::Stopped) => return 0,
            Err(error) => {
                self.cells.iter_mut().for_each(|cell| cell.fail(&error));
                return 0;
            }
        };
        let workspace = workspace.as_ref();
        let mut runs = self.ready(workspace, sets, progress);
        self.rounds(&mut runs, progress);
        let prefix = self.prefix();
        for (cell, run) in self.cells.iter_mut().zip(&mut runs) {
            if let Some(run) = run.as_deref_mut().filter(|_| cell.alive() && !cell.samples.is_empty()) {
                progress.next(&format!("{prefix}: verifying {}", cell.label()));
                let moves = cell.variant.spec().moves;
                // Not to be stopped: without it, what was measured would not count.
                match verify::check_run(run, workspace, &self.problem, moves, sets, POISON[1], &|| false) {
                    Ok(()) => cell.verified[1] = true,
                    Err(error) => cell.fail(error),
                }
            }
        }
        sets
    }

    /// Prepares and verifies every cell and sizes its batches; `None` for those that take no further part.
    fn ready<'w>(&mut self, workspace: &'w dyn Workspace, sets: usize, progress: &mut Progress) -> Vec<Run<'w>> {
        let prefix = self.prefix();
        let batch_seconds = self.batch_seconds;
        let problem = &self.problem;
        let mut ready = |cell: &mut Cell| {
            if !cell.alive() || progress.stopped() {
                return None;
            }
            progress.next(&format!("{prefix}: {}", cell.label()));
            match ready(cell, workspace, problem, sets, batch_seconds, &progress.stop_flag()) {
                Ok(run) => Some(run),
                Err(VerifyError::Stopped) => None,
                Err(error) => {
                    cell.fail(error);
                    None
                }
            }
        };
        self.cells.iter_mut().map(&mut ready).collect()
    }

    /// What the steps of this group begin with.
    fn prefix(&self) -> String {
        format!("{}: {}", self.target.info().id, self.problem)
    }

    /// Times a batch of each cell in turn, until all have had their rounds.
    fn rounds(&mut self, runs: &mut [Run], progress: &mut Progress) {
        let prefix = self.prefix();
        let min_seconds = self.min_seconds;
        for _ in 0..self.rounds {
            for (cell, run) in self.cells.iter_mut().zip(runs.iter_mut()) {
                if progress.stopped() {
                    return;
                }
                let Some(run) = run.as_deref_mut().filter(|_| cell.alive()) else { continue };
                if cell.has_had_enough(min_seconds) {
                    continue;
                }
                progress.next(&format!("{prefix}: {}", cell.label()));
                if let Err(error) = cell.sample(run) {
                    cell.fail(error);
                }
            }
        }
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

/// Prepares a cell, checks that it is right, and finds the size of its batches.
fn ready<'w>(
    cell: &mut Cell,
    workspace: &'w dyn Workspace,
    problem: &Problem,
    sets: usize,
    batch_seconds: f64,
    stopped: Stopped,
) -> Result<Box<dyn PreparedRun + 'w>, VerifyError> {
    let mut run = workspace.prepare(cell.variant, cell.options())?;
    let moves = cell.variant.spec().moves;
    verify::check_run(run.as_mut(), workspace, problem, moves, sets, POISON[0], stopped)?;
    cell.verified[0] = true;
    cell.launches = batch::calibrate(run.as_mut(), batch_seconds, sets, stopped)?;
    Ok(run)
}
