//! The reports of the probes.

mod banks;
mod coalescing;
mod figures;
mod hierarchy;

use super::Report;
use super::about::{About, Subject};
use super::chart::Figure;
use super::layout::{Grid, Section};
use super::notes::{self, Footnotes};
use crate::device::{DeviceKind, TimerKind};
use crate::record::{Device, ProbeRecord, ProbeResult, Status};

/// How every probe measures.
const METHOD: [&str; 4] = [
    "Everything is measured several times, each time in memory allocated anew, in several timed batches of launches; the \
     median of all samples is told, and their spread.",
    "A GPU is kept at work until it becomes no faster before it is timed, and again when the host has kept it waiting.",
    "By CUDA, cycles are those of the multiprocessor's own clock, read by the kernel, and seconds are those of events. \
     Through wgpu there are timestamps of passes and no cycles. Where a device has no timestamps, the host's clock times \
     N launches against 2N, and a note says so.",
    "Data is random, and what is read goes into a sum that is used, so that no read can be left out. Shaders are compiled \
     without bounds checks.",
];

pub use banks::banks;
pub use coalescing::coalescing;
pub use hierarchy::hierarchy;

const SOFTWARE: &str =
    "These are the figures of a CPU that runs shaders: it has no levels of a GPU, no warps and no banks.";

/// A report with these sections; `told` says how much was measured.
fn report<R: ProbeResult>(
    record: &ProbeRecord<R>,
    subject: &'static Subject,
    told: Option<String>,
    sections: Vec<Section>,
    footnotes: Footnotes,
) -> Report {
    let about = About {
        subject,
        environment: record.environment.clone(),
        devices: record.devices.clone(),
        absent: record.absent.clone(),
        meaning: Vec::new(),
        told,
        empty: record.results.is_empty(),
        interrupted: record.interrupted,
    };
    about.report(sections, footnotes)
}

/// A section for each device that has results, with the table and the figures that `show` makes of them.
fn by_device<R: ProbeResult>(
    record: &ProbeRecord<R>,
    mut show: impl FnMut(&Device, &[&R]) -> (Grid, Vec<Figure>),
) -> Vec<Section> {
    let section = |device: &Device| {
        let rows: Vec<&R> = record.results.iter().filter(|row| row.ending().0 == device.id).collect();
        if rows.is_empty() {
            return None;
        }
        let (mut grid, figures) = show(device, &rows);
        grid.drop_empty_last();
        Some(Section { heading: name(device), lines: lines(record, &device.id), figures, grid })
    };
    record.devices.iter().filter_map(section).collect()
}

/// The lines below the heading of a device's section.
fn lines<R: ProbeResult>(record: &ProbeRecord<R>, id: &str) -> Vec<String> {
    let Some(device) = record.device(id) else { return vec![format!("{id}: not listed")] };
    let software = (device.kind == DeviceKind::Software).then(|| SOFTWARE.to_owned());
    [notes::device(device, &[])].into_iter().chain(software).collect()
}

/// A device in a heading or the title of a figure.
fn name(device: &Device) -> String {
    format!("{}, {}", device.name, device.id)
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
