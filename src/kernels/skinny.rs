//! The kernels for matrices with a short side: `tall` for short rows, `wide` for few of them. A block moves a chunk, some
//! neighbours along the long side with all that they have along the short one.

use super::{VECTORIZED, direct, vector};
use crate::element::Width;
use crate::kernel::{Geometry, Grid, Kernel, Language, Library, Order};
use crate::problem::{Layout, Problem};

const SKINNY: Kernel = Kernel { libraries: &[Library::Vector, Library::Ends, Library::Skinny], ..VECTORIZED };
pub(crate) const TALL: Kernel = Kernel { geometry: tall_geometry, grid: tall_chunks, obstacle: not_tall, ..SKINNY };
pub(crate) const WIDE: Kernel = Kernel { geometry: wide_geometry, grid: wide_chunks, obstacle: not_wide, ..SKINNY };

/// The longest short side that the kernels take: with more, a block moves too little of each line.
const fn most(language: Language) -> u64 {
    match language {
        Language::Cuda => 255,
        Language::Wgsl => 127,
    }
}

fn tall_geometry(width: Width, language: Language) -> Geometry {
    match language {
        // Measured on an H200: docs/kernels.md.
        Language::Cuda => with_vector_gaps(width, 256, 1536),
        Language::Wgsl => wgsl_geometry(width),
    }
}

fn wide_geometry(width: Width, language: Language) -> Geometry {
    match language {
        Language::Cuda => with_vector_gaps(width, 384, 1536),
        Language::Wgsl => wgsl_geometry(width),
    }
}

/// A chunk of so many vectors, with room for a gap of one after at least every eight.
fn with_vector_gaps(width: Width, threads: u32, vectors: u32) -> Geometry {
    chunk(width, threads, vectors, vectors / 8 * 9)
}

/// Through Vulkan small workgroups are faster, and the less shared memory for a vector the better: measured on an H200,
/// docs/kernels.md. There is just enough for four vectors of each of the [most](most) lines.
fn wgsl_geometry(width: Width) -> Geometry {
    let threads = if width == Width::W2 { 256 } else { 128 };
    chunk(width, threads, 512, 512)
}

/// A chunk of so many vectors as one long row, with room for some more.
fn chunk(width: Width, threads: u32, vectors: u32, room: u32) -> Geometry {
    let (vector, tile_element_bytes) = (vector(width), width.bytes() as u32);
    Geometry { pitch: room * vector, tile_element_bytes, ..direct(threads, 1, 1, vectors * vector) }
}

/// How these kernels see a problem.
pub(crate) struct Skinny {
    /// Whether the source has its short side along rows.
    pub(crate) tall: bool,
    short: u64,
    long: u64,
    /// Where rows of the short side lie, and those of the long side.
    rows: Layout,
    lines: Layout,
    batch: u64,
    width: Width,
    /// Elements of a vector.
    vector: u64,
}

impl Skinny {
    /// As `tall` does.
    pub(crate) fn tall(problem: &Problem) -> Skinny {
        let [source, destination] = problem.kernel_layouts();
        Skinny::new(true, problem, problem.cols(), problem.rows(), source, destination)
    }

    /// As `wide` does.
    pub(crate) fn wide(problem: &Problem) -> Skinny {
        let [source, destination] = problem.kernel_layouts();
        Skinny::new(false, problem, problem.rows(), problem.cols(), destination, source)
    }

    fn new(tall: bool, problem: &Problem, short: u64, long: u64, rows: Layout, lines: Layout) -> Skinny {
        let (batch, width) = (problem.batch(), problem.width());
        Skinny { tall, short, long, rows, lines, batch, width, vector: vector(width).into() }
    }

    /// Whether lines begin with a vector or, where CUDA stores them, with a sector.
    pub(crate) fn is_aligned(&self, language: Language) -> bool {
        let sectors = self.tall && language == Language::Cuda;
        self.lines.begins_with(if sectors { 2 * self.vector } else { self.vector })
    }

    /// Whether the other side's matrices, each in one piece, begin with a vector.
    pub(crate) fn is_contiguous_aligned(&self) -> bool {
        self.rows.first.is_multiple_of(self.vector) && self.rows.stride.is_multiple_of(self.vector)
    }

