//! Matrix transposes at the speed of a copy, on any GPU, and what it takes to measure that: a *corner turn* is a matrix
//! transpose in memory.
//!
//! The same kernels, declared once in a table of [variants](variant::Variant), run through CUDA, through wgpu (Vulkan,
//! Metal, DX12, GL) and on the CPU.
//!
//! | to | take | feature |
//! |---|---|---|
//! | transpose on a CUDA stream of yours | `CudaTranspose` | `cuda` |
//! | transpose in a wgpu encoder or pass of yours | `WgpuTranspose` | `wgpu` |
//! | find devices, and run and time a variant on them | [`backends::discover`], [`backend`] | |
//! | compare variants and devices, as `cornerturn bench` does | [`harness`], [`record`], [`compare`] | |
//! | measure the levels of memory, coalescing and bank conflicts | [`probe`] | |
//! | count what the accesses of a WGSL shader cost, on the CPU | `trace` | `explain` |
//! | tables and pages of a record | `report` | `cli` |
//!
//! The features `cuda`, `wgpu` and `cli`, which brings `explain` with it, are on by default; the CPU is always there.
//! Nothing needs a GPU, a CUDA toolkit or Vulkan to be built: drivers are opened at run time.
//!
//! What is transposed is a [`Problem`](problem::Problem): `batch` row-major matrices of `rows` × `cols`
//! [elements](element::Element) of 1, 2, 4, 8 or 16 bytes, each side with a leading dimension and a batch stride of its
//! own. Lengths are in elements and buffers in bytes unless a name says otherwise (`_bytes`, `_ld`); times are in seconds,
//! bandwidths in GB/s of 10⁹ bytes, each element counted once as read and once as written.
//!
//! ```
//! use std::num::NonZeroU32;
//! use cornerturn::backend::RunOptions;
//! use cornerturn::backends;
//! use cornerturn::device::Api;
//! use cornerturn::element::Element;
//! use cornerturn::problem::Problem;
//! use cornerturn::variant::Variant;
//!
//! let found = backends::discover(&[Api::Cpu]);
//! let problem = Problem::new(3, 2, 1, Element::U8)?; // one matrix of 3 rows and 2 columns
//! let workspace = found.devices[0].workspace(&problem, 1)?;
//! workspace.write_source(0, 0, &[1, 2, 3, 4, 5, 6])?;
//! workspace.prepare(Variant::Tiled, RunOptions::default())?.run(NonZeroU32::MIN)?;
//! let mut transposed = [0; 6];
//! workspace.read_destination(0, 0, &mut transposed)?;
//! assert_eq!(transposed, [1, 3, 5, 2, 4, 6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The README and the folder `docs/` of the package describe the program, the record formats, and how it measures.

#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// The examples of the README, which are compiled and run as tests. Its links are relative, and lead nowhere from here.
#[cfg(all(doctest, feature = "cuda", feature = "wgpu"))]
#[doc = include_str!("../README.md")]
struct Readme;

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
