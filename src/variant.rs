//! The variants: one table from which the enum, the command line, the record keys, the embedded sources and the
//! tests all come.
//!
//! A new variant is one row here, its kernel in `src/kernels.rs`, `shaders/NAME.wgsl` and `cuda/NAME.cu`. After `ours`
//! stands the variant whose sources are compiled with another geometry, where it has none of its own.

use std::fmt;
use std::str::FromStr;

use crate::device::Api;
#[cfg(feature = "cuda")]
use crate::element::Width;
use crate::kernel::Kernel;
use crate::kernels;
use crate::problem::Problem;

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
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $source:ident $($stem:literal)? { $($spec:tt)* })*) => {
        /// A way to move a matrix.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Variant { $($(#[doc = $doc])+ $variant,)* }

        impl Variant {
            /// Every variant, in the order of the table.
            pub const ALL: &[Variant] = &[$(Variant::$variant,)*];

            /// The name on the command line and in records.
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

            /// The stem of its sources' names, which is also the name of the kernel in its PTX: its own name, or that of
            /// the variant whose sources it is compiled from with another geometry.
            pub const fn stem(self) -> &'static str {
                match self { $(Variant::$variant => variants!(@stem $name $($stem)?),)* }
            }

            /// Its WGSL source without the preamble, where it has a kernel.
            pub const fn wgsl(self) -> Option<&'static str> {
                match self { $(Variant::$variant => variants!(@wgsl $source $name $($stem)?),)* }
            }

            /// Its PTX for a width, where it has a kernel.
            #[cfg(feature = "cuda")]
            pub const fn ptx(self, width: Width) -> Option<&'static str> {
                match self { $(Variant::$variant => variants!(@ptx $source $name width),)* }
            }
        }
    };
    (@stem $name:literal) => { $name };
    (@stem $name:literal $stem:literal) => { $stem };
    (@wgsl ours $name:literal) => { Some(include_str!(concat!("../shaders/", $name, ".wgsl"))) };
    (@wgsl ours $name:literal $stem:literal) => { variants!(@wgsl ours $stem) };
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
const CPU_VECTORS: Presence = Absent("a GPU's kernel; the CPU has naive and tiled");
const CPU_IN_PLACE: Presence = Absent("a GPU's kernel; nothing here needs a CPU to do it in place");
const CPU_LIBRARY: Presence = Absent("a library for CPUs");
const CUDA_LIBRARY: Presence = Absent("cuBLAS, which runs on CUDA's devices alone");

variants! {
    /// The API's own copy: cuMemcpyDtoDAsync, copyBufferToBuffer, or memcpy.
    Memcpy "memcpy" theirs {
        moves: Moves::Copy, ceiling: true, kernel: None, cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The plainest copy kernel, which is the fastest: one 16-byte load and store a thread, blocks in order.
    Copy "copy" ours {
        moves: Moves::Copy,
        ceiling: true,
        kernel: Some(kernels::COPY),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// One element a thread, straight from source to destination: reads coalesced, writes strided.
    Naive "naive" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::NAIVE),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// A 32×32 tile through shared memory: both sides coalesced, but the tile is read down its columns, in which
    /// every element lies in the same bank. On a CPU: cache blocks.
    Tiled "tiled" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::TILED),
        cpu: Present, wgpu: Present, cuda: Present,
    }
    /// The tile with rows one element longer, 32×33, so that a column spreads over all banks.
    Padded "padded" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::PADDED),
        cpu: NO_BANKS, wgpu: Present, cuda: Present,
    }
    /// The tile with each row's elements exchanged by an XOR with the row's number, so that a column spreads over all
    /// banks without padding.
    Swizzled "swizzled" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::SWIZZLED),
        cpu: NO_BANKS, wgpu: Present, cuda: Present,
    }
    /// Larger tiles with 16-byte loads and stores on both sides, elements exchanged in registers before shared memory,
    /// no bank conflicts, and blocks in an order that writes destination rows along.
    Vectorized "vectorized" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::VECTORIZED),
        cpu: CPU_VECTORS, wgpu: Present, cuda: Present,
    }
    /// The same kernel with smaller tiles: for matrices so small or narrow that large ones would leave a device idle.
    Compact "compact" ours "vectorized" {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::COMPACT),
        cpu: CPU_VECTORS, wgpu: Present, cuda: Present,
    }
    /// For matrices whose rows begin anywhere: rows of the tile lie in shared memory as they are, and a thread gathers from
    /// there, element by element, what it stores as 16 bytes.
    Gather "gather" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::GATHER),
        cpu: CPU_VECTORS, wgpu: Present, cuda: Present,
    }
    /// For matrices with short rows: several whole rows through shared memory at a time, with 16-byte loads and stores on
    /// both sides.
    Tall "tall" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::skinny::TALL),
        cpu: CPU_VECTORS, wgpu: Present, cuda: Present,
    }
    /// For matrices with few rows: pieces of all of them through shared memory at a time, which are whole rows of the
    /// destination, with 16-byte loads and stores on both sides.
    Wide "wide" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::skinny::WIDE),
        cpu: CPU_VECTORS, wgpu: Present, cuda: Present,
    }
    /// Square matrices in place, as `compact` does it: two tiles that mirror each other at a time; where rows begin with a
    /// vector of 16 bytes.
    Inplace "inplace" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::INPLACE),
        cpu: CPU_IN_PLACE, wgpu: Present, cuda: Present,
    }
    /// Square matrices in place, wherever rows begin: rows of two tiles lie in shared memory as they are, one tile after the
    /// other, and a thread gathers from there, element by element, the words that it stores.
    Swap "swap" ours {
        moves: Moves::Transpose,
        ceiling: false,
        kernel: Some(kernels::SWAP),
        cpu: CPU_IN_PLACE, wgpu: Present, cuda: Present,
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

    /// Whether it transposes what the destination has, and reads no source.
    pub fn is_in_place(self) -> bool {
        self.spec().kernel.is_some_and(|kernel| kernel.in_place)
    }

    /// Why a benchmark's buffers of `problem` are not for it, if they are not: what is transposed in place is first put
    /// into the destination, gaps and all.
    pub fn unlike_in_place(self, problem: &Problem) -> Option<String> {
        if self.is_in_place() { problem.packed_only(&format!("{self}, as a benchmark,")) } else { None }
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
