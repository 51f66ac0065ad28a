//! Measuring cells in turns on shared buffers, so that what drifts (clocks, temperature, other programs) drifts for all
//! of them.

use std::num::NonZeroU32;
use std::time::Duration;

use super::cell::Cell;
use super::watch::Watch;
use super::{Progress, batch};
use crate::backend::{BackendError, PreparedRun, Workspace};
use crate::problem::Problem;
use crate::sensor::Sensor;
use crate::verify::{self, POISON, Stopped, VerifyError};

/// Longer batches tell no more, and nothing stops in the middle of one; a long measurement takes more of them.
const LONGEST_BATCH_SECONDS: f64 = 2.0;

/// A prepared cell, or `None` where there was nothing to prepare.
pub type Run<'w> = Option<Box<dyn PreparedRun + 'w>>;

/// How long each cell is measured, and in how many batches.
#[derive(Clone, Copy)]
pub struct Pace {
    min_seconds: f64,
    batch_seconds: f64,
    rounds: u32,
}

impl Pace {
    /// `min_time` in so many batches, or in more where they would be too long.
    pub fn new(min_time: Duration, rounds: u32) -> Pace {
        let min_seconds = min_time.as_secs_f64();
        let batch_seconds = (min_seconds / f64::from(rounds.max(1))).min(LONGEST_BATCH_SECONDS);
        Pace { min_seconds, batch_seconds, rounds: (min_seconds / batch_seconds).round() as u32 }
    }

    /// Steps that are announced for each cell, at the most: one before its batches, one for each, and one after them.
    pub fn steps(self) -> u64 {
        u64::from(self.rounds) + 2
    }
}

/// What cells that are measured in turns have in common.
pub struct Turns<'w> {
    pub workspace: &'w dyn Workspace,
    pub problem: Problem,
    pub sets: usize,
    pub pace: Pace,
    /// Whether it is a device that raises its clocks only once it has worked for a while.
    pub warms_up: bool,
    /// What can be read of the device.
    pub sensor: Option<&'w dyn Sensor>,
    /// What announced steps begin with.
    pub prefix: String,
}

impl<'w> Turns<'w> {
    /// Prepares and verifies every cell; `None` for those that take no further part.
    pub fn ready(&self, cells: &mut [Cell], progress: &mut Progress) -> Vec<Run<'w>> {
        let ready = |cell: &mut Cell| {
            if !cell.alive() || progress.stopped() {
                return None;
            }
            progress.next(&format!("{}: {}", self.prefix, cell.label()));
            match self.ready_one(cell, &progress.stop_flag()) {
                Ok(run) => Some(run),
                Err(VerifyError::Stopped) => None,
                Err(error) => {
                    cell.fail(error);
                    None
                }
            }
        };
        cells.iter_mut().map(ready).collect()
    }

    /// Prepares a cell and checks that it is right.
    fn ready_one(&self, cell: &mut Cell, stopped: Stopped) -> Result<Box<dyn PreparedRun + 'w>, VerifyError> {
        let mut run = self.workspace.prepare(cell.runs, cell.options())?;
        let moves = cell.variant.spec().moves;
        verify::check_run(run.as_mut(), self.workspace, &self.problem, moves, self.sets, POISON[0], stopped)?;
        cell.verified[0] = true;
        Ok(run)
    }

    /// Times a batch of each cell in turn, until all have had their rounds.
    pub fn rounds(&self, cells: &mut [Cell], runs: &mut [Run], progress: &mut Progress) {
        self.size_batches(cells, runs, progress);
        let mut watch = self.sensor.map(Watch::new);
        for _ in 0..self.pace.rounds {
            for (cell, run) in cells.iter_mut().zip(runs.iter_mut()) {
                if progress.stopped() {
                    return;
                }
                let Some(run) = run.as_deref_mut().filter(|_| cell.alive()) else { continue };
                if cell.has_had_enough(self.pace.min_seconds) {
                    continue;
                }
                progress.next(&format!("{}: {}", self.prefix, cell.label()));
                match cell.sample(run) {
                    Ok(()) => watch.iter_mut().for_each(|watch| cell.clocks.join(watch.look())),
                    Err(error) => cell.fail(error),
                }
            }
        }
    }

    /// Finds the sizes of all cells' batches, once the device is as fast as it will be.
    fn size_batches(&self, cells: &mut [Cell], runs: &mut [Run], progress: &mut Progress) {
        let stopped = progress.stop_flag();
        let mut cold = self.warms_up;
        for (cell, run) in cells.iter_mut().zip(runs.iter_mut()) {
            let Some(run) = run.as_deref_mut().filter(|_| cell.alive() && !stopped()) else { continue };
            match self.size_of_batch(run, cold, &stopped) {
                Ok(launches) => {
                    cell.launches = launches;
                    cold = false;
                }
                Err(error) => cell.fail(error),
            }
        }
    }

    fn size_of_batch(
        &self,
        run: &mut dyn PreparedRun,
        cold: bool,
        stopped: Stopped,
    ) -> Result<NonZeroU32, BackendError> {
        if cold {
            batch::warm_up(run, stopped)?;
        }
        batch::calibrate(run, self.pace.batch_seconds, self.sets, stopped)
    }

    /// Verifies once more a cell that was timed; whether it is still right.
    pub fn still_right(&self, cell: &mut Cell, run: &mut Run, progress: &mut Progress) -> bool {
        let Some(run) = run.as_deref_mut().filter(|_| cell.alive() && !cell.samples.is_empty()) else { return false };
        progress.next(&format!("{}: verifying {}", self.prefix, cell.label()));
        let moves = cell.variant.spec().moves;
        // Not to be stopped: without it, what was measured would not count.
        match verify::check_run(run, self.workspace, &self.problem, moves, self.sets, POISON[1], &|| false) {
            Ok(()) => cell.verified[1] = true,
            Err(error) => cell.fail(error),
        }
        cell.verified[1]
    }
}
