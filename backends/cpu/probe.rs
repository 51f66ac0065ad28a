//! Probes of the memory hierarchy on the host's processor: a chain of loads, and all threads reading.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::PoisonError;
use std::time::Instant;

use rayon::prelude::*;

use super::{CpuWorkspace, Set};
use crate::backend::{BackendError, PreparedRun};
use crate::probe::{Launch, Parameters, Probe};
use crate::timing::{HostTime, Timing};

/// Bytes that one task reads in a row.
const TASK_BYTES: usize = 1 << 18;

/// A probe on a workspace.
pub(super) struct CpuProbe<'a> {
    workspace: &'a CpuWorkspace<'a>,
    kernel: fn(&Set, &Parameters),
    parameters: Parameters,
}

impl<'a> CpuProbe<'a> {
    pub(super) fn new(workspace: &'a CpuWorkspace<'a>, launch: &Launch) -> Result<CpuProbe<'a>, BackendError> {
        let kernel = match launch.probe {
            Probe::Chase => chase,
            Probe::ReadOnce4 => read,
            probe => {
                let reason = "the CPU has chase and read-once-4 alone: no shared memory, no warps";
                return Err(BackendError::Unsupported(format!("no probe {} here; {reason}", probe.name())));
            }
        };
        Ok(CpuProbe { workspace, kernel, parameters: launch.parameters })
    }
}

impl PreparedRun for CpuProbe<'_> {
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError> {
        let start = Instant::now();
        for set in self.workspace.sets.iter().cycle().take(launches.get() as usize) {
            (self.kernel)(set, &self.parameters);
        }
        Ok(Timing::Host(HostTime::since(start)))
    }
}

/// Follows the chain of indices from where the last launch stopped.
fn chase(set: &Set, parameters: &Parameters) {
    let source = set.source.read().unwrap_or_else(PoisonError::into_inner);
    let mut state = set.destination.write().unwrap_or_else(PoisonError::into_inner);
    let (words, _) = source.as_chunks::<4>();
    let Some(position) = state.first_chunk_mut::<4>() else { return };
    let mut at = u32::from_le_bytes(*position);
    for _ in 0..parameters.steps {
        at = words.get(at as usize).map_or(0, |word| u32::from_le_bytes(*word));
    }
    *position = at.to_le_bytes();
}

/// Reads the set once, all threads together.
fn read(set: &Set, _: &Parameters) {
    let source = set.source.read().unwrap_or_else(PoisonError::into_inner);
    let sum = source.par_chunks(TASK_BYTES).map(|part| {
        let (words, _) = part.as_chunks::<8>();
        words.iter().fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
    });
    black_box(sum.reduce(|| 0, |a, b| a ^ b));
}
