//! The variants: one table from which the enum, the command line, the record keys, the embedded sources and the
//! tests all come.
//!
//! A new variant is one row here, `shaders/NAME.wgsl` and `cuda/NAME.cu`.

use std::fmt;
use std::str::FromStr;

use crate::device::Api;
use crate::element::Width;
use crate::kernel::{Access, Geometry, Kernel, Language, Order, TileAccess, Walk};

/// What a variant does with the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// The destination is the source.
    ///
    /// Of a problem with gaps, a copy moves as many bytes as a transpose: so many elements from the beginning of the
    /// source, whatever they are, to the beginning of the destination. The rest of the destination stays as it is.
    Copy,
    /// The destination is the transpose of the source, and its gaps stay as they are.
    Transpose,
}

/// Whether a backend has a variant at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It has.
    Present,
    /// It has not, because of this.
    Absent(&'static str),
}

use Presence::{Absent, Present};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// What it does with the elements.
    pub moves: Moves,
    /// Whether it is one of the copies that make the ceiling.
    pub ceiling: bool,
    /// Its kernel, where it is one of ours; `None` where it is somebody else's code.
    pub kernel: Option<Kernel>,
    /// Presence on the CPU backend.
    pub cpu: Presence,
    /// Presence on the wgpu backend.
    pub wgpu: Presence,
    /// Presence on the CUDA backend.
    pub cuda: Presence,
}

macro_rules! variants {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $source:ident { $($spec:tt)* })*) => {
        /// A way to move a matrix.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Variant { $($(#[doc = $doc])+ $variant,)* }

        impl Variant {
            /// Every variant, in the order of the table.
            pub const ALL: &[Variant] = &[$(Variant::$variant,)*];

            /// The name on the command line and in records, and the stem of its sources.
            pub const fn name(self) -> &'static str {
                match self { $(Variant::$variant => $name,)* }
            }

            /// What it is, in a line or two.
            pub const fn summary(self) -> &'static str {
                match self { $(Variant::$variant => concat!($($doc,)+).trim_ascii(),)* }
            }

            /// Its row of the table.
            pub fn spec(self) -> Spec {
                match self { $(Variant::$variant => Spec { $($spec)* },)* }
            }

            /// Its WGSL source without the preamble, where it has a kernel.
            pub const fn wgsl(self) -> Option<&'static str> {
                match self { $(Variant::$variant => variants!(@wgsl $source $name),)* }
            }

            /// Its PTX for a width, where it has a kernel.
            #[cfg(feature = "cuda")]
            pub const fn ptx(self, width: Width) -> Option<&'static str> {
                match self { $(Variant::$variant => variants!(@ptx $source $name width),)* }
            }
        }
    };
    (@wgsl ours $name:literal) => { Some(include_str!(concat!("../shaders/", $name, ".wgsl"))) };
    (@wgsl theirs $name:literal) => { None };
    (@ptx ours $name:literal $width:ident) => {
        Some(match $width {
            Width::W1 => include_str!(concat!("../cuda/ptx/", $name, ".w1.ptx")),
            Width::W2 => include_str!(concat!("../cuda/ptx/", $name, ".w2.ptx")),
            Width::W4 => include_str!(concat!("../cuda/ptx/", $name, ".w4.ptx")),
            Width::W8 => include_str!(concat!("../cuda/ptx/", $name, ".w8.ptx")),
            Width::W16 => include_str!(concat!("../cuda/ptx/", $name, ".w16.ptx")),
        })
    };
    (@ptx theirs $name:literal $width:ident) => {{ let _ = $width; None }};
}

const NO_BANKS: Presence = Absent("a CPU has no shared memory whose banks could conflict");
const CPU_LIBRARY: Presence = Absent("a CPU library");
const CUDA_LIBRARY: Presence = Absent("a CUDA library");

