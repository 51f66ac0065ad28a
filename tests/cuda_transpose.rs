//! `CudaTranspose` on a GPU, with streams, memory and graphs of the caller's.
//!
//! `CORNERTURN_REQUIRE=cuda` fails where there is no GPU; otherwise such a machine has nothing to test. What needs no
//! GPU, such as what is refused, is tested in `tests/fake_driver.rs`.

#[path = "common/require.rs"]
mod require;

use std::sync::Arc;
use std::time::Instant;

use cornerturn::CudaTranspose;
use cornerturn::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cornerturn::cudarc::driver::{CudaContext, CudaStream, DeviceRepr, sys};
use cornerturn::element::{Element, Width};
use cornerturn::pattern::Pattern;
use cornerturn::problem::{Layout, Problem};
use cornerturn::variant::Variant;

/// The context of the first GPU, if there is one.
fn context() -> Option<Arc<CudaContext>> {
    // SAFETY: opening the driver's library runs its own initialisers.
    let found = unsafe { sys::is_culib_present() }.then(|| CudaContext::new(0).ok()).flatten();
    assert!(found.is_some() || !require::required("cuda"), "there is no CUDA device");
    found
}

/// Elements that follow no simple rule.
fn elements<T: Copy>(count: u64, of: fn(u64) -> T) -> Vec<T> {
    (0..count).map(|at| of(at.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 7)).collect()
}

fn check<T: Copy + PartialEq + DeviceRepr>(
    transpose: &CudaTranspose,
    stream: &Arc<CudaStream>,
    problem: &Problem,
    begin: [usize; 2],
    of: fn(u64) -> T,
) -> Variant {
    let source = elements(begin[0] as u64 + problem.source_extent() + 3, of);
    let mut expected = elements(begin[1] as u64 + problem.destination_extent() + 5, of);
    let from = stream.clone_htod(&source).expect("uploaded");
    let mut to = stream.clone_htod(&expected).expect("uploaded");
    let variant = transpose
        .enqueue::<T>(stream, problem, &from.slice(begin[0]..), &mut to.slice_mut(begin[1]..))
        .unwrap_or_else(|error| panic!("{problem} at {begin:?}: {error}"));
    for index in 0..problem.destination_extent() {
        if let Some(at) = problem.source_of(index) {
            expected[begin[1] + index as usize] = source[begin[0] + at as usize];
        }
    }
    let got = stream.clone_dtoh(&to).expect("downloaded");
    let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
    assert_eq!(wrong, None, "{problem} at {begin:?} by {variant}: first wrong element");
    variant
}

fn check_all<T: Copy + PartialEq + DeviceRepr>(width: Width, of: fn(u64) -> T) {
    let Some(context) = context() else { return };
    let stream = context.new_stream().expect("a stream");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    let packed = |(rows, cols, batch)| Problem::new(rows, cols, batch, Element::of_width(width)).expect("a problem");
    let shapes = [
        (1, 1, 1),
        (5, 7, 1),
        (300, 301, 1),
        (64, 64, 3),
        (3, 900, 2),
        (900, 3, 1),
        (1, 99, 1),
        (0, 4, 1),
        (512, 512, 1),
    ];
    for problem in shapes.map(packed) {
        for begin in [[0, 0], [1, 0], [0, 1], [3, 5], [32, 48], [17, 33]] {
            check(&transpose, &stream, &problem, begin, of);
            let [source, destination] = [(problem.rows(), problem.cols()), (problem.cols(), problem.rows())];
            let part = problem.with_layouts(
                Layout::with_gaps(source.0, source.1, 37, 11).starting_at(5),
                Layout::with_gaps(destination.0, destination.1, 3, 16).starting_at(40),
            );
            check(&transpose, &stream, &part.expect("a problem"), begin, of);
        }
    }
}

#[test]
fn views_begin_anywhere_and_nothing_else_is_touched() {
    check_all::<u8>(Width::W1, |bits| bits as u8);
    check_all::<u16>(Width::W2, |bits| bits as u16);
    check_all::<[u8; 4]>(Width::W4, |bits| (bits as u32).to_le_bytes());
    check_all::<i64>(Width::W8, |bits| bits as i64);
    check_all::<[u64; 2]>(Width::W16, |bits| [bits, !bits]);
}

