//! What fits a device, and what does not and why.

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};
use cudarc::driver::{DriverError, result};

use super::geam;
use crate::device::Api;
use crate::kernel::Language;
use crate::probe::Launch;
use crate::problem::Problem;
use crate::variant::{Presence, Variant};

/// What the PTX is compiled for.
const MIN_COMPUTE_CAPABILITY: (u32, u32) = (5, 0);

/// What decides whether a launch fits on a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// All memory of the device in bytes.
    pub(super) memory_bytes: u64,
    /// Blocks along x of a grid.
    pub(super) grid_x: u64,
    /// Threads of a block.
    pub(super) block_threads: u64,
    /// Shared memory of a block in bytes, without asking for more than the default.
    pub(super) block_shared_bytes: u64,
    /// Bytes from row to row that a copy engine takes.
    pub(super) max_pitch: u64,
    /// Compute capability, major and minor.
    pub(super) compute_capability: (u32, u32),
}

impl Limits {
    /// Those of a device that the driver has listed, or the call that failed.
    pub(super) fn of(device: CUdevice) -> Result<Limits, (&'static str, DriverError)> {
        // SAFETY: the device comes from the driver.
        let memory = unsafe { result::device::total_mem(device) }.map_err(|error| ("cuDeviceTotalMem", error))?;
        // SAFETY: as above.
        let needed = |which| match unsafe { result::device::get_attribute(device, which) } {
            Ok(value) => Ok(u64::try_from(value).unwrap_or(0)),
            Err(error) => Err(("cuDeviceGetAttribute", error)),
        };
        let capability = |which| needed(which).map(|value| value as u32);
        Ok(Limits {
            memory_bytes: memory as u64,
            grid_x: needed(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            block_threads: needed(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block_shared_bytes: needed(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            max_pitch: needed(Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH)?,
            compute_capability: (
                capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                capability(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
        })
    }

    /// The first limit of the device that stands against `variant` on `problem`.
    pub(super) fn obstacle(&self, variant: Variant, problem: &Problem) -> Option<String> {
        if let Presence::Absent(reason) = variant.presence(Api::Cuda) {
            return Some(reason.into());
        }
        let needed = problem.buffer_bytes();
        if needed > self.memory_bytes {
            let memory = self.memory_bytes;
            return Some(format!("source and destination take {needed} B, the device has {memory} B of memory"));
        }
        let spec = variant.spec();
        if variant == Variant::Geam && !problem.is_empty() {
            return geam::obstacle(problem);
        }
        let kernel = spec.kernel.filter(|_| !problem.is_empty())?;
        if let Some(reason) = self.too_old() {
            return Some(reason);
        }
        if let Some(reason) = (kernel.obstacle)(problem, Language::Cuda) {
            return Some(reason);
        }
        let geometry = (kernel.geometry)(problem.width(), Language::Cuda);
        self.too_large(kernel.grid(problem, Language::Cuda).blocks(), geometry.threads(), geometry.shared_bytes())
    }

    /// The first limit of the device that stands against a probe.
    pub(super) fn probe_obstacle(&self, launch: &Launch) -> Option<String> {
        let (blocks, probe) = (launch.parameters.blocks, launch.probe);
        self.too_old().or_else(|| self.too_large(blocks.into(), probe.block(Language::Cuda), probe.shared_bytes()))
    }

    fn too_old(&self) -> Option<String> {
        let ((major, minor), (need_major, need_minor)) = (self.compute_capability, MIN_COMPUTE_CAPABILITY);
        (self.compute_capability < MIN_COMPUTE_CAPABILITY).then(|| {
            format!("the device has compute capability {major}.{minor}, the kernel needs {need_major}.{need_minor}")
        })
    }

    fn too_large(&self, blocks: u64, threads: u32, shared: u32) -> Option<String> {
        [
            ("blocks", blocks, self.grid_x),
            ("threads a block", threads.into(), self.block_threads),
            ("bytes of shared memory a block", shared.into(), self.block_shared_bytes),
        ]
        .into_iter()
        .find(|&(_, takes, limit)| takes > limit)
        .map(|(what, takes, limit)| format!("the launch takes {takes} {what}, the device allows {limit}"))
    }
}
