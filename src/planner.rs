//! What `auto` stands for: the variant that the shape, the width, the alignment and the device's language call for.
//!
//! The choice is a function of its arguments alone. Nothing is measured: each candidate gets an estimate of its share of
//! a copy's speed, from what was measured once (docs/kernels.md) and from how much of its tiles the matrix fills, and the
//! best of those that the device supports is taken.

use crate::backend::Support;
use crate::device::Api;
use crate::element::Width;
use crate::kernel::{Geometry, Grid, Language, Order};
use crate::kernels::skinny::Skinny;
use crate::model::SECTOR_BYTES;
use crate::problem::Problem;
use crate::variant::Variant;

/// A variant and what it should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The variant.
    pub variant: Variant,
    /// The estimate: its bandwidth as a share of a copy's.
    pub share: f64,
}

/// The variant to run for `variant` on a device of `api`: another one only for [`Variant::Auto`].
///
/// `support` says what the device can run of the problem. Where it can run nothing, the first candidate is returned, so
/// that asking whether that is supported gives the reason.
pub fn choose(variant: Variant, problem: &Problem, api: Api, support: impl Fn(Variant) -> Support) -> Variant {
    if variant != Variant::Auto {
        return variant;
    }
    let ranked = rank(problem, api);
    let can = |candidate: &&Candidate| support(candidate.variant) == Support::Supported;
    ranked.iter().find(can).or(ranked.first()).map_or(Variant::Naive, |candidate| candidate.variant)
}

/// The variant that transposes `problem` in place. `support` says whether the device can run [`Variant::Inplace`].
///
/// Where rows begin within a sector, that shares sectors with its neighbours on both sides of every tile. So does
/// [`Variant::Swap`], whose tiles are larger; for elements of 4 bytes and more it is faster there (docs/kernels.md).
pub fn in_place(problem: &Problem, support: impl Fn(Variant) -> Support) -> Variant {
    let width = problem.width().bytes() as u64;
    let [_, matrices] = problem.kernel_layouts();
    let whole_sectors = matrices.begins_with(SECTOR_BYTES / width);
    match (whole_sectors || width < 4) && support(Variant::Inplace) == Support::Supported {
        true => Variant::Inplace,
        false => Variant::Swap,
    }
}

/// The candidates for a problem on a device of `api`, the best first, whether or not a device supports them.
pub fn rank(problem: &Problem, api: Api) -> Vec<Candidate> {
    let Some(language) = Language::of(api) else {
        // A CPU's cache blocks help every shape.
        return vec![
            Candidate { variant: Variant::Tiled, share: 0.5 },
            Candidate { variant: Variant::Naive, share: 0.1 },
        ];
    };
    let candidate = |&variant: &Variant| Some(Candidate { variant, share: estimate(variant, problem, language)? });
    let mut ranked: Vec<Candidate> = Variant::ALL.iter().filter_map(candidate).collect();
    ranked.sort_by(|a, b| b.share.total_cmp(&a.share));
    ranked
}

/// A kernel's share of a copy on large square matrices, by width: 1, 2, 4, 8 and 16 bytes.
struct Shares {
    /// Where rows begin well on both sides: see `begins_well`.
    aligned: [f64; 5],
    /// Where rows of the source begin anywhere.
    source: [f64; 5],
    /// Where rows of the destination do.
    destination: [f64; 5],
    /// Where rows of both do.
    both: [f64; 5],
    /// How much an empty part of a tile costs: the exponent of the part that is filled.
    fill: f64,
}

