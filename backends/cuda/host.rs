//! Matrices in host memory, of any size, in windows through a device.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use cudarc::driver::result::stream::StreamKind;
use cudarc::driver::result::{event, stream};
use cudarc::driver::sys::{CUdeviceptr, CUevent, CUevent_flags, CUevent_wait_flags, CUstream};
use cudarc::driver::{DriverError, result};

use super::error::{failed, not_allocated};
use super::modules::Lines;
use super::plane::{self, Plane, is_page_locked};
use super::transpose::{CudaTranspose, Placed};
use crate::backend::BackendError;
use crate::host::{self, Room, SLOTS, Slot, WINDOW_BYTES, pack, packed, unpack};
use crate::problem::{LayoutError, Problem, Side};
use crate::transpose::TransposeError;

/// What all slots share: streams and memory.
///
/// Each kind of work has one stream, in the order of windows. If each slot had one, the uploads of two would share the bus,
/// both would come late, and nothing could be downloaded meanwhile.
struct Shared<'a> {
    /// Null where there is none, as the others.
    uploads: CUstream,
    kernels: CUstream,
    downloads: CUstream,
    /// One piece on the device and one, page-locked, on the host, for making and freeing a piece takes a millisecond.
    device: CUdeviceptr,
    /// Null where there is none.
    host: *mut u8,
    through: &'a CudaTranspose,
}

/// What one window at a time goes through.
struct CudaSlot<'a> {
    /// The end of the window's latest step. A stream that was told to wait for it keeps to the step that it then was, so that
    /// one event does for all steps.
    step: CUevent,
    /// Memory of the host; none where the device reaches the caller's.
    upload: Option<NonNull<u8>>,
    download: Option<NonNull<u8>>,
    source: CUdeviceptr,
    destination: CUdeviceptr,
    /// What is under way.
    window: Option<Problem>,
    shared: &'a Shared<'a>,
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
    /// speed of the bus; then windows have up to 144 MiB, and two or three buffers.
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
        let locked = [is_page_locked(source), is_page_locked(destination)];
        let (direct, bytes) = self.reached(problem, locked, memory)?;
        let shared = Shared::new(self, 2 * SLOTS * bytes as usize, staged(direct) * SLOTS * bytes as usize)?;
        let slot = |index| CudaSlot::new(&shared, index, bytes as usize, direct);
        let mut slots = (0..SLOTS).map(slot).collect::<Result<Vec<_>, _>>()?;
        host::through(&mut slots, problem, shares(problem, bytes), source, destination, progress)
    }

    /// Which of the page-locked sides the device's copy engines take, and the bytes of a window.
    fn reached(&self, problem: &Problem, locked: [bool; 2], memory: u64) -> Result<([bool; 2], u64), TransposeError> {
        // Each side has a buffer on the device, and one on the host where the device does not reach the caller's memory.
        let room = |direct: [bool; 2], window| {
            let buffers = (direct.len() + staged(direct)) as u64;
            Room { memory, buffers, most: u64::MAX, window }.window_bytes()
        };
        let short = plane::short_window(problem);
        // All windows are alike but for their sizes, and longer rows suit as well.
        let direct = match shares(problem, room(locked, short)?).next().transpose()? {
            None => [false; 2],
            Some(window) => {
                let suits = |side| Plane::of(&window, side).is_some_and(|plane| plane.suits(self.limits.max_pitch));
                [locked[0] && suits(Side::Source), locked[1] && suits(Side::Destination)]
            }
        };
        if direct == [false; 2] {
            return Ok((direct, room(direct, WINDOW_BYTES)?));
        }
        let long = plane::long_window(problem).filter(|&long| room(direct, long) == Ok(long));
        Ok((direct, long.map_or_else(|| room(direct, short), Ok)?))
    }
}

/// The windows of a problem of so many bytes each, of whose rows a copy engine makes whole pieces.
fn shares(problem: &Problem, bytes: u64) -> impl Iterator<Item = Result<Problem, LayoutError>> + use<> {
    let width = problem.width().bytes() as u64;
    problem.pieced_shares(bytes / width, plane::PIECE_BYTES / width)
}

/// Sides that go through buffers on the host.
fn staged(direct: [bool; 2]) -> usize {
    direct.into_iter().filter(|&direct| !direct).count()
}

impl<'a> Shared<'a> {
    /// Streams, and so many bytes on the device and on the host. The context must be current.
    fn new(through: &'a CudaTranspose, device: usize, host: usize) -> Result<Shared<'a>, BackendError> {
        let [uploads, kernels, downloads] = [null_mut(); 3];
        // What there is of it is freed with it.
        let mut shared = Shared { uploads, kernels, downloads, device: 0, host: null_mut(), through };
        for stream in [&mut shared.uploads, &mut shared.kernels, &mut shared.downloads] {
            *stream = stream::create(StreamKind::NonBlocking).map_err(failed("cuStreamCreate"))?;
        }
        let refused = |call, bytes| not_allocated(call, bytes as u64, None);
        // SAFETY: memory is seen as bytes, and read only where it has been written before.
        unsafe {
            shared.device = result::malloc_sync(device).map_err(refused("cuMemAlloc", device))?;
            if host > 0 {
                shared.host = result::malloc_host(host, 0).map_err(refused("cuMemHostAlloc", host))?.cast();
                NonNull::new(shared.host).ok_or_else(no_way)?;
            }
        }
        Ok(shared)
    }

    /// The streams that there are.
    fn streams(&self) -> impl Iterator<Item = CUstream> {
        [self.uploads, self.kernels, self.downloads].into_iter().filter(|stream| !stream.is_null())
    }

    /// Waits for all streams, for the others also if one cannot be waited for.
    fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the streams are there as long as this is.
        let waits = self.streams().map(|stream| unsafe { stream::synchronize(stream) });
        waits.fold(Ok(()), Result::and)
    }
}

