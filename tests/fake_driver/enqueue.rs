//! `CudaTranspose` on the fake driver: which memory it is given to transpose, and what it refuses.

use std::sync::Arc;

use cornerturn::CudaTranspose;
use cornerturn::cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cornerturn::element::{Element, Width};
use cornerturn::problem::{Layout, Problem};

/// Memory of the host, which is the fake's.
struct Memory(Vec<u128>);

impl Memory {
    /// So many bytes that are their own number, from the host's.
    fn new(bytes: usize) -> Memory {
        let mut memory = Memory(vec![0; bytes.div_ceil(16) + 2]);
        memory.bytes().iter_mut().enumerate().for_each(|(index, byte)| *byte = (index * 7 + index / 256) as u8);
        memory
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: a u128 is 16 bytes of any value.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), 16 * self.0.len()) }
    }

    /// The same as a slice of the device's; whoever gets it leaks it.
    fn slice<T>(&mut self, stream: &Arc<CudaStream>) -> CudaSlice<T> {
        let (pointer, bytes) = (self.0.as_mut_ptr() as u64, 16 * self.0.len());
        // SAFETY: the memory is there and longer than the slice is used.
        unsafe { stream.upgrade_device_ptr(pointer, bytes / size_of::<T>()) }
    }
}

/// Every step of it, with elements of FAKE_WIDTH bytes.
pub fn enqueue() {
    match std::env::var("FAKE_WIDTH").as_deref() {
        Ok("1") => with::<u8>(Width::W1),
        Ok("2") => with::<u16>(Width::W2),
        Ok("4") => with::<[u8; 4]>(Width::W4),
        Ok("8") => with::<(f32, f32)>(Width::W8),
        _ => with::<u128>(Width::W16),
    }
}

fn with<T>(width: Width) {
    let context = CudaContext::new(0).expect("a context");
    let stream = context.new_stream().expect("a stream");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    transpose.load(width).expect("kernels");
    let packed = |rows, cols, batch| Problem::new(rows, cols, batch, Element::of_width(width)).expect("a problem");
    let part = packed(30, 41, 2)
        .with_layouts(Layout { first: 5, ld: 60, stride: 2000 }, Layout { first: 70, ld: 33, stride: 1500 })
        .expect("a problem");
    for problem in [packed(37, 70, 2), part, packed(1, 64, 1), packed(0, 3, 1)] {
        for begin in [[0, 0], [3, 0], [0, 1], [17, 33]] {
            check::<T>(&transpose, &stream, &problem, begin);
        }
    }
    refuse(&transpose, &stream);
    let rows = packed(9, 900, 2)
        .with_layouts(Layout::with_gaps(9, 900, 5, 0), Layout::with_gaps(900, 9, 3, 7))
        .expect("a problem");
    for problem in [packed(37, 70, 2), part, packed(300, 411, 1), packed(5000, 1, 1), packed(0, 3, 1), rows] {
        host(&transpose, &context, &problem, 30_000);
    }
    // Windows whose rows are long enough for the copy engines.
    let planes = || logged("plane");
    let before = planes();
    host(&transpose, &context, &packed(1100, 1300, 1), 4_000_000);
    assert!(planes() - before > 4, "{} planes", planes() - before);
}

/// Transposes views that begin at these elements, and compares all of the destination's memory.
fn check<T>(transpose: &CudaTranspose, stream: &Arc<CudaStream>, problem: &Problem, begin: [usize; 2]) {
    let width = size_of::<T>();
    let size = |bytes: u64, begin: usize| bytes as usize + (begin + 40) * width;
    let mut from = Memory::new(size(problem.source_bytes(), begin[0]));
    let mut to = Memory::new(size(problem.destination_bytes(), begin[1]));
    let mut expected = to.bytes().to_vec();
    for index in 0..problem.destination_extent() {
        if let Some(at) = problem.source_of(index) {
            let (at, index) = ((begin[0] + at as usize) * width, (begin[1] + index as usize) * width);
            expected[index..][..width].copy_from_slice(&from.bytes()[at..][..width]);
        }
    }
    let (source, mut destination) = (from.slice::<T>(stream), to.slice::<T>(stream));
    let variant =
        transpose.enqueue::<T>(stream, problem, &source.slice(begin[0]..), &mut destination.slice_mut(begin[1]..));
    stream.synchronize().expect("done");
    source.leak();
    destination.leak();
    let variant = variant.unwrap_or_else(|error| panic!("{problem} at {begin:?}: {error}"));
    assert!(to.bytes() == expected, "{problem} at {begin:?} by {variant}");
}

