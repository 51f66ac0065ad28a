//! The kernels of the [variant table](crate::variant): for each its geometry, its grid and what it cannot do. The sources are in `shaders/` and `cuda/`.

pub(crate) mod skinny;

use crate::element::Width;
use crate::kernel::{Geometry, Grid, Kernel, Language, Library, Order};
use crate::problem::Problem;

/// What most kernels have in common.
const PLAIN: Kernel = Kernel {
    geometry: tiled_geometry,
    grid: along_rows,
    obstacle: anything,
    in_place: false,
    libraries: &[Library::Word, Library::Tile],
};

pub(crate) const COPY: Kernel = Kernel { geometry: copy_geometry, grid: as_one_row, libraries: &[], ..PLAIN };
pub(crate) const NAIVE: Kernel = Kernel { geometry: naive_geometry, libraries: &[Library::Word], ..PLAIN };
pub(crate) const TILED: Kernel = PLAIN;
pub(crate) const PADDED: Kernel = Kernel { geometry: padded_geometry, ..PLAIN };
pub(crate) const SWIZZLED: Kernel = PLAIN;
pub(crate) const VECTORIZED: Kernel = Kernel {
    geometry: vectorized_geometry,
    grid: by_shape,
    libraries: &[Library::Vector, Library::Vectorized],
    ..PLAIN
};
pub(crate) const COMPACT: Kernel = Kernel { geometry: compact_geometry, ..VECTORIZED };
pub(crate) const GATHER: Kernel =
    Kernel { geometry: gather_geometry, libraries: &[Library::Vector, Library::Ends, Library::Gather], ..VECTORIZED };

pub(crate) const INPLACE: Kernel = Kernel {
    geometry: inplace_geometry,
    grid: pairs,
    obstacle: no_vectors,
    in_place: true,
    libraries: &[Library::Vector, Library::Vectorized, Library::Pairs],
};
pub(crate) const SWAP: Kernel = Kernel {
    geometry: swap_geometry,
    grid: pairs,
    obstacle: not_square,
    in_place: true,
    libraries: &[Library::Pairs, Library::Bits],
};

/// The kernel can do every problem.
fn anything(_: &Problem, _: Language) -> Option<String> {
    None
}

/// Both sides are to be the same, and a matrix its own transpose's shape.
fn not_square(problem: &Problem, _: Language) -> Option<String> {
    let [source, destination] = problem.kernel_layouts();
    match problem.rows() == problem.cols() {
        false => Some(format!("in place go square matrices, these are {}×{}", problem.rows(), problem.cols())),
        true if source != destination => {
            Some("in place, source and destination have one layout, here they have two".to_owned())
        }
        true => None,
    }
}

/// The same, and rows begin with a vector.
fn no_vectors(problem: &Problem, language: Language) -> Option<String> {
    let [_, destination] = problem.kernel_layouts();
    let vector = vector(problem.width());
    not_square(problem, language).or_else(|| {
        (!destination.begins_with(vector.into()))
            .then(|| format!("not all rows begin with a vector of {vector} elements; `swap` takes them"))
    })
}

/// A block for each two tiles that mirror each other, or one on the diagonal: see `cuda/pairs.cuh`.
fn pairs(problem: &Problem, geometry: &Geometry, language: Language) -> Grid {
    let tiles = problem.rows().div_ceil(geometry.tile_rows.into());
    let grid = along_rows(problem, geometry, language);
    Grid { across: tiles.div_ceil(2), down: tiles + (tiles + 1) % 2, order: Order::Down, ..grid }
}

/// All matrices together are one row.
fn as_one_row(problem: &Problem, geometry: &Geometry, _: Language) -> Grid {
    Grid::of_line(problem, geometry)
}

/// Tiles in the usual order.
fn along_rows(problem: &Problem, geometry: &Geometry, _: Language) -> Grid {
    Grid::of_tiles(problem, geometry, Order::Across)
}

