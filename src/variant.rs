//! The variants: one table from which the enum, the command line, the record keys, the embedded sources and the
//! tests all come.
//!
//! A new variant is one row here, `shaders/NAME.wgsl` and `cuda/NAME.cu`.

use std::fmt;
use std::str::FromStr;

use crate::device::Api;
use crate::element::Width;
use crate::kernel::{Access, Geometry, Kernel, Language, Walk};

/// What a variant does with the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// The destination is the source.
    Copy,
    /// The destination is the transpose of the source.
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

variants! {
    /// The API's own copy: cuMemcpyDtoDAsync, copyBufferToBuffer, or memcpy.
    Memcpy "memcpy" theirs {
        moves: Moves::Copy, kernel: None, cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The fastest copy kernel: one 16-byte load and store a thread, blocks in order.
    Copy "copy" ours {
        moves: Moves::Copy,
        kernel: Some(Kernel { geometry: copy_geometry, access: copy_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// One element a thread, straight from source to destination: reads coalesced, writes strided.
    Naive "naive" ours {
        moves: Moves::Transpose,
        kernel: Some(Kernel { geometry: naive_geometry, access: naive_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// A 32×32 tile through shared memory: both sides coalesced, but the tile is read down its columns, in which
    /// every element lies in the same bank. On a CPU: cache blocks.
    Tiled "tiled" ours {
        moves: Moves::Transpose,
        kernel: Some(Kernel { geometry: tiled_geometry, access: tile_access }),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The tile with rows one element longer, 32×33, so that a column spreads over all banks.
    Padded "padded" ours {
        moves: Moves::Transpose,
        kernel: Some(Kernel { geometry: padded_geometry, access: tile_access }),
        cpu: Absent("a CPU has no shared memory whose banks could conflict"), wgpu: Present, cuda: Present,
    }
    /// The `transpose` crate, single-threaded: what a Rust program uses on a CPU today.
    TransposeCrate "transpose-crate" theirs {
        moves: Moves::Transpose, kernel: None,
        cpu: Present, wgpu: Absent("a CPU library"), cuda: Absent("a CPU library"),
    }
}

fn copy_geometry(width: Width, _: Language) -> Geometry {
    // 256 threads × 16 bytes = 4 KiB a block.
    let tile_cols = 256 * 16 / width.bytes() as u32;
    Geometry { block_x: 256, block_y: 1, tile_rows: 1, tile_cols, pitch: 0 }
}

fn copy_access(_: Width, _: Geometry) -> Access {
    Access { load: Walk::Along { bytes: 16 }, store: Walk::Along { bytes: 16 }, tile: None }
}

fn naive_geometry(width: Width, language: Language) -> Geometry {
    // Where elements are packed, a thread writes a whole word of the destination and so takes as many source rows.
    Geometry { block_x: 32, block_y: 8, tile_rows: 8 * language.per_word(width), tile_cols: 32, pitch: 0 }
}

fn naive_access(width: Width, _: Geometry) -> Access {
    Access { load: Walk::Along { bytes: width.bytes() as u32 }, store: Walk::Down, tile: None }
}

fn tiled_geometry(_: Width, _: Language) -> Geometry {
    Geometry { block_x: 32, block_y: 8, tile_rows: 32, tile_cols: 32, pitch: 32 }
}

fn padded_geometry(width: Width, language: Language) -> Geometry {
    Geometry { pitch: 33, ..tiled_geometry(width, language) }
}

/// Rows of the tile are written along, columns are read down.
fn tile_access(width: Width, geometry: Geometry) -> Access {
    let along = Walk::Along { bytes: width.bytes() as u32 };
    Access { load: along, store: along, tile: Some((1, geometry.pitch)) }
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

    /// Whether it is one of the copies that the transposes are held against.
    pub fn is_copy(self) -> bool {
        self.spec().moves == Moves::Copy
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
