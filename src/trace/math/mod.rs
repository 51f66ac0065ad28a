//! Built-in functions.

mod float;
mod integer;
mod pack;
mod vector;

use naga::{Expression, Handle, MathFunction, Scalar, Span, TypeInner};

use super::arithmetic::{is_float, is_signed, maximum, minimum, multiply};
use super::error::TraceError;
use super::lanes::{Lanes, map, zip, zip3};
use super::machine::Machine;
use super::scalar::{signed, truncate};

/// The arguments of a function: their scalars and the type of the first one's.
struct Arguments {
    values: Vec<Lanes>,
    kind: Scalar,
    lanes: usize,
}

impl Arguments {
    /// The function of each scalar of the first one.
    fn each(&self, function: impl Fn(u64) -> u64) -> Option<Lanes> {
        Some(map(self.values.first()?, function))
    }

    /// The function of the scalars of two.
    fn pairs(&self, function: impl Fn(u64, u64) -> u64) -> Option<Lanes> {
        Some(zip(self.lanes, self.values.first()?, self.values.get(1)?, function))
    }

    /// The function of the scalars of three.
    fn triples(&self, function: impl Fn(u64, u64, u64) -> u64) -> Option<Lanes> {
        let [a, b, c] = self.values.get(..3)? else { return None };
        Some(zip3(self.lanes, [a, b, c], function))
    }

    /// Components of an argument.
    fn components(&self, argument: usize) -> usize {
        self.values.get(argument).map_or(0, |value| value.len() / self.lanes)
    }

    /// A component of an argument for an invocation.
    fn get(&self, argument: usize, component: usize, lane: usize) -> u64 {
        self.values[argument][component * self.lanes + lane]
    }

    /// A value of so many components, each computed for each invocation.
    fn build(&self, components: usize, function: impl Fn(usize, usize) -> u64) -> Option<Lanes> {
        let all = (0..components).flat_map(|component| (0..self.lanes).map(move |lane| (component, lane)));
        Some(all.map(|(component, lane)| function(component, lane)).collect::<Vec<_>>().into())
    }
}

impl Machine<'_> {
    pub fn math(
        &mut self,
        function: MathFunction,
        arguments: [Option<Handle<Expression>>; 4],
        span: Span,
    ) -> Result<Lanes, TraceError> {
        let Some(first) = arguments[0] else { return Err(self.unsupported("a function of nothing", span)) };
        let kind = self.scalar_of(first, span)?;
        let matrix = match *self.type_of(first) {
            TypeInner::Matrix { columns, rows, .. } => Some((columns as usize, rows as usize)),
            _ => None,
        };
        let values = arguments.into_iter().flatten().map(|argument| self.data(argument)).collect::<Result<_, _>>()?;
        let arguments = Arguments { values, kind, lanes: self.lanes };
        let value = of_matrix(function, &arguments, matrix)
            .or_else(|| numeric(function, &arguments))
            .or_else(|| vector::call(function, &arguments))
            .or_else(|| pack::call(function, &arguments))
            .or_else(|| {
                if is_float(kind) { float::call(function, &arguments) } else { integer::call(function, &arguments) }
            });
        value.ok_or_else(|| self.unsupported(format!("the function {function:?} of these arguments"), span))
    }
}

fn of_matrix(function: MathFunction, arguments: &Arguments, shape: Option<(usize, usize)>) -> Option<Lanes> {
    let (columns, rows) = shape?;
    match function {
        MathFunction::Transpose => vector::transpose(arguments, columns, rows),
        MathFunction::Determinant => vector::determinant(arguments, columns),
        MathFunction::Inverse => vector::inverse(arguments, columns),
        _ => None,
    }
}

/// What integers and floats have.
fn numeric(function: MathFunction, arguments: &Arguments) -> Option<Lanes> {
    let kind = arguments.kind;
    match function {
        MathFunction::Min => arguments.pairs(|a, b| minimum(kind, a, b)),
        MathFunction::Max => arguments.pairs(|a, b| maximum(kind, a, b)),
        MathFunction::Clamp => arguments.triples(|a, low, high| minimum(kind, maximum(kind, a, low), high)),
        MathFunction::Abs if is_float(kind) => {
            let sign = 1 << (8 * u32::from(kind.width) - 1);
            arguments.each(|bits| bits & !sign)
        }
        MathFunction::Abs if is_signed(kind) => {
            arguments.each(|bits| truncate(signed(bits, kind.width).wrapping_abs() as u64, kind.width))
        }
        MathFunction::Abs => arguments.each(|bits| bits),
        MathFunction::Dot => {
            let term = |at, lane| multiply(kind, arguments.get(0, at, lane), arguments.get(1, at, lane));
            arguments.build(1, |_, lane| {
                (1..arguments.components(0))
                    .fold(term(0, lane), |sum, at| super::arithmetic::add(kind, sum, term(at, lane)))
            })
        }
        _ => None,
    }
}
