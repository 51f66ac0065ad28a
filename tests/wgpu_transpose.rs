//! `WgpuTranspose` with devices, buffers, passes and limits of the caller's, on every adapter of this machine.
//!
//! `CORNERTURN_REQUIRE=vulkan` fails where there is none; otherwise such a machine has nothing to test.

#[path = "common/require.rs"]
mod require;

use std::time::Instant;

use cornerturn::WgpuTranspose;
use cornerturn::element::{Element, Width};
use cornerturn::problem::{Layout, Problem, Side};
use cornerturn::transpose::TransposeError;
use cornerturn::variant::Variant;
use cornerturn::wgpu::{self, BufferUsages, Limits};

const USAGE: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

/// A device on each adapter of Vulkan, Metal and DX12, with limits made from its adapter's.
fn gpus(limits: fn(Limits) -> Limits) -> Vec<Gpu> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::PRIMARY));
    assert!(!adapters.is_empty() || !require::required("vulkan"), "there is no adapter");
    let open = |adapter: wgpu::Adapter| {
        let required_limits = limits(adapter.limits());
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).expect("a device");
        Gpu { device, queue }
    };
    adapters.into_iter().map(open).collect()
}

impl Gpu {
    fn buffer(&self, bytes: &[u8]) -> wgpu::Buffer {
        let size = bytes.len() as u64;
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: USAGE,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, &bytes[..bytes.len() / 4 * 4]);
        buffer
    }

    fn buffer_for_reading(&self, size: u64) -> wgpu::Buffer {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    }

    fn read(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let size = buffer.size() / 4 * 4;
        self.read_part(buffer, 0, size, &self.buffer_for_reading(size))
    }

    fn read_part(&self, buffer: &wgpu::Buffer, begin: u64, bytes: u64, staging: &wgpu::Buffer) -> Vec<u8> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, begin, staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        let slice = staging.slice(..bytes);
        slice.map_async(wgpu::MapMode::Read, |result| result.expect("the buffer is mapped"));
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device is done");
        let content = slice.get_mapped_range().expect("it is mapped").to_vec();
        staging.unmap();
        content
    }

    /// Transposes between buffers that have `before` bytes ahead of the problem, and `behind` after it, and checks every
    /// byte of the destination. Returns what ran.
    fn check(&self, transpose: &WgpuTranspose, problem: &Problem, before: [u64; 2], behind: u64) -> Vec<Variant> {
        let size = |bytes: u64, before: u64| (before + bytes + behind).next_multiple_of(4);
        let source = bytes(size(problem.source_bytes(), before[0]), 1);
        let guard = bytes(size(problem.destination_bytes(), before[1]), 2);
        let (from, to) = (self.buffer(&source), self.buffer(&guard));
        let prepared = transpose
            .prepare(problem, from.slice(before[0]..), to.slice(before[1]..))
            .unwrap_or_else(|error| panic!("{problem}: {error}"));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        prepared.encode(&mut encoder);
        self.queue.submit([encoder.finish()]);
        let expected = turned(problem, &source, guard, before);
        let got = self.read(&to);
        let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        let variants: Vec<Variant> = prepared.variants().collect();
        assert_eq!(
            wrong, None,
            "{problem} with {before:?} B before and {behind} B behind by {variants:?}: first wrong byte"
        );
        variants
    }

    /// The same in place. Returns the number of dispatches.
    fn check_in_place(&self, transpose: &WgpuTranspose, problem: &Problem, before: u64, behind: u64) -> usize {
        let content = bytes((before + problem.source_bytes() + behind).next_multiple_of(4), 3);
        let expected = turned(problem, &content, content.clone(), [before; 2]);
        let buffer = self.buffer(&content);
        let prepared = transpose
            .prepare_in_place(problem, buffer.slice(before..))
            .unwrap_or_else(|error| panic!("{problem}: {error}"));
        let mut encoder = self.device.create_command_encoder(&Default::default());
        prepared.encode(&mut encoder);
        self.queue.submit([encoder.finish()]);
        let wrong = self.read(&buffer).iter().zip(&expected).position(|(got, expected)| got != expected);
        let variants: Vec<Variant> = prepared.variants().collect();
        assert_eq!(wrong, None, "{problem} from byte {before} by {variants:?}: first wrong byte");
        variants.len()
    }
}

