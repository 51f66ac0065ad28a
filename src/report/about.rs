//! What a report says beside its tables: what it is of, where it comes from, and how its figures came about.

use super::layout::Layout;
use super::notes::{self, Footnotes};
use super::{Report, Section, text};
use crate::record::{Absent, Device, Environment};

/// What all records of a kind have in common.
#[derive(PartialEq)]
pub(super) struct Subject {
    /// What was measured, to stand in a title.
    pub name: &'static str,
    /// What the figures mean.
    pub meaning: &'static [&'static str],
    /// How they come about.
    pub method: &'static [&'static str],
}

/// What a record says of itself.
pub(super) struct About {
    pub subject: &'static Subject,
    pub environment: Environment,
    /// The devices that were asked to run something.
    pub devices: Vec<Device>,
    pub absent: Vec<Absent>,
    /// What else the figures mean.
    pub meaning: Vec<&'static str>,
    /// How much was measured, in a sentence.
    pub told: Option<String>,
    /// Whether there are no results, and whether some are missing.
    pub empty: bool,
    pub interrupted: bool,
}

impl About {
    /// The report with these sections.
    pub(super) fn report(self, sections: Vec<Section>, footnotes: Footnotes) -> Report {
        let meaning = self.meaning().filter(|_| !self.empty).map(String::from);
        let layout = Layout {
            facts: self.facts(),
            warnings: self.warnings(),
            sections,
            notes: meaning.chain(notes::absent(&self.absent)).collect(),
            footnotes: footnotes.0,
        };
        Report { layout, about: self }
    }

    /// What the figures mean.
    pub(super) fn meaning(&self) -> impl Iterator<Item = &'static str> {
        self.subject.meaning.iter().chain(&self.meaning).copied()
    }

    /// Where and how the program ran.
    fn facts(&self) -> Vec<String> {
        let Environment { version, command, date, os, arch, cpus } = &self.environment;
        vec![
            format!("cornerturn {version} on {os} {arch}, {cpus} processors, {date}"),
            format!("Command: {}", text::command(command)),
        ]
    }

    fn warnings(&self) -> Vec<String> {
        let interrupted = self.interrupted.then(|| "The run was interrupted: rows are missing.".into());
        interrupted.into_iter().chain(self.empty.then(|| "The record has no results.".into())).collect()
    }
}
