//! The reports of the probes.

mod banks;
mod coalescing;
mod hierarchy;

use super::layout::{self, Grid, Layout, Section};
use super::notes::{self, Footnotes};
use super::{markdown, table};
use crate::device::{DeviceKind, TimerKind};
use crate::record::{Device, ProbeRecord, ProbeResult, Status};

pub use banks::banks;
pub use coalescing::coalescing;
pub use hierarchy::hierarchy;

/// The report of a probe's record, to be shown in several ways.
pub struct Report(Layout);

impl Report {
    /// As text for a terminal, as [`table()`](super::table()) is.
    pub fn table(&self) -> String {
        table::render(&self.0, None)
    }

    /// As GitHub Markdown, as [`markdown()`](super::markdown()) is.
    pub fn markdown(&self) -> String {
        markdown::render(&self.0)
    }
}

const SOFTWARE: &str =
    "These are the figures of a CPU that runs shaders: it has no levels of a GPU, no warps and no banks.";

/// A report with these sections, and notes on what its figures mean.
fn report<R: ProbeResult>(
    record: &ProbeRecord<R>,
    sections: Vec<Section>,
    meaning: &[&str],
    footnotes: Footnotes,
) -> Report {
    let notes = meaning.iter().filter(|_| !record.results.is_empty()).map(|note| (*note).to_owned());
    Report(Layout {
        facts: layout::environment(&record.environment),
        warnings: layout::warnings(record.interrupted, record.results.is_empty()),
        sections,
        notes: notes.chain(notes::absent(&record.absent)).collect(),
        footnotes: footnotes.0,
    })
}

/// A section for each device that has results, with the table that `grid` makes of them.
fn by_device<R: ProbeResult>(record: &ProbeRecord<R>, mut grid: impl FnMut(&[&R]) -> Grid) -> Vec<Section> {
    let section = |device: &Device| {
        let rows: Vec<&R> = record.results.iter().filter(|row| row.ending().0 == device.id).collect();
        if rows.is_empty() {
            return None;
        }
        let mut grid = grid(&rows);
        grid.drop_empty_last();
        let (heading, lines) = (heading(record, &device.id), lines(record, &device.id));
        Some(Section { heading, lines, grid, ..Section::default() })
    };
    record.devices.iter().filter_map(section).collect()
}

/// The lines below the heading of a device's section.
fn lines<R: ProbeResult>(record: &ProbeRecord<R>, id: &str) -> Vec<String> {
    let Some(device) = record.device(id) else { return vec![format!("{id}: not listed")] };
    let software = (device.kind == DeviceKind::Software).then(|| SOFTWARE.to_owned());
    [notes::device(device, &[])].into_iter().chain(software).collect()
}

fn heading<R: ProbeResult>(record: &ProbeRecord<R>, id: &str) -> String {
    record.device(id).map_or(id.into(), |device| format!("{}, {id}", device.name))
}

/// The numbers of the notes on how a result ended and which clock timed it.
fn marks(
    footnotes: &mut Footnotes,
    status: Status,
    reason: Option<&str>,
    timer: Option<TimerKind>,
    note: Option<&str>,
) -> String {
    let mut numbers = Vec::new();
    if status != Status::Ok {
        numbers.push(footnotes.number(format!("{status}: {}", reason.unwrap_or("no reason is given"))));
    }
    match (note, timer) {
        (Some(note), Some(timer)) => {
            numbers.push(footnotes.number(format!("timed by the {timer}'s clock: {note}")));
        }
        (None, Some(TimerKind::Host)) => numbers.push(footnotes.number("timed by the host's clock".into())),
        _ => {}
    }
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Environment, Series};

    /// A series of one sample.
    pub fn series(value: f64) -> Series {
        Series { samples: vec![value], median: value, min: value, spread: 0.0 }
    }

    /// A record of a GPU with these results.
    pub fn record<R: ProbeResult>(results: Vec<R>) -> ProbeRecord<R> {
        let device = Device {
            id: "cuda:0".into(),
            name: "Example GPU".into(),
            api: "cuda".into(),
            driver: "example 1.2".into(),
            kind: DeviceKind::Gpu,
            pci: None,
            physical: 0,
            memory_bytes: None,
            cache_bytes: None,
            peak: None,
        };
        let environment = Environment {
            version: "0.1.0".into(),
            command: vec!["cornerturn".into()],
            date: "2026-01-02T03:04:05Z".into(),
            os: "linux".into(),
            arch: "x86_64".into(),
            cpus: 8,
        };
        let schema = R::SCHEMA.into();
        let record =
            ProbeRecord { schema, environment, devices: vec![device], absent: Vec::new(), results, interrupted: false };
        record.check().unwrap();
        record
    }
}
