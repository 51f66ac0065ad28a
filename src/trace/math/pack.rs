//! Several small numbers in a word.

use half::f16;
use naga::MathFunction as Function;

use super::Arguments;
use crate::trace::lanes::Lanes;
use crate::trace::scalar::{float, signed};

pub(super) fn call(function: Function, arguments: &Arguments) -> Option<Lanes> {
    let single = |bits: u64| float(bits, 4);
    let norm = |value: f64, least: f64, scale: f64| {
        let value = if value.is_nan() { 0.0 } else { value.clamp(least, 1.0) };
        (0.5 + scale * value).floor() as i64 as u64
    };
    let of_f32 = |value: f64| u64::from((value as f32).to_bits());
    match function {
        Function::Pack4x8snorm => pack(arguments, 8, |bits| norm(single(bits), -1.0, 127.0)),
        Function::Pack4x8unorm => pack(arguments, 8, |bits| norm(single(bits), 0.0, 255.0)),
        Function::Pack2x16snorm => pack(arguments, 16, |bits| norm(single(bits), -1.0, 32767.0)),
        Function::Pack2x16unorm => pack(arguments, 16, |bits| norm(single(bits), 0.0, 65535.0)),
        Function::Pack2x16float => pack(arguments, 16, |bits| f16::from_f64(single(bits)).to_bits().into()),
        Function::Pack4xI8 | Function::Pack4xU8 => pack(arguments, 8, |bits| bits),
        Function::Pack4xI8Clamp => pack(arguments, 8, |bits| signed(bits, 4).clamp(-128, 127) as u64),
        Function::Pack4xU8Clamp => pack(arguments, 8, |bits| bits.min(255)),
        Function::Unpack4x8snorm => unpack(arguments, 8, |bits| of_f32((signed(bits, 1) as f64 / 127.0).max(-1.0))),
        Function::Unpack4x8unorm => unpack(arguments, 8, |bits| of_f32(bits as f64 / 255.0)),
        Function::Unpack2x16snorm => unpack(arguments, 16, |bits| of_f32((signed(bits, 2) as f64 / 32767.0).max(-1.0))),
        Function::Unpack2x16unorm => unpack(arguments, 16, |bits| of_f32(bits as f64 / 65535.0)),
        Function::Unpack2x16float => unpack(arguments, 16, |bits| of_f32(float(bits, 2))),
        Function::Unpack4xI8 => unpack(arguments, 8, |bits| u64::from(signed(bits, 1) as u32)),
        Function::Unpack4xU8 => unpack(arguments, 8, |bits| bits),
        Function::Dot4I8Packed => dot(arguments, |bits| signed(bits, 1)),
        Function::Dot4U8Packed => dot(arguments, |bits| bits as i64),
        _ => None,
    }
}

/// The components as fields of so many bits, the first one lowest.
fn pack(arguments: &Arguments, bits: usize, field: impl Fn(u64) -> u64) -> Option<Lanes> {
    let mask = (1 << bits) - 1;
    arguments.build(1, |_, lane| {
        let fields = (0..arguments.components(0)).map(|at| (field(arguments.get(0, at, lane)) & mask) << (bits * at));
        fields.fold(0, |word, field| word | field)
    })
}

fn unpack(arguments: &Arguments, bits: usize, component: impl Fn(u64) -> u64) -> Option<Lanes> {
    let mask = (1 << bits) - 1;
    arguments.build(32 / bits, |at, lane| component((arguments.get(0, 0, lane) >> (bits * at)) & mask))
}

/// The sum of the products of four bytes.
fn dot(arguments: &Arguments, byte: impl Fn(u64) -> i64) -> Option<Lanes> {
    arguments.pairs(|a, b| {
        let products = (0..4).map(|at| byte((a >> (8 * at)) & 0xFF) * byte((b >> (8 * at)) & 0xFF));
        u64::from(products.sum::<i64>() as u32)
    })
}
