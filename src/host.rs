//! Matrices in host memory, of any size, in windows through a device: each is packed, uploaded, transposed, downloaded and
//! put in place, and several are under way at a time.

use std::ptr::NonNull;

use rayon::prelude::*;

use crate::backend::BackendError;
use crate::problem::{LayoutError, Problem, Side};
use crate::transpose::{TransposeError, check_length};

/// Windows under way: while one is packed by the host, others are uploaded, transposed and downloaded.
pub(crate) const SLOTS: usize = 3;
/// Bytes of a window, where there is memory for so many: enough that what a submission costs vanishes.
pub(crate) const WINDOW_BYTES: u64 = 32 << 20;
/// Buffers have multiples of so many bytes; large ones of as many as allocations begin at.
const GRAIN_BYTES: u64 = 16;
const LARGE_GRAIN_BYTES: u64 = 512;

/// Memory on the way of one window at a time.
pub(crate) trait Slot {
    /// Sends a window on its way. The slot must have none. Until it is finished, its part of the destination may be written.
    fn start(&mut self, window: Problem, source: &[u8], destination: &mut [u8]) -> Result<(), TransposeError>;

    /// Waits for the window under way, if there is one, puts it in place and returns its elements.
    fn finish(&mut self, destination: &mut [u8]) -> Result<u64, TransposeError>;
}

/// Sends a problem through the slots, in these windows.
///
/// # Errors
/// What a slot fails with; then others may have windows under way.
pub(crate) fn through(
    slots: &mut [impl Slot],
    problem: &Problem,
    windows: impl Iterator<Item = Result<Problem, LayoutError>>,
    source: &[u8],
    destination: &mut [u8],
    mut progress: impl FnMut(u64, u64),
) -> Result<(), TransposeError> {
    let (mut done, all) = (0, problem.elements());
    // After the last window each slot has another turn, which brings back what it has.
    let count = slots.len();
    for (turn, window) in windows.map(Some).chain((0..count).map(|_| None)).enumerate() {
        let slot = &mut slots[turn % count];
        let back = slot.finish(destination)?;
        if back > 0 {
            done += back;
            progress(done, all);
        }
        if let Some(window) = window {
            slot.start(window?, source, destination)?;
        }
    }
    Ok(())
}

/// What slots may take.
pub(crate) struct Room {
    /// Bytes, all together.
    pub(crate) memory: u64,
    /// Buffers of a slot, each of which holds a window.
    pub(crate) buffers: u64,
    /// Bytes of the largest buffer that there can be.
    pub(crate) most: u64,
    /// Bytes of a window, where there is memory for so many.
    pub(crate) window: u64,
}

impl Room {
    /// Bytes of a window on either side.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] if the memory does not suffice for the least of windows.
    pub(crate) fn window_bytes(&self) -> Result<u64, BackendError> {
        let Room { memory, buffers, most, window } = *self;
        let all = SLOTS as u64 * buffers;
        let bytes = window.min(most).min(memory / all);
        let grain = if bytes < LARGE_GRAIN_BYTES { GRAIN_BYTES } else { LARGE_GRAIN_BYTES };
        match bytes / grain * grain {
            0 => {
                let least = all * GRAIN_BYTES;
                let few =
                    format!("{memory} B of memory are too few: {SLOTS} windows under way take at least {least} B");
                Err(BackendError::Unsupported(few))
            }
            bytes => Ok(bytes),
        }
    }
}

/// Checks that a problem's sides fit their bytes.
///
/// # Errors
/// [`TransposeError::TooShort`] if one does not.
pub(crate) fn check_sides(problem: &Problem, source: &[u8], destination: &[u8]) -> Result<(), TransposeError> {
    check_length(Side::Source, problem, source.len() as u64)?;
    check_length(Side::Destination, problem, destination.len() as u64)
}

/// The problem that a window of host matrices is on a device: the same matrices, one row directly after the other.
///
/// # Errors
/// None for a window of a problem.
pub(crate) fn packed(window: &Problem) -> Result<Problem, LayoutError> {
    Ok(Problem::new(window.rows(), window.cols(), window.batch(), window.element())?)
}

/// Bytes that a thread packs at a time.
const PACKED_BYTES: usize = 1 << 20;

