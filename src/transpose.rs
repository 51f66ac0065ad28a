//! Transposes in other people's pipelines: what `CudaTranspose` and `WgpuTranspose`, which enqueue on the caller's
//! stream or encoder with the caller's buffers, have in common.

use std::ops::Range;

use crate::backend::BackendError;
use crate::kernel::Language;
use crate::problem::{LayoutError, Problem, Side};
use crate::variant::Variant;

/// Why the caller's buffers are not transposed. Of a transpose on a stream or in a pass, nothing has been enqueued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TransposeError {
    /// The problem reaches beyond a buffer.
    #[error("{problem} takes {needed} B of the {side}, which has {has} B from where it begins")]
    TooShort {
        /// Which buffer.
        side: Side,
        /// What is to be transposed.
        problem: Problem,
        /// Bytes up to the last element, for wgpu to the end of its word of 4 bytes, counted from the buffer's beginning.
        needed: u64,
        /// Bytes that are there.
        has: u64,
    },
    /// A side begins within an element.
    #[error("the {side} begins at byte {offset}, which is no multiple of the {width} B of an element")]
    Misaligned {
        /// Which buffer.
        side: Side,
        /// Where it begins: for CUDA its address, for wgpu counted from the buffer's beginning.
        offset: u64,
        /// Bytes of an element.
        width: u64,
    },
    /// The buffers have other elements than the problem.
    #[error("the problem has elements of {expected} B, the buffers of {got} B")]
    Width {
        /// Bytes of the problem's elements.
        expected: u64,
        /// Bytes of the buffers'.
        got: u64,
    },
    /// A buffer was created without a usage that it needs.
    #[error("the {side}'s buffer was created without BufferUsages::{usage}")]
    Usage {
        /// Which buffer.
        side: Side,
        /// What it lacks.
        usage: &'static str,
    },
    /// Both sides are parts of one buffer. WebGPU lets no dispatch bind it both to read and to write; in place, it is bound
    /// once.
    #[error(
        "source and destination are parts of one buffer, which WebGPU lets no dispatch bind both to read and to write"
    )]
    SameBuffer,
    /// The sides overlap.
    #[error("the source's bytes {from:#x?} and the destination's {to:#x?} overlap")]
    Overlap {
        /// Addresses of the source's bytes.
        from: Range<u64>,
        /// The same of the destination's.
        to: Range<u64>,
    },
    /// Something belongs to another context than the transpose.
    #[error("the {what} is of another context, on device {other}, than the transpose, on device {transpose}")]
    Context {
        /// The stream, the source or the destination.
        what: &'static str,
        /// Its device.
        other: usize,
        /// The transpose's.
        transpose: usize,
    },
    /// The problem counted from the beginning of its buffers, not of its slices, is too large.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The device cannot do it or failed; or it cannot be done so: in place, or with so little memory.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Whether `problem` can be transposed in place at all: before it is placed anywhere.
///
/// # Errors
/// [`BackendError::Unsupported`] with what stands against it.
pub(crate) fn check_in_place(problem: &Problem, language: Language) -> Result<(), TransposeError> {
    // Of the variants in place, this one asks for nothing else.
    match Variant::Swap.spec().kernel.and_then(|kernel| (kernel.obstacle)(problem, language)) {
        Some(reason) => Err(BackendError::Unsupported(reason).into()),
        None => Ok(()),
    }
}

/// Bytes of the buffer of a side, gaps included.
pub(crate) fn side_bytes(side: Side, problem: &Problem) -> u64 {
    match side {
        Side::Source => problem.source_bytes(),
        Side::Destination => problem.destination_bytes(),
    }
}

/// Whether `side` of `problem` fits `has` bytes, at the first of which it begins.
///
/// # Errors
/// [`TransposeError::TooShort`].
pub(crate) fn check_length(side: Side, problem: &Problem, has: u64) -> Result<(), TransposeError> {
    let needed = side_bytes(side, problem);
    match needed > has {
        true => Err(TransposeError::TooShort { side, problem: *problem, needed, has }),
        false => Ok(()),
    }
}

/// Whether `side` of `problem` may begin at byte `offset`.
///
/// # Errors
/// [`TransposeError::Misaligned`].
pub(crate) fn check_alignment(side: Side, problem: &Problem, offset: u64) -> Result<(), TransposeError> {
    let width = problem.width().bytes() as u64;
    match offset.is_multiple_of(width) {
        true => Ok(()),
        false => Err(TransposeError::Misaligned { side, offset, width }),
    }
}
