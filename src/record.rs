//! The record of a run: what `cornerturn bench --json` writes, and what every report is made from.
//!
//! `docs/record.schema.json` is the schema of the format, `docs/RECORD.md` tells it in prose. Measuring makes a
//! [`Record`] and prints nothing; presenting takes a [`Record`] and measures nothing.

mod any;
mod check;
mod file;
mod probes;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::device::{DeviceKind, Peak, TimerKind};
use crate::problem::Layout;

pub use any::AnyRecord;
pub use check::InvalidRecord;
#[cfg(feature = "cli")]
pub(crate) use check::require;
pub use file::{MAX_BYTES, ReadError};
#[cfg(feature = "cli")]
pub(crate) use file::{json, of_version};
#[cfg(all(test, feature = "cli"))]
pub(crate) use probes::example;
pub use probes::{
    Bandwidth, BanksRow, CoalescingRow, CurvePoint, HierarchyRow, LevelRow, ProbeRecord, ProbeResult, Series,
};

/// The version of the format. A reader accepts no other.
pub const SCHEMA: &str = "cornerturn/1";

/// A run: where, on what, and what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// The machine and the program.
    pub environment: Environment,
    /// The devices that were asked to run something.
    pub devices: Vec<Device>,
    /// The APIs that were looked at and brought no device.
    pub absent: Vec<Absent>,
    /// One row for each device, problem, setting and variant, in the order measured.
    pub results: Vec<Row>,
    /// Whether the run was interrupted, so that rows are missing.
    pub interrupted: bool,
}

impl Record {
    /// The device of an id, if it is listed.
    pub fn device(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == id)
    }
}

/// The machine and the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of cornerturn.
    pub version: String,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// When the run began, RFC 3339 in UTC.
    pub date: String,
    /// Operating system, such as `linux`.
    pub os: String,
    /// Processor architecture, such as `x86_64`.
    pub arch: String,
    /// Processors that the run may use.
    pub cpus: usize,
}

/// A device of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its id, such as `cuda:0`.
    pub id: String,
    /// The name the driver gives it.
    pub name: String,
    /// The API, such as `cuda`.
    pub api: String,
    /// Driver name and version.
    pub driver: String,
    /// What kind of machine it is.
    pub kind: DeviceKind,
    /// PCI address, where known.
    pub pci: Option<String>,
    /// The number of the physical device: devices that share it are one piece of hardware reached through several
    /// APIs.
    pub physical: usize,
    /// Device memory in bytes, where known.
    pub memory_bytes: Option<u64>,
    /// Last-level cache in bytes, where known.
    pub cache_bytes: Option<u64>,
    /// Theoretical peak bandwidth, where known.
    pub peak: Option<Peak>,
}

impl Row {
    /// The variant as a reader should see it: with what ran for it, where that is another.
    pub fn label(&self) -> String {
        match &self.chosen {
            Some(chosen) if self.tuned => format!("{} ({chosen}, tuned)", self.variant),
            Some(chosen) => format!("{} ({chosen})", self.variant),
            None => self.variant.clone(),
        }
    }
}

/// An API that brought no device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Absent {
    /// The API, such as `cuda`.
    pub api: String,
    /// Why there is no device.
    pub reason: String,
    /// What would bring one; may be empty.
    pub remedy: String,
}

/// How a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured and verified.
    Ok,
    /// The device cannot run it; `reason` says why.
    Unsupported,
    /// Measured and verified, but the figure cannot be: it is above the theoretical peak.
    Suspect,
    /// It failed, or gave a wrong result; `reason` says how.
    Failed,
}

impl Status {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Unsupported => "unsupported",
            Status::Suspect => "suspect",
            Status::Failed => "failed",
        }
    }

    /// Whether a row of this status has times and a bandwidth.
    pub const fn has_figures(self) -> bool {
        matches!(self, Status::Ok | Status::Suspect)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One row: one variant on one problem on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Id of the device.
    pub device: String,
    /// Name of the variant.
    pub variant: String,
    /// Name of the variant that ran for it, where that is another: what `auto` chose.
    pub chosen: Option<String>,
    /// Whether that was measured to be the fastest; there where it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tuned: bool,
    /// Rows of one source matrix.
    pub rows: u64,
    /// Columns of one source matrix.
    pub cols: u64,
    /// Number of matrices.
    pub batch: u64,
    /// Leading dimension of the source, in elements. This and the next three are there where there are gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_ld: Option<u64>,
    /// Batch stride of the source, in elements; of a single matrix, what it reaches over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_stride: Option<u64>,
    /// Leading dimension of the destination, in elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_ld: Option<u64>,
    /// Batch stride of the destination, in elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_stride: Option<u64>,
    /// Name of the element.
    pub element: String,
    /// Whether shaders were compiled with bounds checks; `null` where the API has no such setting
    /// or the variant no shader.
    pub bounds_checks: Option<bool>,
    /// How it ended.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// The clock that timed it.
    pub timer: Option<TimerKind>,
    /// Why this clock and not the device's own, where that is so.
    pub timer_note: Option<String>,
    /// Seconds of one launch, one value for each timed batch of launches.
    pub samples_s: Vec<f64>,
    /// Launches in each batch.
    pub launches: u32,
    /// Median of the samples in seconds.
    pub median_s: Option<f64>,
    /// Smallest sample in seconds.
    pub min_s: Option<f64>,
    /// Interquartile range of the samples over their median.
    pub spread: Option<f64>,
    /// Bytes that one launch moves: 2 × rows × cols × batch × width.
    pub bytes: u64,
    /// Effective bandwidth in GB/s: `bytes` over `median_s`, in 10⁹ bytes a second.
    pub gbps: Option<f64>,
    /// Percent of the copy ceiling: the better of `memcpy` and `copy` for the same bytes on the same device.
    pub percent_of_copy: Option<f64>,
    /// Percent of the device's theoretical peak; never for a software device.
    pub percent_of_peak: Option<f64>,
    /// Pairs of buffers that the launches rotated over.
    pub sets: usize,
    /// Whether the buffers together, gaps not counted, are smaller than four times the last-level cache, so that the
    /// figure may be the cache's; `null` where the size of the cache is not known.
    pub cache_resident: Option<bool>,
    /// Whether every destination was right, bit for bit, before and after timing.
    pub verified: bool,
    /// What holds it back, derived from the access model and the measured ratios; `null` where that says nothing.
    pub limiter: Option<String>,
    /// Smallest and largest clock of the multiprocessors in MHz, as read between its batches. This and the next two are
    /// there where the device's sensors could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_mhz: Option<[u32; 2]>,
    /// Smallest and largest clock of the memory in MHz, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mhz: Option<[u32; 2]>,
    /// What held the clocks down meanwhile; empty where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Vec<String>>,
}

impl Row {
    /// How source and destination lie in memory, where they are not packed.
    pub fn layouts(&self) -> Option<[Layout; 2]> {
        let source = Layout { first: 0, ld: self.source_ld?, stride: self.source_stride? };
        let destination = Layout { first: 0, ld: self.destination_ld?, stride: self.destination_stride? };
        Some([source, destination])
    }
}
