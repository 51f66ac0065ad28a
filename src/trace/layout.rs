//! Types: how many scalars a value has, and where they lie in memory.

use naga::proc::{Alignment, IndexableLength};
use naga::{ArraySize, Handle, Module, Scalar, ScalarKind, Type, TypeInner, VectorSize};

/// What a pointer points to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pointee {
    /// A type with a name in the module.
    Type(Handle<Type>),
    /// A scalar, or a vector of so many.
    Vector(u32, Scalar),
}

/// How the parts of a type are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// By bytes: what a buffer or the workgroup's memory has.
    Bytes,
    /// By scalars: what every invocation has for itself, which lies nowhere in particular.
    Scalars,
}

/// A scalar or vector in memory, which one access takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Bytes from the beginning of the type on.
    pub offset: u64,
    /// The number of its first scalar.
    pub first: usize,
    /// Its scalars.
    pub count: u32,
    /// Their type.
    pub scalar: Scalar,
    /// Whether it is an atomic.
    pub atomic: bool,
}

impl Leaf {
    /// Bytes of an access to it.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count) * u64::from(self.scalar.width)
    }
}

/// The elements that an index chooses from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    /// From one to the next, in the unit.
    pub stride: u64,
    /// How many there are; `None` where the buffer says so.
    pub length: Option<u64>,
}

/// The types of a module.
pub(super) struct Layouts<'a> {
    pub module: &'a Module,
    /// Scalars of each type's value.
    scalars: Vec<u64>,
    /// Bytes of each type, of a single element where the length is open.
    bytes: Vec<u64>,
}

impl<'a> Layouts<'a> {
    pub fn new(module: &'a Module) -> Layouts<'a> {
        let mut layouts = Layouts { module, scalars: Vec::new(), bytes: Vec::new() };
        for (_, ty) in module.types.iter() {
            let scalars = layouts.count(&ty.inner);
            let bytes = layouts.size(&ty.inner);
            layouts.scalars.push(scalars);
            layouts.bytes.push(bytes);
        }
        layouts
    }

    /// The type itself.
    pub fn inner(&self, ty: Handle<Type>) -> &'a TypeInner {
        &self.module.types[ty].inner
    }

    /// Scalars of a value of a type; 0 for what has none.
    pub fn scalars(&self, ty: Handle<Type>) -> u64 {
        self.scalars[ty.index()]
    }

    /// Bytes of a type in memory; of an open array, those that at least one element takes.
    pub fn bytes(&self, ty: Handle<Type>) -> u64 {
        self.bytes[ty.index()]
    }

    /// Elements of an array; `None` where the buffer says so. An override has its value by now.
    pub fn length(&self, size: ArraySize) -> Option<u64> {
        match size.resolve(self.module.to_ctx()) {
            Ok(IndexableLength::Known(length)) => Some(length.into()),
            Ok(IndexableLength::Dynamic) | Err(_) => None,
        }
    }

    /// Scalars of a value.
    pub fn count(&self, inner: &TypeInner) -> u64 {
        match *inner {
            TypeInner::Scalar(_) | TypeInner::Atomic(_) => 1,
            TypeInner::Vector { size, .. } => size as u64,
            TypeInner::Matrix { columns, rows, .. } => columns as u64 * rows as u64,
            TypeInner::Array { base, size, .. } => self.scalars(base).saturating_mul(self.length(size).unwrap_or(0)),
            TypeInner::Struct { ref members, .. } => {
                members.iter().fold(0, |sum: u64, member| sum.saturating_add(self.scalars(member.ty)))
            }
            _ => 0,
        }
    }

