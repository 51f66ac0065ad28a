//! Buffers on a CUDA device.

use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{DriverError, result};

use super::CudaBackend;
use super::error::{failed, not_allocated};
use super::open::Opened;
use super::run::CudaRun;
use crate::backend::{BackendError, PreparedRun, RunOptions, Support, TransposeBackend, Workspace};
use crate::probe::Launch;
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
    /// Bytes that belong to the problem.
    bytes: usize,
    opened: Arc<Opened>,
}

impl Buffer {
    /// `bytes` bytes of undefined content, aligned to 256. The context must be current.
    fn new(opened: &Arc<Opened>, bytes: usize) -> Result<Buffer, DriverError> {
        // SAFETY: the memory is only ever seen as bytes by kernels and copies.
        let pointer = unsafe { result::malloc_sync(bytes.max(MIN_BYTES)) }?;
        Ok(Buffer { pointer, bytes, opened: opened.clone() })
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
        let requested = problem.buffer_bytes().saturating_mul(sets as u64);
        let (free, _) = opened.context.mem_get_info().map_err(failed("cuMemGetInfo"))?;
        // Where the driver can move memory to the host (Windows), asking for too much succeeds and then crawls.
        if requested > free as u64 || usize::try_from(requested).is_err() {
            return Err(BackendError::OutOfMemory { requested, available: Some(free as u64) });
        }
        let buffer = |bytes: u64| Buffer::new(&opened, bytes as usize);
        let (source, destination) = (problem.source_bytes(), problem.destination_bytes());
        let set = |_| Ok(Set { source: buffer(source)?, destination: buffer(destination)? });
        let sets = (0..sets).map(set).collect::<Result<Vec<_>, DriverError>>();
        let sets = sets.map_err(not_allocated("cuMemAlloc", requested, Some(free as u64)))?;
        drop(turn);
        Ok(CudaWorkspace { backend, problem, sets, opened })
    }

    /// The buffer of the set at `set` that `side` names, if `length` bytes from `offset` on lie within it.
    fn checked(
        &self,
        call: &'static str,
        side: fn(&Set) -> &Buffer,
        set: usize,
        offset: u64,
        length: usize,
    ) -> Result<&Buffer, BackendError> {
        let sets = self.sets.len();
        let misused = |reason| BackendError::Call { call, reason };
        let buffer = self.sets.get(set).map(side).ok_or_else(|| misused(format!("there is no set {set} of {sets}")))?;
        match offset.checked_add(length as u64) {
            Some(end) if end <= buffer.bytes as u64 => Ok(buffer),
            _ => {
                let bytes = buffer.bytes;
                Err(misused(format!("{length} B from byte {offset} of set {set} do not lie in a buffer of {bytes} B")))
            }
        }
    }
}

impl Workspace for CudaWorkspace<'_> {
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError> {
        const CALL: &str = "cuMemcpyHtoDAsync";
        let source = self.checked(CALL, |set| &set.source, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        // SAFETY: the range lies in the buffer, and `bytes` outlives the copy, which is waited for.
        let copy = unsafe { result::memcpy_htod_async(source.pointer + offset, bytes, self.opened.stream.cu_stream()) };
        copy.map_err(failed(CALL))?;
        self.opened.finish()
    }

    fn poison(&self, value: u8) -> Result<(), BackendError> {
        if self.problem.is_empty() {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        for Set { destination, .. } in &self.sets {
            let stream = self.opened.stream.cu_stream();
            // SAFETY: the buffer has at least so many bytes.
            unsafe { result::memset_d8_async(destination.pointer, value, destination.bytes, stream) }
                .map_err(failed("cuMemsetD8Async"))?;
        }
        self.opened.finish()
    }

    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        const CALL: &str = "cuMemcpyDtoHAsync";
        let destination = self.checked(CALL, |set| &set.destination, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.opened.turn()?;
        // SAFETY: the range lies in the buffer, and `bytes` outlives the copy, which is waited for.
        let copy =
            unsafe { result::memcpy_dtoh_async(bytes, destination.pointer + offset, self.opened.stream.cu_stream()) };
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

    fn prepare_probe(&self, launch: &Launch) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        match self.backend.limits.probe_obstacle(launch) {
            None => Ok(Box::new(CudaRun::probe(self, launch)?)),
            Some(reason) => Err(BackendError::Unsupported(reason)),
        }
    }

    fn source_address(&self, set: usize) -> Option<u64> {
        self.sets.get(set).map(|set| set.source.pointer)
    }
}