/// Square matrices for one buffer, with so many elements between rows and before the first one.
fn square(side: u64, batch: u64, width: Width, gap: u64, first: u64) -> Problem {
    let layout = Layout::with_gaps(side, side, gap, 0).starting_at(first);
    packed(side, side, batch, width).with_layouts(layout, layout).expect("it is small")
}

/// What a transpose makes of the destination, with the sides so many bytes further on.
fn turned(problem: &Problem, source: &[u8], mut destination: Vec<u8>, before: [u64; 2]) -> Vec<u8> {
    let width = problem.width().bytes();
    for (index, at) in (0..problem.destination_extent()).zip(problem.sources_from(0)) {
        if let Some(at) = at {
            let [at, index] = [(at, before[0]), (index, before[1])]
                .map(|(element, before)| before as usize + element as usize * width);
            destination[index..][..width].copy_from_slice(&source[at..][..width]);
        }
    }
    destination
}

/// Bytes that follow no simple rule.
fn bytes(count: u64, seed: u64) -> Vec<u8> {
    let mix = |at: u64| ((at + seed * 0x9e37_79b9).wrapping_mul(0x2545_f491_4f6c_dd1d) >> 37) as u8;
    (0..count).map(mix).collect()
}

fn packed(rows: u64, cols: u64, batch: u64, width: Width) -> Problem {
    Problem::new(rows, cols, batch, Element::of_width(width)).expect("it is small")
}

fn with_gaps(problem: Problem, [first, row, matrix]: [u64; 3], [to_first, to_row, to_matrix]: [u64; 3]) -> Problem {
    let source = Layout::with_gaps(problem.rows(), problem.cols(), row, matrix).starting_at(first);
    let destination = Layout::with_gaps(problem.cols(), problem.rows(), to_row, to_matrix).starting_at(to_first);
    problem.with_layouts(source, destination).expect("it is small")
}

const SHAPES: [(u64, u64, u64); 8] =
    [(1, 1, 1), (5, 7, 1), (130, 131, 1), (64, 64, 3), (3, 500, 2), (500, 3, 1), (1, 99, 1), (0, 4, 1)];

/// The limits of a device that was asked for nothing, as far as the adapter has them.
fn default_limits(of_adapter: Limits) -> Limits {
    Limits::default().or_worse_values_from(&of_adapter)
}

#[test]
fn buffers_may_begin_and_end_anywhere_and_nothing_else_is_touched() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            let element = width.bytes() as u64;
            for (rows, cols, batch) in SHAPES {
                let problem = packed(rows, cols, batch, width);
                for (before, behind) in [
                    ([0, 0], 0),
                    ([0, 0], 64),
                    ([element, 3 * element], 64),
                    ([256, 512 + element], 0),
                    ([5 * element, 0], 4),
                ] {
                    gpu.check(&transpose, &problem, before, behind);
                }
                gpu.check(&transpose, &with_gaps(problem, [3, 1, 5], [1, 2, 3]), [0, 0], 0);
                gpu.check(&transpose, &with_gaps(problem, [0, 16, 32], [7, 3, 0]), [element, 260 * element], 32);
            }
        }
    }
}

#[test]
fn the_fast_kernels_run_where_buffers_have_whole_vectors() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let problem = packed(301, 303, 1, Width::W4);
        assert_eq!(gpu.check(&transpose, &problem, [0, 0], 12), [Variant::Compact]);
        assert_eq!(gpu.check(&transpose, &problem, [0, 0], 0), [Variant::Swizzled]);
    }
}