impl<'a> CudaSlot<'a> {
    /// The slot of this number, for windows of so many bytes, some of whose sides the device reaches directly. The context
    /// must be current.
    fn new(
        shared: &'a Shared<'a>,
        index: usize,
        bytes: usize,
        direct: [bool; 2],
    ) -> Result<CudaSlot<'a>, BackendError> {
        // An event without a time costs the streams less.
        let step = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(failed("cuEventCreate"))?;
        let staged = direct.map(|direct| usize::from(!direct));
        let first = index * (staged[0] + staged[1]);
        // SAFETY: the memory has so many buffers for each slot.
        let host = |number: usize| NonNull::new(unsafe { shared.host.add(number * bytes) });
        let device = |number: usize| shared.device + (number * bytes) as CUdeviceptr;
        Ok(CudaSlot {
            step,
            upload: if direct[0] { None } else { host(first) },
            download: if direct[1] { None } else { host(first + staged[0]) },
            source: device(2 * index),
            destination: device(2 * index + 1),
            window: None,
            shared,
        })
    }

    /// Ends a step with what is on a stream by now.
    fn ends(&self, stream: CUstream) -> Result<(), BackendError> {
        // SAFETY: the event is the slot's own, and the stream is there as long as the slot.
        unsafe { event::record(self.step, stream) }.map_err(failed("cuEventRecord"))
    }

    /// Ends a step with what is on one stream by now, and lets what comes on another wait for that.
    fn passes(&self, from: CUstream, to: CUstream) -> Result<(), BackendError> {
        self.ends(from)?;
        let flags = CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as for the end.
        unsafe { stream::wait_event(to, self.step, flags) }.map_err(failed("cuStreamWaitEvent"))
    }
}

impl CudaSlot<'_> {
    /// # Safety
    /// The slot has room for the window in each of its buffers, and nothing uses them; the context is current.
    unsafe fn upload(&self, window: &Problem, source: &[u8]) -> Result<(), BackendError> {
        let stream = self.shared.uploads;
        // SAFETY: by the contract; a window lies in the problem's sides.
        unsafe {
            match (self.upload, Plane::of(window, Side::Source)) {
                (Some(upload), _) => {
                    pack(window, source, upload);
                    let packed = std::slice::from_raw_parts(upload.as_ptr(), bytes_of(window));
                    result::memcpy_htod_async(self.source, packed, stream).map_err(failed("cuMemcpyHtoDAsync"))
                }
                (None, Some(plane)) => plane.upload(source.as_ptr(), self.source, stream),
                (None, None) => Err(no_way()),
            }
        }
    }

    /// # Safety
    /// As for [`upload`](Self::upload).
    unsafe fn download(&self, window: &Problem, destination: &mut [u8]) -> Result<(), BackendError> {
        let stream = self.shared.downloads;
        // SAFETY: by the contract; a window lies in the problem's sides.
        unsafe {
            match (self.download, Plane::of(window, Side::Destination)) {
                (Some(download), _) => {
                    let turned = std::slice::from_raw_parts_mut(download.as_ptr(), bytes_of(window));
                    result::memcpy_dtoh_async(turned, self.destination, stream).map_err(failed("cuMemcpyDtoHAsync"))
                }
                (None, Some(plane)) => plane.download(self.destination, destination.as_mut_ptr(), stream),
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
        let Shared { uploads, kernels, downloads, through, .. } = *self.shared;
        // Whoever was told of progress may have made another context current.
        through.bind()?;
        // Lines that a kernel leaves in the L2 would slow the copies down by a third, and nothing here reads them again.
        // SAFETY: the slot has room for a window in each of its buffers, and nothing else uses them: what was under way has
        // come back. Each step waits for the one before. The last is waited for before a buffer is used again, and all
        // streams, also if a step fails, before one is freed and before the caller's memory is given back.
        unsafe {
            self.upload(&window, source)?;
            self.passes(uploads, kernels)?;
            through.launch(kernels, &placed, through.choose(&placed), Lines::Streamed)?;
            self.passes(kernels, downloads)?;
            self.download(&window, destination)?;
        }
        self.ends(downloads)?;
        self.window = Some(window);
        Ok(())
    }

    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some(window) = self.window.take() else { return Ok(0) };
        // SAFETY: the event is the slot's own.
        unsafe { event::synchronize(self.step) }.map_err(failed("cuEventSynchronize"))?;
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
        // SAFETY: the event is the slot's own; a stream that waits for it does so without it. There is nothing to do about
        // an error.
        let _ = unsafe { event::destroy(self.step) };
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let bound = self.through.bind();
        // The caller's memory is in use until then, whatever has failed.
        if self.wait().is_err() || bound.is_err() {
            // The device may still use the memory, or is lost with all that was on it.
            return;
        }
        // SAFETY: all slots are gone, and no stream has work any more; what was never made is null and passed over. There is
        // nothing to do about an error.
        unsafe {
            for stream in self.streams() {
                let _ = stream::destroy(stream);
            }
            if !self.host.is_null() {
                let _ = result::free_host(self.host.cast::<c_void>());
            }
            if self.device != 0 {
                let _ = result::free_sync(self.device);
            }
        }
    }
}
