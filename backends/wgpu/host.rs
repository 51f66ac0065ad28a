//! Matrices in host memory, of any size, in windows through a device.

use std::ptr::NonNull;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use rayon::prelude::*;

use wgpu::{Buffer, BufferUsages, MapMode, WriteOnly};

use super::gpu::{describe, scoped, wait};
use super::transpose::WgpuTranspose;
use crate::backend::BackendError;
use crate::host::{packed, source_row, unpack};
use crate::problem::{Problem, Side};
use crate::transpose::{TransposeError, check_side};

/// Windows under way: while one is packed by the host, others are uploaded, transposed and downloaded.
const SLOTS: usize = 3;
/// Buffers of a slot.
const BUFFERS: u64 = 4;
/// Bytes of a window, where there is memory for so many: enough that what a submission costs vanishes.
const WINDOW_BYTES: u64 = 32 << 20;

/// Bytes that a thread packs at a time.
const PACKED_BYTES: usize = 1 << 20;

/// Memory on the way of one window at a time.
struct Slot<'a> {
    upload: Buffer,
    source: Buffer,
    destination: Buffer,
    download: Buffer,
    /// What is under way, and what tells that it has come back.
    window: Option<(Problem, Receiver<Result<(), wgpu::BufferAsyncError>>)>,
    through: &'a WgpuTranspose,
}

impl WgpuTranspose {
    /// Transposes matrices from host memory to host memory, however large they are, in windows through the device, with
    /// copies, kernels and the host's own work overlapped. It submits to `queue`, and returns when all is done.
    ///
    /// `source` and `destination` are the bytes of the problem's sides. The device and the memory that it shares with the
    /// host are asked for at most `memory` bytes together, but for a few KiB. `progress` is told how many of all elements
    /// are done.
    ///
    /// # Errors
    /// [`TransposeError`] if a side does not fit its bytes or the memory does not suffice for a window, before anything
    /// is done; or if the device fails, when a part of the destination may have been written.
    pub fn transpose_host(
        &self,
        queue: &wgpu::Queue,
        problem: &Problem,
        source: &[u8],
        destination: &mut [u8],
        memory: u64,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<(), TransposeError> {
        check_side(Side::Source, problem, 0, source.len() as u64)?;
        check_side(Side::Destination, problem, 0, destination.len() as u64)?;
        if problem.is_empty() {
            return Ok(());
        }
        let bytes = self.window_bytes(memory)?;
        let windows = problem.shares(bytes / problem.width().bytes() as u64);
        let mut slots = (0..SLOTS).map(|_| Slot::new(self, bytes)).collect::<Result<Vec<_>, _>>()?;
        let (mut done, all) = (0, problem.elements());
        // After the last window each slot has another turn, which brings back what it has.
        let turns = windows.map(Some).chain([const { None }; SLOTS]);
        for (turn, window) in turns.enumerate() {
            let slot = &mut slots[turn % SLOTS];
            let back = slot.finish(destination)?;
            if back > 0 {
                done += back;
                progress(done, all);
            }
            if let Some(window) = window {
                slot.start(queue, window?, source)?;
            }
        }
        Ok(())
    }

    /// Bytes of a window on either side.
    fn window_bytes(&self, memory: u64) -> Result<u64, TransposeError> {
        let limits = &self.limits;
        let most = WINDOW_BYTES.min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size);
        let bytes = most.min(memory / (SLOTS as u64 * BUFFERS)) / 16 * 16;
        if bytes == 0 {
            let least = SLOTS as u64 * BUFFERS * 16;
            let reason = format!("{memory} B of memory are too few: {SLOTS} windows take at least {least} B");
            return Err(BackendError::Unsupported(reason).into());
        }
        Ok(bytes)
    }
}

impl<'a> Slot<'a> {
    fn new(through: &'a WgpuTranspose, bytes: u64) -> Result<Slot<'a>, TransposeError> {
        let buffer = |usage| {
            let descriptor =
                wgpu::BufferDescriptor { label: Some("cornerturn"), size: bytes, usage, mapped_at_creation: false };
            match scoped(&through.device, || through.device.create_buffer(&descriptor)) {
                (buffer, None) => Ok(buffer),
                (_, Some(wgpu::Error::OutOfMemory { .. })) => {
                    Err(BackendError::OutOfMemory { requested: bytes, available: None })
                }
                (_, Some(error)) => Err(BackendError::Call { call: "create_buffer", reason: describe(&error) }),
            }
        };
        Ok(Slot {
            upload: buffer(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC)?,
            source: buffer(BufferUsages::STORAGE | BufferUsages::COPY_DST)?,
            destination: buffer(BufferUsages::STORAGE | BufferUsages::COPY_SRC)?,
            download: buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST)?,
            window: None,
            through,
        })
    }

