//! Transposes in the caller's own wgpu passes.

use wgpu::{BufferSlice, BufferUsages, DownlevelFlags};

use super::gpu::buffer;
use super::limits;
use super::pipeline::{Key, Pipelines};
use crate::backend::{BackendError, RunOptions, Support};
use crate::device::Api;
use crate::kernel::Language;
use crate::launch::{Launch, MAX_ELEMENTS, Params, VECTOR_BYTES, buffer_bytes};
use crate::planner;
use crate::problem::{LayoutError, Problem, Side};
use crate::transpose::{TransposeError, check_alignment, check_in_place, check_length, side_bytes};
use crate::variant::Variant;

/// Transposes on a wgpu device, in the caller's passes and with the caller's buffers.
///
/// It works within the limits of the device, WebGPU's defaults as well as raised ones: what is too large for a binding goes
/// in several dispatches. Kernels are compiled when a problem first needs them and are kept; they are
/// compiled with bounds checks, which cost them nothing that can be measured.
///
/// It can be shared by threads.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use cornerturn::element::Element;
/// use cornerturn::problem::Problem;
/// use cornerturn::wgpu::{self, BufferUsages};
/// use cornerturn::WgpuTranspose;
///
/// # let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
/// # let Ok(adapter) = pollster::block_on(instance.request_adapter(&Default::default())) else { return Ok(()) };
/// # let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
/// # let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
/// # let buffer = || device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4 * 480 * 640, usage, mapped_at_creation: false });
/// # let (source, destination) = (buffer(), buffer());
/// let transpose = WgpuTranspose::new(&device)?;
/// let problem = Problem::new(480, 640, 1, Element::F32)?; // rows, columns, matrices
/// let prepared = transpose.prepare(&problem, source.slice(..), destination.slice(..))?;
///
/// let mut encoder = device.create_command_encoder(&Default::default());
/// {
///     let mut pass = encoder.begin_compute_pass(&Default::default());
///     // … dispatches of your own …
///     prepared.dispatch(&mut pass);
/// }
/// queue.submit([encoder.finish()]);
/// # Ok(())
/// # }
/// ```
pub struct WgpuTranspose {
    pub(super) device: wgpu::Device,
    pub(super) limits: wgpu::Limits,
    /// The same for kernels on buffers that are there already, however large they are.
    kernel_limits: wgpu::Limits,
    api: Api,
    options: RunOptions,
    pipelines: Pipelines,
}

/// A problem with its buffers, ready for any number of passes.
///
/// It keeps the buffers alive. To encode it takes no memory and no look at the device.
pub struct WgpuPrepared {
    dispatches: Vec<Dispatch>,
}

struct Dispatch {
    variant: Variant,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    workgroups: [u32; 2],
}

/// A window's side: the binding, and the window's first element in it.
struct Bound {
    offset: u64,
    bytes: u64,
    first: u64,
    /// Whether the binding ends with a whole vector.
    whole: bool,
}

impl WgpuTranspose {
    /// Transposes on `device`, compiled with bounds checks. Nothing is compiled yet.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] if the device's limits do not allow the bindings that every kernel takes, and others if
    /// it fails.
    pub fn new(device: &wgpu::Device) -> Result<WgpuTranspose, BackendError> {
        WgpuTranspose::with_options(device, RunOptions::default())
    }

