//! What a kernel's source cannot say for itself: its geometry, its launch shape and the addresses it touches.
//!
//! The geometry is declared once, in the [variant table](crate::variant), and travels from there to both languages:
//! to WGSL as a preamble of constants, to CUDA as defines.

use crate::element::Width;
use crate::problem::Problem;
use crate::variant::Moves;

/// The language a kernel is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// CUDA C++, compiled to PTX.
    Cuda,
    /// WGSL. It has no type narrower than 32 bits in storage, so 1- and 2-byte elements live packed in words.
    Wgsl,
}

impl Language {
    /// How many elements share the smallest unit of storage that the language can write: 4, 2 or 1.
    pub const fn per_word(self, width: Width) -> u32 {
        match (self, width) {
            (Language::Wgsl, Width::W1) => 4,
            (Language::Wgsl, Width::W2) => 2,
            _ => 1,
        }
    }

    /// Bytes that one element takes in a tile in shared memory.
    pub const fn tile_element_bytes(self, width: Width) -> u32 {
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
    pub fn shared_bytes(&self, width: Width, language: Language) -> u32 {
        self.tile_rows * self.pitch * language.tile_element_bytes(width)
    }
}

/// How many blocks a launch has: `batch` × `down` × `across`, numbered with `across` varying fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along a source row.
    pub across: u64,
    /// Blocks down the source's rows.
    pub down: u64,
    /// Matrices.
    pub batch: u64,
}

impl Grid {
    /// Blocks of the launch.
    pub fn blocks(&self) -> u64 {
        self.across * self.down * self.batch
    }
}

/// How the lanes of a warp walk through a matrix in one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// Neighbouring lanes touch neighbouring accesses of so many bytes.
    Along {
        /// Bytes of one lane's access.
        bytes: u32,
    },
    /// Neighbouring lanes touch the same column of neighbouring rows, one element each.
    Down,
}

/// The addresses a kernel touches, as the access model sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Loads from the source.
    pub load: Walk,
    /// Stores to the destination.
    pub store: Walk,
    /// Stores to and loads from the tile in shared memory, as elements between neighbouring lanes.
    pub tile: Option<(u32, u32)>,
}

/// A kernel of a variant: everything about it that is not its source.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The geometry for a width in a language.
    pub geometry: fn(Width, Language) -> Geometry,
    /// The addresses it touches with that geometry.
    pub access: fn(Width, Geometry) -> Access,
}

impl Kernel {
    /// The blocks that `problem` takes.
    pub fn grid(&self, moves: Moves, problem: &Problem, language: Language) -> Grid {
        let geometry = (self.geometry)(problem.width(), language);
        match moves {
            // A copy sees one long row.
            Moves::Copy => Grid { across: problem.elements().div_ceil(geometry.tile_cols.into()), down: 1, batch: 1 },
            Moves::Transpose => Grid {
                across: problem.cols().div_ceil(geometry.tile_cols.into()),
                down: problem.rows().div_ceil(geometry.tile_rows.into()),
                batch: problem.batch(),
            },
        }
    }
}