    /// Sends a window on its way. The slot must have none.
    fn start(&mut self, queue: &wgpu::Queue, window: Problem, source: &[u8]) -> Result<(), TransposeError> {
        let problem = packed(&window)?;
        let bytes = problem.source_bytes();
        let whole = bytes.next_multiple_of(16);
        let prepared = self.through.prepare(&problem, self.source.slice(..whole), self.destination.slice(..whole))?;
        map(&self.through.device, &self.upload, MapMode::Write, whole)?;
        let mut view = self.upload.slice(..whole).get_mapped_range_mut().map_err(lost)?;
        pack(&window, source, view.slice(..bytes as usize));
        drop(view);
        self.upload.unmap();
        let device = &self.through.device;
        let (_, error) = scoped(device, || {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&self.upload, 0, &self.source, 0, whole);
            prepared.encode(&mut encoder);
            encoder.copy_buffer_to_buffer(&self.destination, 0, &self.download, 0, whole);
            queue.submit([encoder.finish()]);
        });
        if let Some(error) = error {
            return Err(BackendError::Call { call: "submit", reason: describe(&error) }.into());
        }
        let (sender, receiver) = channel();
        self.download.slice(..whole).map_async(MapMode::Read, move |result| {
            // Nobody listens any more where something else failed.
            let _ = sender.send(result);
        });
        self.window = Some((window, receiver));
        Ok(())
    }

    /// Waits for the window under way, if there is one, puts it in place and returns its elements.
    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some((window, mapped)) = self.window.take() else { return Ok(0) };
        arrived(&self.through.device, &mapped)?;
        let bytes = window.elements() * window.width().bytes() as u64;
        let view = self.download.slice(..bytes.next_multiple_of(16)).get_mapped_range().map_err(lost)?;
        unpack(&window, &view[..bytes as usize], destination);
        drop(view);
        self.download.unmap();
        Ok(window.elements())
    }
}

/// The beginning of memory that may be written and not read.
struct Begin(NonNull<u8>);

// SAFETY: it is an address; whoever writes there sees to it that nobody else does.
unsafe impl Sync for Begin {}

/// Packs the rows of a window, with as many threads as the host has.
fn pack(window: &Problem, source: &[u8], mut into: WriteOnly<'_, [u8]>) {
    let row_bytes = window.cols() as usize * window.width().bytes();
    let rows = window.rows() * window.batch();
    assert!(into.len() as u64 == rows * row_bytes as u64, "the window has as many bytes as the view");
    let begin = &Begin(into.as_raw_element_ptr());
    let at_once = (PACKED_BYTES / row_bytes).max(1) as u64;
    (0..rows.div_ceil(at_once)).into_par_iter().for_each(|group| {
        for row in group * at_once..((group + 1) * at_once).min(rows) {
            let bytes = source_row(window, source, row);
            // SAFETY: the row lies in the view, as was just checked, which lives until this returns; rows do not overlap,
            // and each is written by one thread and read by none. The source is other memory, for the view is borrowed
            // mutably.
            unsafe {
                let to = begin.0.as_ptr().add(row as usize * row_bytes);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, row_bytes);
            }
        }
    });
}

/// Maps the first bytes of a buffer, and waits for that.
fn map(device: &wgpu::Device, buffer: &Buffer, mode: MapMode, bytes: u64) -> Result<(), BackendError> {
    let (sender, receiver) = channel();
    buffer.slice(..bytes).map_async(mode, move |result| {
        // As above.
        let _ = sender.send(result);
    });
    arrived(device, &receiver)
}

/// Waits until a mapping has been done.
fn arrived(device: &wgpu::Device, mapped: &Receiver<Result<(), wgpu::BufferAsyncError>>) -> Result<(), BackendError> {
    loop {
        match mapped.try_recv() {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => return Err(lost(error)),
            Err(TryRecvError::Empty) => wait(device, None)?,
            Err(TryRecvError::Disconnected) => return Err(lost("the device never answered")),
        }
    }
}

fn lost(error: impl std::fmt::Display) -> BackendError {
    BackendError::Call { call: "map_async", reason: error.to_string() }
}
