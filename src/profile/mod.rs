//! Hardware counters of kernels, read by Nsight Compute, beside what the access model predicts.

mod ncu;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::record::{self, Device, Environment, InvalidRecord, ReadError, require};
use crate::trace::{self, Dispatch, Kind, Report, Selection, Shader, Space};
use crate::variant::Variant;

pub use ncu::{Launch, Ncu, ProfileError};

/// The version of the format of a [`Profile`].
pub const SCHEMA: &str = "cornerturn-profile/1";

/// A hardware counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name that Nsight Compute has for it.
    pub metric: &'static str,
    /// What it counts, in a few words.
    pub title: &'static str,
}

/// The counters that are read: those of which the access model predicts something. Of one launch, summed over the device.
pub const COUNTERS: [Counter; 8] = [
    Counter { metric: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", title: "global load requests" },
    Counter { metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", title: "global load sectors" },
    Counter { metric: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", title: "global store requests" },
    Counter { metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", title: "global store sectors" },
    Counter { metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", title: "shared load conflicts" },
    Counter { metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", title: "shared store conflicts" },
    Counter { metric: "dram__bytes_read.sum", title: "DRAM bytes read" },
    Counter { metric: "dram__bytes_write.sum", title: "DRAM bytes written" },
];

/// A value for each of [`COUNTERS`], in that order; `None` where there is none.
pub type Counts = [Option<f64>; COUNTERS.len()];

/// Workgroups of the largest grid that is traced whole for a prediction: it takes about half a minute. Of a larger one it
/// is a sample.
const TRACED_WHOLE: u64 = 8192;

/// What is predicted for one launch of a variant: for requests, sectors and conflicts what the [tracer](crate::trace) counts
/// in its WGSL, in all workgroups where they are at most 8192, else in a sample of them; for DRAM that it moves what the
/// problem has, once.
pub fn predicted(variant: Variant, problem: &Problem) -> Counts {
    let report = trace::kernel(variant, problem).ok().and_then(|(shader, dispatch)| report(&shader, dispatch));
    let total = |space, kind| report.as_ref().map(|report| report.total(space, kind));
    let [load, store] = [Kind::Load, Kind::Store].map(|kind| total(Space::Storage, kind));
    let conflicts = |kind| total(Space::Workgroup, kind).map(|counts| counts.extra_passes());
    [
        load.map(|counts| counts.requests),
        load.map(|counts| counts.sectors),
        store.map(|counts| counts.requests),
        store.map(|counts| counts.sectors),
        conflicts(Kind::Load),
        conflicts(Kind::Store),
        Some(problem.source_bytes()),
        Some(problem.destination_bytes()),
    ]
    .map(|count| count.map(|count| count as f64))
}

/// The report of all workgroups of a small grid, or of a sample, also where all of them take more memory than there may be.
fn report(shader: &Shader, mut dispatch: Dispatch) -> Option<Report> {
    let workgroups: u64 = dispatch.grid.iter().map(|&count| u64::from(count)).product();
    let mut traced = |selection| {
        dispatch.workgroups = selection;
        trace::trace(shader, &dispatch).ok().map(|traced| traced.report)
    };
    let whole = if workgroups <= TRACED_WHOLE { traced(Selection::All) } else { None };
    whole.or_else(|| traced(Selection::Auto))
}

/// What the counters had for some variants, and what was predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: String,
    /// The machine and the program.
    pub environment: Environment,
    /// The device.
    pub device: Device,
    /// What was transposed, such as `4096×4096 f32`.
    pub problem: String,
    /// One row for each variant, in the order launched.
    pub results: Vec<Row>,
}

/// A variant's counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The variant.
    pub variant: String,
    /// One value for each counter.
    pub counters: Vec<Value>,
}

/// A counter, as predicted and as measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// [`Counter::metric`].
    pub metric: String,
    /// What the access model gives, if it gives anything.
    pub predicted: Option<f64>,
    /// What the hardware counted, if it has this counter.
    pub measured: Option<f64>,
}

impl Profile {
    /// Checks what the types alone do not: the version, and that counts are finite and not below zero.
    ///
    /// # Errors
    /// [`InvalidRecord`] for the first value that breaks a rule.
    pub fn check(&self) -> Result<(), InvalidRecord> {
        require(self.schema == SCHEMA, "schema".into(), &self.schema, SCHEMA)?;
        for (i, row) in self.results.iter().enumerate() {
            for (k, value) in row.counters.iter().enumerate() {
                for (field, count) in [("predicted", value.predicted), ("measured", value.measured)] {
                    let place = format!("results[{i}].counters[{k}].{field}");
                    let count = count.unwrap_or(0.0);
                    require(count.is_finite() && count >= 0.0, place, count, "finite and not below zero")?;
                }
            }
        }
        Ok(())
    }

    /// The profile as indented JSON, with a newline at the end.
    ///
    /// # Errors
    /// [`InvalidRecord`] if it breaks a rule of [`Profile::check`].
    pub fn to_json(&self) -> Result<String, InvalidRecord> {
        self.check()?;
        Ok(record::json(self))
    }

    /// Reads a profile from JSON. Fields it does not know are passed over. `origin` is what errors call the text.
    ///
    /// # Errors
    /// [`ReadError`] as [`Record::from_json`](crate::record::Record::from_json).
    pub fn from_json(text: &str, origin: &str) -> Result<Profile, ReadError> {
        let profile: Profile = record::of_version(text, origin, SCHEMA)?;
        profile.check().map_err(|invalid| ReadError::Invalid { origin: origin.into(), invalid })?;
        Ok(profile)
    }
}

impl Row {
    /// A row of both.
    pub fn new(variant: &str, predicted: Counts, measured: Counts) -> Row {
        let values = predicted.into_iter().zip(measured);
        let value = |(counter, (predicted, measured)): (&Counter, _)| Value {
            metric: counter.metric.into(),
            predicted,
            measured,
        };
        Row { variant: variant.into(), counters: COUNTERS.iter().zip(values).map(value).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    #[test]
    fn conflicts_and_sectors_are_predicted_exactly_where_workgroups_are_alike() {
        let problem = Problem::new(4096, 4096, 1, Element::F32).unwrap();
        let [requests, sectors] = [524_288.0, 2_097_152.0].map(Some);
        let bytes = Some(67_108_864.0);
        let tiled = [requests, sectors, requests, sectors, Some(16_252_928.0), Some(0.0), bytes, bytes];
        assert_eq!(predicted(Variant::Tiled, &problem), tiled);
        let padded = [requests, sectors, requests, sectors, Some(0.0), Some(0.0), bytes, bytes];
        assert_eq!(predicted(Variant::Padded, &problem), padded);
        assert_eq!(predicted(Variant::Memcpy, &problem)[..6], [None; 6]);
    }

    #[test]
    fn workgroups_of_a_small_grid_are_counted_one_by_one() {
        let problem = Problem::new(512, 520, 1, Element::F32).unwrap();
        let (shader, mut dispatch) = trace::kernel(Variant::Gather, &problem).unwrap();
        let mut loads = |selection| {
            dispatch.workgroups = selection;
            let report = trace::trace(&shader, &dispatch).unwrap().report;
            report.total(Space::Storage, Kind::Load).sectors as f64
        };
        let [all, sampled] = [Selection::All, Selection::Auto].map(&mut loads);
        assert_ne!(all, sampled);
        assert_eq!(predicted(Variant::Gather, &problem)[1], Some(all));
    }
}
