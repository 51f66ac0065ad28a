//! Values of all invocations of a workgroup at once.

use std::rc::Rc;

use super::pointer::Pointer;

/// The scalars of a value, component by component; within a component, the bits of each invocation's scalar, with zeros
/// above its width.
pub(super) type Lanes = Rc<Vec<u64>>;

/// What an expression comes to.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Scalars, in the order in which the type has them.
    Data(Lanes),
    /// A pointer.
    Pointer(Pointer),
}

/// Which invocations take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask(Vec<bool>);

impl Mask {
    pub(super) fn all(lanes: usize) -> Mask {
        Mask(vec![true; lanes])
    }

    pub(super) fn none(lanes: usize) -> Mask {
        Mask(vec![false; lanes])
    }

    pub(super) fn any(&self) -> bool {
        self.0.contains(&true)
    }

    pub(super) fn is_all(&self) -> bool {
        !self.0.contains(&false)
    }

    pub(super) fn has(&self, lane: usize) -> bool {
        self.0[lane]
    }

    /// The first invocation.
    pub(super) fn first(&self) -> Option<usize> {
        self.0.iter().position(|active| *active)
    }

    /// The invocations, in order.
    pub(super) fn lanes(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter_map(|(lane, active)| active.then_some(lane))
    }

    /// Those of them for which a condition holds, and the others.
    pub(super) fn split(&self, holds: impl Fn(usize) -> bool) -> (Mask, Mask) {
        let of = |wanted: bool| {
            let keep = |(lane, active): (usize, &bool)| *active && holds(lane) == wanted;
            Mask(self.0.iter().enumerate().map(keep).collect())
        };
        (of(true), of(false))
    }

    /// Adds those of another.
    pub(super) fn add(&mut self, other: &Mask) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
    }

    /// Removes those of another.
    pub(super) fn remove(&mut self, other: &Mask) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to &= !from);
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(false);
    }
}

/// Applies a function to each scalar.
pub(super) fn map(value: &[u64], function: impl Fn(u64) -> u64) -> Lanes {
    Rc::new(value.iter().map(|&bits| function(bits)).collect())
}

/// Applies a function to the scalars of two values, of which one may have a single component for all of the other's.
pub(super) fn zip(lanes: usize, left: &[u64], right: &[u64], function: impl Fn(u64, u64) -> u64) -> Lanes {
    if left.len() == right.len() {
        return Rc::new(left.iter().zip(right).map(|(&a, &b)| function(a, b)).collect());
    }
    let length = left.len().max(right.len());
    let of = |side: &[u64], at: usize| if side.len() == length { side[at] } else { side[at % lanes] };
    Rc::new((0..length).map(|at| function(of(left, at), of(right, at))).collect())
}

/// The same of three.
pub(super) fn zip3(lanes: usize, [a, b, c]: [&[u64]; 3], function: impl Fn(u64, u64, u64) -> u64) -> Lanes {
    let length = a.len().max(b.len()).max(c.len());
    let of = |side: &[u64], at: usize| if side.len() == length { side[at] } else { side[at % lanes] };
    Rc::new((0..length).map(|at| function(of(a, at), of(b, at), of(c, at))).collect())
}