fn refuse(transpose: &CudaTranspose, stream: &Arc<CudaStream>) {
    others(transpose, stream);
    let mut memory = Memory::new(4096);
    // The same memory four times.
    let (bytes, mut others) = (memory.slice::<u8>(stream), memory.slice::<u8>(stream));
    let (mut words, mut more) = (memory.slice::<u32>(stream), memory.slice::<u32>(stream));
    let problem = Problem::new(5, 7, 1, Element::F32).expect("a problem");
    let refused = |result: Result<_, cornerturn::transpose::TransposeError>| result.expect_err("refused").to_string();
    let text = refused(transpose.enqueue(stream, &problem, &bytes.slice(..), &mut others));
    assert_eq!(text, "the problem has elements of 4 B, the buffers of 1 B");
    let text = refused(transpose.enqueue(stream, &problem, &words.slice(..34), &mut more));
    assert_eq!(text, "5×7 f32 takes 140 B of the source, which has 136 B from where it begins");
    let text = refused(transpose.enqueue(stream, &problem, &more, &mut words.slice_mut(..34)));
    assert_eq!(text, "5×7 f32 takes 140 B of the destination, which has 136 B from where it begins");
    let text = refused(transpose.enqueue(stream, &problem, &words, &mut more.slice_mut(34..)));
    assert!(text.starts_with("the source's bytes 0x") && text.ends_with("overlap"), "{text}");
    assert!(transpose.enqueue(stream, &problem, &words.slice(..35), &mut more.slice_mut(35..)).is_ok());
    // SAFETY: the view is of so many bytes at an odd address, which are never read.
    let odd = unsafe { bytes.slice(1..).transmute::<u32>(35) }.expect("a view");
    let text = refused(transpose.enqueue(stream, &problem, &odd, &mut more.slice_mut(100..)));
    assert!(
        text.starts_with("the source begins at byte ") && text.ends_with("multiple of the 4 B of an element"),
        "{text}"
    );
    stream.synchronize().expect("done");
    bytes.leak();
    others.leak();
    words.leak();
    more.leak();
}

/// Streams and memory of another context.
fn others(transpose: &CudaTranspose, stream: &Arc<CudaStream>) {
    let other = CudaContext::new(1).expect("a context").new_stream().expect("a stream");
    let problem = Problem::new(5, 7, 1, Element::F32).expect("a problem");
    let (mut memory, mut more) = (Memory::new(140), Memory::new(140));
    let (mut here, mut too) = (memory.slice::<u32>(stream), more.slice::<u32>(stream));
    let mut there = more.slice::<u32>(&other);
    for (what, result) in [
        ("stream", transpose.enqueue(&other, &problem, &here, &mut too)),
        ("source", transpose.enqueue(stream, &problem, &there, &mut here)),
        ("destination", transpose.enqueue(stream, &problem, &here, &mut there)),
    ] {
        let expected = format!("the {what} is of another context, on device 1, than the transpose, on device 0");
        assert_eq!(result.expect_err("refused").to_string(), expected);
    }
    let _ = [here, too, there].map(CudaSlice::leak);
}

