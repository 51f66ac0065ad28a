//! An adapter as a device of the benchmark.

use std::sync::OnceLock;

use super::gpu::Gpu;
use super::limits;
use super::workspace::WgpuWorkspace;
use crate::backend::{BackendError, Support, TransposeBackend, Workspace};
use crate::device::{Api, DeviceInfo, Hardware};
use crate::problem::Problem;
use crate::variant::Variant;

/// An adapter, opened when the first workspace is asked for.
pub(super) struct WgpuAdapter {
    adapter: wgpu::Adapter,
    limits: wgpu::Limits,
    info: DeviceInfo,
    gpu: OnceLock<Result<Gpu, BackendError>>,
}

impl WgpuAdapter {
    pub(super) fn new(adapter: wgpu::Adapter, info: DeviceInfo) -> WgpuAdapter {
        WgpuAdapter { limits: adapter.limits(), adapter, info, gpu: OnceLock::new() }
    }

    /// The opened device. One that cannot be opened stays so.
    fn gpu(&self) -> Result<&Gpu, BackendError> {
        self.gpu.get_or_init(|| Gpu::open(&self.adapter)).as_ref().map_err(BackendError::clone)
    }

    /// What stands in the way of `variant` on `problem`, as an error.
    pub(super) fn require(&self, variant: Variant, problem: &Problem) -> Result<(), BackendError> {
        match self.support(variant, problem) {
            Support::Supported => Ok(()),
            Support::Unsupported(reason) => Err(BackendError::Unsupported(reason)),
        }
    }

    pub(super) fn limits(&self) -> &wgpu::Limits {
        &self.limits
    }
}

impl TransposeBackend for WgpuAdapter {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn hardware(&self) -> Hardware {
        Hardware {
            block_shared_bytes: Some(self.limits.max_compute_workgroup_storage_size.into()),
            buffer_bytes: Some(self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size)),
            ..Hardware::default()
        }
    }

    fn support(&self, variant: Variant, problem: &Problem) -> Support {
        let variant = self.choose(variant, problem);
        if let Some(reason) = variant.unlike_in_place(problem) {
            return Support::Unsupported(reason);
        }
        let downlevel = self.adapter.get_downlevel_capabilities().flags;
        match limits::support(self.info.id.api, &self.limits, downlevel, variant, problem) {
            Support::Supported if variant.spec().kernel.is_some() && self.info.id.api == Api::Gl => {
                limits::old_context(&self.info.driver).map_or(Support::Supported, Support::Unsupported)
            }
            support => support,
        }
    }

    // An NVIDIA GPU has the same sensors whichever API reaches it.
    #[cfg(feature = "cuda")]
    fn sensor(&self) -> Option<Box<dyn crate::sensor::Sensor>> {
        crate::backends::nvml::sensor(self.info.pci.as_deref(), None)
    }

    fn workspace(&self, problem: &Problem, sets: usize) -> Result<Box<dyn Workspace + '_>, BackendError> {
        let downlevel = self.adapter.get_downlevel_capabilities().flags;
        if let Some(reason) = limits::no_buffers(&self.limits, downlevel, problem) {
            return Err(BackendError::Unsupported(reason));
        }
        Ok(Box::new(WgpuWorkspace::new(self, self.gpu()?, *problem, sets)?))
    }
}
