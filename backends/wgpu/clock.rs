//! The device's clock: a pair of timestamps.

use wgpu::{BufferUsages, Features, QUERY_SIZE};

use super::gpu::Gpu;
use crate::backend::BackendError;

const BEGIN: u32 = 0;
const END: u32 = 1;
const BYTES: u64 = 2 * QUERY_SIZE as u64;

/// Two timestamps on the device and the way to read them.
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period_ns: f64,
}

impl Clock {
    /// A clock on a device that has all of `needed`, `None` on any other.
    pub(super) fn new(gpu: &Gpu, needed: Features) -> Result<Option<Clock>, BackendError> {
        if !gpu.device.features().contains(needed) {
            return Ok(None);
        }
        let descriptor = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        Ok(Some(Clock {
            queries: gpu.call("create_query_set", BYTES, || gpu.device.create_query_set(&descriptor))?,
            resolved: gpu.buffer(BYTES, BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC)?,
            readable: gpu.buffer(BYTES, BufferUsages::MAP_READ | BufferUsages::COPY_DST)?,
            period_ns: gpu.queue.get_timestamp_period().into(),
        }))
    }

    /// The timestamps that a pass writes which is the first, the last, both or neither of a run.
    pub(super) fn of_pass(&self, first: bool, last: bool) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        (first || last).then(|| wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: first.then_some(BEGIN),
            end_of_pass_write_index: last.then_some(END),
        })
    }

    /// Writes the first timestamp between commands.
    pub(super) fn begin(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.write_timestamp(&self.queries, BEGIN);
    }

    /// Writes the last timestamp between commands.
    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.write_timestamp(&self.queries, END);
    }

    /// Brings both timestamps to where [`Clock::read`] finds them.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, BEGIN..END + 1, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, BYTES);
    }

    /// Begin and end in ticks, and the nanoseconds of a tick.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<(u64, u64, f64), BackendError> {
        let mut ticks = [0_u64; 2];
        gpu.read(&self.readable, bytemuck::bytes_of_mut(&mut ticks))?;
        Ok((ticks[0], ticks[1], self.period_ns))
    }
}