#[test]
fn what_no_binding_holds_goes_in_windows() {
    const BINDING: u64 = 20_480;
    let small = |of_adapter| Limits {
        max_storage_buffer_binding_size: BINDING,
        max_compute_workgroups_per_dimension: 40,
        ..default_limits(of_adapter)
    };
    for gpu in gpus(small) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            let element = width.bytes() as u64;
            // As much as is sure to fit one binding, wherever it begins, and one row more.
            let most = (BINDING - 256 - 16) / element;
            let (cols, rows) = (64, most / 64);
            assert_eq!(gpu.check(&transpose, &packed(rows, cols, 1, width), [element, 0], 0).len(), 1, "{width}");
            assert!(gpu.check(&transpose, &packed(rows + 1, cols, 1, width), [element, 0], 0).len() > 1, "{width}");
            // Both sides are too large; many matrices; a row that no binding holds.
            gpu.check(&transpose, &packed(311, 299, 1, width), [0, 0], 16);
            gpu.check(&transpose, &packed(9, 7, 777, width), [0, element], 0);
            gpu.check(&transpose, &packed(2, most + 9, 1, width), [0, 0], 0);
            gpu.check(&transpose, &packed(most + 9, 2, 1, width), [0, 0], 0);
            gpu.check(&transpose, &with_gaps(packed(70, 80, 3, width), [3, 300, 1], [1, 200, 2]), [0, 0], 0);
        }
    }
}

#[test]
fn squares_are_transposed_in_place_and_nothing_else_is_touched() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            let element = width.bytes() as u64;
            let vector = 16 / element;
            for (side, batch, first, gap, before, behind) in [
                (64, 1, 0, 0, 0, 0),
                (130, 2, 0, 14 * vector, 0, 64),
                (144, 1, vector, 16, 256, 48),
                (47, 3, 5, 3, element, 20),
                (300, 1, 0, 1, 3 * element, 0),
                (1, 5, 0, 0, 0, 16),
            ] {
                gpu.check_in_place(&transpose, &square(side, batch, width, gap, first), before, behind);
            }
        }
        let buffer = gpu.buffer(&[0; 4096]);
        let ran = |rows, ld| {
            let problem = packed(rows, rows, 1, Width::W4);
            let layout = Layout { first: 0, ld, stride: 0 };
            let problem = problem.with_layouts(layout, layout).unwrap();
            transpose.prepare_in_place(&problem, buffer.slice(..)).unwrap().variants().next()
        };
        assert_eq!([24, 20, 17].map(|ld| ran(17, ld)), [Variant::Inplace, Variant::Swap, Variant::Swap].map(Some));
        let refused =
            |problem: &Problem| transpose.prepare_in_place(problem, buffer.slice(..)).err().unwrap().to_string();
        assert_eq!(refused(&packed(5, 7, 1, Width::W4)), "in place go square matrices, these are 5×7");
        let apart = with_gaps(packed(5, 5, 1, Width::W4), [0, 3, 0], [8, 3, 0]);
        assert_eq!(refused(&apart), "in place, source and destination have one layout, here they have two");
    }
}

#[test]
fn batches_in_place_go_in_windows() {
    let small = |of_adapter| Limits { max_storage_buffer_binding_size: 20_480, ..default_limits(of_adapter) };
    for gpu in gpus(small) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            assert!(gpu.check_in_place(&transpose, &square(32, 40, width, 3, 5), 0, 16) > 1, "{width}");
        }
        let buffer = gpu.buffer(&[0; 45_000]);
        let error = transpose.prepare_in_place(&packed(100, 100, 1, Width::W4), buffer.slice(..)).err().unwrap();
        assert_eq!(error.to_string(), "needs a storage binding of 40000 B; the most is 20480");
        // It is a matrix that has to fit, not a batch.
        let error = transpose.prepare_in_place(&packed(75, 75, 2, Width::W4), buffer.slice(..45_000)).err().unwrap();
        assert_eq!(error.to_string(), "needs a storage binding of 22512 B; the most is 20480");
        let layout = Layout { first: 0, ld: 143, stride: 20_480 };
        let three = packed(143, 143, 3, Width::W1).with_layouts(layout, layout).unwrap();
        assert_eq!(gpu.check_in_place(&transpose, &three, 0, 16), 3);
    }
}

#[test]
fn threads_share_a_transpose_and_its_device() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (gpu, transpose) = (&gpu, &transpose);
                scope.spawn(move || {
                    for turn in 0..20 {
                        let problem = packed(40 + 9 * thread, 70 + 40 * turn, 2, Width::W4);
                        let source = bytes(problem.source_bytes(), thread);
                        let mut destination = vec![0; problem.destination_bytes() as usize];
                        let expected = turned(&problem, &source, destination.clone(), [0, 0]);
                        transpose
                            .transpose_host(&gpu.queue, &problem, &source, &mut destination, 300_000, |_, _| ())
                            .unwrap_or_else(|error| panic!("{problem}: {error}"));
                        assert!(destination == expected, "{problem}");
                    }
                });
            }
        });
    }
}

