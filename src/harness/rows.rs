//! From what was measured of a group to the rows of a record.

use super::cell::{Cell, Outcome};
use super::group::Group;
use super::stats;
use crate::device::DeviceKind;
use crate::kernel::Language;
use crate::limiter::{Evidence, Limiters};
use crate::record::{Row, Status};

impl Group<'_> {
    /// The rows of a group that was measured with so many sets; `stopped` if that was cut short.
    pub fn rows(self, sets: usize, limiters: &mut Limiters, stopped: bool) -> Vec<Row> {
        let ceiling = self.ceiling_seconds();
        // What was interrupted before its first sample has nothing to say.
        let says_something = |cell: &&Cell| !(stopped && cell.alive() && cell.samples.is_empty());
        self.cells.iter().filter(says_something).map(|cell| self.row(cell, sets, ceiling, limiters)).collect()
    }

    /// The best median of the copies.
    fn ceiling_seconds(&self) -> Option<f64> {
        let copies = self.cells.iter().filter(|cell| cell.variant.is_ceiling() && cell.verified[1] && cell.alive());
        copies.filter_map(|cell| Some(stats::summarise(&cell.samples)?.median)).min_by(f64::total_cmp)
    }

    fn row(&self, cell: &Cell, sets: usize, ceiling: Option<f64>, limiters: &mut Limiters) -> Row {
        let mut row = self.blank_row(cell);
        if let Some(outcome) = &cell.outcome {
            let (status, reason) = match outcome {
                Outcome::Unsupported(reason) => (Status::Unsupported, reason),
                Outcome::Failed(reason) => (Status::Failed, reason),
            };
            return Row { status, reason: Some(reason.clone()), ..row };
        }
        let Some(summary) = stats::summarise(&cell.samples) else {
            return Row { status: Status::Failed, reason: Some("no batch was timed".into()), ..row };
        };
        let gbps = row.bytes as f64 / summary.median / 1e9;
        let gpu = self.target.info().kind != DeviceKind::Software;
        row.sets = cell.sets_touched(sets);
        row.cache_resident =
            self.target.cache_bytes.map(|_| row.sets as u64 * row.bytes < self.target.working_set_wanted());
        row.verified = cell.verified == [true; 2];
        row.median_s = Some(summary.median);
        row.min_s = Some(summary.min);
        row.spread = Some(summary.spread);
        row.gbps = Some(gbps);
        row.percent_of_copy = ceiling.map(|ceiling| 100.0 * ceiling / summary.median);
        row.percent_of_peak = self.target.peak.filter(|_| gpu).map(|peak| 100.0 * gbps / peak.gbps);
        row.limiter = self.limiter(cell, &row, ceiling, limiters);
        if let Some(percent) = row.percent_of_peak.filter(|percent| *percent > 100.0) {
            row.status = Status::Suspect;
            let cache = if row.cache_resident == Some(true) { ": the buffers fit in the cache" } else { "" };
            row.reason = Some(format!("{percent:.1} % of the theoretical peak{cache}"));
            row.limiter = None;
        }
        row
    }

    fn blank_row(&self, cell: &Cell) -> Row {
        let (source, destination) = (self.problem.source(), self.problem.destination());
        let with_gaps = |length: u64| (!self.problem.is_packed()).then_some(length);
        Row {
            device: self.target.info().id.to_string(),
            variant: cell.variant.name().into(),
            chosen: (cell.runs != cell.variant).then(|| cell.runs.name().into()),
            tuned: cell.tuned,
            rows: self.problem.rows(),
            cols: self.problem.cols(),
            batch: self.problem.batch(),
            source_ld: with_gaps(source.ld),
            source_stride: with_gaps(source.stride),
            destination_ld: with_gaps(destination.ld),
            destination_stride: with_gaps(destination.stride),
            element: self.problem.element().name().into(),
            bounds_checks: cell.bounds_checks,
            status: Status::Ok,
            reason: None,
            timer: cell.timer,
            timer_note: cell.timer_note.clone(),
            samples_s: cell.samples.clone(),
            launches: if cell.samples.is_empty() { 0 } else { cell.launches.get() },
            median_s: None,
            min_s: None,
            spread: None,
            bytes: self.problem.bytes_moved(),
            gbps: None,
            percent_of_copy: None,
            percent_of_peak: None,
            sets: 0,
            cache_resident: None,
            verified: false,
            limiter: None,
            sm_mhz: cell.clocks.sm_mhz,
            memory_mhz: cell.clocks.memory_mhz,
            throttled: cell.clocks.throttled.as_ref().map(|reasons| reasons.iter().copied().map(Into::into).collect()),
        }
    }

    /// The limiter, on GPUs: the model is one of GPUs.
    fn limiter(&self, cell: &Cell, row: &Row, ceiling: Option<f64>, limiters: &mut Limiters) -> Option<String> {
        if self.target.info().kind != DeviceKind::Gpu {
            return None;
        }
        let ceiling_gbps = row.bytes as f64 / ceiling? / 1e9;
        limiters.limiter(&Evidence {
            variant: cell.runs,
            problem: &self.problem,
            language: Language::of(self.target.info().id.api)?,
            percent_of_copy: row.percent_of_copy?,
            ceiling_percent_of_peak: self.target.peak.map(|peak| 100.0 * ceiling_gbps / peak.gbps),
        })
    }
}
