//! A transpose in a wgpu compute pass, next to a shader of one's own, on a device with WebGPU's default limits.
//!
//! ```sh
//! cargo run --example wgpu_pass
//! ```

#[path = "common/wgpu_device.rs"]
mod wgpu_device;

use std::error::Error;

use cornerturn::WgpuTranspose;
use cornerturn::element::Element;
use cornerturn::problem::Problem;
use cornerturn::wgpu::BufferUsages;

const ROWS: usize = 480;
const COLS: usize = 640;

/// Of one's own: it doubles every number.
const DOUBLE: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&numbers) {
            numbers[id.x] *= 2.0;
        }
    }";

fn main() -> Result<(), Box<dyn Error>> {
    let Some(gpu) = wgpu_device::open()? else { return Ok(()) };
    let numbers: Vec<f32> = (0..ROWS * COLS).map(|number| number as f32).collect();
    let source = gpu.buffer(bytemuck::cast_slice(&numbers), BufferUsages::STORAGE);
    let destination = gpu.buffer(&vec![0; 4 * ROWS * COLS], BufferUsages::STORAGE | BufferUsages::COPY_SRC);

    let double = gpu.pipeline(DOUBLE);
    let group = gpu.group(&double, &[&source]);
    let problem = Problem::new(ROWS as u64, COLS as u64, 1, Element::F32)?;
    let transpose = WgpuTranspose::new(&gpu.device)?;
    let prepared = transpose.prepare(&problem, source.slice(..), destination.slice(..))?;

    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&double);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups((ROWS * COLS).div_ceil(64) as u32, 1, 1);
        // The transpose reads what the shader has written.
        prepared.dispatch(&mut pass);
    }
    gpu.queue.submit([encoder.finish()]);

    let bytes = gpu.read(&destination)?;
    let turned: &[f32] = bytemuck::cast_slice(&bytes);
    let right = |at: usize| turned[at] == 2.0 * numbers[at % ROWS * COLS + at / ROWS];
    assert!((0..ROWS * COLS).all(right));
    let variants: Vec<String> = prepared.variants().map(|variant| variant.to_string()).collect();
    println!("{problem}: doubled and transposed in one pass, by the variant {}", variants.join(", "));
    Ok(())
}