/// Measured on an H200 with CUDA.
const CUDA_VECTORIZED: Shares = Shares {
    aligned: [0.94, 0.96, 0.97, 0.97, 0.95],
    source: [0.82, 0.88, 0.91, 0.91, 0.925],
    destination: [0.83, 0.86, 0.905, 0.925, 0.955],
    both: [0.66, 0.77, 0.87, 0.90, 0.92],
    fill: 0.5,
};
/// The same through Vulkan.
const WGSL_VECTORIZED: Shares = Shares {
    aligned: [0.95, 0.96, 0.97, 0.97, 0.95],
    source: [0.75, 0.89, 0.89, 0.92, 0.925],
    destination: [0.71, 0.84, 0.89, 0.94, 0.95],
    both: [0.63, 0.79, 0.87, 0.91, 0.91],
    fill: 0.5,
};
/// With CUDA.
const CUDA_COMPACT: Shares = Shares {
    aligned: [0.93, 0.935, 0.935, 0.935, 0.95],
    source: [0.75, 0.88, 0.87, 0.88, 0.91],
    destination: [0.845, 0.87, 0.81, 0.87, 0.935],
    both: [0.70, 0.70, 0.82, 0.87, 0.905],
    fill: 0.5,
};
/// The same through Vulkan.
const WGSL_COMPACT: Shares = Shares {
    aligned: [0.93, 0.935, 0.935, 0.935, 0.95],
    source: [0.81, 0.885, 0.87, 0.885, 0.925],
    destination: [0.78, 0.875, 0.87, 0.92, 0.945],
    both: [0.67, 0.81, 0.86, 0.89, 0.905],
    fill: 0.5,
};
/// With CUDA. A partly empty tile has partly nothing to load and to store.
const CUDA_GATHER: Shares = Shares {
    aligned: [0.88, 0.90, 0.92, 0.92, 0.94],
    source: [0.84, 0.91, 0.91, 0.92, 0.93],
    destination: [0.68, 0.90, 0.915, 0.91, 0.965],
    both: [0.83, 0.905, 0.915, 0.92, 0.93],
    fill: 1.0 / 3.0,
};
/// The same through Vulkan, where rows of both sides begin anywhere as measured for the one or the other.
const WGSL_GATHER: Shares = Shares {
    aligned: [0.50, 0.65, 0.83, 0.75, 0.88],
    source: [0.54, 0.70, 0.80, 0.79, 0.89],
    destination: [0.49, 0.665, 0.78, 0.76, 0.88],
    both: [0.49, 0.665, 0.78, 0.76, 0.88],
    fill: 0.5,
};
/// The kernels of one element an access do not care for alignment.
const SWIZZLED: Shares = Shares::alike([0.35, 0.61, 0.54, 0.80, 0.90]);
const PADDED: Shares = Shares::alike([0.34, 0.60, 0.53, 0.79, 0.89]);
const TILED: Shares = Shares::alike([0.3, 0.4, 0.4, 0.4, 0.4]);
const NAIVE: Shares = Shares::alike([0.05, 0.1, 0.13, 0.25, 0.5]);

/// Threads below which large tiles leave a device idle: two to three times what an H200 holds at once.
const FEW_THREADS: u64 = 600_000;
/// The same for the largest tiles, those of 1-byte elements with CUDA: 8192² takes fewer, 12288² more.
const FEW_THREADS_OF_LARGEST: u64 = 1_500_000;
/// In WGSL they are half as large, and lose nothing before there are fewer than the device holds.
const FEW_THREADS_OF_LARGEST_WGSL: u64 = 200_000;
/// What that costs.
const IDLE: f64 = 0.9;
/// What `gather` loses, with CUDA, where destination rows begin anywhere and each is but one tile, by width: it stores the
/// elements at their ends one by one.
const GATHER_ENDS: [f64; 5] = [0.6, 0.3, 0.05, 0.0, 0.0];

impl Shares {
    const fn alike(share: [f64; 5]) -> Shares {
        Shares { aligned: share, source: share, destination: share, both: share, fill: 0.5 }
    }

    fn of(&self, problem: &Problem) -> f64 {
        let by_width = match begins_well(problem) {
            [true, true] => &self.aligned,
            [false, true] => &self.source,
            [true, false] => &self.destination,
            [false, false] => &self.both,
        };
        by_width[problem.width() as usize]
    }
}

