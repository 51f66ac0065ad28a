//! The progress bar, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::harness::Observer;

/// Shows how far the harness is on standard error; nothing where that is no terminal.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar, or nothing if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} %  {elapsed_precise}  {wide_msg}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}

impl Observer for Progress {
    fn step(&mut self, done: u64, total: u64, what: &str) {
        self.0.set_length(total);
        self.0.set_position(done);
        self.0.set_message(what.to_string());
    }
}
