#![doc = include_str!("../README.md")]

#[path = "../backends/mod.rs"]
pub mod backends;

pub mod backend;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
pub mod device;
pub mod element;
#[cfg(feature = "cli")]
mod file;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod harness;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
mod host;
pub mod kernel;
mod kernels;
#[cfg(any(feature = "explain", feature = "wgpu"))]
mod launch;
pub mod limiter;
pub mod model;
#[cfg(any(feature = "cuda", feature = "cli"))]
mod nvidia;
pub mod pattern;
pub mod peak;
pub mod physical;
pub mod planner;
pub mod probe;
pub mod problem;
#[cfg(feature = "cli")]
pub mod profile;
pub mod record;
#[cfg(feature = "cli")]
pub mod report;
pub mod sensor;
pub mod source;
pub mod timing;
#[cfg(feature = "explain")]
pub mod trace;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
pub mod transpose;
pub mod tune;
pub mod variant;
pub mod verify;

#[cfg(feature = "cuda")]
pub use backends::cuda::CudaTranspose;
#[cfg(feature = "wgpu")]
pub use backends::wgpu::{WgpuPrepared, WgpuTranspose};
/// The cudarc whose types [`CudaTranspose`] takes.
#[cfg(feature = "cuda")]
pub use cudarc;
/// The wgpu whose types [`WgpuTranspose`] takes.
#[cfg(feature = "wgpu")]
pub use wgpu;