#[test]
fn matrices_of_the_host_go_through_in_windows() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            for (rows, cols, batch) in [(1, 1, 1), (700, 900, 1), (3, 5000, 2), (5000, 3, 2), (90, 80, 9)] {
                for gaps in [[[0, 0, 0], [0, 0, 0]], [[5, 3, 7], [1, 9, 2]]] {
                    let problem = with_gaps(packed(rows, cols, batch, width), gaps[0], gaps[1]);
                    let source = bytes(problem.source_bytes(), 4);
                    let mut destination = bytes(problem.destination_bytes() + 5, 5);
                    let expected = turned(&problem, &source, destination.clone(), [0, 0]);
                    let mut told = Vec::new();
                    let progress = |done, all| told.push((done, all));
                    // 12 buffers of some 16 KiB.
                    transpose
                        .transpose_host(&gpu.queue, &problem, &source, &mut destination, 200_000, progress)
                        .unwrap_or_else(|error| panic!("{problem}: {error}"));
                    assert!(destination == expected, "{problem}");
                    assert_eq!(told.last(), Some(&(problem.elements(), problem.elements())));
                    assert!(told.is_sorted() && told.len() as u64 >= problem.copied_bytes() / 16_384);
                }
            }
        }
        let problem = packed(5, 7, 1, Width::W4);
        let refused = |source: &[u8], destination: &mut [u8], memory| {
            let result = transpose.transpose_host(&gpu.queue, &problem, source, destination, memory, |_, _| ());
            result.expect_err("it is refused").to_string()
        };
        assert_eq!(refused(&[0; 139], &mut [0; 140], 1 << 20).split(" of").next(), Some("5×7 f32 takes 140 B"));
        assert!(refused(&[0; 140], &mut [0; 139], 1 << 20).contains("of the destination, which has 139 B"));
        let text = refused(&[0; 140], &mut [0; 140], 191);
        assert_eq!(text, "191 B of memory are too few: 3 windows under way take at least 192 B");
    }
}

/// 3.6 GB on either side, past the binding of every Vulkan driver. Where the GPU has no room, the driver says so.
#[test]
#[ignore = "takes 7.2 GB on a GPU"]
fn what_is_larger_than_vulkans_largest_binding() {
    const CHUNK: u64 = 64 << 20;
    let problem = packed(30_000, 30_001, 1, Width::W4);
    let size = problem.source_bytes().next_multiple_of(16);
    for gpu in gpus(|of_adapter| of_adapter) {
        let buffer = || {
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage: USAGE, mapped_at_creation: false };
            gpu.device.create_buffer(&descriptor)
        };
        let (from, to) = (buffer(), buffer());
        let number = |index: u64| (index as u32).wrapping_mul(0x9e37_79b1);
        for begin in (0..size).step_by(CHUNK as usize) {
            let numbers: Vec<u32> = (begin / 4..(begin + CHUNK).min(size) / 4).map(number).collect();
            gpu.queue.write_buffer(&from, begin, bytemuck::cast_slice(&numbers));
            gpu.queue.submit([]);
            gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device is done");
        }
        let prepared =
            WgpuTranspose::new(&gpu.device).unwrap().prepare(&problem, from.slice(..), to.slice(..)).unwrap();
        assert!(prepared.variants().count() > 1);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        prepared.encode(&mut encoder);
        gpu.queue.submit([encoder.finish()]);
        let staging = gpu.buffer_for_reading(CHUNK);
        for begin in (0..size).step_by(CHUNK as usize) {
            let bytes = CHUNK.min(size - begin);
            let got = gpu.read_part(&to, begin, bytes, &staging);
            for (index, &got) in (begin / 4..).zip(bytemuck::cast_slice::<u8, u32>(&got)) {
                if let Some(at) = problem.source_of(index) {
                    assert_eq!(got, number(at), "element {index}");
                }
            }
        }
    }
}

