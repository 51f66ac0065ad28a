//! Transposes on the caller's own streams.

use std::sync::Arc;

use cudarc::driver::sys::CUstream;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut};

use super::driver;
use super::error::{self, failed};
use super::kernel::Kernel;
use super::limits::Limits;
use super::modules::{Lines, Modules};
use crate::backend::{BackendError, Support};
use crate::device::Api;
use crate::element::Width;
use crate::kernel::Language;
use crate::model::SECTOR_BYTES;
use crate::planner;
use crate::problem::{Problem, Side};
use crate::transpose::{TransposeError, check_alignment, check_in_place, check_length};
use crate::variant::{Moves, Presence, Variant};

/// Transposes in a CUDA context, on the caller's streams and with the caller's memory.
///
/// Kernels are compiled for the device when they are first needed, which takes the driver some milliseconds each, and are
/// kept as long as the context is there, for graphs may launch them later; [`load`](Self::load) compiles them ahead. Apart
/// from that, nothing is allocated, copied or waited for, so that launches can be captured into a graph. cudarc's event
/// tracking, where a context has it, makes a stream wait for a view's earlier work, which a capture does not allow: turn it
/// off, with `CudaContext::disable_event_tracking`, before making the memory that is to be captured.
///
/// It can be shared by threads. Those of one context share their kernels.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use cornerturn::CudaTranspose;
/// use cornerturn::cudarc::driver::CudaContext;
/// use cornerturn::element::Element;
/// use cornerturn::problem::Problem;
///
/// # // SAFETY: opening the driver's library runs its own initialisers.
/// # if !unsafe { cornerturn::cudarc::driver::sys::is_culib_present() } { return Ok(()) };
/// # if CudaContext::new(0).is_err() { return Ok(()) };
/// let context = CudaContext::new(0)?;
/// let stream = context.new_stream()?;
/// let source = stream.clone_htod(&[1u32, 2, 3, 4, 5, 6])?;
/// let mut destination = stream.alloc_zeros::<u32>(6)?;
///
/// let transpose = CudaTranspose::new(&context)?;
/// let problem = Problem::new(2, 3, 1, Element::U32)?; // rows, columns, matrices
/// transpose.enqueue(&stream, &problem, &source, &mut destination)?;
/// assert_eq!(stream.clone_dtoh(&destination)?, [1, 4, 2, 5, 3, 6]);
/// # Ok(())
/// # }
/// ```
pub struct CudaTranspose {
    context: Arc<CudaContext>,
    pub(super) limits: Limits,
    modules: Arc<Modules>,
}

impl CudaTranspose {
    /// Transposes in `context`. Nothing is compiled yet.
    ///
    /// # Errors
    /// [`BackendError::Open`] if the driver is older than 525, and [`BackendError::Call`] if it does not tell the
    /// device's limits.
    pub fn new(context: &Arc<CudaContext>) -> Result<CudaTranspose, BackendError> {
        driver::open().map_err(|unusable| BackendError::Open { reason: unusable.reason })?;
        let refused = |(call, error): (&'static str, cudarc::driver::DriverError)| BackendError::Call {
            call,
            reason: error::name(error.0),
        };
        let limits = Limits::of(context.cu_device()).map_err(refused)?;
        Ok(CudaTranspose { context: context.clone(), limits, modules: Modules::of(context) })
    }

    /// Compiles every kernel that may run for elements of this width, so that no later call has to: a stream that is
    /// being captured allows no compilation.
    ///
    /// # Errors
    /// [`BackendError`] if the driver does not take a kernel.
    pub fn load(&self, width: Width) -> Result<(), BackendError> {
        self.bind()?;
        let runs = |variant: &&Variant| {
            let spec = variant.spec();
            spec.kernel.is_some()
                && spec.cuda == Presence::Present
                && (spec.moves == Moves::Transpose || **variant == Variant::Copy)
        };
        Variant::ALL
            .iter()
            .filter(runs)
            .try_for_each(|&variant| self.modules.function(variant, width, Lines::Kept).map(|_| ()))
    }

    /// Puts the transpose of `problem` from `source` to `destination` on `stream`, and returns the variant that runs.
    ///
    /// Elements may be of any type that has the width of the problem's. A view begins where the problem's side does, at
    /// any element, and has at least [`Problem::source_extent`] or [`Problem::destination_extent`] of them. What the
    /// destination has in gaps stays as it is.
    ///
    /// # Errors
    /// [`TransposeError`] if a view does not fit or is not aligned to an element, the views overlap, the stream or a view is
    /// of another context, the device cannot run the problem, or the driver refuses the launch; no transpose is enqueued
    /// then.
    pub fn enqueue<T>(
        &self,
        stream: &CudaStream,
        problem: &Problem,
        source: &impl DevicePtr<T>,
        destination: &mut impl DevicePtrMut<T>,
    ) -> Result<Variant, TransposeError> {
        self.check_call::<T>(stream, problem)?;
        self.check_context("source", source.stream().context())?;
        self.check_context("destination", destination.stream().context())?;
        let [has, room] = [source.len(), destination.len()].map(|elements| (elements * size_of::<T>()) as u64);
        // What needs no address comes first: a stream that is given one may wait for the view's earlier work.
        check_length(Side::Source, problem, has)?;
        check_length(Side::Destination, problem, room)?;
        // The guards tell the stream's events, where there are any, when the work is enqueued.
        let (from, _read) = source.device_ptr(stream);
        let (to, _written) = destination.device_ptr_mut(stream);
        check_alignment(Side::Source, problem, from)?;
        check_alignment(Side::Destination, problem, to)?;
        let (read, written) = (from..from + problem.source_bytes(), to..to + problem.destination_bytes());
        if read.start < written.end && written.start < read.end {
            return Err(TransposeError::Overlap { from: read, to: written });
        }
        let placed = Placed::new(problem, from, to)?;
        // SAFETY: both sides lie in memory of the caller's, as was just checked, which it keeps as it does for any other
        // launch on its stream.
        unsafe { self.launch(stream.cu_stream(), &placed, self.choose(&placed), Lines::Kept) }
    }

