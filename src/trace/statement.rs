//! Statements.

use naga::{Barrier, Block, Handle, Span, Statement, SwitchCase, SwitchValue};

use super::error::TraceError;
use super::findings::{Found, place};
use super::lanes::{Mask, Value};
use super::machine::{Flow, Machine};
use super::pointer::pointee;

impl<'a> Machine<'a> {
    /// Runs a block for the invocations in `active`, and leaves in it those that get to its end.
    pub fn block(&mut self, block: &'a Block, active: &mut Mask) -> Result<(), TraceError> {
        self.enter(Span::UNDEFINED)?;
        for (statement, span) in block.span_iter() {
            if !active.any() {
                break;
            }
            self.step(1, *span)?;
            self.statement(statement, *span, active)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn statement(&mut self, statement: &'a Statement, span: Span, active: &mut Mask) -> Result<(), TraceError> {
        match *statement {
            Statement::Emit(ref range) => {
                for expression in range.clone() {
                    let value = self.evaluate(expression, active)?;
                    self.set(expression, value)?;
                }
            }
            Statement::Block(ref block) => self.block(block, active)?,
            Statement::If { condition, ref accept, ref reject } => {
                let condition = self.data(condition)?;
                let (mut accepted, mut rejected) = active.split(|lane| condition[lane] != 0);
                self.block(accept, &mut accepted)?;
                self.block(reject, &mut rejected)?;
                accepted.add(&rejected);
                *active = accepted;
            }
            Statement::Switch { selector, ref cases } => self.switch(selector, cases, active)?,
            Statement::Loop { ref body, ref continuing, break_if } => {
                self.repeat(body, continuing, break_if, active)?;
            }
            Statement::Break => {
                if let Some(flow) = self.frame().flow.last_mut() {
                    flow.broken.add(active);
                }
                active.clear();
            }
            Statement::Continue => {
                if let Some(flow) = self.frame().flow.iter_mut().rev().find(|flow| flow.is_loop) {
                    flow.continued.add(active);
                }
                active.clear();
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let (value, lanes) = (self.data(value)?, self.lanes);
                    let result = &mut self.frame().result;
                    for (to, from) in result.chunks_mut(lanes).zip(value.chunks(lanes)) {
                        active.lanes().for_each(|lane| to[lane] = from[lane]);
                    }
                }
                active.clear();
            }
            Statement::ControlBarrier(barrier) | Statement::MemoryBarrier(barrier) => {
                if barrier == Barrier::SUB_GROUP {
                    self.storage_clock.subgroup_barrier();
                    self.workgroup_clock.subgroup_barrier();
                } else {
                    let (storage, workgroup) =
                        (barrier.contains(Barrier::STORAGE), barrier.contains(Barrier::WORK_GROUP));
                    self.barrier(active, storage, workgroup, span);
                }
            }
            Statement::Store { pointer, value } => {
                let to = self.pointee_of(pointer, span)?;
                let (pointer, value) = (self.pointer(pointer)?, self.data(value)?);
                self.store(&pointer, to, &value, active, span)?;
            }
            Statement::Atomic { pointer, ref fun, value, result } => {
                self.atomic(pointer, fun, value, result, active, span)?;
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let from = self.pointee_of(pointer, span)?;
                let mut pointer = self.pointer(pointer)?;
                self.barrier(active, false, true, span);
                let first = active.first().unwrap_or(0);
                let same = |lane| pointer.offset(lane) == pointer.offset(first);
                if let Some(lane) = active.lanes().find(|lane| !same(*lane)) {
                    self.found(Found::NotUniform { place: place(span), lane });
                    pointer.offset = super::pointer::Offset::Same(pointer.offset(first));
                }
                let value = self.load(&pointer, from, active, span)?;
                self.barrier(active, false, true, span);
                self.set(result, Value::Data(value))?;
            }
            Statement::Call { function, ref arguments, result } => {
                let values = arguments.iter().map(|argument| self.value(*argument)).collect::<Result<_, _>>()?;
                let (callee, info) = (&self.module.functions[function], &self.info[function]);
                let value = self.call(callee, info, values, active, span)?;
                if let Some(result) = result {
                    self.set(result, Value::Data(value.into()))?;
                }
            }
            Statement::SubgroupBallot { result, predicate } => self.ballot(result, predicate, active)?,
            Statement::SubgroupGather { ref mode, argument, result } => {
                self.gather(mode, argument, result, active, span)?;
            }
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.collective((op, collective_op), argument, result, active, span)?;
            }
            Statement::Kill => return Err(self.unsupported("discard", span)),
            Statement::ImageStore { .. } => return Err(self.unsupported("textures (a store)", span)),
            Statement::ImageAtomic { .. } => return Err(self.unsupported("textures (an atomic operation)", span)),
            Statement::RayQuery { .. } => return Err(self.unsupported("ray queries", span)),
            Statement::RayPipelineFunction(_) => return Err(self.unsupported("ray tracing pipelines", span)),
            Statement::CooperativeStore { .. } => return Err(self.unsupported("cooperative matrices", span)),
        }
        Ok(())
    }

