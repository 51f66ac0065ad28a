//! A batched two-dimensional FFT through wgpu: along rows, a corner turn, along rows again, and a corner turn back.
//!
//! FFTs read and write whole rows, which is fast where rows are contiguous; the corner turns see to that.
//!
//! ```sh
//! cargo run --release --example fft_corner_turn
//! ```

#[path = "common/wgpu_device.rs"]
mod wgpu_device;

use std::error::Error;
use std::f64::consts::TAU;

use cornerturn::WgpuTranspose;
use cornerturn::element::Element;
use cornerturn::problem::Problem;
use cornerturn::wgpu::{self, BufferUsages};

/// Images of 64 rows of 128 complex numbers.
const IMAGES: usize = 3;
const ROWS: usize = 64;
const COLS: usize = 128;

/// Replaces each row of N complex numbers by its discrete Fourier transform. A workgroup takes a row: it puts the numbers
/// into bit-reversed order and joins transforms of 1, 2, 4 … numbers in pairs.
const FFT: &str = "
    @group(0) @binding(0) var<storage, read_write> numbers: array<vec2<f32>>;
    var<workgroup> row: array<vec2<f32>, N>;
    @compute @workgroup_size(N / 2)
    fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
        let begin = group.x * N;
        for (var at = local.x; at < N; at += N / 2) {
            row[reverseBits(at) >> (32u - LOG)] = numbers[begin + at];
        }
        for (var half = 1u; half < N; half *= 2u) {
            workgroupBarrier();
            let within = local.x % half;
            let low = local.x / half * 2u * half + within;
            let angle = -3.14159265358979 * f32(within) / f32(half);
            let turn = vec2(cos(angle), sin(angle));
            let far = row[low + half];
            let turned = vec2(far.x * turn.x - far.y * turn.y, far.x * turn.y + far.y * turn.x);
            row[low + half] = row[low] - turned;
            row[low] += turned;
        }
        workgroupBarrier();
        for (var at = local.x; at < N; at += N / 2) {
            numbers[begin + at] = row[at];
        }
    }";

fn main() -> Result<(), Box<dyn Error>> {
    let Some(gpu) = wgpu_device::open()? else { return Ok(()) };
    let images: Vec<[f32; 2]> = (0..IMAGES * ROWS * COLS).map(pixel).collect();
    let image = gpu.buffer(bytemuck::cast_slice(&images), BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let turned = gpu.buffer(bytemuck::cast_slice(&images), BufferUsages::STORAGE);

    let transpose = WgpuTranspose::new(&gpu.device)?;
    let there = Problem::new(ROWS as u64, COLS as u64, IMAGES as u64, Element::C64)?;
    let back = Problem::new(COLS as u64, ROWS as u64, IMAGES as u64, Element::C64)?;
    let turn_there = transpose.prepare(&there, image.slice(..), turned.slice(..))?;
    let turn_back = transpose.prepare(&back, turned.slice(..), image.slice(..))?;

    let along_rows = gpu.pipeline(&fft(COLS));
    let along_columns = gpu.pipeline(&fft(ROWS));
    let rows = gpu.group(&along_rows, &[&image]);
    let columns = gpu.group(&along_columns, &[&turned]);

    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        run(&mut pass, &along_rows, &rows, IMAGES * ROWS);
        turn_there.dispatch(&mut pass);
        run(&mut pass, &along_columns, &columns, IMAGES * COLS);
        turn_back.dispatch(&mut pass);
    }
    gpu.queue.submit([encoder.finish()]);

    let bytes = gpu.read(&image)?;
    let got: &[[f32; 2]] = bytemuck::cast_slice(&bytes);
    let worst = [(0, 0, 0), (0, 1, 1), (1, 5, 100), (2, 63, 127), (2, 17, 64)]
        .map(|(image, v, u)| distance(got[(image * ROWS + v) * COLS + u], expected(&images, image, v, u)))
        .into_iter()
        .fold(0.0, f64::max);
    println!("{IMAGES} images of {ROWS}×{COLS}: the two-dimensional transforms are right within {worst:.1e}");
    assert!(worst < 1e-2, "{worst}");
    Ok(())
}

fn pixel(at: usize) -> [f32; 2] {
    [(at as f32 * 0.37).sin(), (at % 11) as f32 / 11.0]
}

fn fft(length: usize) -> String {
    format!("const N = {length}u;\nconst LOG = {}u;\n{FFT}", length.ilog2())
}

fn run(pass: &mut wgpu::ComputePass, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, rows: usize) {
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, group, &[]);
    pass.dispatch_workgroups(rows as u32, 1, 1);
}

/// One number of the two-dimensional transform, by its definition.
fn expected(images: &[[f32; 2]], image: usize, v: usize, u: usize) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for row in 0..ROWS {
        for col in 0..COLS {
            let [re, im] = images[(image * ROWS + row) * COLS + col].map(f64::from);
            let angle = -TAU * ((v * row) as f64 / ROWS as f64 + (u * col) as f64 / COLS as f64);
            sum[0] += re * angle.cos() - im * angle.sin();
            sum[1] += re * angle.sin() + im * angle.cos();
        }
    }
    sum
}

fn distance(got: [f32; 2], expected: [f64; 2]) -> f64 {
    (f64::from(got[0]) - expected[0]).hypot(f64::from(got[1]) - expected[1])
}
