//! Coalescing: what strides and misaligned starts make of the bandwidth of loads and stores.

use std::sync::atomic::AtomicBool;

use super::launch::{Launch, Parameters, TRAP};
use super::session::{Ended, Session, Settings, Timed};
use super::{Probe, failure, hardware};
use crate::backend::BackendError;
use crate::device::DeviceKind;
use crate::harness::{Observer, Progress, Target};
use crate::model::{self, LINE_BYTES, SECTOR_BYTES, Touched, WARP};
use crate::record::{CoalescingRow, Series, Status};

/// Elements from one thread's access to the next one's, from an aligned start.
pub const STRIDES: [u32; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64];
/// Elements before the first access, with stride 1.
pub const STARTS: [u32; 8] = [1, 2, 4, 7, 8, 16, 24, 31];

/// The accesses, their names, and bytes of each.
const ACCESSES: [(Probe, &str, u64); 4] = [
    (Probe::Load4, "load", 4),
    (Probe::Load16, "load", 16),
    (Probe::Store4, "store", 4),
    (Probe::Store16, "store", 16),
];

/// The set is so many times as large as the last-level cache: with the largest stride, one line in eight of it is
/// touched, and those should still be several times what the cache holds.
const CACHE_MULTIPLE: u64 = 32;
/// No set has to be larger than this.
const MOST_BYTES: u64 = 4 << 30;
/// The set of a software device, and of a CPU.
const SOFTWARE_BYTES: u64 = 8 << 20;

/// One row to be: a probe with its stride and start.
#[derive(Clone, Copy, Debug)]
struct Case {
    probe: Probe,
    access: &'static str,
    width: u64,
    stride: u32,
    first: u32,
}

fn cases() -> impl Iterator<Item = Case> {
    let places = STRIDES.map(|stride| (stride, 0)).into_iter().chain(STARTS.map(|first| (1, first)));
    ACCESSES.into_iter().flat_map(move |(probe, access, width)| {
        places.clone().map(move |(stride, first)| Case { probe, access, width, stride, first })
    })
}