    /// The same with other options.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_options(device: &wgpu::Device, options: RunOptions) -> Result<WgpuTranspose, BackendError> {
        let limits = device.limits();
        if let Some(reason) = limits::no_bindings(&limits, size_of::<Params>() as u64) {
            return Err(BackendError::Unsupported(reason));
        }
        Ok(WgpuTranspose {
            device: device.clone(),
            kernel_limits: wgpu::Limits { max_buffer_size: u64::MAX, ..limits.clone() },
            limits,
            api: api_of(device.adapter_info().backend),
            options,
            pipelines: Pipelines::new(device)?,
        })
    }

    /// Makes ready to transpose `problem` from `source` to `destination`: compiles what is not yet compiled, and binds
    /// the buffers. The queue is not touched.
    ///
    /// A slice begins where the problem's side does, at a multiple of an element's bytes, and has at least
    /// [`Problem::source_bytes`] or [`Problem::destination_bytes`]; the buffer has all of the last one's word of 4 bytes.
    /// What the destination has in gaps, before and behind stays as it is. The fast kernels move 16 bytes at a time: where
    /// a side reaches into the last bytes of a buffer whose size is no multiple of 16, a slower one runs.
    ///
    /// # Errors
    /// [`TransposeError`] if a slice does not fit, a buffer lacks [`BufferUsages::STORAGE`], both sides are one buffer, or
    /// the device cannot run any kernel for the problem.
    pub fn prepare(
        &self,
        problem: &Problem,
        source: BufferSlice,
        destination: BufferSlice,
    ) -> Result<WgpuPrepared, TransposeError> {
        check_slice(Side::Source, problem, source)?;
        check_slice(Side::Destination, problem, destination)?;
        if source.buffer() == destination.buffer() {
            return Err(TransposeError::SameBuffer);
        }
        // Counted from the buffers' beginnings.
        let width = problem.width().bytes() as u64;
        let (from, to) = (problem.source(), problem.destination());
        let whole = problem.with_layouts(
            from.starting_at(from.first + source.offset() / width),
            to.starting_at(to.first + destination.offset() / width),
        )?;
        let windows = whole.windows(self.longest(width)).map(|window| {
            let window = window?;
            self.dispatch(&window, source.buffer(), destination.buffer())
        });
        Ok(WgpuPrepared { dispatches: windows.collect::<Result<_, TransposeError>>()? })
    }

    /// Makes ready to transpose `problem`, which is square, in place of its source; otherwise as
    /// [`prepare`](Self::prepare). [`Variant::Inplace`] runs where all rows begin at multiples of 32 bytes, or of 16
    /// with elements of 1 and 2 bytes, and the slower [`Variant::Swap`] elsewhere.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and [`BackendError::Unsupported`] if rows and columns, or the layouts of source and
    /// destination, are not the same, or if a matrix is more than the device's limits allow in one binding.
    pub fn prepare_in_place(&self, problem: &Problem, matrices: BufferSlice) -> Result<WgpuPrepared, TransposeError> {
        check_in_place(problem, Language::Wgsl)?;
        check_slice(Side::Destination, problem, matrices)?;
        if problem.is_empty() {
            return Ok(WgpuPrepared { dispatches: Vec::new() });
        }
        let width = problem.width().bytes() as u64;
        let layout = problem.destination().starting_at(problem.destination().first + matrices.offset() / width);
        let whole = problem.with_layouts(layout, layout)?;
        // What the kernels' layout has as a source, and they do not read.
        let nothing = buffer(&self.device, VECTOR_BYTES, BufferUsages::STORAGE, false)?;
        let matrix = (problem.rows() - 1) * layout.ld + problem.cols();
        let dispatch = |part: Result<Problem, LayoutError>| self.dispatch_in_place(&part?, matrices.buffer(), &nothing);
        let dispatches = match matrix > self.longest(width) {
            // Each on its own: one that no binding holds is refused for that.
            true => (0..whole.batch()).map(|matrix| dispatch(one_of(&whole, matrix))).collect::<Result<_, _>>()?,
            false => whole.windows(self.longest(width)).map(dispatch).collect::<Result<_, _>>()?,
        };
        Ok(WgpuPrepared { dispatches })
    }

    /// One dispatch in place, for matrices with their place in the buffer.
    fn dispatch_in_place(
        &self,
        part: &Problem,
        buffer: &wgpu::Buffer,
        nothing: &wgpu::Buffer,
    ) -> Result<Dispatch, TransposeError> {
        let width = part.width().bytes() as u64;
        let layout = part.destination();
        let bound = self.bound(buffer, layout.first * width, part.destination_bytes(), width);
        let layout = layout.starting_at(bound.first);
        let problem = part.with_layouts(layout, layout)?;
        let variant = planner::in_place(&problem, |variant| self.support(variant, &problem, bound.whole));
        let sides = [nothing.as_entire_buffer_binding(), bound.binding(buffer)];
        self.bind(variant, &problem, bound.whole, sides)
    }

    /// Encodes the transpose of `problem` from `source` to `destination` in a pass of its own: [`prepare`](Self::prepare)
    /// and [`WgpuPrepared::encode`] at once.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare); nothing is encoded then.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        problem: &Problem,
        source: BufferSlice,
        destination: BufferSlice,
    ) -> Result<(), TransposeError> {
        self.prepare(problem, source, destination)?.encode(encoder);
        Ok(())
    }

    /// Elements over which one dispatch may reach, wherever they begin in a buffer.
    fn longest(&self, width: u64) -> u64 {
        let limits = &self.limits;
        let lost = self.alignment() + VECTOR_BYTES;
        let bytes = limits.max_storage_buffer_binding_size.saturating_sub(lost);
        (bytes / width).min(MAX_ELEMENTS.saturating_sub(lost)).max(1)
    }

    /// What a binding begins with a multiple of: as the device asks, and with a vector. Where the one is no multiple of the
    /// other, as no GPU's is, their product will do.
    fn alignment(&self) -> u64 {
        match u64::from(self.limits.min_storage_buffer_offset_alignment.max(1)) {
            asked if asked.is_multiple_of(VECTOR_BYTES) => asked,
            asked => asked * VECTOR_BYTES,
        }
    }

    /// One dispatch, for a window with its place in the buffers.
    fn dispatch(
        &self,
        window: &Problem,
        source: &wgpu::Buffer,
        destination: &wgpu::Buffer,
    ) -> Result<Dispatch, TransposeError> {
        let width = window.width().bytes() as u64;
        let (from, to) = (window.source(), window.destination());
        let read = self.bound(source, from.first * width, window.source_bytes(), width);
        let written = self.bound(destination, to.first * width, window.destination_bytes(), width);
        let problem = window.with_layouts(from.starting_at(read.first), to.starting_at(written.first))?;
        let whole = read.whole && written.whole;
        let support = |variant| self.support(variant, &problem, whole);
        let variant = planner::choose(Variant::Auto, &problem, self.api, support);
        self.bind(variant, &problem, whole, [read.binding(source), written.binding(destination)])
    }

    /// The dispatch of a variant on a problem that begins with its bindings, which have `whole` vectors or not.
    fn bind(
        &self,
        variant: Variant,
        problem: &Problem,
        whole: bool,
        [source, destination]: [wgpu::BufferBinding; 2],
    ) -> Result<Dispatch, TransposeError> {
        let refused = |variant| match self.support(variant, problem, whole) {
            Support::Unsupported(reason) => Some(reason),
            Support::Supported => None,
        };
        if let Some(reason) = refused(variant) {
            // Of the variants that may run for `auto`, this one asks for the least.
            let least = if variant.is_in_place() { variant } else { Variant::Naive };
            return Err(BackendError::Unsupported(refused(least).unwrap_or(reason)).into());
        }
        let beyond = || BackendError::Unsupported(format!("{problem} is beyond 32-bit numbers"));
        let most = self.limits.max_compute_workgroups_per_dimension;
        let Launch { params, workgroups } = Launch::new(variant, problem, most).ok_or_else(beyond)?;
        let key = Key { variant, width: problem.width(), bounds_checks: self.options.bounds_checks };
        let pipeline = self.pipelines.get(key)?;
        let params = self.parameters(&params)?;
        let group = self.pipelines.bind([source, destination, params.as_entire_buffer_binding()])?;
        Ok(Dispatch { variant, pipeline, group, workgroups })
    }

    /// A buffer of its own for the parameters of a dispatch.
    fn parameters(&self, params: &Params) -> Result<wgpu::Buffer, BackendError> {
        let buffer = buffer(&self.device, size_of::<Params>() as u64, BufferUsages::UNIFORM, true)?;
        // A device that is lost makes buffers, and maps none.
        let mut view = buffer
            .slice(..)
            .get_mapped_range_mut()
            .map_err(|error| BackendError::Lost { reason: error.to_string() })?;
        view.copy_from_slice(bytemuck::bytes_of(params));
        drop(view);
        buffer.unmap();
        Ok(buffer)
    }

    /// What to bind of a buffer for elements from byte `first` to before byte `end`.
    fn bound(&self, buffer: &wgpu::Buffer, first: u64, end: u64, width: u64) -> Bound {
        let alignment = self.alignment();
        let offset = first / alignment * alignment;
        let vectors = buffer_bytes(end - offset);
        // A binding has whole words.
        let bytes = vectors.min((buffer.size() - offset) / 4 * 4);
        Bound { offset, bytes, first: (first - offset) / width, whole: bytes == vectors }
    }

    /// Whether `variant` can run on a problem that begins with its bindings, which have `whole` vectors or not.
    fn support(&self, variant: Variant, problem: &Problem, whole: bool) -> Support {
        let Some(kernel) = variant.spec().kernel else {
            return Support::Unsupported(format!("{variant} is no kernel"));
        };
        if kernel.takes_vectors() && !whole {
            return Support::Unsupported(format!(
                "{variant} takes vectors of 16 bytes, within one of which a buffer ends"
            ));
        }
        // It would write the rest of the last vector, which may be somebody else's.
        if variant == Variant::Copy && !problem.copied_bytes().is_multiple_of(VECTOR_BYTES) {
            let bytes = problem.copied_bytes();
            return Support::Unsupported(format!("{variant} moves vectors of 16 bytes, not {bytes} bytes"));
        }
        limits::support(self.api, &self.kernel_limits, DownlevelFlags::all(), variant, problem)
    }
}

