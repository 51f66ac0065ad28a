//! One cell of the table: a variant with its setting, from support to samples.

use std::num::NonZeroU32;

use super::batch::LONGEST_ROTATION;
use crate::backend::{BackendError, PreparedRun, RunOptions};
use crate::device::TimerKind;
use crate::sensor::Clocks;
use crate::timing::Timing;
use crate::variant::Variant;

/// Samples below which no cell ends early.
const MIN_SAMPLES: usize = 3;

/// How a cell ended without figures.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It cannot run here.
    Unsupported(String),
    /// It failed.
    Failed(String),
}

/// What is measured of one variant with one setting.
pub struct Cell {
    pub variant: Variant,
    /// What runs for it: another variant only for `auto`.
    pub runs: Variant,
    /// Whether that was measured to be the fastest.
    pub tuned: bool,
    /// The setting, on devices that have it and for variants that it touches.
    pub bounds_checks: Option<bool>,
    pub outcome: Option<Outcome>,
    /// Whether all destinations were right before timing, and again after it.
    pub verified: [bool; 2],
    /// Seconds of one launch, a value for each batch.
    pub samples: Vec<f64>,
    pub launches: NonZeroU32,
    pub timer: Option<TimerKind>,
    pub timer_note: Option<String>,
    /// What was read of the device right after its batches.
    pub clocks: Clocks,
}

impl Cell {
    pub fn new(variant: Variant, runs: Variant, bounds_checks: Option<bool>) -> Cell {
        Cell {
            variant,
            runs,
            tuned: false,
            bounds_checks,
            outcome: None,
            verified: [false; 2],
            samples: Vec::new(),
            launches: NonZeroU32::MIN,
            timer: None,
            timer_note: None,
            clocks: Clocks::default(),
        }
    }

    /// The options to prepare it with.
    pub fn options(&self) -> RunOptions {
        RunOptions { bounds_checks: self.bounds_checks.unwrap_or(false) }
    }

    /// What it is called while it runs.
    pub fn label(&self) -> String {
        let mut details = Vec::new();
        details.extend((self.runs != self.variant).then(|| self.runs.name()));
        details.extend((self.bounds_checks == Some(true)).then_some("bounds checks"));
        match details[..] {
            [] => self.variant.to_string(),
            _ => format!("{} ({})", self.variant, details.join(", ")),
        }
    }

    pub fn fail(&mut self, error: impl std::fmt::Display) {
        self.outcome.get_or_insert(Outcome::Failed(error.to_string()));
    }

    /// Whether it still takes part.
    pub fn alive(&self) -> bool {
        self.outcome.is_none()
    }

    /// The sets that its batches touch: all, unless a launch is so long that a batch is not even one rotation.
    pub fn sets_touched(&self, sets: usize) -> usize {
        sets.min(self.launches.get() as usize)
    }

    /// Times one batch.
    pub fn sample(&mut self, run: &mut dyn PreparedRun) -> Result<(), BackendError> {
        let timing = run.run(self.launches)?;
        let timer = match timing {
            Timing::Device(_) => TimerKind::Device,
            Timing::Host(_) => TimerKind::Host,
        };
        // Once the host's clock had to step in, earlier samples by the device's are not comparable.
        if self.timer.is_some_and(|before| before != timer) {
            self.samples.clear();
        }
        self.timer = Some(timer);
        self.timer_note = run.timer_note();
        self.samples.push(timing.seconds() / f64::from(self.launches.get()));
        Ok(())
    }

    /// Whether it has had `min_seconds` several times over in fewer rounds than planned: one launch takes longer than a
    /// batch should.
    pub fn has_had_enough(&self, min_seconds: f64) -> bool {
        let spent = self.samples.iter().sum::<f64>() * f64::from(self.launches.get());
        self.samples.len() >= MIN_SAMPLES && spent > LONGEST_ROTATION * min_seconds
    }
}
