//! What `cornerturn coalescing` measures.

use serde::{Deserialize, Serialize};

use super::{ProbeResult, Series, check_series};
use crate::device::TimerKind;
use crate::record::check::{positive, require};
use crate::record::{InvalidRecord, Status};

/// Loads or stores with one stride from one start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoalescingRow {
    /// Id of the device.
    pub device: String,
    /// `load` or `store`.
    pub access: String,
    /// Bytes of one thread's access.
    pub width: u64,
    /// Elements from one thread's access to the next one's.
    pub stride: u64,
    /// Elements before the first one.
    pub first: u64,
    /// How it ended: `ok`, `unsupported`, `failed`, or `suspect` where more would have moved than the memory can.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// The clock that timed it.
    pub timer: Option<TimerKind>,
    /// Why this clock and not the device's own, where that is so.
    pub timer_note: Option<String>,
    /// Bytes from the first access to the last.
    pub set_bytes: u64,
    /// Bytes that one launch asks for.
    pub useful_bytes: u64,
    /// Bytes that it moves if whole sectors of 32 bytes move, once for each request of a warp.
    pub sector_bytes: u64,
    /// Bytes that it moves if whole lines of 128 bytes move, once for each request.
    pub line_bytes: u64,
    /// Sectors that one request of a warp touches.
    pub sectors: u64,
    /// Lines that it touches.
    pub lines: u64,
    /// Launches in each batch.
    pub launches: u32,
    /// Seconds of a launch.
    pub launch_s: Option<Series>,
    /// Effective bandwidth: `useful_bytes` over the median, in 10⁹ bytes a second.
    pub gbps: Option<f64>,
    /// Percent of what the same accesses reach with stride 1 from an aligned start.
    pub percent_of_unit_stride: Option<f64>,
    /// Percent of the device's theoretical peak.
    pub percent_of_peak: Option<f64>,
    /// Whether the lines touched are fewer than four times the last-level cache holds; `null` where its size is
    /// unknown.
    pub cache_resident: Option<bool>,
}

impl ProbeResult for CoalescingRow {
    const SCHEMA: &'static str = "cornerturn-coalescing/1";

    fn ending(&self) -> (&str, Status, Option<&str>) {
        (&self.device, self.status, self.reason.as_deref())
    }

    fn check(&self, place: &dyn Fn(&str) -> String) -> Result<(), InvalidRecord> {
        check_series(self.launch_s.as_ref(), place("launch_s"))?;
        let figures = [
            ("gbps", self.gbps),
            ("percent_of_unit_stride", self.percent_of_unit_stride),
            ("percent_of_peak", self.percent_of_peak),
        ];
        for (field, value) in figures {
            value.map_or(Ok(()), |value| positive(place(field), value))?;
        }
        let measured = self.launch_s.is_some() && self.gbps.is_some() && self.timer.is_some() && self.launches > 0;
        require(
            measured || !self.status.has_figures(),
            place("gbps"),
            "null",
            "a number where the status is ok or suspect",
        )?;
        let ordered = self.useful_bytes <= self.sector_bytes && self.sector_bytes <= self.line_bytes;
        require(ordered, place("sector_bytes"), self.sector_bytes, "no less than useful_bytes, no more than line_bytes")
    }
}
