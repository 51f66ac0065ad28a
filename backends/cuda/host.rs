//! Matrices in host memory, of any size, in windows through a device.

use std::ffi::c_void;
use std::ptr::NonNull;

use cudarc::driver::result;
use cudarc::driver::result::stream::StreamKind;
use cudarc::driver::sys::{CUdeviceptr, CUstream};

use super::error::{failed, not_allocated};
use super::plane::{Plane, is_page_locked};
use super::transpose::{CudaTranspose, Placed};
use crate::backend::BackendError;
use crate::host::{self, BUFFERS, Room, SLOTS, Slot, WINDOW_BYTES, pack, packed, unpack};
use crate::problem::{Problem, Side};
use crate::transpose::TransposeError;

/// Memory on the way of one window at a time, and the stream that it is on its way on.
struct CudaSlot<'a> {
    stream: CUstream,
    /// Memory of the host that the device reaches by itself; null where it reaches the caller's.
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
    /// The host packs and unpacks windows, which for most hosts is slower than the bus. A side in page-locked memory
    /// (`CudaContext::alloc_pinned_with_flags`, or what `cuMemHostRegister` has locked) the device reaches by itself, at the
    /// speed of the bus; then windows have up to 256 MiB, for long rows are faster, and two or three buffers.
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
        host::check_sides(problem, source, destination)?;
        self.bind()?;
        let room = |buffers, window| Room { memory, buffers, most: u64::MAX, window }.window_bytes();
        let locked = [is_page_locked(source), is_page_locked(destination)];
        let direct = self.reached(problem, locked, room(BUFFERS, WINDOW_BYTES)?)?;
        let window = if direct.contains(&true) { long_window(problem) } else { WINDOW_BYTES };
        let bytes = room(BUFFERS - direct.iter().filter(|&&direct| direct).count() as u64, window)?;
        let slot = |_| CudaSlot::new(self, bytes as usize, direct);
        let mut slots = (0..SLOTS).map(slot).collect::<Result<Vec<_>, _>>()?;
        host::through(&mut slots, problem, bytes, source, destination, progress)
    }

    /// Which of the page-locked sides the device's copy engines can take in windows of so many bytes. All windows are alike
    /// but for their sizes.
    fn reached(&self, problem: &Problem, locked: [bool; 2], bytes: u64) -> Result<[bool; 2], TransposeError> {
        let Some(window) = problem.shares(bytes / problem.width().bytes() as u64).next().transpose()? else {
            return Ok([false; 2]);
        };
        let suits = |side| Plane::of(&window, side).is_some_and(|plane| plane.suits(self.limits.max_pitch));
        Ok([locked[0] && suits(Side::Source), locked[1] && suits(Side::Destination)])
    }
}

/// Bytes of a window whose rows are long, of which there are still many.
fn long_window(problem: &Problem) -> u64 {
    (problem.copied_bytes() / 32).clamp(WINDOW_BYTES, 8 * WINDOW_BYTES)
}

impl<'a> CudaSlot<'a> {
    /// A slot for windows of so many bytes, some of whose sides the device reaches directly. The context must be current.
    fn new(through: &'a CudaTranspose, bytes: usize, direct: [bool; 2]) -> Result<CudaSlot<'a>, BackendError> {
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
            for (host, direct) in [&mut slot.upload, &mut slot.download].into_iter().zip(direct) {
                if !direct {
                    *host = result::malloc_host(bytes, 0).map_err(refused("cuMemHostAlloc"))?.cast();
                }
            }
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

impl CudaSlot<'_> {
    /// # Safety
    /// The slot has room for the window in each of its buffers, and nothing uses them; the context is current.
    unsafe fn upload(&self, window: &Problem, source: &[u8]) -> Result<(), BackendError> {
        // SAFETY: by the contract; a window lies in the problem's sides.
        unsafe {
            match (NonNull::new(self.upload), Plane::of(window, Side::Source)) {
                (Some(upload), _) => {
                    pack(window, source, upload);
                    let packed = std::slice::from_raw_parts(self.upload, bytes_of(window));
                    result::memcpy_htod_async(self.source, packed, self.stream).map_err(failed("cuMemcpyHtoDAsync"))
                }
                (None, Some(plane)) => plane.upload(source.as_ptr(), self.source, self.stream),
                (None, None) => Err(no_way()),
            }
        }
    }

    /// # Safety
    /// As for [`upload`](Self::upload).
    unsafe fn download(&self, window: &Problem, destination: &mut [u8]) -> Result<(), BackendError> {
        // SAFETY: by the contract; a window lies in the problem's sides.
        unsafe {
            match (NonNull::new(self.download), Plane::of(window, Side::Destination)) {
                (Some(download), _) => {
                    let turned = std::slice::from_raw_parts_mut(download.as_ptr(), bytes_of(window));
                    result::memcpy_dtoh_async(turned, self.destination, self.stream)
                        .map_err(failed("cuMemcpyDtoHAsync"))
                }
                (None, Some(plane)) => plane.download(self.destination, destination.as_mut_ptr(), self.stream),
                (None, None) => Err(no_way()),
            }
        }
    }
}

fn bytes_of(window: &Problem) -> usize {
    window.elements() as usize * window.width().bytes()
}

/// There is neither a buffer nor a plane.
fn no_way() -> BackendError {
    BackendError::Call { call: "cuMemHostAlloc", reason: "it gave no memory".into() }
}

impl Slot for CudaSlot<'_> {
    fn start(&mut self, window: Problem, source: &[u8], destination: &mut [u8]) -> Result<(), TransposeError> {
        let placed = Placed::new(&packed(&window)?, self.source, self.destination)?;
        // SAFETY: the slot has room for a window in each of its buffers, and nothing else uses them: what was under way has
        // come back. Copies and kernel follow one another on the slot's stream, and are waited for before a buffer is used
        // again or freed, and before the caller's memory is given back.
        unsafe {
            // From here on there is something to wait for, whatever fails.
            self.window = Some(window);
            self.upload(&window, source)?;
            self.through.launch(self.stream, &placed, self.through.choose(&placed))?;
            self.download(&window, destination)?;
        }
        Ok(())
    }

    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some(window) = self.window.take() else { return Ok(0) };
        self.wait()?;
        if !self.download.is_null() {
            // SAFETY: the window has come back into so many bytes, which nothing writes any more.
            unpack(&window, unsafe { std::slice::from_raw_parts(self.download, bytes_of(&window)) }, destination);
        }
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
