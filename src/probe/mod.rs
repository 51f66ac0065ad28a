//! The memory hierarchy, measured: latency and bandwidth level by level, coalescing, and bank conflicts.
//!
//! Like the [harness](crate::harness) it measures and prints nothing. `docs/HIERARCHY.md` says how each figure comes
//! about and what biases it.
//!
//! | module | what it does |
//! |---|---|
//! | `kernels` | the table of kernels |
//! | `launch` | what a kernel is given |
//! | `chain` | random chains of pointers |
//! | `session` | buffers, warming up and samples, which all measurements share |
//! | `latency`, `bandwidth` | the two figures of a level |
//! | `knees` | plateaus and knees of a curve |
//! | `levels` | the levels, and which plateau is which of them |
//! | `hierarchy`, `coalescing`, `banks` | the measurements |

mod bandwidth;
pub mod banks;
pub mod chain;
pub mod coalescing;
pub mod hierarchy;
mod kernels;
pub mod knees;
mod latency;
mod launch;
mod levels;
mod session;

use crate::backend::BackendError;
use crate::device::Hardware;
use crate::harness::Target;
use crate::record::Status;

pub use kernels::Probe;
pub use launch::{Launch, Parameters, TRAP, space, state_bytes};
pub use levels::Level;
pub use session::Settings;

/// What is known of a target's hardware, through it or through another API of the same.
fn hardware(target: &Target, all: &[Target]) -> Hardware {
    let own = target.backend.hardware();
    let others = || all.iter().filter(|other| other.physical == target.physical).map(|other| other.backend.hardware());
    Hardware {
        multiprocessors: own.multiprocessors.or_else(|| others().find_map(|other| other.multiprocessors)),
        register_bytes: own.register_bytes.or_else(|| others().find_map(|other| other.register_bytes)),
        shared_bytes: own.shared_bytes.or_else(|| others().find_map(|other| other.shared_bytes)),
        ..own
    }
}

/// How a device's failure is recorded.
fn failure(error: &BackendError) -> (Status, String) {
    match error {
        BackendError::Unsupported(reason) => (Status::Unsupported, reason.clone()),
        error => (Status::Failed, error.to_string()),
    }
}
