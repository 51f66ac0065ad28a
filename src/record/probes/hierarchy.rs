//! What `cornerturn hierarchy` measures of a device.

use serde::{Deserialize, Serialize};

use super::{ProbeResult, Series, check_series};
use crate::device::TimerKind;
use crate::record::check::{positive, require};
use crate::record::{InvalidRecord, Status};

/// A device's levels of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HierarchyRow {
    /// Id of the device.
    pub device: String,
    /// How it ended: `ok`, `unsupported` or `failed`. What was measured before a failure is there.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// The clock behind the seconds of the curve.
    pub timer: Option<TimerKind>,
    /// Why this clock and not the device's own, where that is so.
    pub timer_note: Option<String>,
    /// Multiprocessors, where the driver tells.
    pub multiprocessors: Option<u64>,
    /// Cycles of a multiprocessor in a second while it was measured, where the device counts them.
    pub clock_hz: Option<f64>,
    /// Bytes from one access of the chain to the next, at the least.
    pub line_bytes: u64,
    /// The levels, from the nearest on; none on a device that is no GPU.
    pub levels: Vec<LevelRow>,
    /// Latency over the size of the set, in the order of the sizes.
    pub curve: Vec<CurvePoint>,
    /// What all multiprocessors together read: all probes, of which a level may have several.
    pub bandwidths: Vec<Bandwidth>,
}

/// A level of the hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelRow {
    /// Its name: `registers`, `shared`, `l1`, `l2` or `global`.
    pub level: String,
    /// Of what there is so much: `multiprocessor` or `device`.
    pub per: String,
    /// Bytes as the driver tells them.
    pub driver_bytes: Option<u64>,
    /// Bytes of shared memory that a single block may have, as the driver tells them.
    pub block_bytes: Option<u64>,
    /// The last size before the latency leaves the plateau; the level ends between it and `measured_below`.
    pub measured_bytes: Option<u64>,
    /// The first size beyond the plateau.
    pub measured_below: Option<u64>,
    /// Seconds of an access that waits for the one before.
    pub latency_s: Option<Series>,
    /// Cycles of it, where the device counts them.
    pub latency_cycles: Option<Series>,
    /// What is unusual about it.
    pub note: Option<String>,
}

/// A bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The level that it was made for, by its name; on a device that is no GPU its data may lie elsewhere.
    pub level: String,
    /// The probe that reached it.
    pub probe: String,
    /// Bytes of all that is read again and again; 0 for registers.
    pub set_bytes: u64,
    /// Bytes that one launch reads.
    pub bytes: u64,
    /// Launches in each batch.
    pub launches: u32,
    /// The clock that timed it.
    pub timer: TimerKind,
    /// Seconds of a launch.
    pub launch_s: Series,
    /// `bytes` over the median, in 10⁹ bytes a second.
    pub gbps: f64,
    /// Bytes of a block in a cycle of its multiprocessor, where each has one block and counts its cycles.
    pub bytes_per_cycle: Option<Series>,
}

/// A point of the curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Bytes of the set.
    pub bytes: u64,
    /// Seconds of an access.
    pub latency_s: Series,
    /// Cycles of it.
    pub latency_cycles: Option<Series>,
}

impl HierarchyRow {
    /// A level by its name.
    pub fn level(&self, name: &str) -> Option<&LevelRow> {
        self.levels.iter().find(|level| level.level == name)
    }

    /// The best bandwidth of a level.
    pub fn bandwidth(&self, level: &str) -> Option<&Bandwidth> {
        let of_level = self.bandwidths.iter().filter(|bandwidth| bandwidth.level == level);
        of_level.max_by(|a, b| a.gbps.total_cmp(&b.gbps))
    }
}

impl ProbeResult for HierarchyRow {
    const SCHEMA: &'static str = "cornerturn-hierarchy/1";

    fn ending(&self) -> (&str, Status, Option<&str>) {
        (&self.device, self.status, self.reason.as_deref())
    }

    fn check(&self, place: &dyn Fn(&str) -> String) -> Result<(), InvalidRecord> {
        self.clock_hz.map_or(Ok(()), |clock| positive(place("clock_hz"), clock))?;
        for (k, level) in self.levels.iter().enumerate() {
            let place = |field: &str| place(&format!("levels[{k}].{field}"));
            check_series(level.latency_s.as_ref(), place("latency_s"))?;
            check_series(level.latency_cycles.as_ref(), place("latency_cycles"))?;
        }
        for (k, bandwidth) in self.bandwidths.iter().enumerate() {
            let place = |field: &str| place(&format!("bandwidths[{k}].{field}"));
            positive(place("gbps"), bandwidth.gbps)?;
            bandwidth.launch_s.check(place("launch_s"))?;
            check_series(bandwidth.bytes_per_cycle.as_ref(), place("bytes_per_cycle"))?;
        }
        for (k, pair) in self.curve.windows(2).enumerate() {
            let rises = pair[0].bytes < pair[1].bytes;
            require(rises, place(&format!("curve[{}].bytes", k + 1)), pair[1].bytes, "larger than the one before")?;
        }
        for (k, point) in self.curve.iter().enumerate() {
            point.latency_s.check(place(&format!("curve[{k}].latency_s")))?;
            check_series(point.latency_cycles.as_ref(), place(&format!("curve[{k}].latency_cycles")))?;
        }
        Ok(())
    }
}