fn in_place<T: Copy + PartialEq + DeviceRepr>(width: Width, of: fn(u64) -> T) {
    let Some(context) = context() else { return };
    let stream = context.new_stream().expect("a stream");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    let vector = 16 / width.bytes() as u64;
    for (side, batch, first, gap, begin) in
        [(64, 1, 0, 0, 0), (130, 2, 0, 14 * vector, 0), (144, 1, vector, 16, 32), (47, 3, 5, 3, 1), (301, 1, 0, 0, 3)]
    {
        let layout = Layout::with_gaps(side, side, gap, 0).starting_at(first);
        let problem = Problem::new(side, side, batch, Element::of_width(width)).expect("a problem");
        let problem = problem.with_layouts(layout, layout).expect("a problem");
        let content = elements(begin as u64 + problem.source_extent() + 7, of);
        let mut expected = content.clone();
        for index in 0..problem.destination_extent() {
            if let Some(at) = problem.source_of(index) {
                expected[begin + index as usize] = content[begin + at as usize];
            }
        }
        let mut matrices = stream.clone_htod(&content).expect("uploaded");
        let variant = transpose
            .enqueue_in_place::<T>(&stream, &problem, &mut matrices.slice_mut(begin..))
            .unwrap_or_else(|error| panic!("{problem}: {error}"));
        let got = stream.clone_dtoh(&matrices).expect("downloaded");
        let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        assert_eq!(wrong, None, "{problem} at {begin} by {variant}: first wrong element");
    }
}

#[test]
fn squares_are_transposed_in_place_and_nothing_else_is_touched() {
    in_place::<u8>(Width::W1, |bits| bits as u8);
    in_place::<u16>(Width::W2, |bits| bits as u16);
    in_place::<u32>(Width::W4, |bits| bits as u32);
    in_place::<i64>(Width::W8, |bits| bits as i64);
    in_place::<[u64; 2]>(Width::W16, |bits| [bits, !bits]);
}

#[test]
fn matrices_of_the_host_go_through_in_windows() {
    let Some(context) = context() else { return };
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    for (rows, cols, batch) in [(1, 1, 1), (3000, 2001, 1), (3, 50_000, 2), (50_000, 3, 2), (90, 80, 90)] {
        for gap in [0, 5] {
            let source = Layout::with_gaps(rows, cols, gap, 3 * gap).starting_at(gap);
            let destination = Layout::with_gaps(cols, rows, 2 * gap, gap).starting_at(2 * gap);
            let problem = Problem::new(rows, cols, batch, Element::U16).expect("a problem");
            let problem = problem.with_layouts(source, destination).expect("a problem");
            let from = elements(problem.source_extent(), |bits| bits as u16);
            let mut to = elements(problem.destination_extent(), |bits| bits as u16);
            let mut expected = to.clone();
            for index in 0..problem.destination_extent() {
                if let Some(at) = problem.source_of(index) {
                    expected[index as usize] = from[at as usize];
                }
            }
            let (from, to_bytes) = (bytemuck::cast_slice(&from), bytemuck::cast_slice_mut(&mut to));
            transpose.transpose_host(&problem, from, to_bytes, 2_000_000, |_, _| ()).expect("transposed");
            assert!(to == expected, "{problem}");
        }
    }
}

#[test]
fn threads_share_it_and_each_has_its_stream() {
    fn shared<T: Send + Sync>() {}
    shared::<CudaTranspose>();
    let Some(context) = context() else { return };
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    std::thread::scope(|scope| {
        for rows in [100, 101, 102, 103] {
            let (context, transpose) = (&context, &transpose);
            scope.spawn(move || {
                let stream = context.new_stream().expect("a stream");
                let problem = Problem::new(rows, 90, 1, Element::U32).expect("a problem");
                check::<u32>(transpose, &stream, &problem, [0, 0], |bits| bits as u32);
            });
        }
    });
}

#[test]
fn a_graph_captures_it() {
    let Some(context) = context() else { return };
    // Events of slices cannot be waited for in a capture.
    // SAFETY: everything here is on one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream().expect("a stream");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    transpose.load(Width::W4).expect("kernels");
    let problem = Problem::new(200, 300, 1, Element::U32).expect("a problem");
    let source: Vec<u32> = (0..60_000).collect();
    let from = stream.clone_htod(&source).expect("uploaded");
    let mut to = stream.alloc_zeros::<u32>(60_000).expect("allocated");
    stream.synchronize().expect("done");
    // Other tests go on meanwhile.
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("a capture");
    transpose.enqueue(&stream, &problem, &from, &mut to).expect("captured");
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).expect("a graph").expect("a graph");
    assert!(stream.clone_dtoh(&to).expect("downloaded").iter().all(|&number| number == 0), "nothing ran yet");
    graph.launch().expect("launched");
    let got = stream.clone_dtoh(&to).expect("downloaded");
    assert!((0..60_000).all(|index| got[index] == source[index % 200 * 300 + index / 200]));
}

