//! Scalars as bits: every scalar is a `u64` with zeros above its width.

use half::f16;
use naga::{Literal, Scalar, ScalarKind};

/// The bits of `value` that `width` bytes hold.
pub(super) fn truncate(value: u64, width: u8) -> u64 {
    match width {
        8.. => value,
        width => value & ((1 << (8 * width)) - 1),
    }
}

/// The signed integer in the lower `width` bytes.
pub(super) fn signed(bits: u64, width: u8) -> i64 {
    let unused = 64 - 8 * u32::from(width.clamp(1, 8));
    (bits << unused) as i64 >> unused
}

/// The float in the lower `width` bytes. All of `f16` and `f32` are exact in `f64`.
pub(super) fn float(bits: u64, width: u8) -> f64 {
    match width {
        2 => f16::from_bits(bits as u16).to_f64(),
        4 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The nearest float of `width` bytes.
///
/// What is computed in `f64` from floats of fewer bytes by `+`, `-`, `*`, `/` or a square root and then rounded is what
/// rounding once gives (Figueroa, "When is double rounding innocuous?", 1995).
pub(super) fn of_float(value: f64, width: u8) -> u64 {
    match width {
        2 => f16::from_f64(value).to_bits().into(),
        4 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// The bits of a literal.
pub(super) fn of_literal(literal: Literal) -> u64 {
    match literal {
        Literal::F64(value) | Literal::AbstractFloat(value) => value.to_bits(),
        Literal::F32(value) => value.to_bits().into(),
        Literal::F16(value) => value.to_bits().into(),
        Literal::U16(value) => value.into(),
        Literal::I16(value) => u64::from(value as u16),
        Literal::U32(value) => value.into(),
        Literal::I32(value) => u64::from(value as u32),
        Literal::U64(value) => value,
        Literal::I64(value) | Literal::AbstractInt(value) => value as u64,
        Literal::Bool(value) => value.into(),
    }
}

/// The bits of a scalar converted to another type of scalar, as WGSL does it: integers keep their lower bits, floats
/// become the nearest integer towards zero that both types have, and bools are 0 and 1.
pub(super) fn convert(bits: u64, from: Scalar, to: Scalar) -> u64 {
    use ScalarKind::{AbstractFloat, AbstractInt, Bool, Float, Sint, Uint};
    let one = |holds: bool| u64::from(holds);
    match (from.kind, to.kind) {
        (Float | AbstractFloat, Bool) => one(float(bits, from.width) != 0.0),
        (_, Bool) => one(bits != 0),
        (Float | AbstractFloat, Float | AbstractFloat) => of_float(float(bits, from.width), to.width),
        (Float | AbstractFloat, Sint | AbstractInt) => truncate(to_signed(float(bits, from.width), from, to), to.width),
        (Float | AbstractFloat, Uint) => to_unsigned(float(bits, from.width), from, to),
        (Bool | Uint, Float | AbstractFloat) => unsigned_to_float(bits, to.width),
        (Sint | AbstractInt, Float | AbstractFloat) => signed_to_float(signed(bits, from.width), to.width),
        (Sint | AbstractInt, _) => truncate(signed(bits, from.width) as u64, to.width),
        (Bool | Uint, _) => truncate(bits, to.width),
    }
}

fn unsigned_to_float(value: u64, width: u8) -> u64 {
    match width {
        4 => (value as f32).to_bits().into(),
        width => of_float(value as f64, width),
    }
}

fn signed_to_float(value: i64, width: u8) -> u64 {
    match width {
        4 => (value as f32).to_bits().into(),
        width => of_float(value as f64, width),
    }
}

/// The largest float of `from` below 2^`bits`, or its largest finite one.
fn largest_below(bits: u32, from: Scalar) -> f64 {
    let (mantissa, largest): (u32, f64) = match from.width {
        2 => (11, f16::MAX.to_f64()),
        4 => (24, f32::MAX.into()),
        _ => (53, f64::MAX),
    };
    let power = 2f64.powi(bits as i32);
    (power - 2f64.powi(bits as i32 - mantissa.min(bits) as i32)).min(largest)
}

fn to_signed(value: f64, from: Scalar, to: Scalar) -> u64 {
    let bits = 8 * u32::from(to.width) - 1;
    let least = -(2f64.powi(bits as i32));
    let least = if from.width == 2 { least.max(f16::MIN.to_f64()) } else { least };
    value.clamp(least, largest_below(bits, from)) as i64 as u64
}

fn to_unsigned(value: f64, from: Scalar, to: Scalar) -> u64 {
    value.clamp(0.0, largest_below(8 * u32::from(to.width), from)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_keep_their_value() {
        assert_eq!(signed(0xFFFF_FFFF, 4), -1);
        assert_eq!(signed(0x8000, 2), -32768);
        assert_eq!(signed(u64::MAX, 8), -1);
        assert_eq!(truncate(u64::MAX, 4), 0xFFFF_FFFF);
        assert_eq!(truncate(u64::MAX, 8), u64::MAX);
        assert_eq!(float(of_float(1.5, 2), 2), 1.5);
        assert_eq!(float(of_float(0.1, 4), 4), f64::from(0.1f32));
    }

    #[test]
    fn floats_out_of_range_become_the_nearest_integer_that_both_types_have() {
        let from = |value: f32, to| convert(value.to_bits().into(), Scalar::F32, to);
        assert_eq!(from(1e20, Scalar::I32) as u32 as i32, 2_147_483_520);
        assert_eq!(from(-1e20, Scalar::I32) as u32 as i32, i32::MIN);
        assert_eq!(from(1e20, Scalar::U32), 4_294_967_040);
        assert_eq!(from(-3.7, Scalar::U32), 0);
        assert_eq!(from(-3.7, Scalar::I32) as u32 as i32, -3);
        assert_eq!(from(f32::NAN, Scalar::I32), 0);
        let half = u64::from(f16::MAX.to_bits());
        assert_eq!(convert(half, Scalar::F16, Scalar::U32), 65504);
        assert_eq!(convert(u64::from(u32::MAX), Scalar::I32, Scalar::I64), u64::MAX);
    }
}
