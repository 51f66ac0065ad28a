//! A device whose launches take exactly as long as the test says, and fail when it says so. It really moves the data.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cornerturn::backend::{BackendError, PreparedRun, RunOptions, Support, TransposeBackend, Workspace};
use cornerturn::device::{DeviceInfo, DeviceKind, TimerKind};
use cornerturn::problem::Problem;
use cornerturn::sensor::{Reading, Sensor};
use cornerturn::timing::{DeviceTime, HostTime, Timing};
use cornerturn::variant::{Moves, Presence, Variant};

/// What one variant does.
#[derive(Clone, Debug)]
pub struct Act {
    /// Nanoseconds of one launch.
    pub launch_ns: u64,
    /// Nanoseconds that each following batch takes longer than the one before, over all its launches.
    pub drift_ns: u64,
    /// The batch, counted from 0, that fails, and how.
    pub fails_at: Option<(u32, BackendError)>,
    /// The batch from which on the last element comes out wrong.
    pub wrong_from: Option<u32>,
    /// The batch from which on the element at this index of the destination is written over.
    pub strays: Option<(u32, usize)>,
    /// The batch from which on the host's clock times it.
    pub host_from: Option<u32>,
    /// Why it is not supported, if it is not.
    pub unsupported: Option<String>,
}

impl Act {
    pub fn takes(launch_ns: u64) -> Act {
        Act {
            launch_ns,
            drift_ns: 0,
            fails_at: None,
            wrong_from: None,
            strays: None,
            host_from: None,
            unsupported: None,
        }
    }
}

pub struct Scripted {
    info: DeviceInfo,
    act: Box<dyn Fn(Variant, RunOptions) -> Act + Send + Sync>,
    /// More sets than this are more than its memory holds.
    pub max_sets: usize,
    /// Nanoseconds of work, by its clock, for the first half of which launches take three times as long as the act says,
    /// and for the second half twice.
    pub rested_ns: u64,
    worked_ns: Mutex<u64>,
    /// What its sensors say at the first, second and following looks; the last goes on. None without sensors.
    pub readings: Vec<Reading>,
    /// Everything that was asked of it, in order.
    pub log: Mutex<Vec<String>>,
}

impl Scripted {
    pub fn new(
        id: &str,
        kind: DeviceKind,
        act: impl Fn(Variant, RunOptions) -> Act + Send + Sync + 'static,
    ) -> Scripted {
        let info = DeviceInfo {
            id: id.parse().unwrap(),
            name: "scripted".into(),
            driver: "1.0".into(),
            kind,
            pci: Some("0000:01:00.0".into()),
            memory_bytes: None,
            cache_bytes: Some(1 << 20),
            peak: None,
            timer: TimerKind::Device,
            has_bounds_checks: false,
            limits: Vec::new(),
        };
        Scripted {
            info,
            act: Box::new(act),
            max_sets: usize::MAX,
            rested_ns: 0,
            worked_ns: Mutex::new(0),
            readings: Vec::new(),
            log: Mutex::new(Vec::new()),
        }
    }

    pub fn info_mut(&mut self) -> &mut DeviceInfo {
        &mut self.info
    }

    /// What work of so many nanoseconds takes now.
    fn work(&self, ns: u64) -> u64 {
        let mut worked = self.worked_ns.lock().unwrap();
        let slowness = if *worked < self.rested_ns / 2 { 3 } else { 1 + u64::from(*worked < self.rested_ns) };
        *worked += slowness * ns;
        slowness * ns
    }

    fn note(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }
}

