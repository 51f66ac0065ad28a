//! Kernels on a device: compiled once, bound to buffers.

use std::collections::HashMap;
use std::sync::Mutex;

use wgpu::{BindingType, BufferBindingType, ShaderStages};

use super::gpu::{called, describe, lock, scoped};
use crate::backend::BackendError;
use crate::element::Width;
use crate::probe::Probe;
use crate::source;
use crate::variant::Variant;

/// A kernel and how it was compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) variant: Variant,
    pub(super) width: Width,
    pub(super) bounds_checks: bool,
}

/// The compiled kernels of a device.
pub(super) struct Pipelines {
    device: wgpu::Device,
    group_layout: wgpu::BindGroupLayout,
    layout: wgpu::PipelineLayout,
    compiled: Mutex<HashMap<Key, wgpu::ComputePipeline>>,
    probes: Mutex<HashMap<Probe, wgpu::ComputePipeline>>,
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device) -> Result<Pipelines, BackendError> {
        let storage = |read_only| BufferBindingType::Storage { read_only };
        let entry = |(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let (group_layout, layout) = called(device, "create_pipeline_layout", 0, || {
            let group_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &[(0, storage(true)), (1, storage(false)), (2, BufferBindingType::Uniform)].map(entry),
            });
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&group_layout)],
                ..Default::default()
            });
            (group_layout, layout)
        })?;
        let (compiled, probes) = Default::default();
        Ok(Pipelines { device: device.clone(), group_layout, layout, compiled, probes })
    }

    /// The compiled kernel, from the cache where it is there already.
    pub(super) fn get(&self, key: Key) -> Result<wgpu::ComputePipeline, BackendError> {
        let mut compiled = lock(&self.compiled);
        if let Some(pipeline) = compiled.get(&key) {
            return Ok(pipeline.clone());
        }
        let pipeline = self.compile(key)?;
        compiled.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    /// The compiled probe, likewise.
    pub(super) fn probe(&self, probe: Probe) -> Result<wgpu::ComputePipeline, BackendError> {
        let mut compiled = lock(&self.probes);
        if let Some(pipeline) = compiled.get(&probe) {
            return Ok(pipeline.clone());
        }
        // Bounds checks would be measured along. The host gives a probe only what its buffers hold.
        let pipeline = self.compile_text(probe.wgsl_file(), probe.wgsl(), false)?;
        compiled.insert(probe, pipeline.clone());
        Ok(pipeline)
    }

    fn compile(&self, key: Key) -> Result<wgpu::ComputePipeline, BackendError> {
        let Some(text) = source::wgsl(key.variant, key.width) else {
            return Err(BackendError::Unsupported(format!("{} has no kernel", key.variant)));
        };
        self.compile_text(source::wgsl_file(key.variant), text, key.bounds_checks)
    }

    fn compile_text(
        &self,
        file: String,
        text: String,
        bounds_checks: bool,
    ) -> Result<wgpu::ComputePipeline, BackendError> {
        let label = Some(file.as_str());
        let (pipeline, error) = scoped(&self.device, || {
            let descriptor = wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(text.into()) };
            let module = if bounds_checks {
                self.device.create_shader_module(descriptor)
            } else {
                // SAFETY: our kernels check their own bounds against the parameters, to which the buffers are
                // allocated; their loops have at most as many rounds as a tile has elements; they divide by constants
                // and by `across`, `down`, `rows`, `cols`, leading dimensions and, where there is one, the stride, none
                // of which is zero in a launch that has a block. Probes have loops of `steps` rounds, and access what
                // their files say under "Bounds", which the host has made sure of.
                unsafe {
                    let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
                    self.device.create_shader_module_trusted(descriptor, unchecked)
                }
            };
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: Some(&self.layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    // Kernels read of their tile only what they wrote.
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        });
        match error {
            None => Ok(pipeline),
            Some(error) => Err(BackendError::Compile { file, log: describe(&error) }),
        }
    }

    /// Binds source, destination and parameters.
    pub(super) fn bind(&self, buffers: [wgpu::BufferBinding; 3]) -> Result<wgpu::BindGroup, BackendError> {
        let [source, destination, params] = buffers;
        let entry =
            |(binding, buffer)| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(buffer) };
        called(&self.device, "create_bind_group", 0, || {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.group_layout,
                entries: &[(0, source), (1, destination), (2, params)].map(entry),
            })
        })
    }
}
