//! Buffers on a CUDA device.

use std::sync::Arc;

use cudarc::driver::sys::{CUdeviceptr, CUresult};
use cudarc::driver::{DriverError, result};

use super::CudaBackend;
use super::error::failed;
use super::open::Opened;
use super::run::CudaRun;
use crate::backend::{BackendError, PreparedRun, RunOptions, Support, TransposeBackend, Workspace};
use crate::problem::Problem;
use crate::variant::Variant;

/// The least that is allocated: a copy kernel's access, so that buffers of empty problems are buffers too.
const MIN_BYTES: usize = 16;

/// Memory of a device, freed when dropped.
///
/// It comes from cuMemAlloc and not from a memory pool: a pool keeps what was freed, and allocates when the stream
/// gets there, so that an allocation which does not fit may fail late.
pub(super) struct Buffer {
    pub(super) pointer: CUdeviceptr,
    opened: Arc<Opened>,
}

impl Buffer {
    /// `bytes` bytes of undefined content, aligned to 256. The context must be current.
    fn new(opened: &Arc<Opened>, bytes: usize) -> Result<Buffer, DriverError> {
        // SAFETY: the memory is only ever seen as bytes by kernels and copies.
        let pointer = unsafe { result::malloc_sync(bytes.max(MIN_BYTES)) }?;
        Ok(Buffer { pointer, opened: opened.clone() })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.opened.bind().is_ok() {
            // SAFETY: allocated in this context and freed only here. The driver waits for what still uses it. There
            // is nothing to do about an error.
            let _ = unsafe { result::free_sync(self.pointer) };
        }
    }
}

/// A source and a destination.
pub(super) struct Set {
    pub(super) source: Buffer,
    pub(super) destination: Buffer,
}

/// The sets of a workspace.
pub(super) struct CudaWorkspace<'a> {
    backend: &'a CudaBackend,
    pub(super) problem: Problem,
    /// Bytes of each buffer that belong to the problem.
    pub(super) side_bytes: usize,
    pub(super) sets: Vec<Set>,
    pub(super) opened: Arc<Opened>,
}

impl<'a> CudaWorkspace<'a> {
    pub(super) fn new(backend: &'a CudaBackend, problem: Problem, sets: usize) -> Result<Self, BackendError> {
        if sets == 0 {
            return Err(BackendError::Unsupported("a workspace has at least one set of buffers".into()));
        }
        let opened = backend.opened()?;
        let turn = opened.turn()?;
        let requested = problem.bytes_moved().saturating_mul(sets as u64);
        let (free, _) = opened.context.mem_get_info().map_err(failed("cuMemGetInfo"))?;
        let out_of_memory = BackendError::OutOfMemory { requested, available: Some(free as u64) };
        // Where the driver can move memory to the host (Windows), asking for too much succeeds and then crawls.
        let side_bytes = match usize::try_from(problem.side_bytes()) {
            Ok(bytes) if requested <= free as u64 => bytes,
            _ => return Err(out_of_memory),
        };
        let buffer = || Buffer::new(&opened, side_bytes);
        let set = |_| Ok(Set { source: buffer()?, destination: buffer()? });
        let sets = (0..sets).map(set).collect::<Result<Vec<_>, DriverError>>().map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory,
            _ => failed("cuMemAlloc")(error),
        })?;
        drop(turn);
        Ok(CudaWorkspace { backend, problem, side_bytes, sets, opened })
    }

    /// The set at `set`, if `length` bytes from `offset` on lie within its buffers.
    fn checked(&self, call: &'static str, set: usize, offset: u64, length: usize) -> Result<&Set, BackendError> {
        let end = offset.checked_add(length as u64).filter(|&end| end <= self.side_bytes as u64);
        match (self.sets.get(set), end) {
            (Some(set), Some(_)) => Ok(set),
            _ => Err(BackendError::Call {
                call,
                reason: format!(
                    "{length} B from byte {offset} of set {set} do not lie in {} sets of {} B",
                    self.sets.len(),
                    self.side_bytes
                ),
            }),
        }
    }
}

impl Workspace for CudaWorkspace<'_> {
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError> {
        const CALL: &str = "cuMemcpyHtoDAsync";
        let set = self.checked(CALL, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        // SAFETY: the range lies in the buffer, and `bytes` outlives the copy, which is waited for.
        let copy =
            unsafe { result::memcpy_htod_async(set.source.pointer + offset, bytes, self.opened.stream.cu_stream()) };
        copy.map_err(failed(CALL))?;
        self.opened.finish()
    }

    fn poison(&self, value: u8) -> Result<(), BackendError> {
        if self.side_bytes == 0 {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        for set in &self.sets {
            let stream = self.opened.stream.cu_stream();
            // SAFETY: the buffer has at least so many bytes.
            unsafe { result::memset_d8_async(set.destination.pointer, value, self.side_bytes, stream) }
                .map_err(failed("cuMemsetD8Async"))?;
        }
        self.opened.finish()
    }

    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        const CALL: &str = "cuMemcpyDtoHAsync";
        let set = self.checked(CALL, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        // SAFETY: the range lies in the buffer, and `bytes` outlives the copy, which is waited for.
        let copy = unsafe {
            result::memcpy_dtoh_async(bytes, set.destination.pointer + offset, self.opened.stream.cu_stream())
        };
        copy.map_err(failed(CALL))?;
        self.opened.finish()
    }

    fn prepare(&self, variant: Variant, _: RunOptions) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        let variant = self.backend.choose(variant, &self.problem);
        match self.backend.support(variant, &self.problem) {
            Support::Supported => Ok(Box::new(CudaRun::new(self, variant)?)),
            Support::Unsupported(reason) => Err(BackendError::Unsupported(reason)),
        }
    }
}
