//! A made-up record of a probe, for tests.

#[cfg(feature = "cli")]
use super::Series;
use super::{ProbeRecord, ProbeResult};
use crate::device::DeviceKind;
use crate::record::{Device, Environment};

/// The id of its only device.
pub const DEVICE: &str = "cuda:0";

/// A series of one sample, for reports.
#[cfg(feature = "cli")]
pub fn series(value: f64) -> Series {
    Series { samples: vec![value], median: value, min: value, spread: 0.0 }
}

/// A record of a GPU with these results.
pub fn record<R: ProbeResult>(results: Vec<R>) -> ProbeRecord<R> {
    let device = Device {
        id: DEVICE.into(),
        name: "Example GPU".into(),
        api: "cuda".into(),
        driver: "example 1.2".into(),
        kind: DeviceKind::Gpu,
        pci: None,
        physical: 0,
        memory_bytes: None,
        cache_bytes: None,
        peak: None,
    };
    let environment = Environment {
        version: "0.1.0".into(),
        command: vec!["cornerturn".into()],
        date: "2026-01-02T03:04:05Z".into(),
        os: "linux".into(),
        arch: "x86_64".into(),
        cpus: 8,
    };
    let schema = R::SCHEMA.into();
    let record =
        ProbeRecord { schema, environment, devices: vec![device], absent: Vec::new(), results, interrupted: false };
    record.check().unwrap();
    record
}
