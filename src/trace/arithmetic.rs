//! Operators.

use std::rc::Rc;

use naga::{
    BinaryOperator, Expression, Handle, RelationalFunction, Scalar, ScalarKind, Span, TypeInner, UnaryOperator,
};

use super::error::TraceError;
use super::lanes::{Lanes, map, zip};
use super::machine::Machine;
use super::scalar::{float, of_float, signed, truncate};

/// Whether scalars of this kind are floats.
pub(super) fn is_float(kind: Scalar) -> bool {
    matches!(kind.kind, ScalarKind::Float | ScalarKind::AbstractFloat)
}

/// Whether they are signed integers.
pub(super) fn is_signed(kind: Scalar) -> bool {
    matches!(kind.kind, ScalarKind::Sint | ScalarKind::AbstractInt)
}

/// Applies a function of floats.
fn floats(width: u8, function: impl Fn(f64, f64) -> f64) -> impl Fn(u64, u64) -> u64 {
    move |a, b| of_float(function(float(a, width), float(b, width)), width)
}

/// The sum.
pub(super) fn add(kind: Scalar, a: u64, b: u64) -> u64 {
    match is_float(kind) {
        true => floats(kind.width, |a, b| a + b)(a, b),
        false => truncate(a.wrapping_add(b), kind.width),
    }
}

/// The difference.
pub(super) fn subtract(kind: Scalar, a: u64, b: u64) -> u64 {
    match is_float(kind) {
        true => floats(kind.width, |a, b| a - b)(a, b),
        false => truncate(a.wrapping_sub(b), kind.width),
    }
}

/// The product.
pub(super) fn multiply(kind: Scalar, a: u64, b: u64) -> u64 {
    match is_float(kind) {
        true => floats(kind.width, |a, b| a * b)(a, b),
        false => truncate(a.wrapping_mul(b), kind.width),
    }
}

/// Whether a is less than b.
pub(super) fn less(kind: Scalar, a: u64, b: u64) -> bool {
    if is_float(kind) {
        float(a, kind.width) < float(b, kind.width)
    } else if is_signed(kind) {
        signed(a, kind.width) < signed(b, kind.width)
    } else {
        a < b
    }
}

/// The smaller one; of a NaN and a number, the number.
pub(super) fn minimum(kind: Scalar, a: u64, b: u64) -> u64 {
    match is_float(kind) {
        true if float(a, kind.width).is_nan() => b,
        _ => {
            if less(kind, b, a) {
                b
            } else {
                a
            }
        }
    }
}

/// The larger one; of a NaN and a number, the number.
pub(super) fn maximum(kind: Scalar, a: u64, b: u64) -> u64 {
    match is_float(kind) {
        true if float(a, kind.width).is_nan() => b,
        _ => {
            if less(kind, a, b) {
                b
            } else {
                a
            }
        }
    }
}

/// The quotient; of integers, x / 0 is x, and so is the smallest integer by -1.
pub(super) fn divide(kind: Scalar, a: u64, b: u64) -> u64 {
    if is_float(kind) {
        return floats(kind.width, |a, b| a / b)(a, b);
    }
    if is_signed(kind) {
        let (a, b) = (signed(a, kind.width), signed(b, kind.width));
        return truncate(if b == 0 { a } else { a.wrapping_div(b) } as u64, kind.width);
    }
    a.checked_div(b).unwrap_or(a)
}

/// The remainder, with the sign of the dividend; of integers by 0, it is 0.
pub(super) fn remainder(kind: Scalar, a: u64, b: u64) -> u64 {
    if is_float(kind) {
        // x - y * trunc(x / y), as WGSL has it. Exact in f64 but for quotients that round up.
        return floats(kind.width, |a, b| a % b)(a, b);
    }
    if is_signed(kind) {
        let (a, b) = (signed(a, kind.width), signed(b, kind.width));
        return truncate(if b == 0 { 0 } else { a.wrapping_rem(b) } as u64, kind.width);
    }
    a.checked_rem(b).unwrap_or(0)
}

/// Shifted by so many bits, modulo those there are.
fn shift_left(kind: Scalar, a: u64, by: u64) -> u64 {
    truncate(a << (by & (8 * u64::from(kind.width) - 1)), kind.width)
}

fn shift_right(kind: Scalar, a: u64, by: u64) -> u64 {
    let by = by & (8 * u64::from(kind.width) - 1);
    match is_signed(kind) {
        true => truncate((signed(a, kind.width) >> by) as u64, kind.width),
        false => a >> by,
    }
}

