//! Bank conflicts: what the strides of one warp's reads of shared memory cost.

use std::sync::atomic::AtomicBool;

use super::launch::{Launch, Parameters, TRAP, state_bytes};
use super::session::{Ended, Session, Settings, Timed};
use super::{Probe, failure, hardware};
use crate::backend::BackendError;
use crate::device::DeviceKind;
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
        let mut found: Vec<Found> = STRIDES.map(Found::new).collect();
        let mut at = 0;
        if let Err(Ended::Device(error)) = measure(&mut session, &mut found, &mut at) {
            found[at].error = Some(error);
        }
        rows.extend(finish(target, session.rounds(ROUNDS), found));
        progress.skip_to(done * steps);
    }
    rows
}

/// A stride and what came out of it.
struct Found {
    stride: u32,
    timed: Option<Timed>,
    cycles: Vec<f64>,
    error: Option<BackendError>,
}

impl Found {
    fn new(stride: u32) -> Found {
        Found { stride, timed: None, cycles: Vec::new(), error: None }
    }
}

fn requests(rounds: u32) -> u64 {
    u64::from(rounds) * REQUESTS * u64::from(Probe::Banks.block(Language::Wgsl)) / WARP
}

/// Measures all strides; `at` is the index of the one that is on when it ends.
fn measure(session: &mut Session, found: &mut [Found], at: &mut usize) -> Result<(), Ended> {
    if session.target.info().kind == DeviceKind::Cpu {
        return Err(BackendError::Unsupported("a CPU has no shared memory whose banks could conflict".into()).into());
    }
    let rounds = session.rounds(ROUNDS);
    let words = Probe::Banks.define("WORDS", session.language());
    for _ in 0..session.settings.repetitions {
        *at = 0;
        let workspace = session.buffers(u64::from(words) * BANK_BYTES, state_bytes(1))?;
        for (index, Found { stride, timed, cycles, .. }) in found.iter_mut().enumerate() {
            *at = index;
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

/// The rows, in the order of the strides; what was not measured before an early end has nothing to say.
fn finish(target: &Target, rounds: u32, found: Vec<Found>) -> Vec<BanksRow> {
    let mut rows: Vec<BanksRow> = Vec::new();
    for Found { stride, timed, cycles, error } in found {
        let mut row = blank(target, stride, rounds);
        match (error, timed) {
            (Some(error), _) => {
                let (status, reason) = failure(&error);
                (row.status, row.reason) = (status, Some(reason));
            }
            (None, Some(timed)) => row.fill(timed, cycles),
            (None, None) => continue,
        }
        rows.push(row);
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
