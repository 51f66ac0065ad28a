//! The memory hierarchy, measured: latency and bandwidth level by level, coalescing, and bank conflicts.
//!
//! | module | what it does |
//! |---|---|
//! | `kernels` | the table of kernels |
//! | `launch` | what a kernel is given |
//! | `chain` | random chains of pointers |

pub mod chain;
mod kernels;
mod launch;

pub use kernels::Probe;
pub use launch::{Launch, Parameters, TRAP, space, state_bytes};
