//! Bank conflicts: what the strides of one warp's reads of shared memory cost.

use std::sync::atomic::AtomicBool;

use super::launch::{Launch, Parameters, TRAP, state_bytes};
use super::session::{Ended, Session, Settings, Timed};
use super::{Probe, failure, hardware};
use crate::backend::BackendError;
use crate::device::{Api, DeviceKind};
use crate::harness::{Observer, Progress, Target};
use crate::kernel::Language;
use crate::model::{BANK_BYTES, WARP, bank_conflict_degree};
use crate::record::{BanksRow, Series, Status};

/// Words from one lane's access to the next one's.
pub const STRIDES: std::ops::RangeInclusive<u32> = 0..=33;

/// Rounds of a launch: a millisecond without conflicts.
const ROUNDS: u32 = 1 << 14;
/// Requests of a warp in a round.
const REQUESTS: u64 = 16;

/// Measures all strides on all targets; as [`hierarchy::run`](super::hierarchy::run).
pub fn run(targets: &[Target], settings: Settings, stop: &AtomicBool, observer: &mut dyn Observer) -> Vec<BanksRow> {
    let steps = u64::from(settings.repetitions) * STRIDES.count() as u64;
    let mut progress = Progress::new(steps * targets.len() as u64, stop, observer);
    let mut rows = Vec::new();
    for (target, done) in targets.iter().zip(1..) {
        if progress.stopped() {
            break;
        }
        let mut session = Session::new(target, hardware(target, targets), settings, &mut progress);
        let mut found: Vec<Found> = STRIDES.map(|stride| Found { stride, timed: None, cycles: Vec::new() }).collect();
        let ended = measure(&mut session, &mut found);
        let rounds = session.rounds(ROUNDS);
        rows.extend(finish(target, rounds, found, ended));
        progress.skip_to(done * steps);
    }
    rows
}

/// A stride and what came out of it.
struct Found {
    stride: u32,
    timed: Option<Timed>,
    cycles: Vec<f64>,
}

fn requests(rounds: u32) -> u64 {
    u64::from(rounds) * REQUESTS * u64::from(Probe::Banks.block(Language::Wgsl)) / WARP
}

fn measure(session: &mut Session, found: &mut [Found]) -> Result<(), Ended> {
    if session.target.info().id.api == Api::Cpu {
        return Err(BackendError::Unsupported("a CPU has no shared memory whose banks could conflict".into()).into());
    }
    let rounds = session.rounds(ROUNDS);
    let words = Probe::Banks.define("WORDS", session.language());
    for _ in 0..session.settings.repetitions {
        let workspace = session.buffers(u64::from(words) * BANK_BYTES, state_bytes(1))?;
        for Found { stride, timed, cycles } in found.iter_mut() {
            session.next(&format!("bank conflicts of stride {stride}"))?;
            session.warm_up()?;
            let stride = *stride;
            let parameters = Parameters { blocks: 1, steps: rounds, stride, trap: TRAP, ..Parameters::default() };
            let mut run = workspace.prepare_probe(&Launch { probe: Probe::Banks, parameters })?;
            *timed = Some(Timed::join(timed.take(), session.time(run.as_mut())?));
            let counted = session.cycles(workspace.as_ref(), 1)?;
            cycles.extend(counted.iter().flatten().map(|cycles| *cycles as f64 / requests(rounds) as f64));
        }
    }
    Ok(())
}

fn finish(target: &Target, rounds: u32, found: Vec<Found>, ended: Result<(), Ended>) -> Vec<BanksRow> {
    let stopped = matches!(ended, Err(Ended::Stopped));
    let failed = match &ended {
        Err(Ended::Device(error)) => Some(failure(error)),
        _ => None,
    };
    // What was interrupted before its first sample has nothing to say.
    let says_something = |found: &Found| found.timed.is_some() || !stopped;
    let mut rows: Vec<BanksRow> = Vec::new();
    for found in found.into_iter().filter(says_something) {
        let mut row = blank(target, found.stride, rounds);
        match (found.timed, &failed) {
            (Some(timed), _) => row.fill(timed, found.cycles),
            (None, Some((status, reason))) => (row.status, row.reason) = (*status, Some(reason.clone())),
            (None, None) => (row.status, row.reason) = (Status::Failed, Some("no batch was timed".into())),
        }
        rows.push(row);
        // One row says that a device has no banks.
        if failed.as_ref().is_some_and(|(status, _)| *status == Status::Unsupported) {
            break;
        }
    }
    against_unit_stride(&mut rows);
    rows
}

fn blank(target: &Target, stride: u32, rounds: u32) -> BanksRow {
    let stride = stride.into();
    // Software devices have no banks; what the model predicts is a GPU's.
    BanksRow {
        device: target.info().id.to_string(),
        stride,
        degree: (target.info().kind == DeviceKind::Gpu)
            .then(|| bank_conflict_degree(|lane| lane * stride * BANK_BYTES, BANK_BYTES)),
        status: Status::Ok,
        reason: None,
        timer: None,
        timer_note: None,
        requests: requests(rounds),
        launches: 0,
        request_s: None,
        request_cycles: None,
        ratio: None,
    }
}

impl BanksRow {
    fn fill(&mut self, timed: Timed, cycles: Vec<f64>) {
        (self.timer, self.timer_note, self.launches) = (Some(timed.timer), timed.note, timed.launches);
        let each = |seconds: f64| seconds / self.requests as f64;
        self.request_s = Series::of(timed.seconds.into_iter().map(each).collect());
        self.request_cycles = Series::of(cycles);
    }

    /// Cycles of a request, or else seconds.
    fn cost(&self) -> Option<f64> {
        self.request_cycles.as_ref().or(self.request_s.as_ref()).map(|series| series.median)
    }
}

/// Fills in how many times as long as with stride 1 each takes.
fn against_unit_stride(rows: &mut [BanksRow]) {
    let unit = rows.iter().find(|row| row.stride == 1).and_then(BanksRow::cost);
    for row in rows {
        row.ratio = row.cost().zip(unit).map(|(own, unit)| own / unit);
    }
}