/// Down, so that what runs together writes along the same destination rows, unless a source row is so short that what
/// runs together reads whole rows anyway. Measured on an H200: docs/kernels.md.
fn by_shape(problem: &Problem, geometry: &Geometry, _: Language) -> Grid {
    const SHORT_BYTES: u64 = 4096;
    let short = problem.cols() <= SHORT_BYTES / problem.width().bytes() as u64;
    Grid::of_tiles(problem, geometry, if short { Order::Across } else { Order::Down })
}

/// Elements of a vector of 16 bytes.
const fn vector(width: Width) -> u32 {
    16 / width.bytes() as u32
}

/// A geometry without shared memory.
const fn direct(block_x: u32, block_y: u32, tile_rows: u32, tile_cols: u32) -> Geometry {
    Geometry { block_x, block_y, tile_rows, tile_cols, pitch: 0, tile_element_bytes: 0 }
}

fn copy_geometry(width: Width, _: Language) -> Geometry {
    // 256 threads × 16 bytes = 4 KiB a block.
    direct(256, 1, 1, 256 * vector(width))
}

fn naive_geometry(width: Width, language: Language) -> Geometry {
    // Where elements are packed, a thread writes a whole word of the destination and so takes as many source rows.
    direct(32, 8, 8 * language.per_word(width), 32)
}

fn tiled_geometry(width: Width, language: Language) -> Geometry {
    let tile_element_bytes = language.word_bytes(width);
    Geometry { pitch: 32, tile_element_bytes, ..direct(32, 8, 32, 32) }
}

fn padded_geometry(width: Width, language: Language) -> Geometry {
    Geometry { pitch: 33, ..tiled_geometry(width, language) }
}

fn vectorized_geometry(width: Width, language: Language) -> Geometry {
    // Measured on an H200: docs/kernels.md. At least 128 bytes along each side, and no more work in a block than that
    // takes, for what runs together should touch neighbouring addresses.
    let (threads, tile_rows, tile_cols) = match (width, language) {
        (Width::W1, Language::Cuda) => (512, 128, 256),
        (Width::W2, Language::Cuda) => (512, 128, 128),
        // Workgroups of 512 are slow through Vulkan, whatever they do, and they and 32 KiB are more than every WebGPU
        // device has. Within that, 256 bytes along the source are worth more than 128 along the destination.
        (Width::W1, Language::Wgsl) => (256, 64, 256),
        (Width::W2, Language::Wgsl) => (128, 32, 128),
        (Width::W4, _) => (256, 64, 64),
        (Width::W8, _) => (256, 32, 32),
        (Width::W16, _) => (256, 32, 16),
    };
    transposed_tile(width, threads, tile_rows, tile_cols)
}

/// A tile that lies transposed in shared memory, packed: `tile_cols` rows of `tile_rows` elements.
fn transposed_tile(width: Width, threads: u32, tile_rows: u32, tile_cols: u32) -> Geometry {
    let tile_element_bytes = width.bytes() as u32;
    Geometry { pitch: tile_cols, tile_element_bytes, ..direct(threads, 1, tile_rows, tile_cols) }
}

fn inplace_geometry(width: Width, language: Language) -> Geometry {
    let (threads, side) = match (width, language) {
        (Width::W1, _) => (256, 128),
        (Width::W2, Language::Cuda) => (256, 64),
        (Width::W2, Language::Wgsl) => (128, 64),
        (Width::W4, _) => (256, 64),
        (Width::W8, _) => (256, 32),
        (Width::W16, _) => (128, 16),
    };
    transposed_tile(width, threads, side, side)
}

