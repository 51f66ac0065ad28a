//! Latencies: chains of accesses of which each waits for the one before.
//!
//! A chain of N steps is held against one of 2N, so that whatever a launch costs once falls out. Where the host's clock
//! times, the backend has done that already, with launches.

use super::Probe;
use super::chain::{self, LINE_BYTES};
use super::knees;
use super::launch::{Launch, Parameters, TRAP, state_bytes};
use super::session::{BATCHES, Ended, Session};
use crate::backend::{BAND_BYTES, PreparedRun, Workspace};
use crate::device::TimerKind;
use crate::timing::Timing;

/// Steps of the shorter chain: half a millisecond and more, which is long against what a timestamp is off.
const fn steps(probe: Probe) -> u32 {
    match probe {
        Probe::Chain => 1 << 18,
        _ => 1 << 15,
    }
}
/// Steps of a launch in which a set is walked through before it is timed: half a second at 500 ns a step.
const WALK_STEPS: u64 = 1 << 20;
/// Steps are taken so many at a time.
const UNROLL: u64 = 8;

/// The smallest set.
const SMALLEST: u64 = 1 << 10;
/// Sizes for each doubling: in general, around the end of the last-level cache, which may have several steps, and
/// beyond it, where a walk takes long.
const SIZES_AN_OCTAVE: f64 = 4.0;
const MORE_AN_OCTAVE: f64 = 8.0;
const FEWER_AN_OCTAVE: f64 = 2.0;
/// Sizes by which the gap at a knee is narrowed, and the most of them: no hierarchy has more than four knees.
const FINER: u32 = 3;
pub(super) const MOST_FINER: usize = 4 * FINER as usize;

/// Samples of a latency.
#[derive(Clone, Debug, Default)]
pub(super) struct Latency {
    pub seconds: Vec<f64>,
    pub cycles: Vec<f64>,
    pub timer: Option<TimerKind>,
    pub note: Option<String>,
}

/// Latencies over sizes of the set.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve(pub Vec<(u64, Latency)>);

impl Curve {
    /// Measures the latencies of all `sizes`, in ascending order, in one allocation.
    pub fn measure(&mut self, session: &mut Session, sizes: &[u64], seed: u64) -> Result<(), Ended> {
        let Some(&largest) = sizes.last() else { return Ok(()) };
        let workspace = session.empty_buffers(largest, state_bytes(1))?;
        for &bytes in sizes {
            session.next(&format!("latency in {} KiB", bytes >> 10))?;
            lay(session, workspace.as_ref(), bytes, seed)?;
            session.warm_up()?;
            walk(session, workspace.as_ref(), bytes)?;
            chain(session, workspace.as_ref(), Probe::Chase, self.at(bytes))?;
        }
        Ok(())
    }

    fn at(&mut self, bytes: u64) -> &mut Latency {
        let index = self.0.partition_point(|(size, _)| *size < bytes);
        if self.0.get(index).is_none_or(|(size, _)| *size != bytes) {
            self.0.insert(index, (bytes, Latency::default()));
        }
        &mut self.0[index].1
    }

    /// Its plateaus, by the medians of the latencies.
    pub fn plateaus(&self) -> Vec<knees::Plateau> {
        let point = |(bytes, latency): &(u64, Latency)| {
            let summary = crate::harness::stats::summarise(&latency.seconds)?;
            Some(knees::Point { bytes: *bytes, latency: summary.median })
        };
        knees::plateaus(&self.0.iter().filter_map(point).collect::<Vec<_>>())
    }

    /// Sizes that narrow the gaps in which the knees lie.
    pub fn finer(&self) -> Vec<u64> {
        let mut sizes = Vec::new();
        for plateau in self.plateaus() {
            let Some(next) = plateau.next else { continue };
            let (low, high) = (plateau.bytes.1 as f64, next as f64);
            let part = |k: u32| low * (high / low).powf(f64::from(k) / f64::from(FINER + 1));
            sizes.extend((1..=FINER).map(|k| whole_lines(part(k))));
        }
        sizes.retain(|size| self.0.iter().all(|(known, _)| known != size));
        sizes.dedup();
        sizes.truncate(MOST_FINER);
        sizes
    }
}

/// The sizes of a curve up to `largest` bytes, for a last-level cache of so many.
pub(super) fn sizes(largest: u64, cache_bytes: u64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut size = SMALLEST as f64;
    while size < largest as f64 * 0.99 {
        sizes.push(whole_lines(size));
        let an_octave = match size / cache_bytes as f64 {
            ..0.4 => SIZES_AN_OCTAVE,
            0.4..1.1 => MORE_AN_OCTAVE,
            _ => FEWER_AN_OCTAVE,
        };
        size *= 2_f64.powf(1.0 / an_octave);
    }
    sizes.push(whole_lines(largest as f64));
    sizes.dedup();
    sizes
}

fn whole_lines(bytes: f64) -> u64 {
    ((bytes / LINE_BYTES as f64).round() as u64).max(1) * LINE_BYTES
}

