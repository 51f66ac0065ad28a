//! The kernels' sources as they reach a compiler: the variant table's geometry put before each.

use crate::element::Width;
use crate::kernel::{Geometry, Language, Library};
use crate::variant::Variant;

/// What every kernel shares: parameters, indices, the block's number.
const COMMON: &str = include_str!("../shaders/lib/common.wgsl");

/// Helpers for elements packed in 32-bit words (1 and 2 bytes), or for those that fill whole words (4, 8 and 16 bytes).
macro_rules! helpers {
    ($packed:expr, $name:literal) => {
        match $packed {
            true => include_str!(concat!("../shaders/lib/", $name, "packed.wgsl")),
            false => include_str!(concat!("../shaders/lib/", $name, "whole.wgsl")),
        }
    };
}

impl Library {
    fn wgsl(self, packed: bool) -> [&'static str; 2] {
        match self {
            Library::Word => [include_str!("../shaders/lib/word.wgsl"), ""],
            Library::Tile => [include_str!("../shaders/lib/tile.wgsl"), ""],
            Library::Vector => [include_str!("../shaders/lib/vector.wgsl"), helpers!(packed, "vector_")],
            Library::Vectorized => [include_str!("../shaders/lib/vectorized.wgsl"), helpers!(packed, "vectorized_")],
            Library::Pairs => [include_str!("../shaders/lib/pairs.wgsl"), ""],
            Library::Bits => ["", helpers!(packed, "bits_")],
            Library::Ends => [include_str!("../shaders/lib/ends.wgsl"), ""],
            Library::Skinny => [include_str!("../shaders/lib/skinny.wgsl"), helpers!(packed, "skinny_")],
            Library::Gather => [include_str!("../shaders/lib/gather.wgsl"), helpers!(packed, "gather_")],
        }
    }
}

/// The complete WGSL of a variant for a width; its entry point is called `main`.
///
/// `None` where the variant has no kernel of ours.
pub fn wgsl(variant: Variant, width: Width) -> Option<String> {
    let body = variant.wgsl()?;
    let kernel = variant.spec().kernel?;
    let preamble = preamble(width, (kernel.geometry)(width, Language::Wgsl));
    let packed = Language::Wgsl.per_word(width) > 1;
    let mut parts = vec![preamble.as_str(), COMMON, helpers!(packed, "")];
    parts.extend(kernel.libraries.iter().flat_map(|library| library.wgsl(packed)));
    parts.push(body);
    Some(parts.join("\n"))
}

/// The PTX with every access to global memory marked as streaming (`.cs`), so that the L2 gives its lines up first.
pub fn streamed(ptx: &str) -> String {
    ptx.replace("ld.global", "ld.global.cs").replace("st.global", "st.global.cs")
}

/// The file that a variant's WGSL body lives in, relative to the package.
pub fn wgsl_file(variant: Variant) -> String {
    format!("shaders/{}.wgsl", variant.stem())
}

fn preamble(width: Width, geometry: Geometry) -> String {
    let word = match width {
        Width::W1 | Width::W2 | Width::W4 => "u32",
        Width::W8 => "vec2<u32>",
        Width::W16 => "vec4<u32>",
    };
    let mut text =
        format!("// Generated from the variant table.\nalias Word = {word};\nconst WIDTH = {}u;\n", width.bytes());
    for (name, value) in geometry.constants() {
        text += &format!("const {name} = {value}u;\n");
    }
    text
}

/// The defines with which `cuda/NAME.cu` is compiled for a width, such as `-DWIDTH=4`.
///
/// `None` where the variant has no kernel of ours.
pub fn cuda_defines(variant: Variant, width: Width) -> Option<Vec<String>> {
    let geometry = (variant.spec().kernel?.geometry)(width, Language::Cuda);
    let constants = geometry.constants().into_iter();
    let defines = [("WIDTH", width.bytes() as u32)].into_iter().chain(constants);
    Some(defines.map(|(name, value)| format!("-D{name}={value}")).collect())
}

/// The file that a variant's CUDA source lives in, relative to the package.
pub fn cuda_file(variant: Variant) -> String {
    format!("cuda/{}.cu", variant.stem())
}

/// The file that a variant's PTX for a width lives in, relative to the package.
pub fn ptx_file(variant: Variant, width: Width) -> String {
    format!("cuda/ptx/{}.{width}.ptx", variant.name())
}
