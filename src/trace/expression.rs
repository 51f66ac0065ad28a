//! Expressions.

use std::rc::Rc;

use naga::{Expression, Handle, Scalar, ScalarKind, Span, TypeInner};

use super::error::TraceError;
use super::findings::{Found, place};
use super::lanes::{Lanes, Mask, Value, map};
use super::layout::{Elements, Pointee};
use super::machine::{Home, Machine};
use super::pointer::{Index, Outside, Pointer, Root, pointee};
use super::scalar;

impl<'a> Machine<'a> {
    /// Sets what an expression of the innermost call comes to.
    pub fn set(&mut self, expression: Handle<Expression>, value: Value) -> Result<(), TraceError> {
        let bytes = |value: &Value| match value {
            Value::Data(data) => 8 * data.len() as u64,
            Value::Pointer(_) => 0,
        };
        let (new, frame) = (bytes(&value), self.frame());
        let old = frame.slots[expression.index()].replace(value).as_ref().map_or(0, bytes);
        frame.bytes = frame.bytes + new - old;
        self.budget.give(old);
        self.budget.take(new, "values of expressions")
    }

    /// What an expression of the innermost call comes to: what it came to when it was emitted, or, where it is never
    /// emitted, what it always comes to.
    pub fn value(&mut self, expression: Handle<Expression>) -> Result<Value, TraceError> {
        if let Some(value) = &self.frame().slots[expression.index()] {
            return Ok(value.clone());
        }
        let none = Mask::none(self.lanes);
        let value = self.evaluate(expression, &none)?;
        self.set(expression, value.clone())?;
        Ok(value)
    }

    /// The scalars of a value.
    pub fn data(&mut self, expression: Handle<Expression>) -> Result<Lanes, TraceError> {
        match self.value(expression)? {
            Value::Data(data) => Ok(data),
            Value::Pointer(_) => {
                let span = self.span_of(expression);
                Err(self.unsupported("a pointer as a value", span))
            }
        }
    }

