//! Who touched which bytes since the last barrier, and which workgroups did at all.
//!
//! Bytes are watched in granules of the narrowest scalar that the variable has, of which every access takes whole ones.

use super::error::TraceError;
use super::memory::{Budget, PAGE_BYTES, Pages};

/// A non-atomic access of one invocation. Time 0 is none.
#[derive(Clone, Copy, Default)]
struct Touch {
    time: u32,
    site: u32,
    lane: u16,
}

/// The last write, and reads by two invocations: of any other that writes, one of them is not that invocation.
#[derive(Clone, Copy, Default)]
struct Cell {
    write: Touch,
    reads: [Touch; 2],
}

/// An earlier access that is in conflict with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// The site of the earlier one.
    pub site: usize,
    /// Its invocation; between workgroups, the number of its workgroup among those traced.
    pub by: usize,
    /// The byte of the variable.
    pub byte: u64,
    /// Whether a barrier came in between that is none for this memory.
    pub other_barrier: bool,
}

/// The order that barriers make.
pub(super) struct Clock {
    now: u32,
    /// When all invocations last met with this memory in order.
    met: u32,
    /// When they last met without.
    passed: u32,
    /// When those of each subgroup did.
    subgroups: Vec<u32>,
    /// Invocations of a subgroup.
    size: usize,
}

impl Clock {
    pub fn new(lanes: usize, size: usize) -> Clock {
        Clock { now: 1, met: 0, passed: 0, subgroups: vec![0; lanes.div_ceil(size)], size }
    }

    /// All invocations meet; `orders` says whether that puts this memory in order.
    pub fn barrier(&mut self, orders: bool) {
        self.now = self.now.saturating_add(1);
        *(if orders { &mut self.met } else { &mut self.passed }) = self.now;
    }

    /// Those of each subgroup meet.
    pub fn subgroup_barrier(&mut self) {
        self.now = self.now.saturating_add(1);
        self.subgroups.fill(self.now);
    }

    /// Whether an access comes before what `lane` does now.
    fn orders(&self, touch: Touch, lane: usize) -> bool {
        let (subgroup, other) = (lane / self.size, touch.lane as usize / self.size);
        touch.time < self.met
            || touch.lane as usize == lane
            || (subgroup == other && touch.time < self.subgroups[subgroup])
    }
}

/// What is known of each granule of a variable that was touched.
struct Granules<T> {
    /// Bytes of one.
    size: u64,
    pages: Pages<T>,
}

impl<T: Clone + Default> Granules<T> {
    fn new(size: u8) -> Granules<T> {
        Granules { size: size.max(1).into(), pages: Pages::default() }
    }

    /// Visits those of the bytes from `first` on, which lie in one page, each with its first byte.
    fn visit(
        &mut self,
        [first, bytes]: [u64; 2],
        budget: &mut Budget,
        mut visit: impl FnMut(u64, &mut T),
    ) -> Result<(), TraceError> {
        let cells = (PAGE_BYTES / self.size) as usize;
        let number = first / PAGE_BYTES;
        if !self.pages.contains_key(&number) {
            budget.take((cells * size_of::<T>()) as u64, "who touched what")?;
        }
        let page = self.pages.entry(number).or_insert_with(|| vec![T::default(); cells].into_boxed_slice());
        for byte in (first..first + bytes).step_by(self.size as usize) {
            visit(byte, &mut page[(byte % PAGE_BYTES / self.size) as usize]);
        }
        Ok(())
    }
}

/// Who touched a variable's bytes, within a workgroup.
pub(super) struct Shadow(Granules<Cell>);

impl Shadow {
    pub fn new(granule: u8) -> Shadow {
        Shadow(Granules::new(granule))
    }

    /// Notes the access of an invocation to the bytes from `first` on, and returns what it is in conflict with.
    pub fn touch(
        &mut self,
        clock: &Clock,
        bytes: [u64; 2],
        (site, lane): (usize, usize),
        writes: bool,
        budget: &mut Budget,
    ) -> Result<Option<Conflict>, TraceError> {
        let mut found = None;
        let touch = Touch { time: clock.now, site: site as u32, lane: lane as u16 };
        self.0.visit(bytes, budget, |byte, cell| {
            let races = |other: Touch| other.time > 0 && !clock.orders(other, lane);
            let reads = if writes { &cell.reads[..] } else { &[] };
            let other = [cell.write].iter().chain(reads).copied().find(|other| races(*other));
            found = found.or(other.map(|other| Conflict {
                site: other.site as usize,
                by: other.lane.into(),
                byte,
                other_barrier: other.time < clock.passed,
            }));
            if writes {
                cell.write = touch;
            } else if cell.reads[0].time == 0 || cell.reads[0].lane == touch.lane || clock.orders(cell.reads[0], lane) {
                cell.reads[0] = touch;
            } else {
                cell.reads[1] = touch;
            }
        })?;
        Ok(found)
    }

