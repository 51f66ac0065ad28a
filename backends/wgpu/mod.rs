//! Vulkan, Metal, DX12 and GL devices, through wgpu.
//!
//! The drivers are opened at run time: a machine without any of them has no such device, and says why.

mod adapter;
mod clock;
mod discovery;
mod gpu;
mod host;
mod limits;
mod pipeline;
mod run;
mod transpose;
mod workspace;

pub use discovery::discover;
pub use transpose::{WgpuPrepared, WgpuTranspose};