/// Measures strides and starts on all targets; as [`hierarchy::run`](super::hierarchy::run).
pub fn run(
    targets: &[Target],
    settings: Settings,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Vec<CoalescingRow> {
    let steps = u64::from(settings.repetitions) * (1 + cases().count() as u64);
    let mut progress = Progress::new(steps * targets.len() as u64, stop, observer);
    let mut rows = Vec::new();
    for (target, done) in targets.iter().zip(1..) {
        if progress.stopped() {
            break;
        }
        let mut session = Session::new(target, hardware(target, targets), settings, &mut progress);
        let bytes = set_bytes(&session);
        let mut found: Vec<_> = cases().map(|case| Found { case, outcome: None }).collect();
        let mut at = 0;
        let ended = measure(&mut session, bytes, &mut found, &mut at);
        if let Err(Ended::Device(error)) = &ended {
            found[at].outcome = Some(Err(error.clone()));
        }
        rows.extend(finish(target, bytes, found, ended.is_err()));
        progress.skip_to(done * steps);
    }
    rows
}

fn set_bytes(session: &Session) -> u64 {
    let target = session.target;
    let default = match target.info().kind {
        DeviceKind::Gpu => CACHE_MULTIPLE * target.cache_or_guess(),
        DeviceKind::Software | DeviceKind::Cpu => SOFTWARE_BYTES,
    };
    let wanted = session.settings.largest.unwrap_or(default);
    wanted.min(session.most_bytes()).min(MOST_BYTES) / LINE_BYTES * LINE_BYTES
}

/// A case and what came out of it.
struct Found {
    case: Case,
    outcome: Option<Result<Timed, BackendError>>,
}

/// Measures all cases; `at` is the index of the one that is on when it ends.
fn measure(session: &mut Session, bytes: u64, found: &mut [Found], at: &mut usize) -> Result<(), Ended> {
    if session.target.info().kind == DeviceKind::Cpu {
        return Err(BackendError::Unsupported("a CPU has no warps whose accesses could be coalesced".into()).into());
    }
    for repetition in 1..=session.settings.repetitions {
        *at = 0;
        session.next(&format!("filling buffers, {repetition}"))?;
        let workspace = session.buffers(bytes.max(16), bytes.max(16))?;
        for (index, Found { case, outcome }) in found.iter_mut().enumerate() {
            *at = index;
            let Case { access, width, stride, first, .. } = *case;
            session.next(&format!("{access}s of {width} B, stride {stride}, start {first}"))?;
            if matches!(outcome, Some(Err(_))) {
                continue;
            }
            let Some(launch) = case.launch(session, bytes) else { continue };
            session.warm_up()?;
            let timed = workspace.prepare_probe(&launch).map_err(Ended::from);
            match timed.and_then(|mut run| session.time(run.as_mut())) {
                Ok(timed) => {
                    let before = outcome.take().and_then(Result::ok);
                    *outcome = Some(Ok(Timed::join(before, timed)));
                }
                // A case that this device cannot do leaves the others alone.
                Err(Ended::Device(error @ BackendError::Unsupported(_))) => *outcome = Some(Err(error)),
                Err(ended) => return Err(ended),
            }
        }
    }
    Ok(())
}

impl Case {
    /// Accesses of a block.
    fn block(&self, session: &Session) -> u64 {
        let language = session.language();
        u64::from(self.probe.block(language)) * u64::from(self.probe.define("UNROLL", language))
    }

    /// The launch that covers a set of so many bytes; `None` where not even one block fits.
    fn launch(&self, session: &Session, bytes: u64) -> Option<Launch> {
        let blocks = self.blocks(bytes, self.block(session));
        let (first, stride) = (self.first, self.stride);
        let parameters = Parameters { blocks, first, stride, trap: TRAP, ..Parameters::default() };
        (blocks > 0).then_some(Launch { probe: self.probe, parameters })
    }

    /// Blocks of so many accesses that fit into a set of so many bytes.
    fn blocks(&self, bytes: u64, block: u64) -> u32 {
        let elements = (bytes / self.width).saturating_sub(self.first.into());
        (elements / (block * u64::from(self.stride))) as u32
    }

    /// What a request of a warp touches. All warps are alike: 32 accesses of a stride are a whole number of lines.
    fn touched(&self) -> Touched {
        let element = |lane: u64| u64::from(self.first) + lane * u64::from(self.stride);
        model::touched((0..WARP).map(|lane| element(lane) * self.width), self.width)
    }
}

/// The rows, in the order of the cases; what was not measured before an early end has nothing to say.
fn finish(target: &Target, bytes: u64, found: Vec<Found>, early: bool) -> Vec<CoalescingRow> {
    let mut rows = Vec::new();
    for Found { case, outcome } in found {
        let mut row = case.row(target, bytes);
        let (status, reason) = match outcome {
            Some(Ok(timed)) => {
                row.fill(target, timed);
                rows.push(row);
                continue;
            }
            Some(Err(error)) => failure(&error),
            None if early => continue,
            None => {
                let reason = format!("a set of {bytes} B is too small for one block with stride {}", case.stride);
                (Status::Unsupported, reason)
            }
        };
        rows.push(CoalescingRow { status, reason: Some(reason), ..row });
    }
    against_unit_stride(&mut rows);
    rows
}

/// Fills in the percentages of what the same accesses reach one after the other.
fn against_unit_stride(rows: &mut [CoalescingRow]) {
    let unit: Vec<_> = rows.iter().filter(|row| row.stride == 1 && row.first == 0).cloned().collect();
    for row in rows {
        let same = unit.iter().find(|unit| (&unit.access, unit.width) == (&row.access, row.width));
        row.percent_of_unit_stride =
            row.gbps.zip(same.and_then(|unit| unit.gbps)).map(|(own, unit)| 100.0 * (own / unit));
    }
}

impl Case {
    /// The row without figures. Which blocks there are is the same in both languages.
    fn row(&self, target: &Target, bytes: u64) -> CoalescingRow {
        let (block, unroll) = (self.probe.block(LANGUAGE), self.probe.define("UNROLL", LANGUAGE));
        let block = u64::from(block) * u64::from(unroll);
        let accesses = u64::from(self.blocks(bytes, block)) * block;
        let requests = accesses / WARP;
        let Touched { sectors, lines, .. } = self.touched();
        let touched = (accesses * u64::from(self.stride) * self.width).min(accesses * LINE_BYTES);
        CoalescingRow {
            device: target.info().id.to_string(),
            access: self.access.into(),
            width: self.width,
            stride: self.stride.into(),
            first: self.first.into(),
            status: Status::Ok,
            reason: None,
            timer: None,
            timer_note: None,
            set_bytes: accesses * u64::from(self.stride) * self.width,
            useful_bytes: accesses * self.width,
            sector_bytes: requests * sectors * SECTOR_BYTES,
            line_bytes: requests * lines * LINE_BYTES,
            sectors,
            lines,
            launches: 0,
            launch_s: None,
            gbps: None,
            percent_of_unit_stride: None,
            percent_of_peak: None,
            cache_resident: target.cache_bytes.map(|_| touched < target.working_set_wanted()),
        }
    }
}

/// Either: the probes' blocks are the same in both.
const LANGUAGE: crate::kernel::Language = crate::kernel::Language::Wgsl;

impl CoalescingRow {
    fn fill(&mut self, target: &Target, timed: Timed) {
        (self.timer, self.timer_note, self.launches) = (Some(timed.timer), timed.note, timed.launches);
        self.launch_s = Series::of(timed.seconds);
        let Some(launch_s) = &self.launch_s else {
            (self.status, self.reason) = (Status::Failed, Some("no batch was timed".into()));
            return;
        };
        let gbps = self.useful_bytes as f64 / launch_s.median / 1e9;
        self.gbps = Some(gbps);
        let peak = target.peak.filter(|_| target.info().kind != DeviceKind::Software);
        self.percent_of_peak = peak.map(|peak| 100.0 * gbps / peak.gbps);
        if let Some(percent) = self.percent_of_peak.filter(|percent| *percent > 100.0) {
            self.status = Status::Suspect;
            self.reason = Some(format!("{percent:.1} % of the theoretical peak"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(width: u64, stride: u32, first: u32) -> Case {
        let probe = if width == 4 { Probe::Load4 } else { Probe::Load16 };
        Case { probe, access: "load", width, stride, first }
    }

    #[test]
    fn the_textbooks_32_transactions_are_an_eighth_by_sectors_and_a_thirtysecond_by_lines() {
        let apart = case(4, 32, 0);
        assert_eq!((apart.touched().sectors, apart.touched().lines), (32, 32));
        let useful = 4.0 * WARP as f64;
        assert_eq!(useful / (32 * SECTOR_BYTES) as f64, 0.125);
        assert_eq!(useful / (32 * LINE_BYTES) as f64, 0.031_25);
    }

    #[test]
    fn requests_touch_what_they_span() {
        let touched = |width, stride, first| {
            let case = case(width, stride, first);
            (case.touched().sectors, case.touched().lines)
        };
        assert_eq!(touched(4, 1, 0), (4, 1));
        assert_eq!(touched(4, 1, 1), (5, 2));
        assert_eq!(touched(4, 1, 8), (4, 2));
        assert_eq!(touched(4, 2, 0), (8, 2));
        assert_eq!(touched(4, 3, 0), (12, 3));
        assert_eq!(touched(4, 8, 0), (32, 8));
        assert_eq!(touched(16, 1, 0), (16, 4));
        assert_eq!(touched(16, 1, 1), (17, 5));
        assert_eq!(touched(16, 2, 0), (32, 8));
        assert_eq!(touched(16, 8, 0), (32, 32));
    }

    #[test]
    fn accesses_stay_within_the_set() {
        for case in cases() {
            for bytes in [0, 1 << 12, 1 << 20, (1 << 26) + 128] {
                for block in [1024, 2048] {
                    let accesses = u64::from(case.blocks(bytes, block)) * block;
                    let end = u64::from(case.first) + accesses * u64::from(case.stride);
                    assert!(accesses == 0 || end * case.width <= bytes, "{case:?} in {bytes} B");
                }
            }
        }
        let languages = [crate::kernel::Language::Cuda, crate::kernel::Language::Wgsl];
        for (probe, ..) in ACCESSES {
            for name in ["BLOCK", "UNROLL"] {
                let [cuda, wgsl] = languages.map(|language| probe.define(name, language));
                assert_eq!(cuda, wgsl, "{name} of {}", probe.name());
            }
        }
    }
}
