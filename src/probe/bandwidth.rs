//! Aggregate bandwidths: all multiprocessors reading from one level.

use super::Probe;
use super::launch::{Launch, Parameters, TRAP, state_bytes};
use super::levels::Level;
use super::session::{Ended, Session, Timed};
use crate::harness::stats;
use crate::kernel::Language;
use crate::record::{Bandwidth, Series};

/// Bytes of a vector, which is what one load of a thread reads.
const VECTOR_BYTES: u64 = 16;
/// Bytes of the operands that a multiply-add reads.
const OPERAND_BYTES: u64 = 12;
/// Of the last-level cache, as far as it is near, this part is read to measure it: all of that is surely kept, wherever
/// its lines fall.
const CACHE_PART: (u64, u64) = (3, 4);
/// A set that lies in memory is so many times as large as the last-level cache: what is left of it there from the
/// launch before is less than a fifteenth.
const MEMORY_MULTIPLE: u64 = 16;
/// No set has to be larger than this.
const MOST_BYTES: u64 = 4 << 30;

/// What is read, and how.
#[derive(Clone, Copy, Debug)]
struct Plan {
    level: Level,
    launch: Launch,
    /// Bytes of the source.
    source_bytes: u64,
    /// Bytes that a block reads in a launch.
    block_bytes: u64,
    /// Whether each multiprocessor has one block, so that the block's cycles are the multiprocessor's.
    alone: bool,
}

/// What is known of the caches, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The measured capacity of L1.
    pub l1: Option<u64>,
    /// That of L2, as far as it is near.
    pub l2: u64,
    /// What no cache is larger than.
    pub beyond: u64,
}

/// The probes of a level, of which the fastest counts.
pub(super) fn measure(session: &mut Session, level: Level, sizes: Sizes) -> Result<Vec<Bandwidth>, Ended> {
    let plans = plans(session, level, sizes);
    let source_bytes = plans.iter().map(|plan| plan.source_bytes).max().unwrap_or(VECTOR_BYTES);
    let blocks = plans.iter().map(|plan| plan.launch.parameters.blocks).max().unwrap_or(1);
    let mut measured: Vec<Measured> = plans.iter().map(|_| Measured::default()).collect();
    for repetition in 1..=session.settings.repetitions {
        session.next(&format!("bandwidth of {}, {repetition}", level.name()))?;
        let workspace = session.buffers(source_bytes, state_bytes(blocks))?;
        for (plan, measured) in plans.iter().zip(&mut measured) {
            session.warm_up()?;
            let mut run = workspace.prepare_probe(&plan.launch)?;
            let timed = session.time(run.as_mut())?;
            measured.timed = Some(Timed::join(measured.timed.take(), timed));
            if plan.alone {
                let cycles = session.cycles(workspace.as_ref(), plan.launch.parameters.blocks)?.unwrap_or_default();
                measured.add_cycles(plan.block_bytes, &cycles);
            }
        }
    }
    Ok(plans.iter().zip(measured).filter_map(|(plan, measured)| measured.bandwidth(plan)).collect())
}

#[derive(Default)]
struct Measured {
    timed: Option<Timed>,
    bytes_per_cycle: Vec<f64>,
}

impl Measured {
    /// The median over the blocks.
    fn add_cycles(&mut self, block_bytes: u64, cycles: &[u64]) {
        let each: Vec<f64> = cycles.iter().filter(|n| **n > 0).map(|n| block_bytes as f64 / *n as f64).collect();
        self.bytes_per_cycle.extend(stats::summarise(&each).map(|summary| summary.median));
    }

    fn bandwidth(self, plan: &Plan) -> Option<Bandwidth> {
        let timed = self.timed?;
        let bytes = plan.block_bytes * u64::from(plan.launch.parameters.blocks);
        let launch_s = Series::of(timed.seconds)?;
        Some(Bandwidth {
            level: plan.level.name().into(),
            probe: plan.launch.probe.name().into(),
            set_bytes: plan.source_bytes,
            bytes,
            launches: timed.launches,
            timer: timed.timer,
            gbps: bytes as f64 / launch_s.median / 1e9,
            launch_s,
            bytes_per_cycle: Series::of(self.bytes_per_cycle),
        })
    }
}