    /// Vectors of each line that a block has in shared memory.
    pub(crate) fn segments(&self, geometry: &Geometry, language: Language) -> u64 {
        match language {
            Language::Cuda => self.cuda_segments(geometry),
            Language::Wgsl => self.wgsl_segments(geometry),
        }
    }

    /// As many as a chunk has room for, in whole sectors or, where lines are aligned, of 128 or 64
    /// bytes if that loses little; and fewer where that makes enough blocks for a device.
    fn cuda_segments(&self, geometry: &Geometry) -> u64 {
        /// Four blocks for each multiprocessor of an H200.
        const BLOCKS: u64 = 528;
        let chunk = u64::from(geometry.tile_cols) / self.vector;
        let aligned = self.is_aligned(Language::Cuda);
        // Where lines begin anywhere, of 32 vectors one is there for its neighbour alone.
        let fit = if aligned { chunk } else { chunk / 32 * 31 } / self.short.max(1);
        let shared_out = self.long.saturating_mul(self.batch) / (self.vector * BLOCKS);
        let wanted = fit.min(shared_out.max(8));
        let unit = match wanted {
            16.. if aligned => 8,
            8.. if aligned => 4,
            _ if self.tall => 2,
            _ => 1,
        };
        wanted / unit * unit
    }

    /// As many as fit, an even number.
    fn wgsl_segments(&self, geometry: &Geometry) -> u64 {
        let vectors = u64::from(geometry.tile_cols) / self.vector;
        let short = self.short.max(1);
        // Where matrices begin within a vector, a block has one more.
        let more = u64::from(!self.is_contiguous_aligned());
        // A gap of a word after each segment.
        let room = (u64::from(geometry.shared_bytes()) / 4 - 4 * more) / (4 * short + 1);
        // An invocation takes as many lines at once as elements are in a word.
        let lines = short.next_multiple_of(Language::Wgsl.per_word(self.width).into());
        (room.min(vectors / lines).min((vectors - more) / short) / 2 * 2).max(4)
    }

    /// How many of them are another block's, too.
    fn spared(&self, language: Language) -> u64 {
        match (language, self.tall) {
            _ if self.is_aligned(language) => 0,
            (Language::Cuda, true) => 2,
            (Language::Cuda, false) | (Language::Wgsl, true) => 1,
            // Two vectors are loaded for each.
            (Language::Wgsl, false) => 0,
        }
    }

    /// Vectors of each line that a block moves.
    pub(crate) fn moved(&self, geometry: &Geometry, language: Language) -> u64 {
        self.segments(geometry, language) - self.spared(language)
    }

    /// Blocks along the long side.
    fn blocks(&self, geometry: &Geometry, language: Language) -> u64 {
        self.long.div_ceil(self.moved(geometry, language) * self.vector)
    }

    fn grid(&self, geometry: &Geometry, language: Language) -> Grid {
        let blocks = self.blocks(geometry, language);
        let (across, down) = if self.tall { (1, blocks) } else { (blocks, 1) };
        let segments = self.segments(geometry, language);
        Grid { across, down, batch: self.batch, order: Order::Across, lines: self.short, segments }
    }

    fn obstacle(&self, language: Language) -> Option<String> {
        let most = most(language);
        let sides = if self.tall { ["rows", "columns"] } else { ["columns", "rows"] };
        let (short, rows_ld) = (self.short, self.rows.ld);
        if short > most {
            return Some(format!("there are {short} {}, the kernel takes at most {most}", sides[1]));
        }
        let side = if self.tall { "source" } else { "destination" };
        (rows_ld != short).then(|| {
            format!(
                "{side} rows of {short} elements begin every {rows_ld}, the kernel takes them one directly after the other"
            )
        })
    }
}

fn tall_chunks(problem: &Problem, geometry: &Geometry, language: Language) -> Grid {
    Skinny::tall(problem).grid(geometry, language)
}

fn wide_chunks(problem: &Problem, geometry: &Geometry, language: Language) -> Grid {
    Skinny::wide(problem).grid(geometry, language)
}

fn not_tall(problem: &Problem, language: Language) -> Option<String> {
    Skinny::tall(problem).obstacle(language)
}

fn not_wide(problem: &Problem, language: Language) -> Option<String> {
    Skinny::wide(problem).obstacle(language)
}
