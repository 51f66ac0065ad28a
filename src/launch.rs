//! What a kernel's WGSL is launched with: bindings, parameters and workgroups, whichever device it is for.

use bytemuck::{Pod, Zeroable};

use crate::kernel::{Grid, Language, Order};
use crate::problem::Problem;
use crate::variant::{Moves, Variant};

/// Kernels address elements with 32 bits, and a tile at the very end may hang over it: 4096 is more than any tile
/// and word reach.
pub(crate) const MAX_ELEMENTS: u64 = (1 << 32) - 4096;

/// What copies move at a time.
pub(crate) const VECTOR_BYTES: u64 = 16;

/// Bytes of the buffer for a side of `bytes`: whole vectors, so that the copy kernel needs no special end, and not none,
/// since a buffer cannot be empty.
///
/// Sides have less than 63 bits of bytes, so rounding up cannot overflow.
pub(crate) fn buffer_bytes(bytes: u64) -> u64 {
    bytes.next_multiple_of(VECTOR_BYTES).max(VECTOR_BYTES)
}

/// The parameters of every kernel, `Params` in `shaders/lib/common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Params {
    rows: u32,
    cols: u32,
    batch: u32,
    src_first: u32,
    dst_first: u32,
    src_ld: u32,
    dst_ld: u32,
    src_stride: u32,
    dst_stride: u32,
    across: u32,
    down: u32,
    blocks: u32,
    down_first: u32,
    src_vectors: u32,
    dst_vectors: u32,
    segments: u32,
    side_inverse: u32,
    segments_inverse: u32,
}

impl Params {
    /// The parameters for a kernel that `moves` a problem in `grid`; `None` if one of them does not fit.
    fn new(problem: &Problem, moves: Moves, grid: Grid) -> Option<Params> {
        let [read, written] = match moves {
            Moves::Copy => [problem.copied_bytes(); 2],
            Moves::Transpose => [problem.source_bytes(), problem.destination_bytes()],
        };
        let [source, destination] = problem.kernel_layouts();
        let fit = |value: u64| u32::try_from(value).ok();
        let inverse = |value: u64| (1 << 20) / value.clamp(1, 1 << 20) as u32 + 1;
        Some(Params {
            rows: fit(problem.rows())?,
            cols: fit(problem.cols())?,
            batch: fit(problem.batch())?,
            src_first: fit(source.first)?,
            dst_first: fit(destination.first)?,
            src_ld: fit(source.ld)?,
            dst_ld: fit(destination.ld)?,
            src_stride: fit(source.stride)?,
            dst_stride: fit(destination.stride)?,
            across: fit(grid.across)?,
            down: fit(grid.down)?,
            blocks: fit(grid.blocks())?,
            down_first: (grid.order == Order::Down).into(),
            src_vectors: fit(buffer_bytes(read) / 16)?,
            dst_vectors: fit(buffer_bytes(written) / 16)?,
            segments: fit(grid.segments)?,
            side_inverse: inverse(grid.lines),
            segments_inverse: inverse(grid.segments),
        })
    }
}

/// A launch of a variant's WGSL. It binds the source, the destination and the parameters as 0, 1 and 2 of group 0.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    /// The parameters.
    pub params: Params,
    /// Workgroups along x and y.
    pub workgroups: [u32; 2],
}

impl Launch {
    /// The launch of `variant` on `problem`, with at most `most` workgroups a dimension.
    ///
    /// `None` where the variant has no kernel, or a number does not fit 32 bits or a dimension.
    pub fn new(variant: Variant, problem: &Problem, most: u32) -> Option<Launch> {
        let spec = variant.spec();
        let grid = spec.kernel?.grid(problem, Language::Wgsl);
        Some(Launch { params: Params::new(problem, spec.moves, grid)?, workgroups: fold(grid, most)? })
    }
}

/// Why the WGSL of `variant` cannot run on `problem`, whichever device it is for; `None` too for what has no WGSL.
pub(crate) fn obstacle(variant: Variant, problem: &Problem) -> Option<String> {
    let spec = variant.spec();
    beyond_vectors(spec.moves, problem).or_else(|| (spec.kernel?.obstacle)(problem, Language::Wgsl)).or_else(|| {
        spec.kernel?;
        let elements = problem.source_extent().max(problem.destination_extent());
        beyond("32-bit indices for", elements, MAX_ELEMENTS, "elements")
    })
}

/// Why a copy cannot move just its bytes, where something stands behind them that has to stay: it moves whole vectors.
fn beyond_vectors(moves: Moves, problem: &Problem) -> Option<String> {
    let bytes = problem.copied_bytes();
    let splits = moves == Moves::Copy && !problem.is_packed() && !bytes.is_multiple_of(VECTOR_BYTES);
    splits.then(|| {
        format!(
            "copies multiples of {VECTOR_BYTES} bytes; {bytes} bytes would take in some of a gap, which has to stay"
        )
    })
}

/// Why `needed` is too much, if it is more than `most`.
pub(crate) fn beyond(what: &str, needed: u64, most: u64, unit: &str) -> Option<String> {
    let text = || format!("needs {what} {needed} {unit}").trim_end().to_owned();
    (needed > most).then(|| format!("{}; the most is {most}", text()))
}

/// Folds a grid's blocks over x and y, with fewer than y workgroups left over.
///
/// `None` if a dimension would have more than `most`, or the numbers would not fit 32 bits.
pub(crate) fn fold(grid: Grid, most: u32) -> Option<[u32; 2]> {
    let blocks = grid.blocks();
    // A device may allow none at all.
    let y = if most == 0 { return None } else { blocks.div_ceil(most.into()).max(1) };
    let x = blocks.div_ceil(y);
    let fits = y <= most.into() && x * y <= u32::MAX.into();
    Some([u32::try_from(x).ok()?, u32::try_from(y).ok()?]).filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_covers_every_block_with_little_left_over() {
        let grid = |blocks| Grid { across: blocks, down: 1, batch: 1, order: Order::Across, lines: 0, segments: 0 };
        assert_eq!(fold(grid(1), 0), None);
        assert_eq!(fold(grid(1), 65_535), Some([1, 1]));
        assert_eq!(fold(grid(65_535), 65_535), Some([65_535, 1]));
        assert_eq!(fold(grid(65_536), 65_535), Some([32_768, 2]));
        assert_eq!(fold(grid(65_535 * 65_535), 65_535), Some([65_535, 65_535]));
        assert_eq!(fold(grid(65_535 * 65_535 + 1), 65_535), None);
        for blocks in [2, 131_071, 1_000_003, u64::from(u32::MAX) - 200_000] {
            let [x, y] = fold(grid(blocks), 65_535).unwrap().map(u64::from);
            assert!(x * y >= blocks && x * y - blocks < y, "{blocks}: {x} × {y}");
        }
    }
}
