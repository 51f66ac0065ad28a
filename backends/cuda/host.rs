//! Matrices in host memory, of any size, in windows through a device.

use std::ffi::c_void;
use std::ptr::NonNull;

use cudarc::driver::result;
use cudarc::driver::result::stream::StreamKind;
use cudarc::driver::sys::{CUdeviceptr, CUstream};

use super::error::{failed, not_allocated};
use super::transpose::{CudaTranspose, Placed};
use crate::backend::BackendError;
use crate::host::{self, SLOTS, Slot, pack, packed, unpack};
use crate::problem::Problem;
use crate::transpose::TransposeError;

/// Memory on the way of one window at a time, and the stream that it is on its way on.
struct CudaSlot<'a> {
    stream: CUstream,
    /// Memory of the host that the device reaches by itself.
    upload: *mut u8,
    download: *mut u8,
    source: CUdeviceptr,
    destination: CUdeviceptr,
    /// What is under way.
    window: Option<Problem>,
    through: &'a CudaTranspose,
}

impl CudaTranspose {
    /// Transposes matrices from host memory to host memory, however large they are, in windows through the device, with
    /// copies, kernels and the host's own work overlapped, on streams of its own. It returns when all is done.
    ///
    /// `source` and `destination` are the bytes of the problem's sides. At most `memory` bytes are asked for, half of them
    /// of the device and half page-locked ones of the host. `progress` is told how many of all elements are done.
    ///
    /// Three windows of at most 32 MiB are under way, each with four buffers: 384 MiB are as much as is used, and less than
    /// a few MiB makes it slow.
    ///
    /// # Errors
    /// [`TransposeError`] if a side does not fit its bytes or the memory does not suffice for a window, before anything
    /// is done; or if the device fails, when a part of the destination may have been written.
    pub fn transpose_host(
        &self,
        problem: &Problem,
        source: &[u8],
        destination: &mut [u8],
        memory: u64,
        progress: impl FnMut(u64, u64),
    ) -> Result<(), TransposeError> {
        let bytes = host::window_bytes(problem, source, destination, memory, u64::MAX)?;
        self.bind()?;
        let mut slots = (0..SLOTS).map(|_| CudaSlot::new(self, bytes as usize)).collect::<Result<Vec<_>, _>>()?;
        host::through(&mut slots, problem, bytes, source, destination, progress)
    }
}

impl<'a> CudaSlot<'a> {
    /// A slot for windows of so many bytes. The context must be current.
    fn new(through: &'a CudaTranspose, bytes: usize) -> Result<CudaSlot<'a>, BackendError> {
        let mut slot = CudaSlot {
            stream: result::stream::create(StreamKind::NonBlocking).map_err(failed("cuStreamCreate"))?,
            upload: std::ptr::null_mut(),
            download: std::ptr::null_mut(),
            source: 0,
            destination: 0,
            window: None,
            through,
        };
        let refused = |call| not_allocated(call, bytes as u64, None);
        // What there is of a slot is freed with it.
        // SAFETY: memory is seen as bytes, and read only where it has been written before.
        unsafe {
            slot.upload = result::malloc_host(bytes, 0).map_err(refused("cuMemHostAlloc"))?.cast();
            slot.download = result::malloc_host(bytes, 0).map_err(refused("cuMemHostAlloc"))?.cast();
            slot.source = result::malloc_sync(bytes).map_err(refused("cuMemAlloc"))?;
            slot.destination = result::malloc_sync(bytes).map_err(refused("cuMemAlloc"))?;
        }
        Ok(slot)
    }

    fn wait(&self) -> Result<(), BackendError> {
        // SAFETY: the stream is the slot's own.
        unsafe { result::stream::synchronize(self.stream) }.map_err(failed("cuStreamSynchronize"))
    }
}

impl Slot for CudaSlot<'_> {
    fn start(&mut self, window: Problem, source: &[u8]) -> Result<(), TransposeError> {
        let problem = packed(&window)?;
        let bytes = problem.source_bytes() as usize;
        let no_memory = || BackendError::Call { call: "cuMemHostAlloc", reason: "it gave no memory".into() };
        let upload = NonNull::new(self.upload).ok_or_else(no_memory)?;
        // SAFETY: the slot has room for a window in each of its buffers, and nothing else uses them: what was under way has
        // come back. The copies and the kernel follow one another on the slot's stream, and are waited for before a buffer
        // is used again or freed.
        unsafe {
            pack(&window, source, upload);
            let packed = std::slice::from_raw_parts(self.upload, bytes);
            result::memcpy_htod_async(self.source, packed, self.stream).map_err(failed("cuMemcpyHtoDAsync"))?;
            self.window = Some(window);
            let placed = Placed::new(&problem, self.source, self.destination)?;
            self.through.launch(self.stream, &placed, self.through.choose(&placed))?;
            let turned = std::slice::from_raw_parts_mut(self.download, bytes);
            result::memcpy_dtoh_async(turned, self.destination, self.stream).map_err(failed("cuMemcpyDtoHAsync"))?;
        }
        Ok(())
    }

    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some(window) = self.window.take() else { return Ok(0) };
        self.wait()?;
        let bytes = window.elements() as usize * window.width().bytes();
        // SAFETY: the window has come back into so many bytes, which nothing writes any more.
        unpack(&window, unsafe { std::slice::from_raw_parts(self.download, bytes) }, destination);
        Ok(window.elements())
    }
}

impl Drop for CudaSlot<'_> {
    fn drop(&mut self) {
        if self.through.bind().is_err() || self.wait().is_err() {
            // The device may still use the memory, or is lost with all that was on it.
            return;
        }
        // SAFETY: all is the slot's own, and has no work any more; what was never allocated is null and passed over. There is
        // nothing to do about an error.
        unsafe {
            for host in [self.upload, self.download] {
                if !host.is_null() {
                    let _ = result::free_host(host.cast::<c_void>());
                }
            }
            for device in [self.source, self.destination] {
                if device != 0 {
                    let _ = result::free_sync(device);
                }
            }
            let _ = result::stream::destroy(self.stream);
        }
    }
}