variants! {
    /// The API's own copy: cuMemcpyDtoDAsync, copyBufferToBuffer, or memcpy.
    Memcpy "memcpy" theirs {
        moves: Moves::Copy, ceiling: true, kernel: None, cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The plainest copy kernel, which is the fastest: one 16-byte load and store a thread, blocks in order.
    Copy "copy" ours {
        moves: Moves::Copy,
        ceiling: true,
        kernel: Some(Kernel { geometry: copy_geometry, access: copy_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// One element a thread, straight from source to destination: reads coalesced, writes strided.
    Naive "naive" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(Kernel { geometry: naive_geometry, access: naive_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// A 32×32 tile through shared memory: both sides coalesced, but the tile is read down its columns, in which
    /// every element lies in the same bank. On a CPU: cache blocks.
    Tiled "tiled" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(Kernel { geometry: tiled_geometry, access: tiled_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The tile with rows one element longer, 32×33, so that a column spreads over all banks.
    Padded "padded" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(Kernel { geometry: padded_geometry, access: padded_access }),
        cpu: NO_BANKS, wgpu: Present, cuda: Present,
    }
    /// The tile with each row's elements exchanged by an XOR with the row's number, so that a column spreads over all
    /// banks without padding.
    Swizzled "swizzled" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(Kernel { geometry: tiled_geometry, access: swizzled_access }),
        cpu: NO_BANKS, wgpu: Present, cuda: Present,
    }
    /// Larger tiles with 16-byte loads and stores on both sides, elements exchanged in registers around shared memory,
    /// no bank conflicts, and blocks in an order that writes destination rows along.
    Vectorized "vectorized" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(Kernel { geometry: vectorized_geometry, access: vectorized_access }),
        cpu: Absent("the CPU's tiled variant has vector access already"), wgpu: Present, cuda: Present,
    }
    /// Whichever of the transposes the shape, the width and the device call for; rows say which it was.
    Auto "auto" theirs {
        moves: Moves::Transpose, ceiling: false, kernel: None, cpu: Present, wgpu: Present, cuda: Present,
    }
    /// cuBLAS's geam, the vendor's own transpose, where libcublas is found and elements have 4 or 8 bytes.
    Geam "geam" theirs {
        moves: Moves::Transpose, ceiling: false, kernel: None, cpu: CUDA_LIBRARY, wgpu: CUDA_LIBRARY, cuda: Present,
    }
    /// The `transpose` crate, single-threaded: what a Rust program uses on a CPU today.
    TransposeCrate "transpose-crate" theirs {
        moves: Moves::Transpose, ceiling: false, kernel: None, cpu: Present, wgpu: CPU_LIBRARY, cuda: CPU_LIBRARY,
    }
}

/// A geometry without shared memory.
const fn direct(block_x: u32, block_y: u32, tile_rows: u32, tile_cols: u32) -> Geometry {
    Geometry { block_x, block_y, tile_rows, tile_cols, pitch: 0, tile_element_bytes: 0, order: Order::Across }
}

fn copy_geometry(width: Width, _: Language) -> Geometry {
    // 256 threads × 16 bytes = 4 KiB a block.
    direct(256, 1, 1, 256 * 16 / width.bytes() as u32)
}

fn copy_access(_: Width) -> Access {
    Access { load: Walk::Along { bytes: 16 }, store: Walk::Along { bytes: 16 }, tile: None }
}

fn naive_geometry(width: Width, language: Language) -> Geometry {
    // Where elements are packed, a thread writes a whole word of the destination and so takes as many source rows.
    direct(32, 8, 8 * language.per_word(width), 32)
}

fn naive_access(width: Width) -> Access {
    Access { load: Walk::Along { bytes: width.bytes() as u32 }, store: Walk::Down, tile: None }
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
    // The tile lies transposed in shared memory: `tile_cols` rows of `tile_rows` elements, packed.
    let tile_element_bytes = width.bytes() as u32;
    Geometry { pitch: tile_cols, tile_element_bytes, order: Order::Down, ..direct(threads, 1, tile_rows, tile_cols) }
}

fn vectorized_access(_: Width) -> Access {
    // Conflict-free by its swizzle, which has more to it than a function of the lane.
    Access { load: Walk::Along { bytes: 16 }, store: Walk::Along { bytes: 16 }, tile: None }
}

fn tiled_access(width: Width) -> Access {
    tile_access(width, |lane| 32 * lane)
}

fn padded_access(width: Width) -> Access {
    tile_access(width, |lane| 33 * lane)
}

fn swizzled_access(width: Width) -> Access {
    tile_access(width, |lane| 32 * lane + lane)
}

/// Rows of the tile are written along; columns are read as `load` says, for the first column.
fn tile_access(width: Width, load: fn(u64) -> u64) -> Access {
    let along = Walk::Along { bytes: width.bytes() as u32 };
    Access { load: along, store: along, tile: Some(TileAccess { store: |lane| lane, load }) }
}

impl Variant {
    /// Whether a device of this API has the variant.
    pub fn presence(self, api: Api) -> Presence {
        let spec = self.spec();
        match api {
            Api::Cpu => spec.cpu,
            Api::Cuda => spec.cuda,
            Api::Vulkan | Api::Metal | Api::Dx12 | Api::Gl => spec.wgpu,
        }
    }

    /// Whether it is one of the copies that everything is held against.
    pub fn is_ceiling(self) -> bool {
        self.spec().ceiling
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no variant has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown variant `{name}`; the variants are {}", names())]
pub struct UnknownVariant {
    /// What was asked for.
    pub name: String,
}

fn names() -> String {
    Variant::ALL.iter().map(|variant| variant.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Self, UnknownVariant> {
        let found = Variant::ALL.iter().find(|variant| variant.name() == name);
        found.copied().ok_or_else(|| UnknownVariant { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_unknown_ones_list_the_valid_ones() {
        for &variant in Variant::ALL {
            assert_eq!(variant.name().parse(), Ok(variant));
            assert!(!variant.summary().is_empty());
        }
        let message = "fast".parse::<Variant>().unwrap_err().to_string();
        assert!(message.contains("`fast`") && message.contains("memcpy, copy, naive, tiled, padded"), "{message}");
    }

    #[test]
    fn what_has_a_source_has_a_kernel() {
        for &variant in Variant::ALL {
            assert_eq!(variant.wgsl().is_some(), variant.spec().kernel.is_some(), "{variant}");
        }
    }
}