/// A row of the tile lies, wherever it begins, in a window of so many words, of which a block takes some at a time.
fn swap_geometry(width: Width, language: Language) -> Geometry {
    let (words, windows, side) = match (width, language) {
        (Width::W1, Language::Cuda) => (32, 8, 112),
        (Width::W2, Language::Cuda) => (64, 8, 112),
        // Within 16 KiB, which WebGPU promises everywhere.
        (Width::W1, Language::Wgsl) => (32, 8, 120),
        (Width::W2, Language::Wgsl) => (32, 8, 60),
        // Larger tiles are faster with CUDA, whose loads are of 16 bytes, and slower through Vulkan.
        (Width::W4, Language::Cuda) => (64, 4, 56),
        (Width::W4, Language::Wgsl) => (64, 4, 62),
        (Width::W8, Language::Cuda) => (64, 8, 60),
        (Width::W8, Language::Wgsl) => (64, 4, 44),
        (Width::W16, _) => (32, 8, 31),
    };
    let per_word = Language::Wgsl.per_word(width);
    // What is loaded and put into the tile as it is: vectors, or words, which alone are atomic.
    let unit = match language {
        Language::Cuda => vector(width),
        Language::Wgsl => per_word,
    };
    // Rows in the tile, and the longest one, with the words that are shared with the tiles around.
    let (rows, longest) = if per_word > 1 { (side + per_word - 1, side + per_word) } else { (side, side) };
    // The units that hold a row wherever it begins, and as many elements as rows are apart modulo a unit.
    let pitch = (longest + unit - per_word).next_multiple_of(unit) + unit - 1;
    // An even one, where it is a constant, has conflicts.
    let pitch = if unit == 1 { pitch | 1 } else { pitch };
    // Invocations of WGSL take words of four rows at a time, and read beyond the last one.
    let last = if language == Language::Wgsl && per_word > 1 { rows.next_multiple_of(4 * windows) } else { 0 };
    let elements = ((rows - 1) * pitch + pitch.max(last) + per_word - 1).next_multiple_of(unit);
    // Whole units again, as if there were `side` rows.
    let pitch = (elements.div_ceil(side)..).find(|pitch| side * pitch % unit == 0).unwrap_or(pitch);
    Geometry { pitch, tile_element_bytes: width.bytes() as u32, ..direct(words, windows, side, side) }
}

fn compact_geometry(width: Width, language: Language) -> Geometry {
    let (threads, tile_rows, tile_cols) = match (width, language) {
        (Width::W1, _) => (256, 128, 128),
        (Width::W2, Language::Cuda) => (256, 64, 64),
        (Width::W2, Language::Wgsl) => (128, 64, 64),
        (Width::W4, _) => (64, 32, 32),
        (Width::W8, _) => (128, 32, 16),
        (Width::W16, _) => (128, 16, 16),
    };
    transposed_tile(width, threads, tile_rows, tile_cols)
}

/// A row of the tile lies in `span` vectors, wherever it begins.
fn gather_geometry(width: Width, language: Language) -> Geometry {
    let vector = vector(width);
    let (threads, tile_rows, span) = match (width, language) {
        (Width::W1, Language::Cuda) => (256, 128, 8),
        (Width::W2, Language::Cuda) => (256, 64, 16),
        (Width::W4, Language::Cuda) => (288, 96, 18),
        (Width::W8 | Width::W16, Language::Cuda) => (256, 32, 16),
        // Within 16 KiB, which WebGPU promises everywhere, and four vectors an invocation, the rows and vectors that
        // are loaded beyond the tile are the fewest where the tile is about a square.
        (Width::W1, Language::Wgsl) => (224, 96, 7),
        (Width::W2, Language::Wgsl) => (224, 64, 11),
        (Width::W4, Language::Wgsl) => (256, 48, 17),
        (Width::W8, Language::Wgsl) => (224, 48, 17),
        (Width::W16, Language::Wgsl) => (160, 32, 16),
    };
    // One vector less than that, unless elements are vectors.
    let tile_cols = if vector > 1 { (span - 1) * vector } else { span };
    // What a row takes at the most, with its share of the gaps.
    let (row, unit) = match language {
        Language::Cuda => ((span + 1) * vector, vector),
        Language::Wgsl => (span * vector + (vector - 1).max(1), 1),
    };
    // A sector of rows more and two vectors, spread over the rows of the tile.
    let pitch = ((tile_rows + 2 * vector) * row + 2 * vector).div_ceil(tile_rows).next_multiple_of(unit);
    Geometry { pitch, tile_element_bytes: width.bytes() as u32, ..direct(threads, 1, tile_rows, tile_cols) }
}