/// The bus is measured in `tests/cuda_transpose.rs`.
#[test]
#[ignore = "measures: for a quiet machine with 5 GB of memory"]
fn matrices_of_the_host_go_through_at_this_speed() {
    for gpu in gpus(|of_adapter| of_adapter) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for (rows, cols) in [(16_384, 32_768), (20_001, 26_843)] {
            let problem = packed(rows, cols, 1, Width::W4);
            let source = bytes(problem.source_bytes(), 4);
            let mut destination = bytes(problem.destination_bytes(), 5);
            for _ in 0..4 {
                let begin = Instant::now();
                transpose.transpose_host(&gpu.queue, &problem, &source, &mut destination, 1 << 30, |_, _| ()).unwrap();
                let seconds = begin.elapsed().as_secs_f64();
                println!("{problem}: {:.1} GB/s", problem.source_bytes() as f64 / seconds / 1e9);
            }
        }
    }
}

#[test]
fn it_is_a_step_of_a_pass_and_can_be_encoded_again() {
    let double = "
        @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { if id.x < arrayLength(&numbers) { numbers[id.x] *= 2u; } }";
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let (rows, cols) = (61, 47);
        let numbers: Vec<u32> = (0..rows * cols).collect();
        let padded = (4 * numbers.len()).next_multiple_of(16);
        let mut content = bytemuck::cast_slice(&numbers).to_vec();
        content.resize(padded, 0);
        let (source, destination) = (gpu.buffer(&content), gpu.buffer(&vec![0; padded]));
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(double.into()),
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let group = |buffer: &wgpu::Buffer| {
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.get_bind_group_layout(0),
                entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
            })
        };
        let problem = packed(rows.into(), cols.into(), 1, Width::W4);
        let prepared = transpose.prepare(&problem, source.slice(..), destination.slice(..)).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            let mut doubled = |buffer| {
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group(buffer), &[]);
                pass.dispatch_workgroups(numbers.len().div_ceil(64) as u32, 1, 1);
            };
            doubled(&source);
            prepared.dispatch(&mut pass);
        }
        // A second time, in a pass of its own: the same result.
        prepared.encode(&mut encoder);
        assert!(gpu.read(&destination).iter().all(|&byte| byte == 0), "nothing runs before it is submitted");
        gpu.queue.submit([encoder.finish()]);
        let got = gpu.read(&destination);
        let got: &[u32] = bytemuck::cast_slice(&got[..4 * numbers.len()]);
        for (index, &number) in got.iter().enumerate() {
            let (col, row) = (index as u32 / rows, index as u32 % rows);
            assert_eq!(number, 2 * (row * cols + col), "element {index}");
        }
    }
}

#[test]
fn threads_share_it() {
    fn shared<T: Send + Sync>() {}
    shared::<WgpuTranspose>();
    shared::<cornerturn::WgpuPrepared>();
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        std::thread::scope(|scope| {
            for width in Width::ALL {
                let (gpu, transpose) = (&gpu, &transpose);
                scope.spawn(move || gpu.check(transpose, &packed(100, 90, 1, width), [0, 0], 16));
            }
        });
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let refused = |problem: &Problem, source: wgpu::BufferSlice, destination: wgpu::BufferSlice| {
            transpose.prepare(problem, source, destination).err().expect("it is refused")
        };
        let (small, large) = (gpu.buffer(&[0; 140]), gpu.buffer(&[0; 1024]));
        let problem = packed(5, 7, 1, Width::W4);
        let error = refused(&problem, small.slice(4..), large.slice(..));
        assert_eq!(error, TransposeError::TooShort { side: Side::Source, problem, needed: 140, has: 136 });
        assert_eq!(error.to_string(), "5×7 f32 takes 140 B of the source, which has 136 B from where it begins");
        let error = refused(&problem, large.slice(..), small.slice(..139));
        assert_eq!(error.to_string(), "5×7 f32 takes 140 B of the destination, which has 139 B from where it begins");
        let error = refused(&problem, large.slice(6..), small.slice(..));
        assert_eq!(error.to_string(), "the source begins at byte 6, which is no multiple of the 4 B of an element");
        assert_eq!(refused(&problem, large.slice(..512), large.slice(512..)), TransposeError::SameBuffer);
        let (size, usage) = (1024, BufferUsages::COPY_DST);
        let other =
            gpu.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        let error = refused(&problem, large.slice(..), other.slice(..));
        assert_eq!(error.to_string(), "the destination's buffer was created without BufferUsages::STORAGE");
        // A buffer of 35 bytes has eight whole words.
        let odd = gpu.buffer(&[0; 35]);
        let error = refused(&packed(5, 7, 1, Width::W1), odd.slice(..), large.slice(..));
        assert_eq!(error.to_string(), "5×7 u8 takes 36 B of the source, which has 35 B from where it begins");
        assert!(transpose.prepare(&packed(0, 7, 1, Width::W4), small.slice(..), large.slice(..)).is_ok());
    }
}

