//! What `cornerturn banks` measures.

use serde::{Deserialize, Serialize};

use super::{ProbeResult, Series, check_series};
use crate::device::TimerKind;
use crate::record::check::{positive, require};
use crate::record::{InvalidRecord, Status};

/// Reads of shared memory with one stride.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BanksRow {
    /// Id of the device.
    pub device: String,
    /// Words of 4 bytes from one lane's access to the next one's.
    pub stride: u64,
    /// Passes that the access model predicts for a request; `null` on a device that is no GPU.
    pub degree: Option<u64>,
    /// How it ended: `ok`, `unsupported` or `failed`.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// The clock behind the seconds.
    pub timer: Option<TimerKind>,
    /// Why this clock and not the device's own, where that is so.
    pub timer_note: Option<String>,
    /// Requests of one launch, all of a single block.
    pub requests: u64,
    /// Launches in each batch.
    pub launches: u32,
    /// Seconds of a request.
    pub request_s: Option<Series>,
    /// Cycles of a request, where the device counts them.
    pub request_cycles: Option<Series>,
    /// How many times as long as with stride 1 it takes: in cycles where there are any.
    pub ratio: Option<f64>,
}

impl ProbeResult for BanksRow {
    const SCHEMA: &'static str = "cornerturn-banks/1";

    fn ending(&self) -> (&str, Status, Option<&str>) {
        (&self.device, self.status, self.reason.as_deref())
    }

    fn check(&self, place: &dyn Fn(&str) -> String) -> Result<(), InvalidRecord> {
        check_series(self.request_s.as_ref(), place("request_s"))?;
        check_series(self.request_cycles.as_ref(), place("request_cycles"))?;
        self.ratio.map_or(Ok(()), |ratio| positive(place("ratio"), ratio))?;
        let measured = self.request_s.is_some() && self.timer.is_some() && self.launches > 0;
        require(measured || !self.status.has_figures(), place("request_s"), "null", "there where the status is ok")
    }
}