/// What a variant should reach; `None` for what is no candidate.
fn estimate(variant: Variant, problem: &Problem, language: Language) -> Option<f64> {
    let (shares, large_tiles) = match (variant, language) {
        // The transpose of a single row or column has its elements in the same order.
        (Variant::Copy, _) => return is_line(problem).then_some(1.0),
        (Variant::Tall | Variant::Wide, _) => return skinny(variant, problem, language),
        (Variant::Vectorized, Language::Cuda) => (CUDA_VECTORIZED, true),
        (Variant::Vectorized, Language::Wgsl) => (WGSL_VECTORIZED, true),
        (Variant::Compact, Language::Cuda) => (CUDA_COMPACT, false),
        (Variant::Compact, Language::Wgsl) => (WGSL_COMPACT, false),
        (Variant::Gather, Language::Cuda) => (CUDA_GATHER, false),
        (Variant::Gather, Language::Wgsl) => (WGSL_GATHER, true),
        (Variant::Swizzled, _) => (SWIZZLED, false),
        (Variant::Padded, _) => (PADDED, false),
        (Variant::Tiled, _) => (TILED, false),
        (Variant::Naive, _) => (NAIVE, false),
        _ => return None,
    };
    let kernel = variant.spec().kernel?;
    if problem.is_empty() {
        return Some(shares.of(problem));
    }
    let geometry = (kernel.geometry)(problem.width(), language);
    let grid = kernel.grid(problem, language);
    let tile = u64::from(geometry.tile_rows) * u64::from(geometry.tile_cols);
    let fill = filled(problem, &grid, tile).powf(shares.fill);
    // Where few tiles lie side by side, what runs together writes short pieces of many destination rows.
    let narrow = match (variant, language, grid.order) {
        (_, Language::Cuda, Order::Across) if grid.across > 8 || grid.down == 1 || problem.width() < Width::W8 => 1.0,
        (Variant::Vectorized, Language::Cuda, Order::Across) => 0.95,
        (Variant::Compact, Language::Cuda, Order::Across) => 0.9,
        _ => 1.0,
    };
    let few = match (variant, problem.width(), language) {
        (Variant::Vectorized, Width::W1, Language::Cuda) => FEW_THREADS_OF_LARGEST,
        (Variant::Vectorized, Width::W1, Language::Wgsl) => FEW_THREADS_OF_LARGEST_WGSL,
        _ => FEW_THREADS,
    };
    let idle = if large_tiles && threads(&grid, &geometry) < few { IDLE } else { 1.0 };
    let ends = match (variant, language) {
        (Variant::Gather, Language::Cuda) if !begins_well(problem)[1] => {
            1.0 + GATHER_ENDS[problem.width() as usize] / grid.down as f64
        }
        _ => 1.0,
    };
    Some(shares.of(problem) * fill * narrow * idle / ends)
}

/// Threads of a launch.
fn threads(grid: &Grid, geometry: &Geometry) -> u64 {
    grid.blocks().saturating_mul(geometry.threads().into())
}

/// Whether rows of the source and of the destination begin where it is good for speed: with a vector of 16 bytes, or of
/// the widest elements with a sector of 32 bytes, on the source's side, and with a sector on the destination's.
fn begins_well(problem: &Problem) -> [bool; 2] {
    let vector = 16 / problem.width().bytes() as u64;
    let [source, destination] = problem.kernel_layouts();
    [source.begins_with(vector.max(2)), destination.begins_with(2 * vector)]
}

fn is_line(problem: &Problem) -> bool {
    problem.is_packed() && (problem.rows() == 1 || problem.cols() == 1)
}

/// The part of all tiles together that the matrices fill.
fn filled(problem: &Problem, grid: &Grid, tile: u64) -> f64 {
    problem.elements() as f64 / (grid.blocks() as f64 * tile as f64)
}

