//! A transpose inside a cudarc pipeline: between an upload and a download, and in a graph that is replayed.
//!
//! ```sh
//! cargo run --example cuda_pipeline
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use cornerturn::CudaTranspose;
use cornerturn::cudarc::driver::sys::{self, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cornerturn::cudarc::driver::{CudaContext, CudaStream};
use cornerturn::element::{Element, Width};
use cornerturn::problem::{Layout, Problem};

const ROWS: usize = 1080;
const COLS: usize = 1920;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: opening the driver's library runs its own initialisers.
    if !unsafe { sys::is_culib_present() } {
        println!("NVIDIA's driver is not installed: there is nothing to run on");
        return Ok(());
    }
    let context = match CudaContext::new(0) {
        Ok(context) => context,
        Err(error) => {
            println!("there is no CUDA device: {:?}", error.0);
            return Ok(());
        }
    };
    println!("on {}", context.name()?);
    // SAFETY: all work here is on one stream, which needs no events to wait for itself, and a graph can have none.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let transpose = CudaTranspose::new(&context)?;
    whole_image(&stream, &transpose)?;
    part_of_an_image(&stream, &transpose)?;
    in_a_graph(&stream, &transpose)
}

/// An image of pixels of four bytes, whatever they mean.
fn image() -> Vec<[u8; 4]> {
    (0..ROWS * COLS).map(|pixel| (pixel as u32).to_le_bytes()).collect()
}

fn whole_image(stream: &Arc<CudaStream>, transpose: &CudaTranspose) -> Result<(), Box<dyn Error>> {
    let problem = Problem::new(ROWS as u64, COLS as u64, 1, Element::U32)?;
    let source = stream.clone_htod(&image())?;
    let mut destination = stream.alloc_zeros::<[u8; 4]>(ROWS * COLS)?;
    let variant = transpose.enqueue(stream, &problem, &source, &mut destination)?;
    let turned = stream.clone_dtoh(&destination)?;
    assert_eq!(turned[5 * ROWS + 7], image()[7 * COLS + 5]);
    println!("{problem}: transposed by the variant {variant}");
    Ok(())
}

/// The 100 × 200 pixels from row 300 and column 400 on become columns of another image.
fn part_of_an_image(stream: &Arc<CudaStream>, transpose: &CudaTranspose) -> Result<(), Box<dyn Error>> {
    let from = Layout { first: 0, ld: COLS as u64, stride: 0 };
    let to = Layout { first: 0, ld: 640, stride: 0 };
    let problem = Problem::new(100, 200, 1, Element::U32)?.with_layouts(from, to)?;
    let source = stream.clone_htod(&image())?;
    let mut destination = stream.alloc_zeros::<[u8; 4]>(640 * 480)?;
    // Views say where both begin.
    transpose.enqueue(
        stream,
        &problem,
        &source.slice(300 * COLS + 400..),
        &mut destination.slice_mut(10 * 640 + 20..),
    )?;
    let turned = stream.clone_dtoh(&destination)?;
    assert_eq!(turned[(10 + 5) * 640 + 20 + 7], image()[(300 + 7) * COLS + 400 + 5]);
    println!("{problem}: the rest of the destination is as it was");
    Ok(())
}

fn in_a_graph(stream: &Arc<CudaStream>, transpose: &CudaTranspose) -> Result<(), Box<dyn Error>> {
    const REPLAYS: u32 = 100;
    let problem = Problem::new(ROWS as u64, COLS as u64, 1, Element::U32)?;
    let source = stream.clone_htod(&image())?;
    let mut destination = stream.alloc_zeros::<[u8; 4]>(ROWS * COLS)?;
    // While a stream is captured, nothing may be compiled.
    transpose.load(Width::W4)?;
    stream.synchronize()?;
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let enqueued = transpose.enqueue(stream, &problem, &source, &mut destination);
    let graph = stream.end_capture(CUgraphInstantiate_flags(0))?.ok_or("nothing was captured")?;
    enqueued?;
    let begin = Instant::now();
    for _ in 0..REPLAYS {
        graph.launch()?;
    }
    stream.synchronize()?;
    println!("{problem}: {:?} for each of {REPLAYS} replays of a graph", begin.elapsed() / REPLAYS);
    Ok(())
}