/// The beginning of memory that may be written and need not be readable.
struct Begin(NonNull<u8>);

// SAFETY: it is an address; whoever writes there sees to it that nobody else does.
unsafe impl Sync for Begin {}

/// Packs the rows of a window, out of the bytes of the source, with as many threads as the host has.
///
/// # Safety
/// From `into` on there is room for the window's elements, which until this returns is nobody else's.
pub(crate) unsafe fn pack(window: &Problem, source: &[u8], into: NonNull<u8>) {
    let row_bytes = window.cols() as usize * window.width().bytes();
    let rows = window.rows() * window.batch();
    let at_once = (PACKED_BYTES / row_bytes).max(1) as u64;
    let begin = &Begin(into);
    (0..rows.div_ceil(at_once)).into_par_iter().for_each(|group| {
        for row in group * at_once..((group + 1) * at_once).min(rows) {
            let bytes = source_row(window, source, row);
            // SAFETY: by the contract; rows do not overlap, and each is written by one thread. The source is other memory,
            // for it is borrowed.
            unsafe {
                let to = begin.0.as_ptr().add(row as usize * row_bytes);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, row_bytes);
            }
        }
    });
}

/// The bytes of a row of the window, of those of all its matrices, in the source.
fn source_row<'a>(window: &Problem, source: &'a [u8], row: u64) -> &'a [u8] {
    let (width, layout) = (window.width().bytes(), window.source());
    let begin = layout.first + row / window.rows() * layout.stride + row % window.rows() * layout.ld;
    &source[begin as usize * width..][..window.cols() as usize * width]
}

/// Puts a window's packed part of the destination where it belongs in that, whose bytes these are.
pub(crate) fn unpack(window: &Problem, from: &[u8], destination: &mut [u8]) {
    let width = window.width().bytes();
    // The destination has as many rows as the source has columns.
    let (rows, layout) = (window.cols() as usize, window.destination());
    let [first, ld, stride] = [layout.first, layout.ld, layout.stride].map(|elements| elements as usize * width);
    let row_bytes = window.rows() as usize * width;
    let matrices = destination[first..].par_chunks_mut(stride).zip(from.par_chunks_exact(rows * row_bytes));
    matrices.for_each(|(matrix, from)| {
        let rows = matrix.par_chunks_mut(ld).zip(from.par_chunks_exact(row_bytes));
        rows.for_each(|(row, from)| row[..row_bytes].copy_from_slice(from));
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    proptest! {
        /// Windows that are packed, transposed element by element, and unpacked, are the whole's transpose.
        #[test]
        fn there_and_back_is_the_transpose(
            (rows, cols, batch) in (1u64..30, 1u64..30, 1u64..4),
            (gap, to_gap, stride, first) in (0u64..9, 0u64..9, 0u64..9, 0u64..9),
            most in 1u64..900,
        ) {
            let source = Layout::with_gaps(rows, cols, gap, stride).starting_at(first);
            let destination = Layout::with_gaps(cols, rows, to_gap, stride).starting_at(first);
            let whole = Problem::new(rows, cols, batch, Element::U16).unwrap().with_layouts(source, destination).unwrap();
            let from: Vec<u16> = (0..whole.source_extent() as u16).collect();
            let mut to = vec![u16::MAX; whole.destination_extent() as usize];
            for window in whole.shares(most) {
                let window = window.unwrap();
                let packed = packed(&window).unwrap();
                let mut there = vec![0u16; packed.elements() as usize];
                let begin = NonNull::new(there.as_mut_ptr().cast()).unwrap();
                // SAFETY: there is room for as many elements.
                unsafe { pack(&window, bytemuck::cast_slice(&from), begin) };
                let turned: Vec<u16> =
                    packed.sources_from(0).take(there.len()).map(|index| there[index.unwrap() as usize]).collect();
                unpack(&window, bytemuck::cast_slice(&turned), bytemuck::cast_slice_mut(&mut to));
            }
            let expected: Vec<u16> = (0..whole.destination_extent())
                .map(|index| whole.source_of(index).map_or(u16::MAX, |at| from[at as usize]))
                .collect();
            prop_assert_eq!(to, expected);
        }
    }
}
