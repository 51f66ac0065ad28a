//! A kernel with all it takes to launch it but its buffers.

use std::ffi::c_void;

use cudarc::driver::result;
use cudarc::driver::sys::CUstream;

use super::error::failed;
use super::modules::{Function, Lines, Modules};
use crate::backend::BackendError;
use crate::kernel::{Language, Order};
use crate::model::SECTOR_BYTES;
use crate::problem::Problem;
use crate::variant::{Moves, Variant};

/// A kernel and its launch, but for the buffers.
pub(super) struct Kernel {
    function: Function,
    blocks: u32,
    block: (u32, u32, u32),
    matrices: Matrices,
    /// Bytes of an element, and those before the first matrices.
    width: u64,
    first_bytes: [u64; 2],
}

/// What is to be moved, and how the blocks are laid over it: the parameter of every kernel, in `cuda/common.cuh`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Matrices {
    rows: u64,
    cols: u64,
    src_ld: u64,
    dst_ld: u64,
    src_stride: u64,
    dst_stride: u64,
    across: u32,
    down: u32,
    down_first: u32,
    segments: u32,
    src_first: u32,
    dst_first: u32,
}

impl Kernel {
    /// The kernel of `variant` for `problem`, which is supported. The modules' context must be current.
    pub(super) fn new(
        modules: &Modules,
        problem: &Problem,
        variant: Variant,
        lines: Lines,
    ) -> Result<Kernel, BackendError> {
        let spec = variant.spec();
        let missing = || BackendError::Unsupported(format!("{variant} has no CUDA kernel"));
        let kernel = spec.kernel.ok_or_else(missing)?;
        let geometry = (kernel.geometry)(problem.width(), Language::Cuda);
        let grid = kernel.grid(problem, Language::Cuda);
        // No more than the grid's limit, which is below 2³¹ on every device.
        let small = |blocks: u64| {
            u32::try_from(blocks).map_err(|_| BackendError::Unsupported(format!("{blocks} blocks are too many")))
        };
        let [source, destination] = problem.kernel_layouts();
        let width = problem.width().bytes() as u64;
        let (rows, cols, first_bytes) = match spec.moves {
            Moves::Copy => (1, problem.elements(), [0; 2]),
            Moves::Transpose => (problem.rows(), problem.cols(), [source.first * width, destination.first * width]),
        };
        Ok(Kernel {
            function: modules.function(variant, problem.width(), lines)?,
            blocks: small(grid.blocks())?,
            block: (geometry.block_x, geometry.block_y, 1),
            width,
            first_bytes,
            matrices: Matrices {
                rows,
                cols,
                src_ld: source.ld,
                dst_ld: destination.ld,
                src_stride: source.stride,
                dst_stride: destination.stride,
                across: small(grid.across)?,
                down: small(grid.down)?,
                down_first: (grid.order == Order::Down).into(),
                segments: small(grid.segments)?,
                // Set for each launch, by where its buffers are.
                src_first: 0,
                dst_first: 0,
            },
        })
    }

    /// Puts one launch on `stream`. The context must be current.
    ///
    /// # Safety
    /// Both buffers hold the problem that the kernel was made for and live until the launch is over, as does the device
    /// that loaded the kernel.
    pub(super) unsafe fn enqueue(&self, stream: CUstream, source: u64, destination: u64) -> Result<(), BackendError> {
        // Kernels count elements from where a sector begins, so that they know which vectors and sectors memory has.
        let begin =
            |address: u64| (address / SECTOR_BYTES * SECTOR_BYTES, (address % SECTOR_BYTES / self.width) as u32);
        let (mut source, src_first) = begin(source + self.first_bytes[0]);
        let (mut destination, dst_first) = begin(destination + self.first_bytes[1]);
        let mut matrices = Matrices { src_first, dst_first, ..self.matrices };
        let mut parameters: [*mut c_void; 3] =
            [(&raw mut source).cast(), (&raw mut destination).cast(), (&raw mut matrices).cast()];
        // SAFETY: by the contract. The parameters are those of every kernel in `cuda/` and are copied by the call.
        unsafe { result::launch_kernel(self.function.0, (self.blocks, 1, 1), self.block, 0, stream, &mut parameters) }
            .map_err(failed("cuLaunchKernel"))
    }
}
