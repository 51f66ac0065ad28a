//! A workgroup of invocations, run together: each statement for all that take part in it.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{AddressSpace, EntryPoint, Expression, Function, Handle, Module, Span, TypeInner};

use super::error::{Location, TraceError};
use super::findings::{Findings, Found, place};
use super::lanes::{Lanes, Mask, Value};
use super::layout::Layouts;
use super::lines::Lines;
use super::memory::{Budget, Memory};
use super::race::{Clock, Owners, Shadow};
use super::record::{Log, Space};

/// A variable that invocations share.
pub(super) struct Region {
    pub name: String,
    pub space: Space,
    pub memory: Memory,
    /// Of what can be written.
    pub shadow: Option<Shadow>,
    /// Of what other workgroups see too.
    pub owners: Option<Owners>,
}

/// Where a module's variable is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    /// In a region.
    Region(usize),
    /// With each invocation; the number of the variable.
    Private(usize),
    /// Nowhere: the entry point does not use it, or cannot.
    None,
}

/// A loop or switch that invocations can leave.
pub(super) struct Flow {
    pub is_loop: bool,
    pub broken: Mask,
    pub continued: Mask,
}

/// A call.
pub(super) struct Frame<'a> {
    pub function: &'a Function,
    pub info: &'a FunctionInfo,
    pub slots: Vec<Option<Value>>,
    pub arguments: Vec<Value>,
    pub locals: Vec<Vec<u64>>,
    pub result: Vec<u64>,
    pub flow: Vec<Flow>,
    /// Bytes that it holds.
    pub bytes: u64,
}

/// What a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of a workgroup: statements and expressions, those of large values several times.
    pub steps: u64,
    /// Bytes of memory for buffers, variables and values together.
    pub bytes: u64,
    /// Invocations of a workgroup.
    pub invocations: u64,
    /// Workgroups that are traced.
    pub workgroups: u64,
}

impl Default for Limits {
    /// A step takes about a microsecond for 256 invocations. No GPU has workgroups of more than 1024.
    fn default() -> Limits {
        Limits { steps: 10_000_000, bytes: 2 << 30, invocations: 1024, workgroups: 1 << 20 }
    }
}

/// Calls and blocks within one another.
const DEEPEST: usize = 500;

pub(super) struct Machine<'a> {
    pub module: &'a Module,
    pub info: &'a ModuleInfo,
    pub layouts: &'a Layouts<'a>,
    pub lines: Lines<'a>,
    pub entry: &'a EntryPoint,
    pub entry_info: &'a FunctionInfo,
    /// Invocations of a workgroup.
    pub lanes: usize,
    /// Invocations of a subgroup.
    pub subgroup: usize,
    pub grid: [u32; 3],
    /// The workgroup that runs, and its number among those traced.
    pub workgroup: [u32; 3],
    pub number: usize,
    pub homes: Vec<Home>,
    pub regions: Vec<Region>,
    pub privates: Vec<Vec<u64>>,
    pub constants: Vec<Option<Lanes>>,
    pub frames: Vec<Frame<'a>>,
    /// For storage and for workgroup memory.
    pub storage_clock: Clock,
    pub workgroup_clock: Clock,
    pub log: Log,
    pub findings: Findings,
    pub limits: Limits,
    pub budget: Budget,
    pub steps: u64,
    /// Calls and blocks that are open.
    pub depth: usize,
    /// The last place that was reached.
    pub at: Span,
}

impl<'a> Machine<'a> {
    /// Runs one workgroup.
    pub fn run(&mut self, workgroup: [u32; 3], number: usize) -> Result<(), TraceError> {
        self.workgroup = workgroup;
        self.number = number;
        self.steps = 0;
        self.depth = 0;
        self.at = Span::UNDEFINED;
        self.storage_clock = Clock::new(self.lanes, self.subgroup);
        self.workgroup_clock = Clock::new(self.lanes, self.subgroup);
        for region in &mut self.regions {
            if let Some(shadow) = &mut region.shadow {
                shadow.reset(&mut self.budget);
            }
            if region.space == Space::Workgroup {
                region.memory.reset(&mut self.budget);
            }
        }
        self.start_privates()?;
        let arguments = self.entry_arguments()?;
        let all = Mask::all(self.lanes);
        self.call(&self.entry.function, self.entry_info, arguments, &all, Span::UNDEFINED)?;
        Ok(())
    }

    fn start_privates(&mut self) -> Result<(), TraceError> {
        for (handle, variable) in self.module.global_variables.iter() {
            if variable.space != AddressSpace::Private {
                continue;
            }
            let Home::Private(number) = self.homes[handle.index()] else { continue };
            let words = self.words(self.layouts.scalars(variable.ty), "a private variable")?;
            let first = self.privates[number].is_empty();
            if first {
                self.budget.take(8 * words as u64, "private variables")?;
            }
            self.privates[number] = match variable.init {
                Some(init) => self.constant(init)?.to_vec(),
                None => vec![0; words],
            };
        }
        Ok(())
    }

