//! The probes on a driver that follows their chains: what they make of a device, and of one that fails.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cornerturn::backends::{self, Discovery};
use cornerturn::device::Api;
use cornerturn::harness::{self, Observer};
use cornerturn::probe::{self, Settings};
use cornerturn::record::Status;

struct Nobody;

impl Observer for Nobody {
    fn step(&mut self, done: u64, total: u64, _: &str) {
        assert!(done <= total, "{done} of {total}");
    }
}

const SETTINGS: Settings =
    Settings { repetitions: 2, batch_time: Duration::from_micros(100), largest: Some(256 << 10) };

fn devices() -> Discovery {
    backends::discover(&[Api::Cuda])
}

/// All levels, and what the driver tells of them.
pub fn hierarchy() {
    let discovery = devices();
    let targets = harness::targets(discovery.devices.iter().map(Box::as_ref), |_| None);
    let rows = probe::hierarchy::run(&targets, SETTINGS, &AtomicBool::new(false), &mut Nobody);
    for row in &rows {
        println!("{} {} {}", row.device, row.status, row.reason.as_deref().unwrap_or("-"));
        if row.status != Status::Ok {
            continue;
        }
        let sizes = row.curve.len();
        assert!((33..=45).contains(&sizes), "eight doublings, and three sizes more at up to four knees: {sizes}");
        for point in &row.curve {
            // What a launch costs once is no part of a step.
            let cycles = point.latency_cycles.as_ref().map(|series| (series.min, series.median, series.samples.len()));
            assert!(matches!(cycles, Some((10.0, 10.0, 1..=6))), "{point:?}");
        }
        for level in &row.levels {
            println!("{} {:?} {:?}", level.level, level.driver_bytes, level.block_bytes);
            // The fake has no memories of its own, but every chain that its kernels follow ends where it began.
            assert!(row.bandwidth(&level.level).is_some(), "{}", level.level);
        }
        let per_block = row.bandwidths.iter().filter(|bandwidth| bandwidth.bytes_per_cycle.is_some());
        println!("by the blocks' clock: {:?}", per_block.map(|bandwidth| &bandwidth.probe).collect::<Vec<_>>());
    }
}

/// What one device measured stays when another fails.
pub fn all() {
    let discovery = devices();
    let targets = harness::targets(discovery.devices.iter().map(Box::as_ref), |_| None);
    let go_on = AtomicBool::new(false);
    let settings = Settings { repetitions: 1, largest: Some(1 << 20), ..SETTINGS };
    for row in probe::banks::run(&targets, settings, &go_on, &mut Nobody)
        .iter()
        .filter(|row| row.stride == 32 || row.status != Status::Ok)
    {
        let cycles = row.request_cycles.is_some();
        println!("banks {} {} {:?} {cycles}", row.status, row.reason.as_deref().unwrap_or("-"), row.degree);
    }
    let rows = probe::coalescing::run(&targets, settings, &go_on, &mut Nobody);
    for row in rows.iter().filter(|row| row.stride == 1 && row.first == 0) {
        let reason = row.reason.as_deref().unwrap_or("-");
        // The fake may be faster than its memory could be, and therefore suspect.
        let status = if row.status.has_figures() { "measured" } else { reason };
        println!("{} {} {status}", row.access, row.width);
    }
}