/// The share of `tall` or `wide`: the less the longer the short side is, for the less of each line a block then moves.
fn skinny(variant: Variant, problem: &Problem, language: Language) -> Option<f64> {
    let kernel = variant.spec().kernel?;
    if problem.is_empty() || (kernel.obstacle)(problem, language).is_some() {
        return None;
    }
    let of = if variant == Variant::Tall { Skinny::tall(problem) } else { Skinny::wide(problem) };
    let geometry = (kernel.geometry)(problem.width(), language);
    Some(match language {
        Language::Cuda => {
            // A block has much to do, so there are soon too few.
            let few = threads(&kernel.grid(problem, language), &geometry) < FEW_THREADS;
            let share = cuda_skinny(&of, &geometry, problem.width()) * if few { 0.85 } else { 1.0 };
            // Elements are moved one by one.
            share * if of.is_contiguous_aligned() { 1.0 } else { 0.5 }
        }
        Language::Wgsl => wgsl_skinny(&of, &geometry, problem.width()),
    })
}

fn cuda_skinny(of: &Skinny, geometry: &Geometry, width: Width) -> f64 {
    const SHIFTED_WIDE: [f64; 5] = [0.88, 0.92, 0.94, 0.95, 0.97];
    let piece = 16 * of.moved(geometry, Language::Cuda);
    match (of.tall, of.is_aligned(Language::Cuda)) {
        (true, true) => by_piece(piece, [0.95, 0.925, 0.88, 0.8]),
        (true, false) => by_piece(piece, [0.92, 0.88, 0.84, 0.78]),
        (false, true) => by_piece(piece, [0.965, 0.95, 0.90, 0.82]),
        (false, false) => SHIFTED_WIDE[width as usize] * by_piece(piece, [1.0, 0.95, 0.92, 0.86]),
    }
}

/// Measured on an H200 through Vulkan: docs/kernels.md.
fn wgsl_skinny(of: &Skinny, geometry: &Geometry, width: Width) -> f64 {
    // Large elements need less work. Where lines of a tall matrix's destination begin anywhere, elements are gathered one
    // by one, and one segment is loaded that is not stored.
    let by_width = if of.tall { [0.90, 0.92, 0.97, 0.98, 0.98] } else { [0.90, 0.93, 0.98, 0.98, 0.98] };
    let ragged = if of.tall { [0.80, 0.87, 0.94, 0.94, 0.94] } else { [0.88, 0.93, 0.97, 0.97, 0.97] };
    let segments = of.segments(geometry, Language::Wgsl);
    let short_pieces = match segments * 16 {
        512.. => 1.0,
        160.. => 0.95,
        _ => 0.87,
    };
    let share = by_width[width as usize] * short_pieces;
    if of.is_aligned(Language::Wgsl) {
        return share;
    }
    share * ragged[width as usize] * of.moved(geometry, Language::Wgsl) as f64 / segments as f64
}