/// A source that begins within a vector takes one vector more of a kernel's memory than another.
#[test]
fn short_sides_of_every_length_begin_anywhere() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        for width in Width::ALL {
            let element = width.bytes() as u64;
            for short in 1..=127 {
                // More than a workgroup takes, at the least.
                let long = 1100.min(400_000 / short / element);
                let before = [element * (1 + short % 3), 0];
                gpu.check(&transpose, &packed(long, short, 1, width), before, 16);
                gpu.check(&transpose, &packed(short, long, 1, width), [before[1], before[0]], 16);
            }
        }
    }
}

#[test]
fn limits_that_are_too_low_are_told_with_their_numbers() {
    let few = |of_adapter| Limits { max_storage_buffers_per_shader_stage: 1, ..default_limits(of_adapter) };
    for gpu in gpus(few) {
        let error = WgpuTranspose::new(&gpu.device).err().expect("it is refused");
        assert_eq!(error.to_string(), "needs storage buffers a shader stage: 2; the most is 1");
    }
    let none = |of_adapter| Limits { max_compute_workgroups_per_dimension: 0, ..default_limits(of_adapter) };
    for gpu in gpus(none) {
        let (source, destination) = (gpu.buffer(&[0; 64]), gpu.buffer(&[0; 64]));
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let error =
            transpose.prepare(&packed(4, 4, 1, Width::W4), source.slice(..), destination.slice(..)).err().unwrap();
        assert_eq!(error.to_string(), "needs 1 workgroups, more than 0 × 0 can number");
    }
    // No multiple of 16, and a buffer of no whole vectors that is as large as buffers may be.
    let odd = |of_adapter| Limits {
        min_storage_buffer_offset_alignment: 40,
        max_buffer_size: 4804,
        ..default_limits(of_adapter)
    };
    for gpu in gpus(odd) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        gpu.check(&transpose, &packed(5, 7, 1, Width::W16), [48, 48], 0);
        gpu.check(&transpose, &packed(1201, 1, 1, Width::W4), [0, 0], 0);
    }
}

#[test]
fn what_is_lost_or_destroyed_is_an_error() {
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let (source, destination) = (gpu.buffer(&[0; 64]), gpu.buffer(&[0; 64]));
        let problem = packed(4, 4, 1, Width::W4);
        destination.destroy();
        let error = transpose.prepare(&problem, source.slice(..), destination.slice(..)).err().expect("an error");
        assert!(error.to_string().starts_with("create_bind_group failed: "), "{error}");
        gpu.device.destroy();
        let other = transpose.prepare(&problem, source.slice(..), source.slice(..));
        assert_eq!(other.err(), Some(TransposeError::SameBuffer));
        let error = WgpuTranspose::new(&gpu.device).err();
        assert!(error.is_some() || transpose.prepare_in_place(&problem, source.slice(..)).is_err());
    }
}

/// Not a benchmark: a guard against what costs much, such as a compilation or an allocation for each encode.
#[test]
fn encoding_is_cheap() {
    const TIMES: u32 = 2000;
    for gpu in gpus(default_limits) {
        let transpose = WgpuTranspose::new(&gpu.device).unwrap();
        let (source, destination) = (gpu.buffer(&[0; 4096]), gpu.buffer(&[0; 4096]));
        let prepared =
            transpose.prepare(&packed(32, 32, 1, Width::W4), source.slice(..), destination.slice(..)).unwrap();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let begin = Instant::now();
        (0..TIMES).for_each(|_| prepared.dispatch(&mut pass));
        let each = begin.elapsed() / TIMES;
        println!("{each:?} to encode a transpose");
        assert!(each.as_micros() < 100, "{each:?}");
    }
}
