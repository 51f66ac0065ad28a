//! The rows of a record as CSV.

use serde::Serialize;

use crate::record::{Device, Record, Row};

/// A column: its name, and what a row has there.
type Column<T> = (&'static str, fn(&T) -> String);

/// The fields of a row, under their names in the record. A test holds them against the record.
const ROW: [Column<Row>; 33] = [
    ("device", |row| row.device.clone()),
    ("variant", |row| row.variant.clone()),
    ("chosen", |row| text(row.chosen.as_ref())),
    ("tuned", |row| text(row.tuned.then_some(true))),
    ("rows", |row| row.rows.to_string()),
    ("cols", |row| row.cols.to_string()),
    ("batch", |row| row.batch.to_string()),
    ("source_ld", |row| text(row.source_ld)),
    ("source_stride", |row| text(row.source_stride)),
    ("destination_ld", |row| text(row.destination_ld)),
    ("destination_stride", |row| text(row.destination_stride)),
    ("element", |row| row.element.clone()),
    ("bounds_checks", |row| text(row.bounds_checks)),
    ("status", |row| row.status.to_string()),
    ("reason", |row| text(row.reason.as_ref())),
    ("timer", |row| text(row.timer)),
    ("timer_note", |row| text(row.timer_note.as_ref())),
    ("samples_s", |row| row.samples_s.iter().map(f64::to_string).collect::<Vec<_>>().join(";")),
    ("launches", |row| row.launches.to_string()),
    ("median_s", |row| text(row.median_s)),
    ("min_s", |row| text(row.min_s)),
    ("spread", |row| text(row.spread)),
    ("bytes", |row| row.bytes.to_string()),
    ("gbps", |row| text(row.gbps)),
    ("percent_of_copy", |row| text(row.percent_of_copy)),
    ("percent_of_peak", |row| text(row.percent_of_peak)),
    ("sets", |row| row.sets.to_string()),
    ("cache_resident", |row| text(row.cache_resident)),
    ("verified", |row| row.verified.to_string()),
    ("limiter", |row| text(row.limiter.as_ref())),
    ("sm_mhz", |row| text(row.sm_mhz.map(span))),
    ("memory_mhz", |row| text(row.memory_mhz.map(span))),
    ("throttled", |row| row.throttled.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(";")),
];

/// What is told of a row's device.
const DEVICE: [Column<Device>; 4] = [
    ("device_name", |device| device.name.clone()),
    ("device_api", |device| device.api.clone()),
    ("device_driver", |device| device.driver.clone()),
    ("device_kind", |device| name(device.kind)),
];

/// The results as CSV: a header, then one line for each row, in the order measured.
///
/// The columns are the fields of a [`Row`] under their names in the record, in its units, then `device_name`,
/// `device_api`, `device_driver` and `device_kind`. Samples, the two ends of a span and several reasons are joined by `;`, and what is `null` or missing is empty.
/// Numbers have all their digits. Text is as it stands in the record, quoted where CSV asks for it.
pub fn csv(record: &Record) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ROW.iter().map(|(name, _)| name).chain(DEVICE.iter().map(|(name, _)| name));
    writer.write_record(header).expect(IN_MEMORY);
    for row in &record.results {
        let device = record.device(&row.device);
        let of_row = ROW.iter().map(|(_, value)| value(row));
        let of_device = DEVICE.iter().map(|(_, value)| device.map_or(String::new(), value));
        writer.write_record(of_row.chain(of_device)).expect(IN_MEMORY);
    }
    let bytes = writer.into_inner().expect(IN_MEMORY);
    String::from_utf8(bytes).expect("only strings were written")
}

const IN_MEMORY: &str = "lines of one length are written to memory, which cannot fail";

fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn span([low, high]: [u32; 2]) -> String {
    format!("{low};{high}")
}

/// The name that a value has in the record.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
