//! The kernels for matrices with a short side: `tall` for short rows, `wide` for few of them. A block moves a chunk, some
//! neighbours along the long side with all that they have along the short one.

use super::{VECTORIZED, direct, vector};
use crate::element::Width;
use crate::kernel::{Geometry, Grid, Kernel, Language, Library, Order};
use crate::problem::{Layout, Problem};

const SKINNY: Kernel = Kernel { libraries: &[Library::Vector, Library::Gather, Library::Skinny], ..VECTORIZED };
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
        Language::Cuda => chunk(width, 256, 1536),
        Language::Wgsl => chunk(width, 256, 896),
    }
}

fn wide_geometry(width: Width, language: Language) -> Geometry {
    match language {
        Language::Cuda => chunk(width, 384, 1536),
        Language::Wgsl => chunk(width, 256, 896),
    }
}

/// A chunk of so many vectors, as one long row with room for a gap of one vector after at least every eight. Those of
/// WGSL fit into the 16 KiB that WebGPU promises everywhere.
fn chunk(width: Width, threads: u32, vectors: u32) -> Geometry {
    let (vector, tile_element_bytes) = (vector(width), width.bytes() as u32);
    Geometry { pitch: vectors / 8 * 9 * vector, tile_element_bytes, ..direct(threads, 1, 1, vectors * vector) }
}

/// How these kernels see a problem.
pub(crate) struct Skinny {
    tall: bool,
    short: u64,
    long: u64,
    /// How far rows of the contiguous side lie apart.
    rows_ld: u64,
    lines: Layout,
    batch: u64,
    /// Elements of a vector.
    vector: u64,
}

impl Skinny {
    /// As `tall` does.
    pub(crate) fn tall(problem: &Problem) -> Skinny {
        let [source, destination] = problem.kernel_layouts();
        Skinny::new(true, problem, problem.cols(), problem.rows(), source.ld, destination)
    }

    /// As `wide` does.
    pub(crate) fn wide(problem: &Problem) -> Skinny {
        let [source, destination] = problem.kernel_layouts();
        Skinny::new(false, problem, problem.rows(), problem.cols(), destination.ld, source)
    }

    fn new(tall: bool, problem: &Problem, short: u64, long: u64, rows_ld: u64, lines: Layout) -> Skinny {
        Skinny { tall, short, long, rows_ld, lines, batch: problem.batch(), vector: vector(problem.width()).into() }
    }

    /// Whether lines begin with a vector, or with a sector where they are stored.
    pub(crate) fn is_aligned(&self) -> bool {
        self.lines.begins_with(if self.tall { 2 * self.vector } else { self.vector })
    }

    /// Vectors of each line that a block has in shared memory.
    fn segments(&self, geometry: &Geometry, language: Language) -> u64 {
        let chunk = u64::from(geometry.tile_cols) / self.vector;
        match language {
            Language::Cuda => self.cuda_segments(chunk),
            Language::Wgsl => 1 << (chunk / self.short.max(1)).max(4).ilog2(),
        }
    }

    /// As many as a chunk of so many vectors has room for, in whole sectors or, where lines are aligned, of 128 or 64
    /// bytes if that loses little; and fewer where that makes enough blocks for a device.
    fn cuda_segments(&self, chunk: u64) -> u64 {
        /// Four blocks for each multiprocessor of an H200.
        const BLOCKS: u64 = 528;
        let aligned = self.is_aligned();
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

    /// How many of them are another block's, too.
    fn spared(&self, language: Language) -> u64 {
        match (self.is_aligned(), language, self.tall) {
            (true, _, _) => 0,
            (false, Language::Cuda, false) => 1,
            (false, _, _) => 2,
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
        Grid { across, down, batch: self.batch, order: Order::Across, segments }
    }

    fn obstacle(&self, language: Language) -> Option<String> {
        let most = most(language);
        let sides = if self.tall { ["rows", "columns"] } else { ["columns", "rows"] };
        let Skinny { short, rows_ld, .. } = *self;
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
