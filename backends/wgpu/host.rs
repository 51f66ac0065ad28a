//! Matrices in host memory, of any size, in windows through a device.

use wgpu::{Buffer, BufferUsages, MapMode};

use super::gpu::{Mapping, buffer, called, unmapped};
use super::transpose::WgpuTranspose;
use crate::host::{self, Room, SLOTS, Slot, WINDOW_BYTES, pack, packed, unpack};
use crate::problem::Problem;
use crate::transpose::TransposeError;

/// Buffers of a slot: on the device and on the host, for source and destination.
const BUFFERS: u64 = 4;

/// Memory on the way of one window at a time.
struct WgpuSlot<'a> {
    upload: Buffer,
    source: Buffer,
    destination: Buffer,
    download: Buffer,
    /// What is under way, and what tells that it has come back.
    window: Option<(Problem, Mapping)>,
    through: &'a WgpuTranspose,
    queue: &'a wgpu::Queue,
}

impl WgpuTranspose {
    /// Transposes matrices from host memory to host memory, however large they are, in windows through the device, with
    /// copies, kernels and the host's own work overlapped. It submits to `queue`, and returns when all is done.
    ///
    /// `source` and `destination` are the bytes of the problem's sides. The device and the memory that it shares with the
    /// host are asked for at most `memory` bytes together, but for a few KiB. `progress` is told how many of all elements
    /// are done.
    ///
    /// Three windows of at most 32 MiB are under way, each with four buffers: 384 MiB are as much as is used, and less than
    /// a few MiB makes it slow.
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
        progress: impl FnMut(u64, u64),
    ) -> Result<(), TransposeError> {
        let most = self.limits.max_storage_buffer_binding_size.min(self.limits.max_buffer_size);
        host::check_sides(problem, source, destination)?;
        let bytes = Room { memory, buffers: BUFFERS, most, window: WINDOW_BYTES }.window_bytes()?;
        let mut slots = (0..SLOTS).map(|_| WgpuSlot::new(self, queue, bytes)).collect::<Result<Vec<_>, _>>()?;
        let windows = problem.shares(bytes / problem.width().bytes() as u64);
        host::through(&mut slots, problem, windows, source, destination, progress)
    }
}

impl<'a> WgpuSlot<'a> {
    fn new(through: &'a WgpuTranspose, queue: &'a wgpu::Queue, bytes: u64) -> Result<WgpuSlot<'a>, TransposeError> {
        let buffer = |usage| buffer(&through.device, bytes, usage, false);
        Ok(WgpuSlot {
            upload: buffer(BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC)?,
            source: buffer(BufferUsages::STORAGE | BufferUsages::COPY_DST)?,
            destination: buffer(BufferUsages::STORAGE | BufferUsages::COPY_SRC)?,
            download: buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST)?,
            window: None,
            through,
            queue,
        })
    }
}

impl Slot for WgpuSlot<'_> {
    fn start(&mut self, window: Problem, source: &[u8], _: &mut [u8]) -> Result<(), TransposeError> {
        let problem = packed(&window)?;
        let bytes = problem.source_bytes();
        let whole = bytes.next_multiple_of(16);
        let prepared = self.through.prepare(&problem, self.source.slice(..whole), self.destination.slice(..whole))?;
        let device = &self.through.device;
        Mapping::begin(device, &self.upload, MapMode::Write, whole)?.wait(device)?;
        let mut view = self.upload.slice(..whole).get_mapped_range_mut().map_err(unmapped)?;
        assert!(view.len() as u64 >= bytes, "the view has what was mapped");
        // SAFETY: the view has so many bytes, which only this may write while it is borrowed mutably.
        unsafe { pack(&window, source, view.slice(..).as_raw_element_ptr()) };
        drop(view);
        self.upload.unmap();
        called(device, "submit", 0, || {
            let mut encoder = device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&self.upload, 0, &self.source, 0, whole);
            prepared.encode(&mut encoder);
            encoder.copy_buffer_to_buffer(&self.destination, 0, &self.download, 0, whole);
            self.queue.submit([encoder.finish()]);
        })?;
        let mapping = Mapping::begin(device, &self.download, MapMode::Read, whole)?;
        self.window = Some((window, mapping));
        Ok(())
    }

    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError> {
        let Some((window, mapping)) = self.window.take() else { return Ok(0) };
        mapping.wait(&self.through.device)?;
        let bytes = window.elements() * window.width().bytes() as u64;
        let view = self.download.slice(..bytes.next_multiple_of(16)).get_mapped_range().map_err(unmapped)?;
        unpack(&window, &view[..bytes as usize], destination);
        drop(view);
        self.download.unmap();
        Ok(window.elements())
    }
}
