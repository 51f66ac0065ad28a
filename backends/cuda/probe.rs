//! Probes of the memory hierarchy on a workspace's buffers.

use std::ffi::c_void;

use cudarc::driver::result;
use cudarc::driver::sys::CUstream;

use super::error::failed;
use super::modules::{Function, Modules};
use crate::backend::BackendError;
use crate::kernel::Language;
use crate::probe::{Launch, Parameters};

/// A probe's kernel and its launch, but for the buffers.
pub(super) struct ProbeKernel {
    function: Function,
    threads: u32,
    parameters: Parameters,
}

impl ProbeKernel {
    /// The modules' context must be current.
    pub(super) fn new(modules: &Modules, launch: &Launch) -> Result<ProbeKernel, BackendError> {
        let function = modules.probe(launch.probe)?;
        let threads = launch.probe.block(Language::Cuda);
        Ok(ProbeKernel { function, threads, parameters: launch.parameters })
    }

    /// Puts one launch on `stream`. The context must be current.
    ///
    /// # Safety
    /// Both buffers hold what the probe's parameters say and live until the launch is over, as does the device that
    /// loaded the kernel.
    pub(super) unsafe fn enqueue(&self, stream: CUstream, mut source: u64, mut state: u64) -> Result<(), BackendError> {
        let mut launched = self.parameters;
        let mut parameters: [*mut c_void; 3] =
            [(&raw mut source).cast(), (&raw mut state).cast(), (&raw mut launched).cast()];
        let (grid, block) = ((launched.blocks, 1, 1), (self.threads, 1, 1));
        // SAFETY: by the contract. The parameters are those of every probe in `cuda/probes/` and are copied by the call.
        unsafe { result::launch_kernel(self.function.0, grid, block, 0, stream, &mut parameters) }
            .map_err(failed("cuLaunchKernel"))
    }
}