impl TransposeBackend for Scripted {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, variant: Variant, _: &Problem) -> Support {
        match (variant.presence(self.info.id.api), (self.act)(variant, RunOptions::default()).unsupported) {
            (Presence::Absent(reason), _) => Support::Unsupported(reason.into()),
            (_, Some(reason)) => Support::Unsupported(reason),
            _ => Support::Supported,
        }
    }

    fn sensor(&self) -> Option<Box<dyn Sensor>> {
        let looks = Looks { readings: self.readings.clone(), next: Cell::new(0) };
        (!self.readings.is_empty()).then(|| Box::new(looks) as Box<dyn Sensor>)
    }

    fn workspace(&self, problem: &Problem, sets: usize) -> Result<Box<dyn Workspace + '_>, BackendError> {
        self.note(format!("workspace {sets}"));
        if sets > self.max_sets {
            return Err(BackendError::OutOfMemory { requested: sets as u64 * problem.buffer_bytes(), available: None });
        }
        let [source, destination] = [problem.source_bytes(), problem.destination_bytes()].map(|n| vec![0; n as usize]);
        let sets = RefCell::new(vec![(source, destination); sets]);
        Ok(Box::new(Space { device: self, problem: *problem, sets }))
    }
}

struct Looks {
    readings: Vec<Reading>,
    next: Cell<usize>,
}

impl Sensor for Looks {
    fn read(&self) -> Reading {
        let next = self.next.replace(self.next.get() + 1);
        self.readings[next.min(self.readings.len() - 1)].clone()
    }
}

struct Space<'a> {
    device: &'a Scripted,
    problem: Problem,
    sets: RefCell<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Workspace for Space<'_> {
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError> {
        self.sets.borrow_mut()[set].0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn poison(&self, value: u8) -> Result<(), BackendError> {
        self.sets.borrow_mut().iter_mut().for_each(|set| set.1.fill(value));
        Ok(())
    }

    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        bytes.copy_from_slice(&self.sets.borrow()[set].1[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn prepare(&self, variant: Variant, options: RunOptions) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        let act = (self.device.act)(variant, options);
        Ok(Box::new(Run { space: self, variant, act, batch: Cell::new(0) }))
    }
}

struct Run<'a> {
    space: &'a Space<'a>,
    variant: Variant,
    act: Act,
    batch: Cell<u32>,
}

impl PreparedRun for Run<'_> {
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError> {
        let batch = self.batch.replace(self.batch.get() + 1);
        self.space.device.note(format!("{} {launches}", self.variant));
        if let Some((_, error)) = self.act.fails_at.as_ref().filter(|(at, _)| *at == batch) {
            return Err(error.clone());
        }
        let wrong = self.act.wrong_from.is_some_and(|from| batch >= from);
        self.space.sets.borrow_mut().iter_mut().take(launches.get() as usize).for_each(|(source, destination)| {
            move_elements(&self.space.problem, self.variant, source, destination);
            if let Some(last) = destination.last_mut().filter(|_| wrong) {
                *last = !*last;
            }
            if let Some((_, index)) = self.act.strays.filter(|(from, _)| batch >= *from) {
                let width = self.space.problem.width().bytes();
                destination[index * width..][..width].copy_from_slice(&source[..width]);
            }
        });
        let drift_ns = self.act.drift_ns * u64::from(batch);
        let ns = self.space.device.work(self.act.launch_ns * u64::from(launches.get()) + drift_ns);
        let start = Instant::now();
        let host = HostTime::between(start, start + Duration::from_nanos(ns));
        if self.act.host_from.is_some_and(|from| batch >= from) {
            return Ok(Timing::Host(host));
        }
        Ok(Timing::Device(DeviceTime::from_ticks(1, 1 + ns, 1.0, host)?))
    }

    fn timer_note(&self) -> Option<String> {
        let host = self.act.host_from.is_some_and(|from| self.batch.get() > from);
        host.then(|| "the script says so".into())
    }
}

fn move_elements(problem: &Problem, variant: Variant, source: &[u8], destination: &mut [u8]) {
    let width = problem.width().bytes();
    for (index, to) in destination.chunks_exact_mut(width).enumerate() {
        let index = index as u64;
        let from = match variant.spec().moves {
            Moves::Copy => (index < problem.elements()).then_some(index),
            Moves::Transpose => problem.source_of(index),
        };
        if let Some(from) = from {
            to.copy_from_slice(&source[from as usize * width..][..width]);
        }
    }
}