/// Not a benchmark: a guard against what costs much, such as a compilation for each launch. The best of many tries counts,
/// for other tests have the driver compile meanwhile.
#[test]
fn enqueuing_is_cheap() {
    const TRIES: u32 = 50;
    const TIMES: u32 = 50;
    for tracking in [true, false] {
        let Some(context) = context() else { return };
        if !tracking {
            // SAFETY: everything here is on one stream.
            unsafe { context.disable_event_tracking() };
        }
        let stream = context.new_stream().expect("a stream");
        let transpose = CudaTranspose::new(&context).expect("a transpose");
        for (rows, cols) in [(32, 32), (300, 301)] {
            let problem = Problem::new(rows, cols, 1, Element::U32).expect("a problem");
            let from = stream.alloc_zeros::<u32>((rows * cols) as usize).expect("allocated");
            let mut to = stream.alloc_zeros::<u32>((rows * cols) as usize).expect("allocated");
            transpose.enqueue(&stream, &problem, &from, &mut to).expect("warm");
            stream.synchronize().expect("done");
            let tries = (0..TRIES).map(|_| {
                let begin = Instant::now();
                for _ in 0..TIMES {
                    transpose.enqueue(&stream, &problem, &from, &mut to).expect("enqueued");
                }
                let elapsed = begin.elapsed();
                stream.synchronize().expect("done");
                elapsed / TIMES
            });
            let each = tries.min().expect("some tries");
            println!("{each:?} to enqueue {problem}, event tracking {}", if tracking { "on" } else { "off" });
            assert!(each.as_micros() < 100, "{each:?}");
        }
    }
}

/// Seconds of the fastest of a few tries.
fn fastest(mut run: impl FnMut()) -> f64 {
    let mut seconds = || {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    (0..4).map(|_| seconds()).fold(f64::INFINITY, f64::min)
}

/// GB/s that go up to the device, and that come down, from and to page-locked memory.
fn bus(stream: &Arc<CudaStream>, bytes: usize) -> [f64; 2] {
    // SAFETY: bytes may have any value.
    let mut host = unsafe { stream.context().alloc_pinned::<u8>(bytes) }.expect("page-locked memory");
    host.as_mut_slice().expect("ready").fill(1);
    let mut device = stream.alloc_zeros::<u8>(bytes).expect("allocated");
    let up = fastest(|| {
        stream.memcpy_htod(&host, &mut device).expect("up");
        stream.synchronize().expect("done");
    });
    let down = fastest(|| {
        stream.memcpy_dtoh(&device, &mut host).expect("down");
        stream.synchronize().expect("done");
    });
    [up, down].map(|seconds| bytes as f64 / 1e9 / seconds)
}

#[test]
#[ignore = "measures: for a quiet machine with 20 GB of memory"]
fn page_locked_matrices_go_through_as_fast_as_the_bus_takes_them() {
    let Some(context) = context() else { return };
    let stream = context.new_stream().expect("a stream");
    let [up, down] = bus(&stream, 256 << 20);
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    // The first shows what making and freeing the device's buffers takes.
    for (rows, cols, element) in [
        (16_384, 16_384, Element::U32),
        (32_768, 32_768, Element::U32),
        (30_001, 35_791, Element::U32),
        (60_000, 60_001, Element::U8),
    ] {
        let problem = Problem::new(rows, cols, 1, element).expect("a problem");
        let bytes = problem.source_bytes() as usize;
        let mut source = vec![0; bytes];
        Pattern { seed: 1 }.fill(0, 1, &mut source);
        // SAFETY: bytes of any value; the source's are written before they are read.
        let lock = || unsafe { context.alloc_pinned_with_flags::<u8>(bytes, 0) }.expect("page-locked memory");
        let (mut from, mut to, mut destination) = (lock(), lock(), vec![0; bytes]);
        let (from, to) = (from.as_mut_slice().expect("ready"), to.as_mut_slice().expect("ready"));
        from.copy_from_slice(&source);
        let through = |source: &[u8], destination: &mut [u8]| {
            let mut run = || transpose.transpose_host(&problem, source, destination, 2 << 30, |_, _| ());
            bytes as f64 / 1e9 / fastest(|| run().expect("transposed"))
        };
        let locked = through(from, to);
        let [from_locked, to_locked, neither] =
            [through(from, &mut destination), through(&source, to), through(&source, &mut destination)];
        println!(
            "{problem}: {locked:.1} GB/s; from page-locked memory alone {from_locked:.1}, to it alone {to_locked:.1}, \
             neither {neither:.1}; up {up:.1}, down {down:.1}"
        );
        let width = problem.width().bytes();
        for index in (0..problem.destination_extent()).step_by(101) {
            let at = problem.source_of(index).expect("there are no gaps") as usize * width;
            let index = index as usize * width;
            assert!(
                source[at..][..width] == to[index..][..width] && to[index..][..width] == destination[index..][..width]
            );
        }
        assert!(bytes < 2 << 30 || locked >= 0.8 * up.min(down));
    }
}
