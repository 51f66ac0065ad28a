//! The memory hierarchy of a device: latency over the size of a set, the levels in that curve, and their bandwidths.

use std::sync::atomic::AtomicBool;

use super::bandwidth::{self, Sizes};
use super::chain::LINE_BYTES;
use super::latency::{self, Curve, Latency, sizes};
use super::levels::{Level, Part, assign};
use super::session::{Ended, Session, Settings};
use crate::device::{DeviceKind, Hardware};
use crate::harness::{Observer, Progress, Target, stats};
use crate::record::{Bandwidth, CurvePoint, HierarchyRow, LevelRow, Series, Status};

/// Measures the levels of all targets.
///
/// When `stop` becomes true, the current launches are finished, and what was measured so far is returned. Whatever goes
/// wrong is in the row that it concerns.
pub fn run(
    targets: &[Target],
    settings: Settings,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Vec<HierarchyRow> {
    let total = targets.iter().map(|target| steps(target, settings)).sum();
    let mut progress = Progress::new(total, stop, observer);
    let mut rows = Vec::new();
    let mut done = 0;
    for target in targets {
        if progress.stopped() {
            break;
        }
        let hardware = super::hardware(target, targets);
        let mut found = Found::default();
        let ended = measure(&mut Session::new(target, hardware, settings, &mut progress), &mut found);
        rows.extend(found.row(target, hardware, ended));
        done += steps(target, settings);
        progress.skip_to(done);
    }
    rows
}

/// The largest set of a software device by default: its caches are its CPU's.
const SOFTWARE_BYTES: u64 = 64 << 20;

fn largest(target: &Target, settings: Settings) -> u64 {
    let default = || match target.info().kind {
        DeviceKind::Software => SOFTWARE_BYTES,
        _ => target.working_set_wanted(),
    };
    settings.largest.unwrap_or_else(default)
}

/// Steps that are announced for a target, at the most.
fn steps(target: &Target, settings: Settings) -> u64 {
    let sizes = sizes(largest(target, settings), target.cache_or_guess()).len() as u64;
    u64::from(settings.repetitions) * (sizes + latency::MOST_FINER as u64 + Level::ALL.len() as u64) + 2
}

/// What has been measured of a device.
#[derive(Default)]
struct Found {
    curve: Curve,
    registers: Latency,
    shared: Latency,
    bandwidths: Vec<Bandwidth>,
}

fn measure(session: &mut Session, found: &mut Found) -> Result<(), Ended> {
    let cache_bytes = session.target.cache_or_guess();
    let largest = largest(session.target, session.settings).min(session.most_bytes());
    let gpu = session.target.info().kind != DeviceKind::Cpu;
    if gpu {
        session.next("latency of registers")?;
        latency::registers(session, &mut found.registers)?;
        session.next("latency of shared memory")?;
        latency::shared(session, &mut found.shared)?;
    }
    let coarse = sizes(largest, cache_bytes);
    for seed in 0..session.settings.repetitions {
        found.curve.measure(session, &coarse, seed.into())?;
    }
    let finer = found.curve.finer();
    for seed in 0..session.settings.repetitions {
        found.curve.measure(session, &finer, seed.into())?;
    }
    let [l1, l2, _] = assign(&found.curve.plateaus(), largest, session.target.cache_bytes);
    let sizes = Sizes {
        l1: l1.and_then(|part| part.knee).map(|(bytes, _)| bytes),
        // Of a cache in several parts, the nearest.
        l2: l2.map_or(cache_bytes / 2, |part| part.bytes.1),
        beyond: cache_bytes,
    };
    // A CPU has caches of its own kind, and no kernels to tell them apart.
    let levels = if gpu { &Level::ALL[..] } else { &[Level::Global] };
    for &level in levels {
        found.bandwidths.extend(bandwidth::measure(session, level, sizes)?);
    }
    Ok(())
}

impl Found {
    /// The row; `None` where nothing was measured before the user had enough.
    fn row(self, target: &Target, hardware: Hardware, ended: Result<(), Ended>) -> Option<HierarchyRow> {
        let (status, reason) = match ended {
            Err(Ended::Stopped) if self.registers.seconds.is_empty() && self.curve.0.is_empty() => return None,
            Ok(()) | Err(Ended::Stopped) => (Status::Ok, None),
            Err(Ended::Device(error)) => {
                let (status, reason) = super::failure(&error);
                (status, Some(reason))
            }
        };
        // Levels are a GPU's: the figures of a CPU that pretends to be one are of other memories.
        let gpu = target.info().kind == DeviceKind::Gpu;
        let timed = || self.curve.0.iter().map(|(_, latency)| latency).chain([&self.registers]);
        Some(HierarchyRow {
            device: target.info().id.to_string(),
            status,
            reason,
            timer: timed().find_map(|latency| latency.timer),
            timer_note: timed().find_map(|latency| latency.note.clone()),
            multiprocessors: hardware.multiprocessors,
            clock_hz: self.clock_hz(),
            line_bytes: LINE_BYTES,
            levels: if gpu { self.levels(target, hardware) } else { Vec::new() },
            curve: self.curve.0.iter().filter_map(point).collect(),
            bandwidths: self.bandwidths,
        })
    }

    /// Cycles in a second, from the one latency that depends on nothing but them.
    fn clock_hz(&self) -> Option<f64> {
        let median = |samples: &[f64]| stats::summarise(samples).map(|summary| summary.median);
        Some(median(&self.registers.cycles)? / median(&self.registers.seconds)?)
    }

    fn levels(&self, target: &Target, hardware: Hardware) -> Vec<LevelRow> {
        let largest = self.curve.0.last().map_or(0, |(bytes, _)| *bytes);
        let parts = assign(&self.curve.plateaus(), largest, target.cache_bytes);
        let row = |level: Level| {
            let (part, latency) = match level {
                Level::Registers => (None, self.registers.clone()),
                Level::Shared => (None, self.shared.clone()),
                Level::L1 => self.part(&parts[0]),
                Level::L2 => self.part(&parts[1]),
                Level::Global => self.part(&parts[2]),
            };
            LevelRow {
                level: level.name().into(),
                per: level.per().into(),
                driver_bytes: match level {
                    Level::Registers => hardware.register_bytes,
                    Level::Shared => hardware.shared_bytes,
                    Level::L1 => None,
                    Level::L2 => target.cache_bytes,
                    Level::Global => target.info().memory_bytes,
                },
                block_bytes: hardware.block_shared_bytes.filter(|_| level == Level::Shared),
                measured_bytes: part.as_ref().and_then(|part| part.knee).map(|knee| knee.0),
                measured_below: part.as_ref().and_then(|part| part.knee).map(|knee| knee.1),
                latency_s: Series::of(latency.seconds),
                latency_cycles: Series::of(latency.cycles),
                note: part.and_then(|part| part.note),
            }
        };
        Level::ALL.into_iter().map(row).collect()
    }

    /// A part of the curve, with the samples of all its sizes.
    fn part(&self, part: &Option<Part>) -> (Option<Part>, Latency) {
        let mut all = Latency::default();
        if let Some(part) = part {
            let inside = |bytes: &u64| (part.bytes.0..=part.bytes.1).contains(bytes);
            for (_, latency) in self.curve.0.iter().filter(|(bytes, _)| inside(bytes)) {
                all.seconds.extend(&latency.seconds);
                all.cycles.extend(&latency.cycles);
            }
        }
        (part.clone(), all)
    }
}

fn point((bytes, latency): &(u64, Latency)) -> Option<CurvePoint> {
    Some(CurvePoint {
        bytes: *bytes,
        latency_s: Series::of(latency.seconds.clone())?,
        latency_cycles: Series::of(latency.cycles.clone()),
    })
}
