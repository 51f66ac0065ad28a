//! What has to be said beside a figure, and what the figures mean.

use super::number;
use crate::device::{DeviceKind, PeakSource, TimerKind};
use crate::record::{Absent, Device, Record, Row, Status};

/// What the figures mean, for every record that has some.
pub(super) const MEANING: [&str; 4] = [
    "GB/s counts each element read once and written once: 2 × rows × cols × batch × width; 1 GB = 10⁹ bytes.",
    "% of copy: against the faster of memcpy and copy in the same run, for the same bytes on the same device.",
    "% of peak: against the theoretical peak of the device's memory, where that is known.",
    "Time: the median of one launch; spread: interquartile range over median.",
];

/// What a size with leading dimensions means, for records that have one.
pub(super) const LAYOUTS: &str = "ld: leading dimension, the elements from the beginning of a row to that of the next, \
     source → destination; stride: batch stride, the same from matrix to matrix.";

pub(super) const SOFTWARE: &str = "software device: its figures say nothing about a GPU";
/// A spread above this is told beside the figure. On an H200 at rest, no row of `benches/results/` has even 1 %.
const WIDE_SPREAD: f64 = 0.05;
const VARIES: &str =
    "its samples vary by more than 5 % (spread): let nothing else run, or measure longer with --min-time";
const CACHE: &str =
    "the buffers together are smaller than four times the last-level cache: the figure may be the cache's";

/// Numbered notes, each text once.
#[derive(Default)]
pub(super) struct Footnotes(pub(super) Vec<String>);

impl Footnotes {
    /// The numbers of the notes on rows, such as `1, 3`; empty where there is nothing to say.
    pub(super) fn of(&mut self, rows: &[&Row], record: &Record) -> String {
        self.numbers(rows.iter().flat_map(|row| on(row, record.device(&row.device))))
    }

    /// The numbers of these notes, likewise.
    pub(super) fn numbers(&mut self, notes: impl Iterator<Item = String>) -> String {
        let mut numbers: Vec<usize> = notes.map(|note| self.number(note)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The number of a note, which is a new one unless it is there already.
    pub(super) fn number(&mut self, note: String) -> usize {
        let known = self.0.iter().position(|other| *other == note);
        known.unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        }) + 1
    }
}

fn on(row: &Row, device: Option<&Device>) -> Vec<String> {
    let mut notes = Vec::new();
    if row.status != Status::Ok {
        let reason = row.reason.as_deref().unwrap_or("no reason is given");
        // A suspect figure is told, but not where it could be taken for a result.
        let figure = row.gbps.map_or(String::new(), |gbps| format!(" (measured: {} GB/s)", number::significant(gbps)));
        notes.push(format!("{}: {reason}{figure}", row.status));
    }
    if !row.status.has_figures() {
        return notes;
    }
    let kind = device.map(|device| device.kind);
    if kind == Some(DeviceKind::Software) {
        notes.push(SOFTWARE.into());
    }
    if row.cache_resident == Some(true) {
        notes.push(CACHE.into());
    }
    if let Some(reasons) = row.throttled.as_ref().filter(|reasons| !reasons.is_empty()) {
        notes.push(format!("throttled while it was measured: {}", reasons.join(", ")));
    }
    if row.spread.is_some_and(|spread| spread > WIDE_SPREAD) {
        notes.push(VARIES.into());
    }
    match (&row.timer_note, row.timer) {
        (Some(note), Some(timer)) => notes.push(format!("timed by the {timer}'s clock: {note}")),
        // The host's clock is a CPU's own.
        (None, Some(TimerKind::Host)) if kind != Some(DeviceKind::Cpu) => {
            notes.push("timed by the host's clock".into());
        }
        _ => {}
    }
    notes
}

/// A device in a line.
pub(super) fn device(device: &Device, rows: &[&Row]) -> String {
    let mut parts = vec![format!("{}: {}", device.id, device.name)];
    if !device.driver.is_empty() {
        parts.push(format!("driver {}", device.driver));
    }
    parts.extend(device.pci.as_ref().map(|pci| format!("PCI {pci}")));
    parts.extend(device.memory_bytes.map(|bytes| format!("memory {}", number::bytes(bytes))));
    parts.push(match device.cache_bytes {
        Some(bytes) => format!("last-level cache {}", number::bytes(bytes)),
        None => "last-level cache unknown".into(),
    });
    parts.push(match device.peak {
        Some(peak) => {
            let source = peak_source(peak.source);
            format!("theoretical peak {} GB/s (source: {source})", number::significant(peak.gbps))
        }
        None => "theoretical peak unknown".into(),
    });
    parts.extend(bounds(device, rows).map(String::from));
    parts.extend(clocks(device, rows));
    if device.kind == DeviceKind::Software {
        parts.push(SOFTWARE.into());
    }
    parts.join("; ")
}

/// Where a theoretical peak comes from, in words.
pub fn peak_source(source: PeakSource) -> &'static str {
    match source {
        PeakSource::Attribute => "the memory clock and bus width that the driver reports",
        PeakSource::Table => "cornerturn's table of devices",
        PeakSource::User => "the user",
    }
}

/// The clocks that were read of a device, over all its rows.
fn clocks(device: &Device, rows: &[&Row]) -> Option<String> {
    let over = |clock: fn(&Row) -> Option<[u32; 2]>| {
        let spans = rows.iter().filter(|row| row.device == device.id).filter_map(|row| clock(row));
        spans.reduce(|[low, high], [lower, higher]| [low.min(lower), high.max(higher)])
    };
    let shown = |name: &str, span: Option<[u32; 2]>| match span? {
        [low, high] if low == high => Some(format!("{name} {low} MHz")),
        [low, high] => Some(format!("{name} {low} to {high} MHz")),
    };
    let clocks = [shown("SM", over(|row| row.sm_mhz)), shown("memory", over(|row| row.memory_mhz))];
    let clocks: Vec<String> = clocks.into_iter().flatten().collect();
    (!clocks.is_empty()).then(|| format!("clocks while it was measured: {}", clocks.join(", ")))
}

/// How a device's shaders were compiled. Rows with both settings have it in a column.
fn bounds(device: &Device, rows: &[&Row]) -> Option<&'static str> {
    let settings = || rows.iter().filter(|row| row.device == device.id).filter_map(|row| row.bounds_checks);
    match (settings().any(|on| on), settings().any(|on| !on)) {
        (true, false) => Some("shaders with bounds checks"),
        (false, true) => Some("shaders without bounds checks"),
        (true, true) => Some("shaders with and without bounds checks"),
        (false, false) => None,
    }
}

/// What the record says of an API without devices.
pub(super) fn absent(absent: &[Absent]) -> Vec<String> {
    let line = |absent: &Absent| {
        let remedy = if absent.remedy.is_empty() { String::new() } else { format!("; {}", absent.remedy) };
        format!("No {} device: {}{remedy}", absent.api, absent.reason)
    };
    absent.iter().map(line).collect()
}
