//! Loads, stores and atomic operations.

use std::rc::Rc;

use naga::{AtomicFunction, Expression, Handle, Span};

use super::error::TraceError;
use super::findings::{Found, place};
use super::lanes::{Lanes, Mask, Value};
use super::layout::{Leaf, Pointee};
use super::machine::Machine;
use super::memory;
use super::pointer::{Offset, Outside, Pointer, Root};
use super::race::Conflict;
use super::record::{Kind, Site, Space};
use super::scalar;

/// What an invocation had in conflict with an earlier access.
struct Clash {
    site: usize,
    lane: usize,
    /// Whether both wrote the same.
    same_value: bool,
}

impl Machine<'_> {
    /// Loads what invocations point to. Those outside get zeros.
    pub fn load(&mut self, pointer: &Pointer, from: Pointee, mask: &Mask, span: Span) -> Result<Lanes, TraceError> {
        let scalars = self.scalars(from);
        let words = self.words(scalars, "a value")?;
        let mut out = vec![0; words];
        match pointer.root {
            Root::Region(region) => {
                self.step(scalars, span)?;
                for leaf in self.layouts.leaves(from) {
                    self.load_leaf(region, pointer, leaf, mask, span, &mut out)?;
                }
            }
            root => {
                let lanes = self.lanes;
                if let (Offset::Same(offset), None) = (&pointer.offset, &pointer.outside) {
                    let first = *offset as usize * lanes;
                    if let Some(part) = self.own(root).get(first..first + words) {
                        out.copy_from_slice(part);
                    }
                    return Ok(Rc::new(out));
                }
                let inside = self.inside_own(pointer, scalars, mask, "load", span);
                let own = self.own(root);
                for (lane, offset) in inside {
                    for scalar in 0..scalars as usize {
                        out[scalar * lanes + lane] = own[(offset + scalar) * lanes + lane];
                    }
                }
            }
        }
        Ok(Rc::new(out))
    }

    /// Stores where invocations point to. What is outside is dropped.
    pub fn store(
        &mut self,
        pointer: &Pointer,
        to: Pointee,
        value: &[u64],
        mask: &Mask,
        span: Span,
    ) -> Result<(), TraceError> {
        let (scalars, lanes) = (self.scalars(to), self.lanes);
        match pointer.root {
            Root::Region(region) => {
                self.step(scalars, span)?;
                for leaf in self.layouts.leaves(to) {
                    self.store_leaf(region, pointer, leaf, value, mask, span)?;
                }
            }
            root => {
                let all = mask.is_all();
                if let (Offset::Same(offset), None, true) = (&pointer.offset, &pointer.outside, all) {
                    let first = *offset as usize * lanes;
                    if let Some(part) = self.own(root).get_mut(first..first + value.len()) {
                        part.copy_from_slice(value);
                    }
                    return Ok(());
                }
                let inside = self.inside_own(pointer, scalars, mask, "store", span);
                let own = self.own(root);
                for (lane, offset) in inside {
                    for scalar in 0..scalars as usize {
                        own[(offset + scalar) * lanes + lane] = value[scalar * lanes + lane];
                    }
                }
            }
        }
        Ok(())
    }

    fn scalars(&self, of: Pointee) -> u64 {
        match of {
            Pointee::Type(ty) => self.layouts.scalars(ty),
            Pointee::Vector(count, _) => count.into(),
        }
    }

    /// The scalars of a variable that is every invocation's own.
    fn own(&mut self, root: Root) -> &mut Vec<u64> {
        match root {
            Root::Local(depth, number) => &mut self.frames[depth].locals[number],
            Root::Private(number) | Root::Region(number) => &mut self.privates[number],
        }
    }

    fn name(&self, root: Root) -> String {
        let name = match root {
            Root::Region(number) => return self.regions[number].name.clone(),
            Root::Private(number) => {
                let variables = &self.module.global_variables;
                variables.iter().find(|(handle, _)| handle.index() == number).and_then(|(_, found)| found.name.clone())
            }
            Root::Local(depth, number) => {
                let variables = &self.frames[depth].function.local_variables;
                variables.iter().nth(number).and_then(|(_, found)| found.name.clone())
            }
        };
        name.unwrap_or_else(|| "a variable".into())
    }

    /// The invocations that point within a variable of their own, and where.
    fn inside_own(
        &mut self,
        pointer: &Pointer,
        scalars: u64,
        mask: &Mask,
        what: &'static str,
        span: Span,
    ) -> Vec<(usize, usize)> {
        let length = (self.own(pointer.root).len() / self.lanes) as u64;
        let mut inside = Vec::new();
        for lane in mask.lanes() {
            let offset = pointer.offset(lane);
            let beyond = offset.saturating_add(scalars) > length;
            let outside = pointer.outside(lane).or(beyond.then_some(Outside { index: offset as i64, length }));
            match outside {
                None => inside.push((lane, offset as usize)),
                Some(outside) => self.outside(pointer.root, outside, what, lane, span),
            }
        }
        inside
    }

    fn outside(&mut self, root: Root, outside: Outside, what: &'static str, lane: usize, span: Span) {
        let (variable, place) = (self.name(root), place(span));
        self.found(Found::Outside { variable, place, what, lane, outside });
    }

    /// Counts the requests of an access to a leaf; returns its site and where each invocation that takes part and
    /// points within accesses memory.
    fn request(
        &mut self,
        region: usize,
        pointer: &Pointer,
        leaf: Leaf,
        kind: Kind,
        mask: &Mask,
        span: Span,
    ) -> (usize, Vec<Option<u64>>) {
        let (bytes, length) = (leaf.bytes(), self.regions[region].memory.bytes);
        let what = match kind {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic => "atomic operation",
        };
        let mut addresses = vec![None; self.lanes];
        for lane in mask.lanes() {
            let address = pointer.offset(lane).saturating_add(leaf.offset);
            let beyond = address.saturating_add(bytes) > length;
            let outside = pointer.outside(lane).or(beyond.then_some(Outside { index: address as i64, length }));
            match outside {
                None => addresses[lane] = Some(address),
                Some(outside) => self.outside(pointer.root, outside, what, lane, span),
            }
        }
        let site = self.log.site(Site::new(span, kind, region, bytes));
        let space = self.regions[region].space;
        addresses.chunks(self.subgroup).for_each(|group| self.log.request(site, space, group));
        (site, addresses)
    }

    fn load_leaf(
        &mut self,
        region: usize,
        pointer: &Pointer,
        leaf: Leaf,
        mask: &Mask,
        span: Span,
        out: &mut [u64],
    ) -> Result<(), TraceError> {
        // An atomic load or store costs what any other does.
        let (site, addresses) = self.request(region, pointer, leaf, Kind::Load, mask, span);
        let (lanes, width) = (self.lanes, leaf.scalar.width);
        for (lane, address) in addresses.iter().enumerate() {
            let Some(address) = *address else { continue };
            let bytes = self.regions[region].memory.leaf(address, leaf.bytes(), &mut self.budget)?;
            for (scalar, piece) in bytes.chunks(width.into()).enumerate() {
                out[(leaf.first + scalar) * lanes + lane] = memory::get(piece, width);
            }
            if !leaf.atomic {
                self.watch(region, [address, leaf.bytes()], Clash { site, lane, same_value: false }, false)?;
            }
        }
        Ok(())
    }

    fn store_leaf(
        &mut self,
        region: usize,
        pointer: &Pointer,
        leaf: Leaf,
        value: &[u64],
        mask: &Mask,
        span: Span,
    ) -> Result<(), TraceError> {
        let (site, addresses) = self.request(region, pointer, leaf, Kind::Store, mask, span);
        let (lanes, width) = (self.lanes, leaf.scalar.width);
        for (lane, address) in addresses.iter().enumerate() {
            let Some(address) = *address else { continue };
            let bytes = self.regions[region].memory.leaf(address, leaf.bytes(), &mut self.budget)?;
            let mut same_value = true;
            for (scalar, piece) in bytes.chunks_mut(width.into()).enumerate() {
                let bits = value[(leaf.first + scalar) * lanes + lane];
                same_value &= memory::get(piece, width) == bits;
                memory::set(piece, width, bits);
            }
            if !leaf.atomic {
                self.watch(region, [address, leaf.bytes()], Clash { site, lane, same_value }, true)?;
            }
        }
        Ok(())
    }

    /// Notes who touches what, and finds races.
    fn watch(&mut self, region: usize, place: [u64; 2], by: Clash, writes: bool) -> Result<(), TraceError> {
        let Clash { site, lane, same_value } = by;
        let space = self.regions[region].space;
        let clock = if space == Space::Workgroup { &self.workgroup_clock } else { &self.storage_clock };
        let found = match &mut self.regions[region].shadow {
            Some(shadow) => shadow.touch(clock, place, (site, lane), writes, &mut self.budget)?,
            None => None,
        };
        if let Some(Conflict { site: other, by, byte, other_barrier }) = found {
            let same_value = same_value && self.log.sites[other].kind == Kind::Store;
            let (sites, lanes) = ([other, site], [by, lane]);
            self.found(Found::Race { region, sites, lanes, byte, same_value, other_barrier });
        }
        let found = match &mut self.regions[region].owners {
            Some(owners) => owners.touch(place, (site, self.number), writes, &mut self.budget)?,
            None => None,
        };
        if let Some(Conflict { site: other, by, byte, .. }) = found {
            let same_value = same_value && self.log.sites[other].kind == Kind::Store;
            let (sites, workgroups) = ([other, site], [by, self.number]);
            self.found(Found::Shared { region, sites, workgroups, lane, byte, same_value });
        }
        Ok(())
    }

    /// An atomic operation, invocation by invocation.
    pub fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
        mask: &Mask,
        span: Span,
    ) -> Result<(), TraceError> {
        let to = self.pointee_of(pointer, span)?;
        let (pointer, value) = (self.pointer(pointer)?, self.data(value)?);
        let compare = match *function {
            AtomicFunction::Exchange { compare: Some(compare) } => Some(self.data(compare)?),
            _ => None,
        };
        let leaves = self.layouts.leaves(to);
        let (Root::Region(region), &[leaf]) = (pointer.root, leaves.as_slice()) else {
            return Err(self.unsupported("an atomic operation on this", span));
        };
        let lanes = self.lanes;
        let (_, addresses) = self.request(region, &pointer, leaf, Kind::Atomic, mask, span);
        let mut old = vec![0; if compare.is_some() { 2 * lanes } else { lanes }];
        let width = leaf.scalar.width;
        for (lane, address) in addresses.iter().enumerate() {
            let Some(address) = *address else { continue };
            let bytes = self.regions[region].memory.leaf(address, leaf.bytes(), &mut self.budget)?;
            let found = memory::get(bytes, width);
            let new = match &compare {
                Some(compare) => {
                    let equal = found == compare[lane];
                    old[lanes + lane] = equal.into();
                    if equal { value[lane] } else { found }
                }
                None => apply(function, leaf.scalar, found, value[lane]),
            };
            old[lane] = found;
            memory::set(bytes, width, new);
        }
        match result {
            Some(result) => self.set(result, Value::Data(Rc::new(old))),
            None => Ok(()),
        }
    }
}

/// What an atomic operation leaves.
fn apply(function: &AtomicFunction, kind: naga::Scalar, old: u64, value: u64) -> u64 {
    use super::arithmetic::{add, maximum, minimum, subtract};
    match function {
        AtomicFunction::Add => add(kind, old, value),
        AtomicFunction::Subtract => subtract(kind, old, value),
        AtomicFunction::And => old & value,
        AtomicFunction::ExclusiveOr => old ^ value,
        AtomicFunction::InclusiveOr => old | value,
        AtomicFunction::Min => minimum(kind, old, value),
        AtomicFunction::Max => maximum(kind, old, value),
        AtomicFunction::Exchange { .. } => scalar::truncate(value, kind.width),
    }
}