    /// The value of a pointer.
    pub fn pointer(&mut self, expression: Handle<Expression>) -> Result<Pointer, TraceError> {
        match self.value(expression)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Data(_) => {
                let span = self.span_of(expression);
                Err(self.unsupported("a value as a pointer", span))
            }
        }
    }

    /// The same bits for all invocations.
    pub fn splat(&self, bits: u64) -> Lanes {
        Rc::new(vec![bits; self.lanes])
    }

    /// Evaluates an expression; memory is accessed by the invocations in `mask` alone.
    pub fn evaluate(&mut self, handle: Handle<Expression>, mask: &Mask) -> Result<Value, TraceError> {
        let span = self.span_of(handle);
        let inner = self.type_of(handle);
        self.step(self.layouts.count(inner), span)?;
        let function = self.frame().function;
        let data = match function.expressions[handle] {
            Expression::Literal(literal) => self.splat(scalar::of_literal(literal)),
            Expression::Constant(constant) => self.named_constant(constant)?,
            Expression::ZeroValue(ty) => {
                let words = self.words(self.layouts.scalars(ty), "a value")?;
                Rc::new(vec![0; words])
            }
            Expression::Compose { ref components, .. } => {
                let parts = components.iter().map(|part| self.data(*part)).collect::<Result<Vec<_>, _>>()?;
                self.concat(&parts)?
            }
            Expression::Splat { size, value } => {
                let value = self.data(value)?;
                Rc::new(value.repeat(size as usize))
            }
            Expression::Swizzle { size, vector, pattern } => {
                let (vector, lanes) = (self.data(vector)?, self.lanes);
                let parts = pattern[..size as usize].iter();
                Rc::new(parts.flat_map(|part| vector.chunks(lanes).nth(*part as usize)).flatten().copied().collect())
            }
            Expression::Access { base, index } => return self.access(base, index, mask, span),
            Expression::AccessIndex { base, index } => return self.access_index(base, index, span),
            Expression::FunctionArgument(number) => return Ok(self.frame().arguments[number as usize].clone()),
            Expression::GlobalVariable(variable) => return self.global(variable, span),
            Expression::LocalVariable(variable) => {
                let root = Root::Local(self.frames.len() - 1, variable.index());
                return Ok(Value::Pointer(Pointer::to(root)));
            }
            Expression::Load { pointer } => {
                let from = self.pointee_of(pointer, span)?;
                let pointer = self.pointer(pointer)?;
                self.load(&pointer, from, mask, span)?
            }
            Expression::Unary { op, expr } => self.unary(op, expr, span)?,
            Expression::Binary { op, left, right } => self.binary(op, left, right, span)?,
            Expression::Select { condition, accept, reject } => {
                let [condition, accept, reject] = [condition, accept, reject].map(|part| self.data(part));
                let choose = |condition, accept, reject| if condition != 0 { accept } else { reject };
                super::lanes::zip3(self.lanes, [&condition?, &accept?, &reject?], choose)
            }
            Expression::Relational { fun, argument } => self.relational(fun, argument, span)?,
            Expression::Math { fun, arg, arg1, arg2, arg3 } => self.math(fun, [Some(arg), arg1, arg2, arg3], span)?,
            Expression::As { expr, kind, convert } => {
                let value = self.data(expr)?;
                let from = self.scalar_of(expr, span)?;
                match convert {
                    Some(width) => map(&value, |bits| scalar::convert(bits, from, Scalar { kind, width })),
                    None => value,
                }
            }
            Expression::ArrayLength(array) => self.array_length(array, span)?,
            Expression::Override(_) => return Err(self.unsupported("an override without a value", span)),
            Expression::ImageSample { .. } => return Err(self.unsupported("textures (a sample)", span)),
            Expression::ImageLoad { .. } => return Err(self.unsupported("textures (a load)", span)),
            Expression::ImageQuery { .. } => return Err(self.unsupported("textures (a query)", span)),
            Expression::Derivative { .. } => return Err(self.unsupported("derivatives", span)),
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. } => return Err(self.unsupported("ray queries", span)),
            Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => {
                return Err(self.unsupported("cooperative matrices", span));
            }
            // Set by the statements that they are results of.
            Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. } => {
                return Err(self.unsupported("a result before its statement", span));
            }
        };
        Ok(Value::Data(data))
    }

    /// Values one after the other, as one.
    pub fn concat(&self, parts: &[Lanes]) -> Result<Lanes, TraceError> {
        let scalars: usize = parts.iter().map(|part| part.len()).sum();
        self.words((scalars / self.lanes) as u64, "a value")?;
        let mut all = Vec::with_capacity(scalars);
        parts.iter().for_each(|part| all.extend_from_slice(part));
        Ok(Rc::new(all))
    }

    fn named_constant(&mut self, handle: Handle<naga::Constant>) -> Result<Lanes, TraceError> {
        if let Some(value) = &self.constants[handle.index()] {
            return Ok(value.clone());
        }
        let value = self.constant(self.module.constants[handle].init)?;
        self.budget.take(8 * value.len() as u64, "constants")?;
        self.constants[handle.index()] = Some(value.clone());
        Ok(value)
    }

    /// The value of an expression of the module.
    pub fn constant(&mut self, handle: Handle<Expression>) -> Result<Lanes, TraceError> {
        let span = self.module.global_expressions.get_span(handle);
        self.enter(span)?;
        let value = match self.module.global_expressions[handle] {
            Expression::Literal(literal) => self.splat(scalar::of_literal(literal)),
            Expression::Constant(constant) => self.named_constant(constant)?,
            Expression::ZeroValue(ty) => Rc::new(vec![0; self.words(self.layouts.scalars(ty), "a constant")?]),
            Expression::Compose { ref components, .. } => {
                self.step(components.len() as u64, span)?;
                let parts = components.iter().map(|part| self.constant(*part)).collect::<Result<Vec<_>, _>>()?;
                self.concat(&parts)?
            }
            Expression::Splat { size, value } => Rc::new(self.constant(value)?.repeat(size as usize)),
            _ => return Err(self.unsupported("a constant that is not evaluated", span)),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn global(&mut self, variable: Handle<naga::GlobalVariable>, span: Span) -> Result<Value, TraceError> {
        match self.homes[variable.index()] {
            Home::Region(number) => Ok(Value::Pointer(Pointer::to(Root::Region(number)))),
            Home::Private(number) => Ok(Value::Pointer(Pointer::to(Root::Private(number)))),
            Home::None => match self.layouts.inner(self.module.global_variables[variable].ty) {
                TypeInner::Image { .. } | TypeInner::Sampler { .. } => Err(self.unsupported("textures", span)),
                TypeInner::BindingArray { .. } => Err(self.unsupported("arrays of bindings", span)),
                TypeInner::AccelerationStructure { .. } => Err(self.unsupported("ray queries", span)),
                _ => Err(self.unsupported("a variable in this address space", span)),
            },
        }
    }

    /// The type of the scalars of an expression.
    pub fn scalar_of(&self, expression: Handle<Expression>, span: Span) -> Result<Scalar, TraceError> {
        self.type_of(expression).scalar().ok_or_else(|| self.unsupported("an operand without a scalar type", span))
    }

    /// How many elements an index into what a pointer points to chooses from.
    fn length_of(&self, pointer: &Pointer, elements: Elements) -> u64 {
        elements.length.unwrap_or_else(|| {
            let bytes = match pointer.root {
                Root::Region(number) => self.regions[number].memory.bytes,
                Root::Private(_) | Root::Local(..) => 0,
            };
            bytes.saturating_sub(pointer.offset(0)) / elements.stride.max(1)
        })
    }

    fn array_length(&mut self, array: Handle<Expression>, span: Span) -> Result<Lanes, TraceError> {
        let of = self.pointee_of(array, span)?;
        let pointer = self.pointer(array)?;
        let elements = self.layouts.elements(of, pointer.root.unit());
        let elements = elements.ok_or_else(|| self.unsupported("the length of what is no array", span))?;
        let length = self.length_of(&pointer, elements);
        Ok(self.splat(scalar::truncate(length, 4)))
    }

    fn access(
        &mut self,
        base: Handle<Expression>,
        index: Handle<Expression>,
        mask: &Mask,
        span: Span,
    ) -> Result<Value, TraceError> {
        let kind = self.scalar_of(index, span)?;
        let bits = self.data(index)?;
        let indices: Vec<i64> = match kind.kind {
            ScalarKind::Sint => bits.iter().map(|bits| scalar::signed(*bits, kind.width)).collect(),
            _ => bits.iter().map(|bits| i64::try_from(*bits).unwrap_or(i64::MAX)).collect(),
        };
        if let Some(of) = pointee(self.type_of(base)) {
            let pointer = self.pointer(base)?;
            return self.element(&pointer, of, Index::Each(&indices), span);
        }
        let (value, lanes) = (self.data(base)?, self.lanes);
        let (stride, length) = self.parts(base, span)?;
        let mut chosen = vec![0; stride * lanes];
        for lane in 0..lanes {
            let index = usize::try_from(indices[lane]).ok().filter(|index| *index < length);
            let Some(index) = index else {
                if mask.has(lane) {
                    let outside = Outside { index: indices[lane], length: length as u64 };
                    let (variable, place) = ("a value".to_owned(), place(span));
                    self.found(Found::Outside { variable, place, what: "load", lane, outside });
                }
                continue;
            };
            for scalar in 0..stride {
                chosen[scalar * lanes + lane] = value[(index * stride + scalar) * lanes + lane];
            }
        }
        Ok(Value::Data(Rc::new(chosen)))
    }

    fn access_index(&mut self, base: Handle<Expression>, index: u32, span: Span) -> Result<Value, TraceError> {
        if let Some(of) = pointee(self.type_of(base)) {
            let pointer = self.pointer(base)?;
            if let Some(by) = self.layouts.member(of, index, pointer.root.unit()) {
                return Ok(Value::Pointer(pointer.advanced(by)));
            }
            return self.element(&pointer, of, Index::Same(index.into()), span);
        }
        let (value, lanes) = (self.data(base)?, self.lanes);
        let (first, count) = match self.type_of(base) {
            TypeInner::Struct { members, .. } => {
                let scalars = |member: &naga::StructMember| self.layouts.scalars(member.ty) as usize;
                (members[..index as usize].iter().map(scalars).sum(), scalars(&members[index as usize]))
            }
            _ => {
                let (stride, _) = self.parts(base, span)?;
                (index as usize * stride, stride)
            }
        };
        let part = value.get(first * lanes..(first + count) * lanes);
        let part = part.ok_or_else(|| self.unsupported("an index beyond the end of a value", span))?;
        Ok(Value::Data(Rc::new(part.to_vec())))
    }

    fn element(&self, pointer: &Pointer, of: Pointee, index: Index, span: Span) -> Result<Value, TraceError> {
        let elements = self.layouts.elements(of, pointer.root.unit());
        let elements = elements.ok_or_else(|| self.unsupported("an index into what has no elements", span))?;
        let length = self.length_of(pointer, elements);
        Ok(Value::Pointer(pointer.element(index, elements, length, self.lanes)))
    }

    /// Scalars of an element of a value, and its elements.
    fn parts(&self, value: Handle<Expression>, span: Span) -> Result<(usize, usize), TraceError> {
        match *self.type_of(value) {
            TypeInner::Vector { size, .. } => Ok((1, size as usize)),
            TypeInner::Matrix { columns, rows, .. } => Ok((rows as usize, columns as usize)),
            TypeInner::Array { base, size, .. } => {
                Ok((self.layouts.scalars(base) as usize, self.layouts.length(size).unwrap_or(0) as usize))
            }
            _ => Err(self.unsupported("an index into what has no elements", span)),
        }
    }
}
