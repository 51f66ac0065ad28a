//! Pointers: a variable, the same for all invocations, and where in it each of them points.

use std::rc::Rc;

use naga::TypeInner;

use super::layout::{Elements, Pointee, Unit};

/// The variable that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// What invocations share, by the number of its region.
    Region(usize),
    /// A private variable, by its number.
    Private(usize),
    /// A variable of a function, by the depth of its call and its number.
    Local(usize, usize),
}

impl Root {
    pub fn unit(self) -> Unit {
        match self {
            Root::Region(_) => Unit::Bytes,
            Root::Private(_) | Root::Local(..) => Unit::Scalars,
        }
    }
}

/// Where invocations point, in the unit of the root.
#[derive(Clone, Debug)]
pub(super) enum Offset {
    /// All to the same place.
    Same(u64),
    /// Each to its own.
    Each(Rc<Vec<u64>>),
}

/// An index that chose nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outside {
    /// The index.
    pub index: i64,
    /// How many elements there are.
    pub length: u64,
}

/// A pointer.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub root: Root,
    pub offset: Offset,
    /// For each invocation the first index on the way here that chose nothing, if there is one.
    pub outside: Option<Rc<Vec<Option<Outside>>>>,
}

/// The index of a step.
pub(super) enum Index<'a> {
    /// The same for all.
    Same(u64),
    /// One for each invocation.
    Each(&'a [i64]),
}

impl Pointer {
    /// A pointer to a whole variable.
    pub fn to(root: Root) -> Pointer {
        Pointer { root, offset: Offset::Same(0), outside: None }
    }

    /// Where an invocation points.
    pub fn offset(&self, lane: usize) -> u64 {
        match &self.offset {
            Offset::Same(offset) => *offset,
            Offset::Each(offsets) => offsets[lane],
        }
    }

    /// Why an invocation points nowhere, if it does.
    pub fn outside(&self, lane: usize) -> Option<Outside> {
        self.outside.as_ref().and_then(|outside| outside[lane])
    }

    /// A pointer to a part that begins so much further on.
    pub fn advanced(&self, by: u64) -> Pointer {
        let offset = match &self.offset {
            Offset::Same(offset) => Offset::Same(offset.saturating_add(by)),
            Offset::Each(offsets) => {
                Offset::Each(Rc::new(offsets.iter().map(|offset| offset.saturating_add(by)).collect()))
            }
        };
        Pointer { offset, ..self.clone() }
    }

    /// A pointer to an element; `length` is how many there are.
    pub fn element(&self, index: Index, elements: Elements, length: u64, lanes: usize) -> Pointer {
        match index {
            Index::Same(index) if index < length => self.advanced(index.saturating_mul(elements.stride)),
            Index::Same(index) => {
                let index = i64::try_from(index).unwrap_or(i64::MAX);
                self.elements(|_| index, elements, length, lanes)
            }
            Index::Each(indices) => self.elements(|lane| indices[lane], elements, length, lanes),
        }
    }

    fn elements(&self, index: impl Fn(usize) -> i64, elements: Elements, length: u64, lanes: usize) -> Pointer {
        let mut offsets = Vec::with_capacity(lanes);
        let mut outside = self.outside.clone();
        for lane in 0..lanes {
            let index = index(lane);
            let inside = u64::try_from(index).ok().filter(|index| *index < length);
            if inside.is_none() {
                let list = outside.get_or_insert_with(|| Rc::new(vec![None; lanes]));
                Rc::make_mut(list)[lane].get_or_insert(Outside { index, length });
            }
            offsets.push(self.offset(lane).saturating_add(inside.unwrap_or(0).saturating_mul(elements.stride)));
        }
        Pointer { root: self.root, offset: Offset::Each(Rc::new(offsets)), outside }
    }
}

/// What a pointer of this type points to; `None` if it is no pointer that the tracer knows.
pub(super) fn pointee(inner: &TypeInner) -> Option<Pointee> {
    match *inner {
        TypeInner::Pointer { base, .. } => Some(Pointee::Type(base)),
        TypeInner::ValuePointer { size, scalar, .. } => {
            Some(Pointee::Vector(size.map_or(1, |size| size as u32), scalar))
        }
        _ => None,
    }
}
