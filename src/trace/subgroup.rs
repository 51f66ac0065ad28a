//! What an entry point is told of its place, and what the invocations of a subgroup do together.
//!
//! Subgroups are runs of invocations with consecutive local indices.

use std::rc::Rc;

use naga::{
    Binding, BuiltIn, CollectiveOperation, Expression, GatherMode, Handle, Scalar, ScalarKind, Span, SubgroupOperation,
    TypeInner,
};

use super::arithmetic::{add, maximum, minimum, multiply};
use super::error::TraceError;
use super::lanes::{Lanes, Mask, Value};
use super::machine::Machine;
use super::scalar::{of_float, truncate};

impl Machine<'_> {
    /// Where an invocation is in its workgroup.
    pub fn local_id(&self, lane: usize) -> [u32; 3] {
        let [x, y, _] = self.entry.workgroup_size;
        let lane = lane as u32;
        [lane % x, lane / x % y, lane / (x * y)]
    }

    /// The arguments of the entry point.
    pub fn entry_arguments(&self) -> Result<Vec<Value>, TraceError> {
        let arguments = self.entry.function.arguments.iter();
        arguments
            .map(|argument| {
                let data = match &argument.binding {
                    Some(binding) => self.built_in(binding)?,
                    None => match self.layouts.inner(argument.ty) {
                        TypeInner::Struct { members, .. } => {
                            let parts = members.iter().filter_map(|member| member.binding.as_ref());
                            let parts = parts.map(|binding| self.built_in(binding)).collect::<Result<Vec<_>, _>>()?;
                            self.concat(&parts)?
                        }
                        _ => return Err(self.unsupported("an argument without a binding", Span::UNDEFINED)),
                    },
                };
                Ok(Value::Data(data))
            })
            .collect()
    }

    fn built_in(&self, binding: &Binding) -> Result<Lanes, TraceError> {
        let [x, y, z] = self.entry.workgroup_size;
        let one =
            |function: &dyn Fn(usize) -> u32| (0..self.lanes).map(|lane| function(lane).into()).collect::<Vec<_>>();
        let three = |function: &dyn Fn(usize) -> [u32; 3]| {
            (0..3).flat_map(|axis| one(&|lane| function(lane)[axis])).collect::<Vec<_>>()
        };
        let Binding::BuiltIn(built_in) = binding else {
            return Err(self.unsupported("an argument that is no built-in", Span::UNDEFINED));
        };
        Ok(Rc::new(match built_in {
            BuiltIn::GlobalInvocationId => three(&|lane| {
                let local = self.local_id(lane);
                let first = [0, 1, 2].map(|axis| self.workgroup[axis].wrapping_mul([x, y, z][axis]));
                [0, 1, 2].map(|axis| first[axis].wrapping_add(local[axis]))
            }),
            BuiltIn::LocalInvocationId => three(&|lane| self.local_id(lane)),
            BuiltIn::LocalInvocationIndex => one(&|lane| lane as u32),
            BuiltIn::WorkGroupId => three(&|_| self.workgroup),
            BuiltIn::WorkGroupSize => three(&|_| [x, y, z]),
            BuiltIn::NumWorkGroups => three(&|_| self.grid),
            BuiltIn::NumSubgroups => one(&|_| self.lanes.div_ceil(self.subgroup) as u32),
            BuiltIn::SubgroupId => one(&|lane| (lane / self.subgroup) as u32),
            BuiltIn::SubgroupSize => one(&|_| self.subgroup as u32),
            BuiltIn::SubgroupInvocationId => one(&|lane| (lane % self.subgroup) as u32),
            other => return Err(self.unsupported(format!("the built-in value {other:?}"), Span::UNDEFINED)),
        }))
    }

    /// The subgroups: the invocations that take part in each that has any.
    fn subgroups(&self, mask: &Mask) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.lanes.div_ceil(self.subgroup)];
        mask.lanes().for_each(|lane| groups[lane / self.subgroup].push(lane));
        groups.retain(|group| !group.is_empty());
        groups
    }

    pub fn ballot(
        &mut self,
        result: Handle<Expression>,
        predicate: Option<Handle<Expression>>,
        mask: &Mask,
    ) -> Result<(), TraceError> {
        let predicate = predicate.map(|predicate| self.data(predicate)).transpose()?;
        let mut votes = vec![0; 4 * self.lanes];
        for group in self.subgroups(mask) {
            let holds = |lane: usize| predicate.as_ref().is_none_or(|predicate| predicate[lane] != 0);
            let bits = group.iter().filter(|lane| holds(**lane)).map(|lane| 1u128 << (lane % self.subgroup));
            let bits = bits.fold(0, |all, bit| all | bit);
            for &lane in &group {
                (0..4).for_each(|word| votes[word * self.lanes + lane] = u64::from((bits >> (32 * word)) as u32));
            }
        }
        self.set(result, Value::Data(Rc::new(votes)))
    }

    pub fn gather(
        &mut self,
        mode: &GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
        mask: &Mask,
        span: Span,
    ) -> Result<(), TraceError> {
        let value = self.data(argument)?;
        let index = match *mode {
            GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => None,
            GatherMode::Broadcast(index)
            | GatherMode::Shuffle(index)
            | GatherMode::ShuffleDown(index)
            | GatherMode::ShuffleUp(index)
            | GatherMode::ShuffleXor(index)
            | GatherMode::QuadBroadcast(index) => Some(self.data(index)?),
        };
        let mut gathered = value.to_vec();
        for group in self.subgroups(mask) {
            for &lane in &group {
                let (first, own) = (lane - lane % self.subgroup, (lane % self.subgroup) as u64);
                let by = index.as_ref().map_or(0, |index| index[lane]);
                let from = match *mode {
                    GatherMode::BroadcastFirst => (group[0] - first) as u64,
                    GatherMode::Broadcast(_) | GatherMode::Shuffle(_) => by,
                    GatherMode::ShuffleDown(_) => own.saturating_add(by),
                    GatherMode::ShuffleUp(_) => own.wrapping_sub(by),
                    GatherMode::ShuffleXor(_) => own ^ by,
                    GatherMode::QuadBroadcast(_) => (own & !3) | (by & 3),
                    GatherMode::QuadSwap(direction) => own ^ (direction as u64 + 1),
                };
                let from = usize::try_from(from).ok().filter(|from| *from < self.subgroup).map(|from| first + from);
                // From nobody comes a zero: WGSL leaves open what does.
                let from = from.filter(|from| *from < self.lanes && mask.has(*from));
                for component in 0..value.len() / self.lanes {
                    let bits = from.map_or(0, |from| value[component * self.lanes + from]);
                    gathered[component * self.lanes + lane] = bits;
                }
            }
        }
        self.step(value.len() as u64 / self.lanes as u64, span)?;
        self.set(result, Value::Data(Rc::new(gathered)))
    }

    pub fn collective(
        &mut self,
        (operation, order): (SubgroupOperation, CollectiveOperation),
        argument: Handle<Expression>,
        result: Handle<Expression>,
        mask: &Mask,
        span: Span,
    ) -> Result<(), TraceError> {
        let kind = self.scalar_of(argument, span)?;
        let value = self.data(argument)?;
        let mut combined = vec![0; value.len()];
        for group in self.subgroups(mask) {
            for component in 0..value.len() / self.lanes {
                let at = |lane: usize| component * self.lanes + lane;
                let mut sum = neutral(operation, kind);
                for &lane in &group {
                    let before = sum;
                    sum = combine(operation, kind, sum, value[at(lane)]);
                    combined[at(lane)] = if order == CollectiveOperation::ExclusiveScan { before } else { sum };
                }
                if order == CollectiveOperation::Reduce {
                    group.iter().for_each(|&lane| combined[at(lane)] = sum);
                }
            }
        }
        self.set(result, Value::Data(Rc::new(combined)))
    }
}