fn plans(session: &Session, level: Level, sizes: Sizes) -> Vec<Plan> {
    let blocks = session.blocks();
    match level {
        Level::Registers => {
            let steps = session.rounds(4096);
            // 32 multiply-adds a round.
            let reads = |threads: u64| threads * u64::from(steps) * 32 * OPERAND_BYTES;
            vec![in_place(session, level, Probe::Multiply, blocks, steps, VECTOR_BYTES, reads)]
        }
        Level::Shared => {
            let steps = session.rounds(4096);
            let tile = u64::from(Probe::ReadShared.define("TILE", session.language())) * VECTOR_BYTES;
            // 8 vectors a round.
            let reads = |threads: u64| threads * u64::from(steps) * 8 * VECTOR_BYTES;
            vec![in_place(session, level, Probe::ReadShared, blocks, steps, tile, reads)]
        }
        Level::L1 => {
            let least = window(Probe::ReadL1, session.language());
            // With CUDA one block has all of the L1, otherwise several share it.
            let bytes = match session.language() {
                Language::Cuda => sizes.l1.unwrap_or(0) / 2 / least * least,
                Language::Wgsl => least,
            };
            let window = bytes.max(least);
            let steps = session.rounds(((256_u64 << 20) / window) as u32);
            vec![windows(session, level, Probe::ReadL1, blocks, window, blocks.into(), 0, steps)]
        }
        Level::L2 => {
            let window = window(Probe::ReadL2, session.language());
            let wanted = (sizes.l2 / CACHE_PART.1 * CACHE_PART.0).min(session.most_bytes());
            let count = (wanted / window).max(1);
            // Two blocks of 1024 threads fill a multiprocessor.
            let blocks = if session.language() == Language::Cuda { 2 * blocks } else { blocks };
            let blocks = u64::from(blocks).min(count) as u32;
            vec![windows(session, level, Probe::ReadL2, blocks, window, count, 1, session.rounds(256))]
        }
        Level::Global => {
            let wanted = (MEMORY_MULTIPLE * sizes.beyond).min(session.most_bytes()).min(MOST_BYTES);
            let wanted = session.settings.largest.map_or(wanted, |largest| wanted.min(4 * largest));
            let probes: &[Probe] = match session.is_gpu() {
                true => &[Probe::ReadOnce1, Probe::ReadOnce2, Probe::ReadOnce4],
                false => &[Probe::ReadOnce4],
            };
            let plan = |probe: &Probe| {
                let window = window(*probe, session.language());
                let count = (wanted / window).max(1);
                windows(session, level, *probe, count as u32, window, count, 0, 1)
            };
            probes.iter().map(plan).collect()
        }
    }
}

/// Bytes of the smallest window that a probe can read.
fn window(probe: Probe, language: Language) -> u64 {
    u64::from(probe.block(language)) * u64::from(probe.define("UNROLL", language)) * VECTOR_BYTES
}

/// A plan that reads what each block has in registers or shared memory: of so many `threads`, so many bytes.
fn in_place(
    session: &Session,
    level: Level,
    probe: Probe,
    blocks: u32,
    steps: u32,
    source_bytes: u64,
    reads: impl Fn(u64) -> u64,
) -> Plan {
    let parameters = Parameters { blocks, steps, trap: TRAP, ..Parameters::default() };
    let block_bytes = reads(probe.block(session.language()).into());
    let alone = session.hardware.multiprocessors == Some(blocks.into());
    Plan { level, launch: Launch { probe, parameters }, source_bytes, block_bytes, alone }
}

/// A plan that reads `count` windows of so many bytes.
#[expect(clippy::too_many_arguments, reason = "they are the launch's parameters, each of another meaning")]
fn windows(
    session: &Session,
    level: Level,
    probe: Probe,
    blocks: u32,
    window_bytes: u64,
    count: u64,
    shift: u32,
    steps: u32,
) -> Plan {
    let window = (window_bytes / VECTOR_BYTES) as u32;
    let parameters =
        Parameters { blocks, steps, window, count: count as u32, shift, trap: TRAP, ..Parameters::default() };
    Plan {
        level,
        launch: Launch { probe, parameters },
        source_bytes: count * window_bytes,
        block_bytes: u64::from(steps) * window_bytes,
        alone: level == Level::L1 && session.hardware.multiprocessors == Some(blocks.into()),
    }
}
