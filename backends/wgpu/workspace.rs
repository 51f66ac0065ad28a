//! Buffers on a device.

use wgpu::BufferUsages;

use super::adapter::WgpuAdapter;
use super::gpu::{Gpu, Held};
use super::limits::probe_obstacle;
use super::run::WgpuRun;
use crate::backend::{BAND_BYTES, BackendError, PreparedRun, RunOptions, TransposeBackend, Workspace};
use crate::launch::buffer_bytes;
use crate::probe::Launch;
use crate::problem::Problem;
use crate::variant::Variant;

/// The most bytes that poison is kept ready of.
const POISON_BYTES: u64 = 16 << 20;

/// Sets of buffers for a problem.
pub(super) struct WgpuWorkspace<'a> {
    adapter: &'a WgpuAdapter,
    gpu: &'a Gpu,
    problem: Problem,
    buffers: Held<'a, Buffers>,
}

/// The buffers of a workspace.
struct Buffers {
    sets: Vec<Set>,
    /// What a band is downloaded to.
    staging: wgpu::Buffer,
}

/// A source and its destination.
#[derive(Clone)]
pub(super) struct Set {
    pub(super) source: wgpu::Buffer,
    pub(super) destination: wgpu::Buffer,
}

impl Set {
    /// Buffers for `problem`. The device's turn must be held.
    pub(super) fn new(gpu: &Gpu, problem: &Problem) -> Result<Set, BackendError> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let side = |bytes| gpu.buffer(buffer_bytes(bytes), usage);
        Ok(Set { source: side(problem.source_bytes())?, destination: side(problem.destination_bytes())? })
    }
}

impl<'a> WgpuWorkspace<'a> {
    pub(super) fn new(
        adapter: &'a WgpuAdapter,
        gpu: &'a Gpu,
        problem: Problem,
        sets: usize,
    ) -> Result<WgpuWorkspace<'a>, BackendError> {
        let turn = gpu.turn();
        let sets = (0..sets).map(|_| Set::new(gpu, &problem)).collect::<Result<_, BackendError>>()?;
        let band = buffer_bytes(problem.destination_bytes()).min(BAND_BYTES as u64);
        let staging = gpu.buffer(band, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?;
        drop(turn);
        Ok(WgpuWorkspace { adapter, gpu, problem, buffers: Held::new(gpu, Buffers { sets, staging }) })
    }

    /// The buffer of the set that `side` names, if a band of `len` bytes at `offset` lies in it.
    fn band(
        &self,
        call: &'static str,
        side: fn(&Set) -> &wgpu::Buffer,
        set: usize,
        offset: u64,
        len: usize,
    ) -> Result<&wgpu::Buffer, BackendError> {
        let sets = self.buffers.sets.len();
        let misused = |reason| BackendError::Call { call, reason };
        let found = self.buffers.sets.get(set).map(side);
        let buffer = found.ok_or_else(|| misused(format!("there is no set {set} of {sets}")))?;
        let end = offset.checked_add(len as u64);
        let size = buffer.size();
        match end.is_some_and(|end| end <= size) && len <= BAND_BYTES && offset.is_multiple_of(4) {
            true => Ok(buffer),
            false => Err(misused(format!("{len} B at {offset} of set {set} are no band of a buffer of {size} B"))),
        }
    }
}

impl Workspace for WgpuWorkspace<'_> {
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError> {
        let source = self.band("write_source", |set| &set.source, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.gpu.turn();
        // Writes go in units of 4 bytes; the end of the buffer is padded to more than that.
        let (body, rest) = bytes.split_at(bytes.len() / 4 * 4);
        let mut tail = [0; 4];
        tail[..rest.len()].copy_from_slice(rest);
        self.gpu.call("write_buffer", bytes.len() as u64, || {
            if !body.is_empty() {
                self.gpu.queue.write_buffer(source, offset, body);
            }
            if !rest.is_empty() {
                self.gpu.queue.write_buffer(source, offset + body.len() as u64, &tail);
            }
        })?;
        self.gpu.submit([])?;
        Ok(())
    }

    fn poison(&self, value: u8) -> Result<(), BackendError> {
        let _turn = self.gpu.turn();
        let (gpu, size) = (self.gpu, buffer_bytes(self.problem.destination_bytes()));
        let ready = size.min(POISON_BYTES);
        let poison = gpu.buffer(ready, BufferUsages::COPY_SRC | BufferUsages::COPY_DST)?;
        let commands = gpu.call("copy_buffer_to_buffer", ready, || {
            gpu.queue.write_buffer(&poison, 0, &vec![value; ready as usize]);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            for set in &self.buffers.sets {
                for offset in (0..size).step_by(ready as usize) {
                    let bytes = ready.min(size - offset);
                    encoder.copy_buffer_to_buffer(&poison, 0, &set.destination, offset, bytes);
                }
            }
            encoder.finish()
        })?;
        gpu.submit([commands])?;
        Ok(())
    }

    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        let destination = self.band("read_destination", |set| &set.destination, set, offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let _turn = self.gpu.turn();
        let staging = &self.buffers.staging;
        let padded = (bytes.len() as u64).next_multiple_of(4);
        let commands = self.gpu.call("copy_buffer_to_buffer", 0, || {
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(destination, offset, staging, 0, padded);
            encoder.finish()
        })?;
        self.gpu.submit([commands])?;
        self.gpu.read(staging, bytes)
    }

    fn prepare(&self, variant: Variant, options: RunOptions) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        let variant = self.adapter.choose(variant, &self.problem);
        self.adapter.require(variant, &self.problem)?;
        let most = self.adapter.limits().max_compute_workgroups_per_dimension;
        Ok(Box::new(WgpuRun::new(self.gpu, &self.problem, &self.buffers.sets, most, variant, options)?))
    }

    fn prepare_probe(&self, launch: &Launch) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        let limits = self.adapter.limits();
        if let Some(reason) = probe_obstacle(self.adapter.device(), limits, &self.problem, launch) {
            return Err(BackendError::Unsupported(reason));
        }
        let most = limits.max_compute_workgroups_per_dimension;
        Ok(Box::new(WgpuRun::probe(self.gpu, &self.buffers.sets, most, launch)?))
    }
}
