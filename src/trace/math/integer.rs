//! Functions of integers, component by component.

use naga::MathFunction as Function;

use super::Arguments;
use crate::trace::arithmetic::is_signed;
use crate::trace::lanes::Lanes;
use crate::trace::scalar::{signed, truncate};

pub(super) fn call(function: Function, arguments: &Arguments) -> Option<Lanes> {
    let (width, signs) = (arguments.kind.width, is_signed(arguments.kind));
    let bits = 8 * u32::from(width);
    let unused = 64 - bits;
    // All ones: there is no such bit.
    let none = truncate(u64::MAX, width);
    let highest = |value: u64| if value == 0 { none } else { u64::from(63 - value.leading_zeros()) };
    match function {
        Function::CountTrailingZeros => arguments.each(|value| u64::from(value.trailing_zeros().min(bits))),
        Function::CountLeadingZeros => arguments.each(|value| u64::from(value.leading_zeros() - unused)),
        Function::CountOneBits => arguments.each(|value| value.count_ones().into()),
        Function::ReverseBits => arguments.each(|value| value.reverse_bits() >> unused),
        Function::FirstTrailingBit => {
            arguments.each(|value| if value == 0 { none } else { value.trailing_zeros().into() })
        }
        Function::FirstLeadingBit if signs => arguments.each(|value| {
            let value = signed(value, width);
            highest(if value < 0 { !value } else { value } as u64)
        }),
        Function::FirstLeadingBit => arguments.each(highest),
        Function::Sign => arguments.each(|value| truncate(signed(value, width).signum() as u64, width)),
        Function::ExtractBits => arguments.triples(|value, offset, count| {
            let (offset, count) = field(offset, count, bits);
            if count == 0 {
                return 0;
            }
            let field = (value >> offset) << (64 - count);
            truncate(if signs { (field as i64 >> (64 - count)) as u64 } else { field >> (64 - count) }, width)
        }),
        Function::InsertBits => {
            let lanes = arguments.lanes;
            arguments.build(arguments.components(0), |component, lane| {
                let [value, new] = [0, 1].map(|argument| arguments.get(argument, component, lane));
                let [offset, count] = [2, 3].map(|argument| arguments.values[argument][lane % lanes]);
                let (offset, count) = field(offset, count, bits);
                let ones = if count == 64 { u64::MAX } else { (1 << count) - 1 };
                if count == 0 { value } else { (value & !(ones << offset)) | ((new & ones) << offset) }
            })
        }
        _ => None,
    }
}

/// A field of bits that is within the bits there are.
fn field(offset: u64, count: u64, bits: u32) -> (u64, u64) {
    let offset = offset.min(bits.into());
    (offset, count.min(u64::from(bits) - offset))
}