/// One matrix of a batch in place.
fn one_of(whole: &Problem, matrix: u64) -> Result<Problem, LayoutError> {
    let layout = whole.destination();
    let layout = layout.starting_at(layout.first + matrix * layout.stride);
    Problem::new(whole.rows(), whole.cols(), 1, whole.element())?.with_layouts(layout, layout)
}

/// The API by whose kernels and shares to plan. All have the same kernels; what is none of these is planned as Vulkan is.
fn api_of(backend: wgpu::Backend) -> Api {
    match backend {
        wgpu::Backend::Metal => Api::Metal,
        wgpu::Backend::Dx12 => Api::Dx12,
        wgpu::Backend::Gl => Api::Gl,
        _ => Api::Vulkan,
    }
}

/// Whether `side` of a problem lies in a slice, with the whole words of 4 bytes that hold it, the smallest unit that a
/// shader writes, in its buffer.
fn check_slice(side: Side, problem: &Problem, slice: BufferSlice) -> Result<(), TransposeError> {
    check_alignment(side, problem, slice.offset())?;
    check_length(side, problem, slice.size())?;
    let bytes = side_bytes(side, problem);
    let needed = (slice.offset() + bytes).next_multiple_of(4) - slice.offset();
    let has = slice.buffer().size() - slice.offset();
    if needed > has && bytes > 0 {
        return Err(TransposeError::TooShort { side, problem: *problem, needed, has });
    }
    match slice.buffer().usage().contains(BufferUsages::STORAGE) {
        true => Ok(()),
        false => Err(TransposeError::Usage { side, usage: "STORAGE" }),
    }
}

impl Bound {
    fn binding<'a>(&self, buffer: &'a wgpu::Buffer) -> wgpu::BufferBinding<'a> {
        wgpu::BufferBinding { buffer, offset: self.offset, size: self.bytes.try_into().ok() }
    }
}

impl WgpuPrepared {
    /// Encodes the transpose in a compute pass of its own.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.dispatch(&mut encoder.begin_compute_pass(&Default::default()));
    }

    /// Encodes the transpose in a pass of the caller's, whose pipeline and bind group 0 are others afterwards.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass) {
        for Dispatch { pipeline, group, workgroups: [x, y], .. } in &self.dispatches {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*x, *y, 1);
        }
    }

    /// The variants that run, one for each dispatch; none where there is nothing to move.
    pub fn variants(&self) -> impl Iterator<Item = Variant> {
        self.dispatches.iter().map(|dispatch| dispatch.variant)
    }
}