    /// Puts the transpose of `problem`, which is square, in place of its source on `stream`, and returns the variant that
    /// runs: [`Variant::Inplace`] where all rows begin at multiples of 32 bytes, or of 16 with elements of 1 and 2 bytes, and the
    /// slower [`Variant::Swap`] elsewhere.
    ///
    /// The view is as [`enqueue`](Self::enqueue) has it.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue), and [`BackendError::Unsupported`] if rows and columns, or the layouts of source and
    /// destination, are not the same.
    pub fn enqueue_in_place<T>(
        &self,
        stream: &CudaStream,
        problem: &Problem,
        matrices: &mut impl DevicePtrMut<T>,
    ) -> Result<Variant, TransposeError> {
        self.check_call::<T>(stream, problem)?;
        check_in_place(problem, Language::Cuda)?;
        self.check_context("destination", matrices.stream().context())?;
        check_length(Side::Destination, problem, (matrices.len() * size_of::<T>()) as u64)?;
        let (at, _written) = matrices.device_ptr_mut(stream);
        check_alignment(Side::Destination, problem, at)?;
        let placed = Placed::new(problem, at, at)?;
        let variant = planner::in_place(&placed.problem, |variant| self.support(variant, &placed.problem));
        // SAFETY: as in `enqueue`, with one side.
        unsafe { self.launch(stream.cu_stream(), &placed, variant, Lines::Kept) }
    }

    /// Whether elements and stream are the problem's and the context's.
    fn check_call<T>(&self, stream: &CudaStream, problem: &Problem) -> Result<(), TransposeError> {
        let (expected, got) = (problem.width().bytes() as u64, size_of::<T>() as u64);
        if expected != got {
            return Err(TransposeError::Width { expected, got });
        }
        self.check_context("stream", stream.context())
    }

    fn check_context(&self, what: &'static str, context: &Arc<CudaContext>) -> Result<(), TransposeError> {
        let (other, transpose) = (context.ordinal(), self.context.ordinal());
        if *context == self.context { Ok(()) } else { Err(TransposeError::Context { what, other, transpose }) }
    }

    fn support(&self, variant: Variant, problem: &Problem) -> Support {
        match variant.spec().kernel {
            Some(_) => self.limits.obstacle(variant, problem).map_or(Support::Supported, Support::Unsupported),
            None => Support::Unsupported(format!("{variant} is no kernel")),
        }
    }

    /// The variant that runs for `auto`.
    pub(super) fn choose(&self, placed: &Placed) -> Variant {
        let support = |variant| self.support(variant, &placed.problem);
        planner::choose(Variant::Auto, &placed.problem, Api::Cuda, support)
    }

    /// Makes the context current on this thread.
    pub(super) fn bind(&self) -> Result<(), BackendError> {
        self.context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))
    }

    /// # Safety
    /// The stream is one of the context's. What is placed lies in memory of the context's device that lives until the
    /// launch is over.
    pub(super) unsafe fn launch(
        &self,
        stream: CUstream,
        placed: &Placed,
        variant: Variant,
        lines: Lines,
    ) -> Result<Variant, TransposeError> {
        if let Support::Unsupported(reason) = self.support(variant, &placed.problem) {
            return Err(BackendError::Unsupported(reason).into());
        }
        if placed.problem.is_empty() {
            return Ok(variant);
        }
        self.bind()?;
        let kernel = Kernel::new(&self.modules, &placed.problem, variant, lines)?;
        // SAFETY: by the contract; modules of a context of the caller's are never unloaded.
        unsafe { kernel.enqueue(stream, placed.source, placed.destination) }?;
        Ok(variant)
    }
}

/// A problem whose layouts are counted from the beginnings of sectors, where its first elements lie: for a kernel that
/// matters, and nothing before.
pub(super) struct Placed {
    problem: Problem,
    /// Addresses of those sectors.
    source: u64,
    destination: u64,
}

impl Placed {
    pub(super) fn new(problem: &Problem, from: u64, to: u64) -> Result<Placed, TransposeError> {
        let width = problem.width().bytes() as u64;
        let (source, destination) = (problem.source(), problem.destination());
        let [from, to] = [from + source.first * width, to + destination.first * width];
        let [src_first, dst_first] = [from, to].map(|address| address % SECTOR_BYTES / width);
        Ok(Placed {
            problem: problem.with_layouts(source.starting_at(src_first), destination.starting_at(dst_first))?,
            source: from - src_first * width,
            destination: to - dst_first * width,
        })
    }
}