/// Lays a chain through the first `bytes` of the source, and puts the state back to its beginning.
fn lay(session: &Session, workspace: &dyn Workspace, bytes: u64, seed: u64) -> Result<(), Ended> {
    let next = chain::cycle((bytes / LINE_BYTES) as usize, seed);
    let link = session.link(workspace);
    let mut band = vec![0; BAND_BYTES.min(bytes as usize)];
    for offset in (0..bytes).step_by(BAND_BYTES) {
        session.go_on()?;
        let length = (bytes - offset).min(BAND_BYTES as u64) as usize;
        chain::write(&next, (offset / LINE_BYTES) as usize, link, &mut band[..length]);
        workspace.write_source(0, offset, &band[..length])?;
    }
    workspace.poison(0)?;
    Ok(())
}

/// Walks through the whole set once, so that whatever of it a cache can keep is there.
fn walk(session: &mut Session, workspace: &dyn Workspace, bytes: u64) -> Result<(), Ended> {
    let mut left = bytes / LINE_BYTES;
    while left > 0 {
        let steps = left.min(WALK_STEPS);
        let mut run = prepare(workspace, Probe::Chase, steps.next_multiple_of(UNROLL) as u32)?;
        session.once(run.as_mut())?;
        left -= steps;
    }
    Ok(())
}

/// Measures the latency of a probe's chain that lies in the workspace, and adds the samples.
pub(super) fn chain(
    session: &mut Session,
    workspace: &dyn Workspace,
    probe: Probe,
    latency: &mut Latency,
) -> Result<(), Ended> {
    let steps = steps(probe);
    let mut short = prepare(workspace, probe, steps)?;
    let mut long = prepare(workspace, probe, 2 * steps)?;
    let steps = f64::from(steps);
    for _ in 0..BATCHES {
        let first = session.once(short.as_mut())?;
        let first_cycles = session.cycles(workspace, 1)?;
        let second = session.once(long.as_mut())?;
        let second_cycles = session.cycles(workspace, 1)?;
        match (first, second) {
            (Timing::Device(_), Timing::Device(_)) if second.seconds() > first.seconds() => {
                latency.add(TimerKind::Device, (second.seconds() - first.seconds()) / steps);
            }
            // Twice the steps took no longer by the device's clock: something else came in between.
            (Timing::Device(_), Timing::Device(_)) => continue,
            _ => latency.add(TimerKind::Host, second.seconds() / (2.0 * steps)),
        }
        latency.note = long.timer_note();
        let both = first_cycles.into_iter().flatten().zip(second_cycles.into_iter().flatten());
        latency
            .cycles
            .extend(both.filter(|(short, long)| long > short).map(|(short, long)| (long - short) as f64 / steps));
    }
    Ok(())
}

impl Latency {
    fn add(&mut self, timer: TimerKind, seconds: f64) {
        // Samples by another clock are not comparable.
        if self.timer.is_some_and(|before| before != timer) {
            self.seconds.clear();
        }
        self.timer = Some(timer);
        self.seconds.push(seconds);
    }
}

fn prepare<'w>(workspace: &'w dyn Workspace, probe: Probe, steps: u32) -> Result<Box<dyn PreparedRun + 'w>, Ended> {
    let parameters = Parameters { blocks: 1, steps, trap: TRAP, ..Parameters::default() };
    Ok(workspace.prepare_probe(&Launch { probe, parameters })?)
}

/// The latency of a chain in shared memory.
pub(super) fn shared(session: &mut Session, latency: &mut Latency) -> Result<(), Ended> {
    let words = Probe::ChaseShared.define("RING", session.language());
    let workspace = session.empty_buffers(u64::from(words) * 4, state_bytes(1))?;
    let ring: Vec<u8> = chain::cycle(words as usize, 1).iter().flat_map(|word| word.to_le_bytes()).collect();
    workspace.write_source(0, 0, &ring)?;
    session.warm_up()?;
    chain(session, workspace.as_ref(), Probe::ChaseShared, latency)
}

/// The latency of an arithmetic instruction.
pub(super) fn registers(session: &mut Session, latency: &mut Latency) -> Result<(), Ended> {
    let workspace = session.empty_buffers(16, state_bytes(1))?;
    session.warm_up()?;
    chain(session, workspace.as_ref(), Probe::Chain, latency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_from_the_smallest_to_the_largest_in_whole_lines() {
        let sizes = sizes(240 << 20, 60 << 20);
        assert_eq!((sizes[0], *sizes.last().unwrap()), (1 << 10, 240 << 20));
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1] && pair[1] as f64 / pair[0] as f64 <= 1.42));
        assert!(sizes.iter().all(|size| size % LINE_BYTES == 0));
        assert!((60..90).contains(&sizes.len()), "{}", sizes.len());
        assert_eq!(super::sizes(1 << 10, 1 << 20), [1 << 10]);
    }

    #[test]
    fn knees_are_looked_at_more_closely() {
        let mut curve = Curve::default();
        for size in sizes(16 << 20, 60 << 20) {
            curve.at(size).seconds.push(if size <= 200 << 10 { 20e-9 } else { 140e-9 });
        }
        let finer = curve.finer();
        assert_eq!(finer.len(), 3, "{finer:?}");
        assert!(finer.iter().all(|size| (181 << 10..217 << 10).contains(size)), "{finer:?}");
        for size in finer {
            curve.at(size).seconds.push(if size <= 200 << 10 { 20e-9 } else { 140e-9 });
        }
        let knee = curve.plateaus()[0];
        assert!(knee.bytes.1 <= 200 << 10 && knee.next.unwrap() > 200 << 10, "{knee:?}");
        assert!(knee.next.unwrap() as f64 / (knee.bytes.1 as f64) < 1.05);
    }
}
