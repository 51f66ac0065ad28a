//! A group: all cells of one problem on one device. They share buffers and are measured in turns.

use super::cell::{Cell, Outcome};
use super::tune::Question;
use super::turns::{Pace, Turns};
use super::{Plan, Progress, Target};
use crate::backend::Support;
use crate::device::DeviceKind;
use crate::limiter::Limiters;
use crate::problem::Problem;
use crate::record::Row;
use crate::tune::Winners;
use crate::variant::Variant;
use crate::verify::VerifyError;

pub struct Group<'a> {
    pub(super) target: &'a Target<'a>,
    pub(super) problem: Problem,
    pub(super) cells: Vec<Cell>,
    pace: Pace,
    /// What `auto` is to run, by the index of its cell, and the steps of finding out; none without tuning.
    questions: Vec<(usize, Question)>,
    tuning_steps: u64,
}

impl<'a> Group<'a> {
    pub fn new(target: &'a Target<'a>, problem: Problem, plan: &Plan, winners: Option<&Winners>) -> Group<'a> {
        let pace = Pace::new(plan.min_time, plan.rounds);
        let mut group = Group { target, problem, cells: Vec::new(), pace, questions: Vec::new(), tuning_steps: 0 };
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
        if let Some(winners) = winners {
            group.questions = group.open_questions().collect();
            group.tuning_steps = group.questions.iter().map(|(_, question)| question.steps(winners)).sum();
        }
        group
    }

    /// Steps that are announced while it runs, at the most.
    pub fn steps(&self) -> u64 {
        let alive = self.cells.iter().filter(|cell| cell.alive()).count() as u64;
        1 + self.tuning_steps + alive * self.pace.steps()
    }

    /// Measures all cells, `auto` with what has won or wins where `winners` are given.
    pub fn run(mut self, winners: Option<&mut Winners>, limiters: &mut Limiters, progress: &mut Progress) -> Vec<Row> {
        let end = progress.done + self.steps();
        let sets = if self.cells.iter().any(Cell::alive) { self.measure(winners, progress) } else { 0 };
        progress.done = end.min(progress.total);
        self.rows(sets, limiters, progress.stopped())
    }

    /// Measures all cells and returns the number of sets it was done with.
    fn measure(&mut self, winners: Option<&mut Winners>, progress: &mut Progress) -> usize {
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
        let sensor = self.target.backend.sensor();
        let turns = Turns {
            workspace: workspace.as_ref(),
            problem: self.problem,
            sets,
            pace: self.pace,
            warms_up: self.target.info().kind == DeviceKind::Gpu,
            sensor: sensor.as_deref(),
            prefix,
        };
        if let Some(winners) = winners {
            self.tune(&turns, winners, progress);
        }
        let mut runs = turns.ready(&mut self.cells, progress);
        turns.rounds(&mut self.cells, &mut runs, progress);
        for (cell, run) in self.cells.iter_mut().zip(&mut runs) {
            turns.still_right(cell, run, progress);
        }
        sets
    }

    /// Has what is the fastest run for `auto`, where that can be told.
    fn tune(&mut self, turns: &Turns, winners: &mut Winners, progress: &mut Progress) {
        for (index, question) in &self.questions {
            if let Some(winner) = question.answer(turns, winners, progress) {
                self.cells[*index].runs = winner;
                self.cells[*index].tuned = true;
            }
        }
    }

    /// The index of each cell of `auto` that can run, and the question of what that is to be.
    fn open_questions(&self) -> impl Iterator<Item = (usize, Question)> {
        let open = |(_, cell): &(usize, &Cell)| cell.variant == Variant::Auto && cell.alive();
        let question = |cell: &Cell| Question::new(self.target, &self.problem, cell.bounds_checks);
        self.cells.iter().enumerate().filter(open).map(move |(index, cell)| (index, question(cell)))
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