    /// Forgets all accesses, for another workgroup.
    pub fn reset(&mut self, budget: &mut Budget) {
        let Granules { size, pages } = &mut self.0;
        budget.give(pages.len() as u64 * PAGE_BYTES / *size * size_of::<Cell>() as u64);
        pages.clear();
    }
}

/// The workgroup that wrote last, and two that read; numbers from 1 on, 0 is none.
#[derive(Clone, Copy, Default)]
struct Owner {
    writer: u32,
    writer_site: u32,
    readers: [u32; 2],
    reader_sites: [u32; 2],
}

/// Which workgroups touched a buffer's bytes.
pub(super) struct Owners(Granules<Owner>);

impl Owners {
    pub fn new(granule: u8) -> Owners {
        Owners(Granules::new(granule))
    }

    /// Notes the access of a workgroup to the bytes from `first` on, and returns what it is in conflict with.
    pub fn touch(
        &mut self,
        bytes: [u64; 2],
        (site, workgroup): (usize, usize),
        writes: bool,
        budget: &mut Budget,
    ) -> Result<Option<Conflict>, TraceError> {
        let mut found = None;
        let me = workgroup as u32 + 1;
        self.0.visit(bytes, budget, |byte, owner| {
            let reads = if writes { 0..2 } else { 0..0 };
            let mut others = std::iter::once((owner.writer, owner.writer_site))
                .chain(reads.map(|index| (owner.readers[index], owner.reader_sites[index])));
            let other = others.find(|(by, _)| *by != 0 && *by != me);
            found = found.or(other.map(|(by, site)| Conflict {
                site: site as usize,
                by: by as usize - 1,
                byte,
                other_barrier: false,
            }));
            if writes {
                (owner.writer, owner.writer_site) = (me, site as u32);
            } else {
                let index = usize::from(owner.readers[0] != 0 && owner.readers[0] != me);
                (owner.readers[index], owner.reader_sites[index]) = (me, site as u32);
            }
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget { most: 1 << 20, taken: 0 }
    }

    #[test]
    fn a_write_and_another_access_conflict_until_a_barrier() {
        let (mut shadow, mut clock, mut budget) = (Shadow::new(4), Clock::new(64, 32), budget());
        let mut touch = |clock: &Clock, lane, writes| {
            let found = shadow.touch(clock, [8, 8], (lane, lane), writes, &mut budget).unwrap();
            found.map(|found| (found.by, found.byte))
        };
        assert_eq!(touch(&clock, 1, true), None);
        assert_eq!(touch(&clock, 1, false), None);
        assert_eq!(touch(&clock, 2, false), Some((1, 8)));
        clock.barrier(false);
        assert_eq!(touch(&clock, 2, false), Some((1, 8)), "a barrier for other memory");
        clock.barrier(true);
        assert_eq!(touch(&clock, 2, false), None);
        assert_eq!(touch(&clock, 40, false), None);
        assert_eq!(touch(&clock, 2, true), Some((40, 8)));
        clock.subgroup_barrier();
        assert_eq!(touch(&clock, 3, false), None, "of the same subgroup");
        assert_eq!(touch(&clock, 41, false), Some((2, 8)), "of another");
    }

    #[test]
    fn workgroups_that_write_what_others_touch_conflict() {
        let (mut owners, mut budget) = (Owners::new(2), budget());
        let mut touch = |byte, workgroup, writes| {
            let found = owners.touch([byte, 2], (0, workgroup), writes, &mut budget).unwrap();
            found.map(|found| found.by)
        };
        assert_eq!(touch(2, 0, false), None);
        assert_eq!(touch(2, 1, false), None);
        assert_eq!(touch(4, 1, true), None);
        assert_eq!(touch(4, 1, false), None);
        assert_eq!(touch(2, 0, true), Some(1));
        assert_eq!(touch(4, 2, false), Some(1));
    }
}