    /// Calls a function for the invocations in `mask`, and returns its result, if it has one.
    pub fn call(
        &mut self,
        function: &'a Function,
        info: &'a FunctionInfo,
        arguments: Vec<Value>,
        mask: &Mask,
        span: Span,
    ) -> Result<Vec<u64>, TraceError> {
        self.enter(span)?;
        let result = match &function.result {
            Some(result) => vec![0; self.words(self.layouts.scalars(result.ty), "a result")?],
            None => Vec::new(),
        };
        let slots = vec![None; function.expressions.len()];
        let bytes = 8 * result.len() as u64;
        self.budget.take(bytes, "calls")?;
        let frame = Frame { function, info, slots, arguments, locals: Vec::new(), result, flow: Vec::new(), bytes };
        self.frames.push(frame);
        self.start_locals(function)?;
        self.block(&function.body, &mut mask.clone())?;
        self.depth -= 1;
        let Some(frame) = self.frames.pop() else { return Ok(Vec::new()) };
        self.budget.give(frame.bytes);
        Ok(frame.result)
    }

    fn start_locals(&mut self, function: &'a Function) -> Result<(), TraceError> {
        for (_, variable) in function.local_variables.iter() {
            let words = self.words(self.layouts.scalars(variable.ty), "a variable of a function")?;
            self.budget.take(8 * words as u64, "variables of functions")?;
            let value = match variable.init {
                Some(init) => self.data(init)?.to_vec(),
                None => vec![0; words],
            };
            let frame = self.frame();
            frame.bytes += 8 * words as u64;
            frame.locals.push(value);
        }
        Ok(())
    }

    /// Opens a call or block.
    pub fn enter(&mut self, span: Span) -> Result<(), TraceError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.unsupported(format!("calls and blocks more than {DEEPEST} deep"), span));
        }
        Ok(())
    }

    /// Words for so many scalars of all invocations.
    ///
    /// # Errors
    /// [`TraceError::TooLarge`] if they are more than there may be at all.
    pub fn words(&self, scalars: u64, what: &str) -> Result<usize, TraceError> {
        let words = u128::from(scalars) * self.lanes as u128;
        let most = self.budget.most / 8;
        if words > most.into() {
            let what = format!("{what} of {scalars} scalars for {} invocations takes bytes of memory:", self.lanes);
            return Err(TraceError::TooLarge { what, needed: 8 * words, most: self.budget.most });
        }
        Ok(words as usize)
    }

    /// Counts work.
    pub fn step(&mut self, work: u64, span: Span) -> Result<(), TraceError> {
        self.steps = self.steps.saturating_add(work.max(1));
        if span.is_defined() {
            self.at = span;
        }
        if self.steps > self.limits.steps {
            let (workgroup, limit) = (self.workgroup, self.limits.steps);
            return Err(TraceError::Steps { workgroup, limit, location: self.locate(span) });
        }
        Ok(())
    }

    /// The innermost call. There is one whenever anything runs.
    pub fn frame(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The type of an expression of the innermost call.
    pub fn type_of(&self, expression: Handle<Expression>) -> &'a TypeInner {
        let info = self.frames[self.frames.len() - 1].info;
        info[expression].ty.inner_with(&self.module.types)
    }

    pub fn span_of(&self, expression: Handle<Expression>) -> Span {
        self.frames[self.frames.len() - 1].function.expressions.get_span(expression)
    }

    pub fn unsupported(&self, what: impl Into<String>, span: Span) -> TraceError {
        TraceError::Unsupported { what: what.into(), location: self.locate(span) }
    }

    /// Where something is; for what naga has no place for, the last place before it.
    fn locate(&self, span: Span) -> Option<Location> {
        self.lines.of(place(if span.is_defined() { span } else { self.at }))
    }

    pub fn found(&mut self, found: Found) {
        self.findings.add(found, self.number);
    }

    /// Has invocations meet: `storage` and `workgroup` say which memory they have in order afterwards.
    pub fn barrier(&mut self, mask: &Mask, storage: bool, workgroup: bool, span: Span) {
        if !mask.is_all() {
            let missing = (0..self.lanes).find(|lane| !mask.has(*lane)).unwrap_or(0);
            self.found(Found::Barrier { place: place(span), missing, lanes: mask.lanes().count() });
        }
        self.storage_clock.barrier(storage);
        self.workgroup_clock.barrier(workgroup);
    }
}
