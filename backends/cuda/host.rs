//! Matrices in host memory, of any size, in windows through a device.

use std::cell::Cell;
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

/// The memory of all slots: one piece on the device and one, page-locked, on the host, for making and freeing a piece takes a
/// millisecond.
struct Memory<'a> {
    device: CUdeviceptr,
    /// Null where there is none.
    host: *mut u8,
    /// Whether the device may still use it: then it is not freed.
    lost: Cell<bool>,
    through: &'a CudaTranspose,
}

/// What one window at a time goes through, and the stream that it is on its way on.
struct CudaSlot<'a> {
    stream: CUstream,
    /// Memory of the host; none where the device reaches the caller's.
    upload: Option<NonNull<u8>>,
    download: Option<NonNull<u8>>,
    source: CUdeviceptr,
    destination: CUdeviceptr,
    /// What is under way.
    window: Option<Problem>,
    memory: &'a Memory<'a>,
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
        let staged = direct.iter().filter(|&&direct| !direct).count();
        let memory = Memory::new(self, 2 * SLOTS * bytes as usize, staged * SLOTS * bytes as usize)?;
        let slot = |index| CudaSlot::new(&memory, index, bytes as usize, direct);
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

/// Bytes of a window whose rows are long, of which there are still so many that the first one up and the last one down are a
/// small part of the way.
fn long_window(problem: &Problem) -> u64 {
    (problem.copied_bytes() / 64).clamp(WINDOW_BYTES, 8 * WINDOW_BYTES)
}

impl<'a> Memory<'a> {
    /// So many bytes on the device and on the host. The context must be current.
    fn new(through: &'a CudaTranspose, device: usize, host: usize) -> Result<Memory<'a>, BackendError> {
        let mut memory = Memory { device: 0, host: std::ptr::null_mut(), lost: Cell::new(false), through };
        let refused = |call, bytes| not_allocated(call, bytes as u64, None);
        // What there is of it is freed with it.
        // SAFETY: memory is seen as bytes, and read only where it has been written before.
        unsafe {
            memory.device = result::malloc_sync(device).map_err(refused("cuMemAlloc", device))?;
            if host > 0 {
                memory.host = result::malloc_host(host, 0).map_err(refused("cuMemHostAlloc", host))?.cast();
                NonNull::new(memory.host).ok_or_else(no_way)?;
            }
        }
        Ok(memory)
    }
}

impl<'a> CudaSlot<'a> {
    /// The slot of this number, for windows of so many bytes, some of whose sides the device reaches directly. The context
    /// must be current.
    fn new(
        memory: &'a Memory<'a>,
        index: usize,
        bytes: usize,
        direct: [bool; 2],
    ) -> Result<CudaSlot<'a>, BackendError> {
        let stream = result::stream::create(StreamKind::NonBlocking).map_err(failed("cuStreamCreate"))?;
        let staged = direct.map(|direct| usize::from(!direct));
        let first = index * (staged[0] + staged[1]);
        // SAFETY: the memory has so many buffers for each slot.
        let host = |number: usize| NonNull::new(unsafe { memory.host.add(number * bytes) });
        let device = |number: usize| memory.device + (number * bytes) as CUdeviceptr;
        Ok(CudaSlot {
            stream,
            upload: if direct[0] { None } else { host(first) },
            download: if direct[1] { None } else { host(first + staged[0]) },
            source: device(2 * index),
            destination: device(2 * index + 1),
            window: None,
            memory,
        })
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
            match (self.upload, Plane::of(window, Side::Source)) {
                (Some(upload), _) => {
                    pack(window, source, upload);
                    let packed = std::slice::from_raw_parts(upload.as_ptr(), bytes_of(window));
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
            match (self.download, Plane::of(window, Side::Destination)) {
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
            let through = self.memory.through;
            through.launch(self.stream, &placed, through.choose(&placed))?;
            self.download(&window, destination)?;
        }
        Ok(())
    }

    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some(window) = self.window.take() else { return Ok(0) };
        self.wait()?;
        if let Some(download) = self.download {
            // SAFETY: the window has come back into so many bytes, which nothing writes any more.
            let turned = unsafe { std::slice::from_raw_parts(download.as_ptr(), bytes_of(&window)) };
            unpack(&window, turned, destination);
        }
        Ok(window.elements())
    }
}

impl Drop for CudaSlot<'_> {
    fn drop(&mut self) {
        if self.memory.through.bind().is_err() || self.wait().is_err() {
            // The device may still use the memory, or is lost with all that was on it.
            self.memory.lost.set(true);
            return;
        }
        // SAFETY: the stream is the slot's own and has no work any more. There is nothing to do about an error.
        let _ = unsafe { result::stream::destroy(self.stream) };
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        if self.lost.get() || self.through.bind().is_err() {
            return;
        }
        // SAFETY: all slots are gone, and none has work any more; what was never allocated is null and passed over. There is
        // nothing to do about an error.
        unsafe {
            if !self.host.is_null() {
                let _ = result::free_host(self.host.cast::<c_void>());
            }
            if self.device != 0 {
                let _ = result::free_sync(self.device);
            }
        }
    }
}