impl Machine<'_> {
    pub fn unary(&mut self, op: UnaryOperator, operand: Handle<Expression>, span: Span) -> Result<Lanes, TraceError> {
        let kind = self.scalar_of(operand, span)?;
        let value = self.data(operand)?;
        Ok(match op {
            UnaryOperator::Negate if is_float(kind) => {
                let sign = 1 << (8 * u32::from(kind.width) - 1);
                map(&value, |bits| bits ^ sign)
            }
            UnaryOperator::Negate => map(&value, |bits| truncate(bits.wrapping_neg(), kind.width)),
            UnaryOperator::LogicalNot => map(&value, |bits| u64::from(bits == 0)),
            UnaryOperator::BitwiseNot => map(&value, |bits| truncate(!bits, kind.width)),
        })
    }

    pub fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
        span: Span,
    ) -> Result<Lanes, TraceError> {
        use BinaryOperator as Op;
        let kind = self.scalar_of(left, span)?;
        let (a, b) = (self.data(left)?, self.data(right)?);
        let product = if op == Op::Multiply { self.matrix_product([left, right], kind, &a, &b) } else { None };
        if let Some(product) = product {
            return Ok(product);
        }
        let lanes = self.lanes;
        let with = |function: fn(Scalar, u64, u64) -> u64| zip(lanes, &a, &b, |a, b| function(kind, a, b));
        let holds = |function: fn(Scalar, u64, u64) -> bool| zip(lanes, &a, &b, |a, b| function(kind, a, b).into());
        fn equal(kind: Scalar, a: u64, b: u64) -> bool {
            if is_float(kind) { float(a, kind.width) == float(b, kind.width) } else { a == b }
        }
        Ok(match op {
            // What kernels do most, without a look at the type for each scalar.
            Op::Add if !is_float(kind) && kind.width == 4 => zip(lanes, &a, &b, |a, b| (a + b) & 0xFFFF_FFFF),
            Op::Multiply if !is_float(kind) && kind.width == 4 => {
                zip(lanes, &a, &b, |a, b| a.wrapping_mul(b) & 0xFFFF_FFFF)
            }
            Op::Add => with(add),
            Op::Subtract => with(subtract),
            Op::Multiply => with(multiply),
            Op::Divide => with(divide),
            Op::Modulo => with(remainder),
            Op::Equal => holds(equal),
            Op::NotEqual => holds(|kind, a, b| !equal(kind, a, b)),
            Op::Less => holds(less),
            Op::LessEqual => holds(|kind, a, b| less(kind, a, b) || equal(kind, a, b)),
            Op::Greater => holds(|kind, a, b| less(kind, b, a)),
            Op::GreaterEqual => holds(|kind, a, b| less(kind, b, a) || equal(kind, a, b)),
            Op::And | Op::LogicalAnd => zip(lanes, &a, &b, |a, b| a & b),
            Op::InclusiveOr | Op::LogicalOr => zip(lanes, &a, &b, |a, b| a | b),
            Op::ExclusiveOr => zip(lanes, &a, &b, |a, b| a ^ b),
            Op::ShiftLeft => with(shift_left),
            Op::ShiftRight => with(shift_right),
        })
    }

    /// The product of matrices, or of a matrix and a vector; `None` if one side is a scalar, or both are vectors.
    fn matrix_product(&self, sides: [Handle<Expression>; 2], kind: Scalar, a: &[u64], b: &[u64]) -> Option<Lanes> {
        let shape = |side| match *self.type_of(side) {
            TypeInner::Matrix { columns, rows, .. } => Some((columns as usize, rows as usize)),
            _ => None,
        };
        let length = |side: &[u64]| side.len() / self.lanes;
        // A vector is a column on the right and a row on the left.
        let (inner, rows, columns) = match sides.map(shape) {
            [Some((inner, rows)), Some((columns, _))] => (inner, rows, columns),
            [Some((inner, rows)), None] if length(b) == inner && length(b) > 1 => (inner, rows, 1),
            [None, Some((columns, inner))] if length(a) > 1 => (inner, 1, columns),
            _ => return None,
        };
        let lanes = self.lanes;
        let mut product = Vec::with_capacity(rows * columns * lanes);
        for column in 0..columns {
            for row in 0..rows {
                for lane in 0..lanes {
                    let term = |at: usize| {
                        let (left, right) =
                            (a[(at * rows + row) * lanes + lane], b[(column * inner + at) * lanes + lane]);
                        multiply(kind, left, right)
                    };
                    let sum = (1..inner).fold(term(0), |sum, at| add(kind, sum, term(at)));
                    product.push(sum);
                }
            }
        }
        Some(Rc::new(product))
    }

    pub fn relational(
        &mut self,
        function: RelationalFunction,
        argument: Handle<Expression>,
        span: Span,
    ) -> Result<Lanes, TraceError> {
        let kind = self.scalar_of(argument, span)?;
        let (value, lanes) = (self.data(argument)?, self.lanes);
        let each = |test: fn(f64) -> bool| map(&value, |bits| test(float(bits, kind.width)).into());
        let fold = |start: u64, combine: fn(u64, u64) -> u64| {
            let of = |lane| value.iter().skip(lane).step_by(lanes).fold(start, |sum, bits| combine(sum, *bits));
            Rc::new((0..lanes).map(of).collect())
        };
        Ok(match function {
            RelationalFunction::All => fold(1, |a, b| a & b),
            RelationalFunction::Any => fold(0, |a, b| a | b),
            RelationalFunction::IsNan => each(f64::is_nan),
            RelationalFunction::IsInf => each(f64::is_infinite),
        })
    }
}
