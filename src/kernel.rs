//! What a kernel's source cannot say for itself: its geometry, its launch shape and the addresses it touches.
//!
//! The geometry is declared once, in the [variant table](crate::variant), and travels from there to both languages:
//! to WGSL as a preamble of constants, to CUDA as defines.

use crate::device::Api;
use crate::element::Width;
use crate::problem::Problem;

/// The language a kernel is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C++, compiled to PTX.
    Cuda,
    /// WGSL. It has no type narrower than 32 bits in storage, so 1- and 2-byte elements live packed in words.
    Wgsl,
}

impl Language {
    /// The language of an API's kernels; `None` for the CPU, which has none.
    pub fn of(api: Api) -> Option<Language> {
        match api {
            Api::Cpu => None,
            Api::Cuda => Some(Language::Cuda),
            Api::Vulkan | Api::Metal | Api::Dx12 | Api::Gl => Some(Language::Wgsl),
        }
    }

    /// How many elements share the smallest unit of storage that the language can write: 4, 2 or 1.
    pub const fn per_word(self, width: Width) -> u32 {
        match (self, width) {
            (Language::Wgsl, Width::W1) => 4,
            (Language::Wgsl, Width::W2) => 2,
            _ => 1,
        }
    }

    /// Bytes of the smallest unit of storage that holds one element.
    pub const fn word_bytes(self, width: Width) -> u32 {
        width.bytes() as u32 * self.per_word(width)
    }
}

/// The shape of one block (workgroup) and of what it moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads of a block along x; consecutive threads of a warp differ in x.
    pub block_x: u32,
    /// Threads of a block along y.
    pub block_y: u32,
    /// Source rows that one block moves, in elements.
    pub tile_rows: u32,
    /// Source columns that one block moves, in elements.
    pub tile_cols: u32,
    /// Elements from one row of the tile in shared memory to the next; 0 where the kernel uses no shared memory.
    pub pitch: u32,
    /// Bytes that an element takes in the tile.
    pub tile_element_bytes: u32,
}

impl Geometry {
    /// The constants by which both languages know this geometry.
    pub fn constants(&self) -> [(&'static str, u32); 5] {
        [
            ("BLOCK_X", self.block_x),
            ("BLOCK_Y", self.block_y),
            ("TILE_ROWS", self.tile_rows),
            ("TILE_COLS", self.tile_cols),
            ("PITCH", self.pitch),
        ]
    }

    /// Threads of one block.
    pub fn threads(&self) -> u32 {
        self.block_x * self.block_y
    }

    /// Shared (workgroup) memory of one block in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.tile_rows * self.pitch * self.tile_element_bytes
    }
}

/// The order in which blocks are numbered over the tiles of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Along a source row first: what runs together reads the same source rows.
    Across,
    /// Down the source's rows first: what runs together writes the same destination rows.
    Down,
}

/// How many blocks a launch has: `batch` × `down` × `across`, numbered in their [order](Order) and matrix by matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along a source row.
    pub across: u64,
    /// Blocks down the source's rows.
    pub down: u64,
    /// Matrices.
    pub batch: u64,
    /// Which blocks are neighbours in number, and so run at about the same time.
    pub order: Order,
    /// How many lines there are, of the kernels for a short side; 0 for others.
    pub lines: u64,
    /// How many 16-byte vectors of each of them a block has.
    pub segments: u64,
}

impl Grid {
    /// One block a tile, in this order.
    pub fn of_tiles(problem: &Problem, geometry: &Geometry, order: Order) -> Grid {
        Grid {
            across: problem.cols().div_ceil(geometry.tile_cols.into()),
            down: problem.rows().div_ceil(geometry.tile_rows.into()),
            batch: problem.batch(),
            order,
            lines: 0,
            segments: 0,
        }
    }

    /// One block for each `tile_cols` elements, as if all matrices together were one row: what a copy sees.
    pub fn of_line(problem: &Problem, geometry: &Geometry) -> Grid {
        let across = problem.elements().div_ceil(geometry.tile_cols.into());
        Grid { across, down: 1, batch: 1, order: Order::Across, lines: 0, segments: 0 }
    }

    /// Blocks of the launch.
    pub fn blocks(&self) -> u64 {
        self.across * self.down * self.batch
    }
}

/// WGSL that some kernels share. Each is `shaders/lib/NAME.wgsl`, where elements of all widths have something in
/// common, and `NAME_packed.wgsl` and `NAME_whole.wgsl`, where those of which a word holds several differ from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Source and destination as arrays of words.
    Word,
    /// A tile of single elements, in and out of which they go one by one: the kernel itself, but for their places.
    Tile,
    /// Source and destination as arrays of 16-byte vectors.
    Vector,
    /// Elements exchanged in registers.
    Vectorized,
    /// Vectors gathered from shared memory, element by element.
    Gather,
    /// The vectors that cannot be gathered.
    Ends,
    /// Chunks of matrices with a short side.
    Skinny,
    /// Pairs of tiles of a square matrix that mirror each other.
    Pairs,
    /// Words in place, of which several elements may belong to two rows.
    Bits,
}

/// A kernel of a variant: everything about it that is not its source.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The geometry for a width in a language.
    pub geometry: fn(Width, Language) -> Geometry,
    /// The blocks that a problem takes, for the geometry of its width.
    pub grid: fn(&Problem, &Geometry, Language) -> Grid,
    /// What of a problem the kernel cannot do, if anything, with the numbers.
    pub obstacle: fn(&Problem, Language) -> Option<String>,
    /// Whether it transposes what the destination has, in place, and reads no source.
    pub in_place: bool,
    /// What its WGSL shares with other kernels, beyond what all share.
    pub libraries: &'static [Library],
}

impl Kernel {
    /// Whether its WGSL accesses buffers by vectors of 16 bytes, and not by words.
    pub fn takes_vectors(&self) -> bool {
        !self.libraries.iter().any(|library| matches!(library, Library::Word | Library::Bits))
    }

    /// The blocks that `problem` takes.
    pub fn grid(&self, problem: &Problem, language: Language) -> Grid {
        (self.grid)(problem, &(self.geometry)(problem.width(), language), language)
    }
}
