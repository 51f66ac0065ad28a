//! Functions of floats, component by component.

use half::f16;
use naga::MathFunction as Function;

use super::Arguments;
use crate::trace::lanes::Lanes;
use crate::trace::scalar::{float, of_float, signed, truncate};

pub(super) fn call(function: Function, arguments: &Arguments) -> Option<Lanes> {
    let width = arguments.kind.width;
    if let Some(function) = unary(function) {
        return arguments.each(|bits| of_float(function(float(bits, width)), width));
    }
    if let Some(function) = binary(function) {
        return arguments.pairs(|a, b| of_float(function(float(a, width), float(b, width)), width));
    }
    let round = |value: f64| float(of_float(value, width), width);
    let ternary = |function: &dyn Fn(f64, f64, f64) -> f64| {
        arguments.triples(|a, b, c| of_float(function(float(a, width), float(b, width), float(c, width)), width))
    };
    match function {
        Function::Fma if width == 4 => arguments.triples(|a, b, c| {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            a.mul_add(b, c).to_bits().into()
        }),
        Function::Fma => ternary(&f64::mul_add),
        Function::Mix => ternary(&|a, b, t| round(a * round(1.0 - t)) + round(b * t)),
        Function::SmoothStep => ternary(&|low, high, x| {
            let t = round((x - low) / (high - low)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        }),
        Function::Ldexp => {
            arguments.pairs(|value, exponent| of_float(scaled(float(value, width), signed(exponent, 4)), width))
        }
        Function::Modf => both(arguments, |value| (value.fract(), of_float(value.trunc(), width))),
        Function::Frexp => both(arguments, |value| {
            let (fraction, exponent) = frexp(value);
            (fraction, truncate(exponent as u64, width))
        }),
        _ => None,
    }
}

/// Results of two parts: a float, and something that is bits already.
fn both(arguments: &Arguments, function: impl Fn(f64) -> (f64, u64)) -> Option<Lanes> {
    let (width, count) = (arguments.kind.width, arguments.components(0));
    arguments.build(2 * count, |component, lane| {
        let (fraction, other) = function(float(arguments.get(0, component % count, lane), width));
        if component < count { of_float(fraction, width) } else { other }
    })
}

/// The value times 2^`exponent`, without an intermediate result out of range.
fn scaled(value: f64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-4000, 4000) as i32;
    let third = exponent / 3;
    value * 2f64.powi(third) * 2f64.powi(third) * 2f64.powi(exponent - 2 * third)
}

/// A fraction from 0.5 to before 1, and the power of two by which it is the value.
fn frexp(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    // So that no denormal number is left.
    let normal = value * 2f64.powi(200);
    let exponent = ((normal.to_bits() >> 52) & 0x7FF) as i64 - 1022;
    let overflows = !normal.is_finite();
    let exponent = if overflows { ((value.to_bits() >> 52) & 0x7FF) as i64 - 1022 } else { exponent - 200 };
    (scaled(value, -exponent), exponent)
}

fn unary(function: Function) -> Option<fn(f64) -> f64> {
    Some(match function {
        Function::Saturate => |x| x.clamp(0.0, 1.0),
        Function::Cos => f64::cos,
        Function::Cosh => f64::cosh,
        Function::Sin => f64::sin,
        Function::Sinh => f64::sinh,
        Function::Tan => f64::tan,
        Function::Tanh => f64::tanh,
        Function::Acos => f64::acos,
        Function::Asin => f64::asin,
        Function::Atan => f64::atan,
        Function::Asinh => f64::asinh,
        Function::Acosh => f64::acosh,
        Function::Atanh => f64::atanh,
        Function::Radians => f64::to_radians,
        Function::Degrees => f64::to_degrees,
        Function::Ceil => f64::ceil,
        Function::Floor => f64::floor,
        Function::Round => f64::round_ties_even,
        Function::Fract => |x| x - x.floor(),
        Function::Trunc => f64::trunc,
        Function::Exp => f64::exp,
        Function::Exp2 => f64::exp2,
        Function::Log => f64::ln,
        Function::Log2 => f64::log2,
        Function::Sqrt => f64::sqrt,
        Function::InverseSqrt => |x| 1.0 / x.sqrt(),
        Function::Sign => |x| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        },
        Function::QuantizeToF16 => |x| f16::from_f64(x).to_f64(),
        _ => return None,
    })
}

fn binary(function: Function) -> Option<fn(f64, f64) -> f64> {
    Some(match function {
        Function::Atan2 => f64::atan2,
        Function::Pow => f64::powf,
        Function::Step => |edge, x| f64::from(edge <= x),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_come_apart_and_together() {
        for value in [1.0, -0.75, 8.0, 1e300, 1e-300, 5e-324, f64::MAX, 3.5e-45] {
            let (fraction, exponent) = frexp(value);
            assert!((0.5..1.0).contains(&fraction.abs()), "{value}: {fraction}");
            assert_eq!(scaled(fraction, exponent), value);
        }
        assert_eq!(frexp(0.0), (0.0, 0));
        assert_eq!(scaled(1.0, 5000), f64::INFINITY);
    }
}
