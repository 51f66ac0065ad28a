//! What all measurements share: settings, buffers on a device, warming up, and samples of a launch.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::launch::{Launch, Parameters, TRAP, space, state_bytes};
use super::{Probe, chain};
use crate::backend::{BAND_BYTES, BackendError, PreparedRun, Workspace};
use crate::device::{Api, DeviceKind, Hardware, TimerKind};
use crate::harness::batch::{calibrate, warm_up};
use crate::harness::{Progress, Target};
use crate::kernel::Language;
use crate::pattern::Pattern;
use crate::timing::Timing;

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How often everything is measured, each time in memory allocated anew.
    pub repetitions: u32,
    /// The least time of a batch of launches.
    pub batch_time: Duration,
    /// Bytes of the largest set; `None` for what the device's cache calls for.
    pub largest: Option<u64>,
}

/// Batches of each repetition.
pub(super) const BATCHES: usize = 3;

/// After so long a pause of its own, a GPU is warmed up again.
const REST: Duration = Duration::from_millis(30);

/// Software devices and CPUs do so many times less in a launch.
const SLOWER: u32 = 64;

/// Why a measurement has no result.
#[derive(Debug)]
pub(super) enum Ended {
    /// The user has had enough.
    Stopped,
    /// The device failed, or cannot do it.
    Device(BackendError),
}

impl From<BackendError> for Ended {
    fn from(error: BackendError) -> Ended {
        Ended::Device(error)
    }
}

/// A device while it is measured.
pub(super) struct Session<'a, 'p> {
    pub target: &'a Target<'a>,
    pub hardware: Hardware,
    pub settings: Settings,
    pub progress: &'a mut Progress<'p>,
    /// When the device was last known to be at work.
    busy: Option<Instant>,
}

/// The times of a launch, and by which clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timed {
    pub launches: u32,
    /// Seconds of a launch, one for each batch.
    pub seconds: Vec<f64>,
    pub timer: TimerKind,
    pub note: Option<String>,
}

impl<'a, 'p> Session<'a, 'p> {
    pub fn new(
        target: &'a Target<'a>,
        hardware: Hardware,
        settings: Settings,
        progress: &'a mut Progress<'p>,
    ) -> Session<'a, 'p> {
        Session { target, hardware, settings, progress, busy: None }
    }

    pub fn language(&self) -> Language {
        if self.target.info().id.api == Api::Cuda { Language::Cuda } else { Language::Wgsl }
    }

    pub fn is_gpu(&self) -> bool {
        self.target.info().kind == DeviceKind::Gpu
    }

    /// Rounds that a GPU takes, or what a CPU takes instead; a multiple of 32.
    pub fn rounds(&self, rounds: u32) -> u32 {
        if self.is_gpu() { rounds } else { (rounds / SLOWER).next_multiple_of(32) }
    }

    /// The most bytes that a set can have here: an eighth of the memory, and what a kernel can be given.
    pub fn most_bytes(&self) -> u64 {
        let memory = self.target.info().memory_bytes.unwrap_or(u64::MAX) / 8;
        memory.min(self.hardware.buffer_bytes.unwrap_or(u64::MAX))
    }

    /// Announces what comes next.
    pub fn next(&mut self, what: &str) -> Result<(), Ended> {
        self.progress.next(&format!("{}: {what}", self.target.info().id));
        self.go_on()
    }

    pub fn go_on(&self) -> Result<(), Ended> {
        if self.progress.stopped() { Err(Ended::Stopped) } else { Ok(()) }
    }