    fn size(&self, inner: &TypeInner) -> u64 {
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar.width.into(),
            TypeInner::Vector { size, scalar } => size as u64 * u64::from(scalar.width),
            TypeInner::Matrix { columns, rows, scalar } => columns as u64 * column_stride(rows, scalar),
            TypeInner::Array { size, stride, .. } => u64::from(stride).saturating_mul(self.length(size).unwrap_or(1)),
            TypeInner::Struct { ref members, span } => {
                let open = members.last().map_or(0, |last| u64::from(last.offset).saturating_add(self.bytes(last.ty)));
                open.max(span.into())
            }
            _ => 0,
        }
    }

    /// The fewest bytes of a scalar in a type, if it has any.
    pub fn narrowest(&self, ty: Handle<Type>) -> Option<u8> {
        match *self.inner(ty) {
            TypeInner::Array { base, .. } => self.narrowest(base),
            TypeInner::Struct { ref members, .. } => {
                members.iter().filter_map(|member| self.narrowest(member.ty)).min()
            }
            ref inner => inner.scalar().map(|scalar| scalar.width),
        }
    }

    /// What an index into a pointee chooses from; `None` if it takes none.
    pub fn elements(&self, pointee: Pointee, unit: Unit) -> Option<Elements> {
        let of_vector = |count: u64, scalar: Scalar| {
            let stride = if unit == Unit::Bytes { scalar.width.into() } else { 1 };
            Elements { stride, length: Some(count) }
        };
        Some(match pointee {
            Pointee::Vector(count, scalar) => of_vector(count.into(), scalar),
            Pointee::Type(ty) => match *self.inner(ty) {
                TypeInner::Vector { size, scalar } => of_vector(size as u64, scalar),
                TypeInner::Matrix { columns, rows, scalar } => {
                    let stride = if unit == Unit::Bytes { column_stride(rows, scalar) } else { rows as u64 };
                    Elements { stride, length: Some(columns as u64) }
                }
                TypeInner::Array { base, size, stride } => {
                    let stride = if unit == Unit::Bytes { stride.into() } else { self.scalars(base) };
                    Elements { stride, length: self.length(size) }
                }
                _ => return None,
            },
        })
    }

    /// Where a member of a struct begins; `None` if it is no struct.
    pub fn member(&self, pointee: Pointee, index: u32, unit: Unit) -> Option<u64> {
        let Pointee::Type(ty) = pointee else { return None };
        let TypeInner::Struct { ref members, .. } = *self.inner(ty) else { return None };
        Some(match unit {
            Unit::Bytes => members.get(index as usize)?.offset.into(),
            Unit::Scalars => members[..index as usize].iter().map(|member| self.scalars(member.ty)).sum(),
        })
    }

    /// The leaves of a pointee, in order. An array has as many as it has elements: ask for `scalars` first.
    pub fn leaves(&self, pointee: Pointee) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        match pointee {
            Pointee::Vector(count, scalar) => {
                leaves.push(Leaf { offset: 0, first: 0, count, scalar, atomic: false });
            }
            Pointee::Type(ty) => self.add_leaves(ty, 0, &mut 0, &mut leaves),
        }
        leaves
    }

    fn add_leaves(&self, ty: Handle<Type>, offset: u64, first: &mut usize, leaves: &mut Vec<Leaf>) {
        let mut leaf = |offset: u64, count: u32, scalar: Scalar, atomic: bool, first: &mut usize| {
            leaves.push(Leaf { offset, first: *first, count, scalar, atomic });
            *first += count as usize;
        };
        match *self.inner(ty) {
            TypeInner::Scalar(scalar) => leaf(offset, 1, scalar, false, first),
            TypeInner::Atomic(scalar) => leaf(offset, 1, scalar, true, first),
            TypeInner::Vector { size, scalar } => leaf(offset, size as u32, scalar, false, first),
            TypeInner::Matrix { columns, rows, scalar } => {
                for column in 0..columns as u64 {
                    leaf(offset + column * column_stride(rows, scalar), rows as u32, scalar, false, first);
                }
            }
            TypeInner::Array { base, size, stride } => {
                for index in 0..self.length(size).unwrap_or(0) {
                    self.add_leaves(base, offset + index * u64::from(stride), first, leaves);
                }
            }
            TypeInner::Struct { ref members, .. } => {
                for member in members {
                    self.add_leaves(member.ty, offset + u64::from(member.offset), first, leaves);
                }
            }
            _ => {}
        }
    }

    /// The type as WGSL writes it.
    pub fn name(&self, ty: Handle<Type>) -> String {
        let ty = &self.module.types[ty];
        if let Some(name) = &ty.name {
            return name.clone();
        }
        let scalar = |scalar: Scalar| {
            let kind = match scalar.kind {
                ScalarKind::Sint | ScalarKind::AbstractInt => "i",
                ScalarKind::Uint => "u",
                ScalarKind::Float | ScalarKind::AbstractFloat => "f",
                ScalarKind::Bool => return "bool".to_owned(),
            };
            format!("{kind}{}", 8 * u32::from(scalar.width))
        };
        match ty.inner {
            TypeInner::Scalar(kind) => scalar(kind),
            TypeInner::Atomic(kind) => format!("atomic<{}>", scalar(kind)),
            TypeInner::Vector { size, scalar: kind } => format!("vec{}<{}>", size as u32, scalar(kind)),
            TypeInner::Matrix { columns, rows, scalar: kind } => {
                format!("mat{}x{}<{}>", columns as u32, rows as u32, scalar(kind))
            }
            TypeInner::Array { base, size, .. } => match self.length(size) {
                Some(length) => format!("array<{}, {length}>", self.name(base)),
                None => format!("array<{}>", self.name(base)),
            },
            TypeInner::Image { .. } => "a texture".into(),
            TypeInner::Sampler { .. } => "a sampler".into(),
            _ => "a type without a name".into(),
        }
    }
}

/// Bytes from one column of a matrix to the next.
fn column_stride(rows: VectorSize, scalar: Scalar) -> u64 {
    u64::from(Alignment::from(rows).round_up(1)) * u64::from(scalar.width)
}
