//! Records of the probes: what `cornerturn hierarchy`, `coalescing` and `banks` write with `--json`.
//!
//! All three are one [`ProbeRecord`] and differ in what a result is. `docs/probes.schema.json` is the schema.

mod banks;
mod coalescing;
#[cfg(test)]
pub(crate) mod example;
mod hierarchy;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::check::{Checked, devices, require};
use super::{Absent, Device, Environment, InvalidRecord, ReadError, Status, file};
use crate::harness::stats;

pub use banks::BanksRow;
pub use coalescing::CoalescingRow;
pub use hierarchy::{Bandwidth, CurvePoint, HierarchyRow, LevelRow};

/// A run of a probe: where, on what, and what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "R: ProbeResult")]
pub struct ProbeRecord<R> {
    /// [`ProbeResult::SCHEMA`].
    pub schema: String,
    /// The machine and the program.
    pub environment: Environment,
    /// The devices that were asked to run something.
    pub devices: Vec<Device>,
    /// The APIs that were looked at and brought no device.
    pub absent: Vec<Absent>,
    /// What was measured, in this order.
    pub results: Vec<R>,
    /// Whether the run was interrupted, so that results are missing.
    pub interrupted: bool,
}

/// What a probe measures.
pub trait ProbeResult: Serialize + DeserializeOwned {
    /// The version of the format. A reader accepts no other.
    const SCHEMA: &'static str;

    /// Id of the device, how it ended, and why it is not `ok`.
    fn ending(&self) -> (&str, Status, Option<&str>);

    /// Checks what the types alone do not; `place` names a field.
    ///
    /// # Errors
    /// [`InvalidRecord`] for the first value that breaks a rule.
    fn check(&self, place: &dyn Fn(&str) -> String) -> Result<(), InvalidRecord>;
}

impl<R: ProbeResult> ProbeRecord<R> {
    /// The device of an id, if it is listed.
    pub fn device(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// Checks what the types alone do not: the version, that every result names a listed device, each listed once, and that figures
    /// are finite, above zero and there where the status says so.
    ///
    /// # Errors
    /// [`InvalidRecord`] for the first value that breaks a rule.
    pub fn check(&self) -> Result<(), InvalidRecord> {
        require(self.schema == R::SCHEMA, "schema".into(), &self.schema, R::SCHEMA)?;
        devices(&self.devices)?;
        for (i, result) in self.results.iter().enumerate() {
            let place = |field: &str| format!("results[{i}].{field}");
            let (device, status, reason) = result.ending();
            require(self.device(device).is_some(), place("device"), device, "the id of a listed device")?;
            let agrees = (status == Status::Ok) == reason.is_none() && reason.is_none_or(|reason| !reason.is_empty());
            require(agrees, place("reason"), reason.unwrap_or("null"), "there exactly where the status is not ok")?;
            result.check(&place)?;
        }
        Ok(())
    }

    /// The record as indented JSON, with a newline at the end.
    ///
    /// # Errors
    /// [`InvalidRecord`] if the record breaks a rule of [`ProbeRecord::check`].
    pub fn to_json(&self) -> Result<String, InvalidRecord> {
        self.check()?;
        Ok(file::json(self))
    }

    /// Reads a record from JSON. Fields it does not know are passed over. `origin` is what errors call the text.
    ///
    /// # Errors
    /// [`ReadError`] as [`Record::from_json`](super::Record::from_json).
    pub fn from_json(text: &str, origin: &str) -> Result<ProbeRecord<R>, ReadError> {
        let record: ProbeRecord<R> = file::of_version(text, origin, R::SCHEMA)?;
        record.check().map_err(|invalid| ReadError::Invalid { origin: origin.into(), invalid })?;
        Ok(record)
    }
}

/// Samples of one figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// All of them, in the order measured.
    pub samples: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// Interquartile range over the median.
    pub spread: f64,
}

impl Series {
    /// The series of these samples; `None` if there are none.
    pub fn of(samples: Vec<f64>) -> Option<Series> {
        let stats::Summary { median, min, spread } = stats::summarise(&samples)?;
        Some(Series { samples, median, min, spread })
    }

    fn check(&self, place: String) -> Checked {
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let wrong = self.samples.iter().chain([&self.median, &self.min]).find(|value| !positive(value));
        require(wrong.is_none(), place.clone(), wrong.unwrap_or(&0.0), "of numbers that are finite and above zero")?;
        require(!self.samples.is_empty(), format!("{place}.samples"), "empty", "not empty")?;
        let spread = self.spread;
        require(spread.is_finite() && spread >= 0.0, format!("{place}.spread"), spread, "finite and not below zero")
    }
}

/// Checks a series that may be missing.
fn check_series(series: Option<&Series>, place: String) -> Checked {
    series.map_or(Ok(()), |series| series.check(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TimerKind;

    fn record() -> ProbeRecord<BanksRow> {
        let row = BanksRow {
            device: example::DEVICE.into(),
            stride: 2,
            degree: Some(2),
            status: Status::Ok,
            reason: None,
            timer: Some(TimerKind::Device),
            timer_note: None,
            requests: 4096,
            launches: 3,
            request_s: Series::of(vec![2e-9, 1e-9, 4e-9]),
            request_cycles: None,
            ratio: Some(2.0),
        };
        let failed = BanksRow {
            status: Status::Failed,
            reason: Some("it broke".into()),
            timer: None,
            launches: 0,
            request_s: None,
            ratio: None,
            ..row.clone()
        };
        example::record(vec![row, failed])
    }

    #[test]
    fn a_record_comes_back_as_it_went() {
        let json = record().to_json().unwrap();
        assert!(json.ends_with("}\n"));
        assert_eq!(ProbeRecord::from_json(&json, "x.json").unwrap(), record());
        let series = record().results[0].request_s.clone().unwrap();
        assert_eq!((series.median, series.min, series.samples.len()), (2e-9, 1e-9, 3));
    }

    #[test]
    fn a_record_of_another_kind_or_a_broken_one_is_not_read() {
        let json = record().to_json().unwrap();
        let error = ProbeRecord::<HierarchyRow>::from_json(&json, "x.json").unwrap_err().to_string();
        let expected = "x.json is a record of format `cornerturn-banks/1`; only `cornerturn-hierarchy/1` can be read";
        assert_eq!(error, expected);
        let cut = ProbeRecord::<BanksRow>::from_json(&json[..json.len() / 2], "x.json").unwrap_err();
        assert!(matches!(cut, ReadError::Truncated { .. }), "{cut}");
    }

    #[test]
    fn what_breaks_a_rule_is_named_and_not_written() {
        let place = |change: fn(&mut ProbeRecord<BanksRow>)| {
            let mut record = record();
            change(&mut record);
            record.to_json().unwrap_err().place
        };
        assert_eq!(place(|record| record.schema = "cornerturn/1".into()), "schema");
        assert_eq!(place(|record| record.results[1].device = "cuda:7".into()), "results[1].device");
        assert_eq!(place(|record| record.results[1].reason = None), "results[1].reason");
        assert_eq!(place(|record| record.results[0].reason = Some("why".into())), "results[0].reason");
        assert_eq!(place(|record| record.results[0].request_s = None), "results[0].request_s");
        assert_eq!(place(|record| record.results[0].ratio = Some(f64::NAN)), "results[0].ratio");
        let spoil = |record: &mut ProbeRecord<BanksRow>| {
            record.results[0].request_s.as_mut().unwrap().samples[1] = f64::INFINITY;
        };
        assert_eq!(place(spoil), "results[0].request_s");
    }
}
