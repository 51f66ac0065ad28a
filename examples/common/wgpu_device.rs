//! A wgpu device with WebGPU's default limits, and the little that the examples do with one.

use std::error::Error;

use cornerturn::wgpu::util::{BufferInitDescriptor, DeviceExt};
use cornerturn::wgpu::{self, Buffer, BufferUsages, ComputePipeline};

pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// The device of the adapter that wgpu prefers; `None` where there is no adapter, which is then said.
pub fn open() -> Result<Option<Gpu>, Box<dyn Error>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let options =
        wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
    let adapter = match pollster::block_on(instance.request_adapter(&options)) {
        Ok(adapter) => adapter,
        Err(error) => {
            println!("there is nothing to run on: {error}");
            return Ok(None);
        }
    };
    let info = adapter.get_info();
    println!("on {} through {}", info.name, info.backend);
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    Ok(Some(Gpu { device, queue }))
}

impl Gpu {
    pub fn buffer(&self, contents: &[u8], usage: BufferUsages) -> Buffer {
        self.device.create_buffer_init(&BufferInitDescriptor { label: None, contents, usage })
    }

    pub fn pipeline(&self, shader: &str) -> ComputePipeline {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(shader.into()),
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        })
    }

    pub fn group(&self, pipeline: &ComputePipeline, buffers: &[&Buffer]) -> wgpu::BindGroup {
        let resources = buffers.iter().map(|buffer| buffer.as_entire_binding());
        let entry = |(binding, resource)| wgpu::BindGroupEntry { binding, resource };
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &(0..).zip(resources).map(entry).collect::<Vec<_>>(),
        })
    }

    /// Waits for all that was submitted, and reads a buffer.
    pub fn read(&self, buffer: &Buffer) -> Result<Vec<u8>, Box<dyn Error>> {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: buffer.size(), usage, mapped_at_creation: false };
        let staging = self.device.create_buffer(&descriptor);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // Nobody listens any more where polling failed.
            let _ = sender.send(result);
        });
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        Ok(staging.slice(..).get_mapped_range()?.to_vec())
    }
}