/// Matrices of the host, with so little memory that they go in several windows, from and to memory that the device does not
/// reach and memory that it does.
fn host(transpose: &CudaTranspose, context: &Arc<CudaContext>, problem: &Problem, memory: u64) {
    let (width, mut from) = (problem.width().bytes(), Memory::new(problem.source_bytes() as usize));
    let mut to = Memory::new(problem.destination_bytes() as usize);
    let (before, mut expected) = (to.bytes().to_vec(), to.bytes().to_vec());
    for index in 0..problem.destination_extent() {
        if let Some(at) = problem.source_of(index) {
            let [at, index] = [at, index].map(|index| index as usize * width);
            expected[index..][..width].copy_from_slice(&from.bytes()[at..][..width]);
        }
    }
    let locked = |bytes: &[u8]| {
        // SAFETY: all bytes are written before any is read.
        let mut memory = unsafe { context.alloc_pinned_with_flags::<u8>(bytes.len(), 1) }.expect("page-locked memory");
        memory.as_mut_slice().expect("ready").copy_from_slice(bytes);
        memory
    };
    let run = |source: &[u8], destination: &mut [u8]| {
        let mut told = vec![(0, problem.elements())];
        let result = transpose.transpose_host(problem, source, destination, memory, |done, all| told.push((done, all)));
        result.unwrap_or_else(|error| panic!("{problem}: {error}"));
        assert!(destination == expected, "{problem}");
        assert!(told.is_sorted() && told.last() == Some(&(problem.elements(), problem.elements())), "{told:?}");
        told.len() as u64
    };
    let windows = problem.copied_bytes() / (memory / 12);
    let told = run(from.bytes(), to.bytes());
    assert!(told > windows, "{told} for {windows} windows");
    let source = locked(from.bytes());
    let mut destination = locked(&before);
    let (source, to_locked) = (source.as_slice().expect("ready"), destination.as_mut_slice().expect("ready"));
    run(source, to_locked);
    to_locked.copy_from_slice(&before);
    run(from.bytes(), to_locked);
    to.bytes().copy_from_slice(&before);
    run(source, to.bytes());
}

/// What fails on the way of a window is an error, and everything is given back.
pub fn host_fails() {
    let context = CudaContext::new(0).expect("a context");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    let problem = Problem::new(300, 411, 1, Element::U8).expect("a problem");
    let (source, mut destination) = (vec![0; 300 * 411], vec![0; 300 * 411]);
    let result = transpose.transpose_host(&problem, &source, &mut destination, 30_000, |_, _| ());
    println!("{}", result.expect_err("it fails"));
    assert_eq!((logged("lock"), logged("alloc")), (logged("unlock"), logged("free")));
}

/// Prints what four windows, one more than are under way at a time, put on streams.
pub fn host_order() {
    four_windows();
    log().lines().filter(|line| line.starts_with("on ")).for_each(|line| println!("{line}"));
    assert_eq!((logged("lock"), logged("alloc")), (logged("unlock"), logged("free")));
}

/// What cannot be waited for may still be in use: each stream is waited for, as printed, and nothing is given back.
pub fn host_lost() {
    four_windows();
    log()
        .lines()
        .filter(|line| line.ends_with(" synchronize") || line.ends_with(" end"))
        .for_each(|line| println!("{line}"));
    assert_eq!(["lock", "alloc", "unlock", "free"].map(logged), [1, 1, 0, 0]);
}

/// Transposes a matrix of four windows.
fn four_windows() {
    let context = CudaContext::new(0).expect("a context");
    let transpose = CudaTranspose::new(&context).expect("a transpose");
    let problem = Problem::new(64, 64, 1, Element::U8).expect("a problem");
    let (source, mut destination) = ([7; 4096], [0; 4096]);
    let mut windows = 0;
    let result = transpose.transpose_host(&problem, &source, &mut destination, 12 << 10, |_, _| windows += 1);
    result.expect("transposed");
    assert_eq!((destination, windows), (source, 4));
}

/// Lines of the fake's log that begin with a word.
fn logged(word: &str) -> usize {
    log().lines().filter(|line| line.split(' ').next() == Some(word)).count()
}

/// What the fake has logged.
fn log() -> String {
    std::env::var_os("FAKE_LOG").map(std::fs::read_to_string).expect("a log").unwrap_or_default()
}