/// A share by the bytes of a piece of a row: 512 and more, 256, 128, fewer.
fn by_piece(bytes: u64, [far, half, quarter, less]: [f64; 4]) -> f64 {
    match bytes {
        512.. => far,
        256.. => half,
        128.. => quarter,
        _ => less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::variant::Moves;

    fn chosen(api: Api, rows: u64, cols: u64, batch: u64, element: Element, missing: &[Variant]) -> Variant {
        let problem = Problem::new(rows, cols, batch, element).unwrap();
        choose(Variant::Auto, &problem, api, |variant| match missing.contains(&variant) {
            true => Support::Unsupported("missing".into()),
            false => Support::Supported,
        })
    }

    #[test]
    fn in_place_whole_sectors_go_by_vectors() {
        let ran = |element, side, support: Support| {
            in_place(&Problem::new(side, side, 1, element).unwrap(), |_| support.clone())
        };
        for (element, side, expected) in [
            (Element::F32, 8192, Variant::Inplace),
            (Element::F32, 8188, Variant::Swap),
            (Element::C128, 8191, Variant::Swap),
            (Element::F16, 8184, Variant::Inplace),
            (Element::U8, 8176, Variant::Inplace),
        ] {
            assert_eq!(ran(element, side, Support::Supported), expected, "{element} {side}");
            assert_eq!(ran(element, side, Support::Unsupported("no".into())), Variant::Swap, "{element} {side}");
        }
    }

    /// The choices that were measured to be the best or next to it on an H200.
    #[test]
    fn every_branch_has_its_shape() {
        let cuda = |rows, cols, batch, element| chosen(Api::Cuda, rows, cols, batch, element, &[]);
        for element in [Element::F32, Element::F64, Element::C128] {
            assert_eq!(cuda(8192, 8192, 1, element), Variant::Vectorized, "{element}");
        }
        assert_eq!(cuda(1024, 1024, 1, Element::F32), Variant::Compact, "small");
        assert_eq!(cuda(4096, 4096, 1, Element::U8), Variant::Compact, "small");
        assert_eq!(cuda(8192, 8192, 1, Element::U8), Variant::Compact, "small");
        assert_eq!(cuda(16384, 16384, 1, Element::U8), Variant::Vectorized);
        assert_eq!(cuda(65536, 96, 1, Element::F32), Variant::Compact, "fills its tiles");
        assert_eq!(cuda(65536, 96, 1, Element::U8), Variant::Gather, "few blocks");
        assert_eq!(cuda(1_048_576, 96, 1, Element::U8), Variant::Tall);
        assert_eq!(cuda(33_554_432, 3, 1, Element::F32), Variant::Tall);
        assert_eq!(cuda(4, 33_554_432, 1, Element::U8), Variant::Wide);
        assert_eq!(cuda(10_007, 10_009, 1, Element::F16), Variant::Gather, "rows begin anywhere");
        assert_eq!(cuda(10_007, 10_000, 1, Element::U8), Variant::Compact, "rows of the destination begin anywhere");
        assert_eq!(cuda(191, 610_559, 1, Element::U8), Variant::Wide);
        assert_eq!(cuda(257, 129, 1024, Element::F32), Variant::Gather);
        assert_eq!(cuda(1, 1000, 1, Element::F32), Variant::Copy);
        assert_eq!(cuda(1000, 1, 3, Element::F32), Variant::Copy);
    }

    #[test]
    fn what_is_missing_is_passed_over() {
        let vulkan = |missing: &[Variant]| chosen(Api::Vulkan, 8192, 8192, 1, Element::F32, missing);
        assert_eq!(vulkan(&[]), Variant::Vectorized);
        assert_eq!(
            chosen(Api::Vulkan, 4096, 4096, 1, Element::U8, &[]),
            Variant::Vectorized,
            "smaller tiles than CUDA's"
        );
        assert_eq!(vulkan(&[Variant::Vectorized]), Variant::Compact);
        let fast = [Variant::Vectorized, Variant::Compact, Variant::Gather];
        assert_eq!(chosen(Api::Vulkan, 10_007, 10_009, 1, Element::F16, &[]), Variant::Compact, "gather is CUDA's");
        assert_eq!(vulkan(&fast), Variant::Swizzled);
        assert_eq!(vulkan(Variant::ALL), Variant::Vectorized, "to say why not");
        assert_eq!(chosen(Api::Cuda, 1000, 1, 1, Element::F32, &[Variant::Copy]), Variant::Tall);
    }

    #[test]
    fn a_cpu_has_its_own() {
        assert_eq!(chosen(Api::Cpu, 1000, 3, 1, Element::F32, &[]), Variant::Tiled);
    }

    #[test]
    fn only_transposes_and_copies_of_lines_are_candidates() {
        let problem = Problem::new(7, 9, 1, Element::U8).unwrap();
        for candidate in rank(&problem, Api::Cuda) {
            assert_eq!(candidate.variant.spec().moves, Moves::Transpose);
            assert!(candidate.share > 0.0 && candidate.share < 1.0, "{candidate:?}");
        }
        assert!(rank(&Problem::new(0, 9, 1, Element::U8).unwrap(), Api::Cuda).iter().all(|c| c.share.is_finite()));
    }

    #[test]
    fn what_is_named_is_taken() {
        let problem = Problem::new(1, 5, 1, Element::U8).unwrap();
        let none = |_| Support::Unsupported(String::new());
        assert_eq!(choose(Variant::Naive, &problem, Api::Cuda, none), Variant::Naive);
    }
}
