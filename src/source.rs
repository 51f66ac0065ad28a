//! The kernels' sources as they reach a compiler: the variant table's geometry put before each.

use crate::element::Width;
use crate::kernel::{Geometry, Language};
use crate::variant::Variant;

/// Helpers for elements that fill whole storage words (4, 8 and 16 bytes).
const WHOLE: &str = include_str!("../shaders/lib/whole.wgsl");
/// Helpers for elements packed in 32-bit words (1 and 2 bytes).
const PACKED: &str = include_str!("../shaders/lib/packed.wgsl");
/// The vectorized kernel's tile and exchange of elements, for the one and the other.
const VECTORIZED_WHOLE: &str = include_str!("../shaders/lib/vectorized_whole.wgsl");
const VECTORIZED_PACKED: &str = include_str!("../shaders/lib/vectorized_packed.wgsl");
/// What every kernel shares: parameters, indices, the block's number.
const COMMON: &str = include_str!("../shaders/lib/common.wgsl");

/// The complete WGSL of a variant for a width; its entry point is called `main`.
///
/// `None` where the variant has no kernel of ours.
pub fn wgsl(variant: Variant, width: Width) -> Option<String> {
    let body = variant.wgsl()?;
    let geometry = (variant.spec().kernel?.geometry)(width, Language::Wgsl);
    let preamble = preamble(width, geometry);
    let (helpers, vectorized) = match Language::Wgsl.per_word(width) {
        1 => (WHOLE, VECTORIZED_WHOLE),
        _ => (PACKED, VECTORIZED_PACKED),
    };
    let mut parts = vec![preamble.as_str(), COMMON, helpers];
    if variant == Variant::Vectorized {
        parts.push(vectorized);
    }
    parts.push(body);
    Some(parts.join("\n"))
}

/// The file that a variant's WGSL body lives in, relative to the package.
pub fn wgsl_file(variant: Variant) -> String {
    format!("shaders/{}.wgsl", variant.name())
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
    format!("cuda/{}.cu", variant.name())
}

/// The file that a variant's PTX for a width lives in, relative to the package.
pub fn ptx_file(variant: Variant, width: Width) -> String {
    format!("cuda/ptx/{}.{width}.ptx", variant.name())
}
