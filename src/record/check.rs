//! What a record must keep to beyond its types, so that neither a writer nor a reader is misled.

use std::collections::HashSet;

use super::{Device, Record, Row, SCHEMA, Status};
use crate::device::DeviceKind;

/// A value that no record may have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} is {value}; it must be {expected}")]
pub struct InvalidRecord {
    /// Where it stands, such as `results[3].median_s`.
    pub place: String,
    /// What stands there.
    pub value: String,
    /// What may stand there.
    pub expected: &'static str,
}

pub(super) type Checked = Result<(), InvalidRecord>;

pub(crate) fn require(
    holds: bool,
    place: String,
    value: impl ToString,
    expected: &'static str,
) -> Result<(), InvalidRecord> {
    if holds { Ok(()) } else { Err(InvalidRecord { place, value: value.to_string(), expected }) }
}

/// `null` as JSON has it, for a message.
fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or("null".into(), |value| value.to_string())
}

impl Record {
    /// Checks what the types alone do not: the schema's version, that every row names a listed device, that numbers
    /// are finite and in range, and that a row's fields agree with its status.
    ///
    /// # Errors
    /// [`InvalidRecord`] for the first value that breaks a rule.
    pub fn check(&self) -> Result<(), InvalidRecord> {
        require(self.schema == SCHEMA, "schema".into(), &self.schema, SCHEMA)?;
        devices(&self.devices)?;
        for (i, row) in self.results.iter().enumerate() {
            let place = |field: &str| format!("results[{i}].{field}");
            let device = self.device(&row.device);
            require(device.is_some(), place("device"), &row.device, "the id of a listed device")?;
            require(!row.tuned || row.chosen.is_some(), place("tuned"), row.tuned, "missing where nothing was chosen")?;
            layouts(row, &place)?;
            numbers(row, &place)?;
            agrees_with_status(row, &place)?;
            let software = device.is_some_and(|device| device.kind == DeviceKind::Software);
            let peak = row.percent_of_peak;
            require(!software || peak.is_none(), place("percent_of_peak"), shown(peak), "null on a software device")?;
        }
        Ok(())
    }
}

/// Each id is there once, and peaks are figures.
pub(super) fn devices(devices: &[Device]) -> Checked {
    let mut ids = HashSet::new();
    for (i, device) in devices.iter().enumerate() {
        require(ids.insert(&device.id), format!("devices[{i}].id"), &device.id, "an id no other device has")?;
        device.peak.map_or(Ok(()), |peak| positive(format!("devices[{i}].peak.gbps"), peak.gbps))?;
    }
    Ok(())
}

pub(super) fn positive(place: String, value: f64) -> Checked {
    require(value.is_finite() && value > 0.0, place, value, "finite and above zero")
}

/// All of a layout's fields are there or none.
fn layouts(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    let fields = [
        ("source_ld", row.source_ld),
        ("source_stride", row.source_stride),
        ("destination_ld", row.destination_ld),
        ("destination_stride", row.destination_stride),
    ];
    let given = fields.iter().any(|(_, value)| value.is_some());
    let missing = fields.iter().find(|(_, value)| given && value.is_none());
    missing.map_or(Ok(()), |(field, _)| {
        require(false, place(field), "missing", "there where another of the layouts' fields is")
    })
}

fn numbers(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    for (k, &sample) in row.samples_s.iter().enumerate() {
        positive(place(&format!("samples_s[{k}]")), sample)?;
    }
    for (field, value) in [("median_s", row.median_s), ("min_s", row.min_s)] {
        value.map_or(Ok(()), |value| positive(place(field), value))?;
    }
    for (field, value) in [
        ("spread", row.spread),
        ("gbps", row.gbps),
        ("percent_of_copy", row.percent_of_copy),
        ("percent_of_peak", row.percent_of_peak),
    ] {
        let holds = value.is_none_or(|value| value.is_finite() && value >= 0.0);
        require(holds, place(field), shown(value), "finite and not below zero")?;
    }
    for (field, value) in [("sm_mhz", row.sm_mhz), ("memory_mhz", row.memory_mhz)] {
        let Some([low, high]) = value else { continue };
        require(low <= high, place(field), format!("[{low}, {high}]"), "the smallest and then the largest")?;
    }
    Ok(())
}

fn agrees_with_status(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    let ok = row.status == Status::Ok;
    let reason = row.reason.as_deref();
    require(!ok || reason.is_none(), place("reason"), shown(reason), "null where the status is ok")?;
    let given = reason.is_some_and(|reason| !reason.is_empty());
    require(ok || given, place("reason"), shown(reason), "a reason where the status is not ok")?;
    match row.status {
        Status::Ok | Status::Suspect => has_figures(row, place),
        Status::Failed => has_no_result(row, place),
        Status::Unsupported => has_no_result(row, place).and_then(|()| was_not_run(row, place)),
    }
}

fn has_figures(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    let expected = "a number where the status is ok or suspect";
    for (field, value) in [("median_s", row.median_s), ("min_s", row.min_s), ("spread", row.spread), ("gbps", row.gbps)]
    {
        require(value.is_some(), place(field), "null", expected)?;
    }
    require(row.timer.is_some(), place("timer"), "null", "a clock where the status is ok or suspect")?;
    let samples = row.samples_s.len();
    require(samples > 0, place("samples_s"), "empty", "not empty where the status is ok or suspect")?;
    require(row.launches > 0, place("launches"), row.launches, "above zero where the status is ok or suspect")?;
    require(row.sets > 0, place("sets"), row.sets, "above zero where the status is ok or suspect")?;
    let peak = row.percent_of_peak;
    let possible = row.status == Status::Suspect || peak.is_none_or(|percent| percent <= 100.0);
    require(possible, place("percent_of_peak"), shown(peak), "at most 100 where the status is ok")?;
    require(row.verified, place("verified"), row.verified, "true where the status is ok or suspect")
}

fn has_no_result(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    let expected = "null where the status is not ok or suspect";
    let percents = [("percent_of_copy", row.percent_of_copy), ("percent_of_peak", row.percent_of_peak)];
    for (field, value) in [("gbps", row.gbps)].into_iter().chain(percents) {
        require(value.is_none(), place(field), shown(value), expected)?;
    }
    require(row.limiter.is_none(), place("limiter"), shown(row.limiter.as_ref()), expected)?;
    require(!row.verified, place("verified"), row.verified, "false where the status is not ok or suspect")
}

fn was_not_run(row: &Row, place: &impl Fn(&str) -> String) -> Checked {
    let expected = "null where the status is unsupported";
    require(row.samples_s.is_empty(), place("samples_s"), "not empty", "empty where the status is unsupported")?;
    require(row.timer.is_none(), place("timer"), shown(row.timer), expected)?;
    require(row.median_s.is_none(), place("median_s"), shown(row.median_s), expected)?;
    require(row.min_s.is_none(), place("min_s"), shown(row.min_s), expected)
}