fn combine(operation: SubgroupOperation, kind: Scalar, a: u64, b: u64) -> u64 {
    match operation {
        SubgroupOperation::All | SubgroupOperation::And => a & b,
        SubgroupOperation::Any | SubgroupOperation::Or => a | b,
        SubgroupOperation::Xor => a ^ b,
        SubgroupOperation::Add => add(kind, a, b),
        SubgroupOperation::Mul => multiply(kind, a, b),
        SubgroupOperation::Min => minimum(kind, a, b),
        SubgroupOperation::Max => maximum(kind, a, b),
    }
}

/// What changes nothing when it is combined with something.
fn neutral(operation: SubgroupOperation, kind: Scalar) -> u64 {
    let (width, float) = (kind.width, kind.kind == ScalarKind::Float);
    let ones = truncate(u64::MAX, width);
    match operation {
        SubgroupOperation::Any | SubgroupOperation::Or | SubgroupOperation::Xor | SubgroupOperation::Add => 0,
        SubgroupOperation::All => 1,
        SubgroupOperation::And => ones,
        SubgroupOperation::Mul => {
            if float {
                of_float(1.0, width)
            } else {
                1
            }
        }
        SubgroupOperation::Min => match kind.kind {
            ScalarKind::Float => of_float(f64::INFINITY, width),
            ScalarKind::Sint => ones >> 1,
            _ => ones,
        },
        SubgroupOperation::Max => match kind.kind {
            ScalarKind::Float => of_float(f64::NEG_INFINITY, width),
            ScalarKind::Sint => (ones >> 1) + 1,
            _ => 0,
        },
    }
}
