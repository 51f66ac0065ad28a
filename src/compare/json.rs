//! A comparison as JSON.

use serde::Serialize;

use super::{Comparison, Pair, Verdict};
use crate::record::{Record, Status};

/// The version of the format.
pub const SCHEMA: &str = "cornerturn-comparison/1";

#[derive(Serialize)]
struct File<'a> {
    schema: &'static str,
    base: Side<'a>,
    new: Side<'a>,
    warnings: &'a [String],
    rows: Vec<Row<'a>>,
    left_out: usize,
}

#[derive(Serialize)]
struct Side<'a> {
    file: &'a str,
    version: &'a str,
    date: &'a str,
}

#[derive(Serialize)]
struct Row<'a> {
    base_device: Option<&'a str>,
    new_device: Option<&'a str>,
    variant: &'a str,
    tuned: bool,
    rows: u64,
    cols: u64,
    batch: u64,
    source_ld: Option<u64>,
    source_stride: Option<u64>,
    destination_ld: Option<u64>,
    destination_stride: Option<u64>,
    element: &'a str,
    bounds_checks: Option<bool>,
    base_status: Option<Status>,
    new_status: Option<Status>,
    base_gbps: Option<f64>,
    new_gbps: Option<f64>,
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    verdict: Verdict,
    notes: &'a [String],
}

impl Comparison<'_> {
    /// The comparison as indented JSON with a newline at the end; `names` are what the two records are called, the
    /// earlier one first.
    pub fn to_json(&self, names: [&str; 2]) -> String {
        let file = File {
            schema: SCHEMA,
            base: side(names[0], self.base),
            new: side(names[1], self.new),
            warnings: &self.warnings,
            rows: self.rows.iter().map(row).collect(),
            left_out: self.left_out,
        };
        let mut json = serde_json::to_string_pretty(&file).expect("it has no map whose keys are not strings");
        json.push('\n');
        json
    }
}

fn side<'a>(file: &'a str, record: &'a Record) -> Side<'a> {
    Side { file, version: &record.environment.version, date: &record.environment.date }
}

fn row<'a>(pair: &'a Pair) -> Row<'a> {
    let row = pair.row();
    let change = pair.change.as_ref();
    Row {
        base_device: pair.base.map(|row| row.device.as_str()),
        new_device: pair.new.map(|row| row.device.as_str()),
        variant: &row.variant,
        tuned: row.tuned,
        rows: row.rows,
        cols: row.cols,
        batch: row.batch,
        source_ld: row.source_ld,
        source_stride: row.source_stride,
        destination_ld: row.destination_ld,
        destination_stride: row.destination_stride,
        element: &row.element,
        bounds_checks: row.bounds_checks,
        base_status: pair.base.map(|row| row.status),
        new_status: pair.new.map(|row| row.status),
        base_gbps: pair.base.and_then(|row| row.gbps),
        new_gbps: pair.new.and_then(|row| row.gbps),
        ratio: change.map(|change| change.ratio),
        interval: change.and_then(|change| change.interval),
        verdict: pair.verdict,
        notes: &pair.notes,
    }
}