    /// What a pointer expression points to.
    pub fn pointee_of(
        &self,
        pointer: Handle<naga::Expression>,
        span: Span,
    ) -> Result<super::layout::Pointee, TraceError> {
        pointee(self.type_of(pointer)).ok_or_else(|| self.unsupported("a pointer of an unknown kind", span))
    }

    fn open(&mut self, is_loop: bool) {
        let none = Mask::none(self.lanes);
        self.frame().flow.push(Flow { is_loop, broken: none.clone(), continued: none });
    }

    /// Ends what was opened last: those that left it by `break`, and by `continue`.
    fn close(&mut self) -> (Mask, Mask) {
        let flow = self.frame().flow.pop();
        let none = || Mask::none(self.lanes);
        flow.map_or_else(|| (none(), none()), |flow| (flow.broken, flow.continued))
    }

    fn repeat(
        &mut self,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<naga::Expression>>,
        active: &mut Mask,
    ) -> Result<(), TraceError> {
        let mut left = Mask::none(self.lanes);
        while active.any() {
            self.step(1, body.span_iter().next().map_or(Span::UNDEFINED, |(_, span)| *span))?;
            self.open(true);
            self.block(body, active)?;
            let (broken, continued) = self.close();
            left.add(&broken);
            active.add(&continued);
            if !active.any() {
                break;
            }
            self.block(continuing, active)?;
            if let Some(condition) = break_if {
                let condition = self.data(condition)?;
                let (leave, stay) = active.split(|lane| condition[lane] != 0);
                left.add(&leave);
                *active = stay;
            }
        }
        *active = left;
        Ok(())
    }

    fn switch(
        &mut self,
        selector: Handle<naga::Expression>,
        cases: &'a [SwitchCase],
        active: &mut Mask,
    ) -> Result<(), TraceError> {
        let selector = self.data(selector)?;
        let bits = |value: SwitchValue| match value {
            SwitchValue::I32(value) => Some(u64::from(value as u32)),
            SwitchValue::U32(value) => Some(value.into()),
            SwitchValue::Default => None,
        };
        // Those whose value no case has.
        let mut others = active.clone();
        for case in cases {
            if let Some(bits) = bits(case.value) {
                others.remove(&active.split(|lane| selector[lane] == bits).0);
            }
        }
        self.open(false);
        let mut done = Mask::none(self.lanes);
        let mut falling = Mask::none(self.lanes);
        for case in cases {
            let mut here = match bits(case.value) {
                Some(bits) => active.split(|lane| selector[lane] == bits).0,
                None => others.clone(),
            };
            here.add(&falling);
            falling.clear();
            self.block(&case.body, &mut here)?;
            if case.fall_through { falling = here } else { done.add(&here) }
        }
        // A `continue` within a switch was noted with the loop around it.
        let (broken, _) = self.close();
        done.add(&falling);
        done.add(&broken);
        *active = done;
        Ok(())
    }
}