    /// Buffers of so many bytes, the first full of random data, the second of zeros.
    pub fn buffers(&self, source_bytes: u64, destination_bytes: u64) -> Result<Box<dyn Workspace + 'a>, Ended> {
        let workspace = self.empty_buffers(source_bytes, destination_bytes)?;
        let mut band = vec![0; BAND_BYTES.min(source_bytes as usize)];
        for offset in (0..source_bytes).step_by(BAND_BYTES) {
            self.go_on()?;
            let length = (source_bytes - offset).min(BAND_BYTES as u64) as usize;
            Pattern { seed: 0 }.fill(offset / 4, 4, &mut band[..length]);
            workspace.write_source(0, offset, &band[..length])?;
        }
        Ok(workspace)
    }

    /// The same, with nothing in the first.
    pub fn empty_buffers(&self, source_bytes: u64, destination_bytes: u64) -> Result<Box<dyn Workspace + 'a>, Ended> {
        let problem = space(source_bytes, destination_bytes).ok_or_else(|| BackendError::OutOfMemory {
            requested: source_bytes.saturating_add(destination_bytes),
            available: None,
        })?;
        let workspace = self.target.backend.workspace(&problem, 1)?;
        workspace.poison(0)?;
        Ok(workspace)
    }

    /// Keeps a GPU at work until it becomes no faster, if it has had time to rest.
    pub fn warm_up(&mut self) -> Result<(), Ended> {
        if !self.is_gpu() || self.busy.is_some_and(|at| at.elapsed() < REST) {
            return Ok(());
        }
        let blocks = self.blocks();
        let workspace = self.empty_buffers(16, state_bytes(blocks))?;
        let parameters = Parameters { blocks, steps: 2048, trap: TRAP, ..Parameters::default() };
        let mut run = workspace.prepare_probe(&Launch { probe: Probe::Multiply, parameters })?;
        let stopped = self.progress.stop_flag();
        warm_up(run.as_mut(), &stopped)?;
        self.busy = Some(Instant::now());
        self.go_on()
    }

    /// Blocks that keep every multiprocessor at work.
    pub fn blocks(&self) -> u32 {
        /// Where the API does not tell how many there are: more than any GPU has.
        const MANY: u64 = 1024;
        let multiprocessors = self.hardware.multiprocessors.unwrap_or(MANY);
        match (self.is_gpu(), self.language()) {
            // One block of 1024 threads each, which its own clock times.
            (true, Language::Cuda) => multiprocessors as u32,
            // Workgroups of 256, of which a multiprocessor runs several at once.
            (true, Language::Wgsl) => 8 * multiprocessors as u32,
            (false, _) => 8,
        }
    }

    /// Times a launch: batches of launches that fill the settings' time, after one that is not timed.
    pub fn time(&mut self, run: &mut dyn PreparedRun) -> Result<Timed, Ended> {
        let stopped = self.progress.stop_flag();
        let launches = calibrate(run, self.settings.batch_time.as_secs_f64(), 1, &stopped)?;
        let mut timed = Timed { launches: launches.get(), seconds: Vec::new(), timer: TimerKind::Host, note: None };
        for _ in 0..BATCHES {
            self.go_on()?;
            timed.add(run.run(launches)?, run.timer_note());
        }
        self.busy = Some(Instant::now());
        Ok(timed)
    }

    /// Runs once, and says how long that took in seconds.
    pub fn once(&mut self, run: &mut dyn PreparedRun) -> Result<Timing, Ended> {
        let timing = run.run(NonZeroU32::MIN)?;
        self.busy = Some(Instant::now());
        self.go_on()?;
        Ok(timing)
    }

    /// How a chain in this workspace links its lines.
    pub fn link(&self, workspace: &dyn Workspace) -> chain::Link {
        workspace.source_address(0).map_or(chain::Link::Index, chain::Link::Address)
    }

    /// The cycles that `count` blocks put down, where the device counts any.
    pub fn cycles(&self, workspace: &dyn Workspace, count: u32) -> Result<Option<Vec<u64>>, Ended> {
        if !self.hardware.counts_cycles {
            return Ok(None);
        }
        let mut bytes = vec![0; state_bytes(count) as usize];
        workspace.read_destination(0, 0, &mut bytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        Ok(Some(words[1..].iter().map(|word| u64::from_le_bytes(*word)).collect()))
    }
}

impl Timed {
    fn add(&mut self, timing: Timing, note: Option<String>) {
        let timer = match timing {
            Timing::Device(_) => TimerKind::Device,
            Timing::Host(_) => TimerKind::Host,
        };
        // Once the host's clock had to step in, earlier samples by the device's are not comparable.
        if timer != self.timer {
            self.seconds.clear();
        }
        self.timer = timer;
        self.note = note;
        self.seconds.push(timing.seconds() / f64::from(self.launches));
    }

    /// Adds what another repetition gave.
    pub fn join(all: Option<Timed>, next: Timed) -> Timed {
        match all {
            Some(mut all) if all.timer == next.timer => {
                all.seconds.extend(next.seconds);
                all
            }
            // The host's clock stepped in, or the device's was there for once: what is by the host's is kept.
            Some(all) if all.timer == TimerKind::Host => all,
            _ => next,
        }
    }
}
