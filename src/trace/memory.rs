//! Memory that invocations share: buffers and workgroup variables, of which only what is touched is there.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::binding::Contents;
use super::error::TraceError;

/// Bytes of a page. It holds whole leaves: they have at most 32 bytes and begin at multiples of their size, rounded up
/// to a power of two.
pub(super) const PAGE_BYTES: u64 = 1024;

/// Pages by number. The keys are spread already; nobody chooses them to collide, and then it would only be slow.
pub(super) type Pages<T> = HashMap<u64, Box<[T]>, BuildHasherDefault<Spread>>;

/// The hash of a page's number.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Bytes that may still be taken.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    pub most: u64,
    pub taken: u64,
}

impl Budget {
    /// Takes so many bytes.
    ///
    /// # Errors
    /// [`TraceError::TooLarge`] if there are not so many left.
    pub fn take(&mut self, bytes: u64, what: &str) -> Result<(), TraceError> {
        let needed = u128::from(self.taken) + u128::from(bytes);
        if needed > self.most.into() {
            return Err(TraceError::TooLarge {
                what: format!("{what}: bytes of memory in all"),
                needed,
                most: self.most,
            });
        }
        self.taken += bytes;
        Ok(())
    }

    /// Gives them back.
    pub fn give(&mut self, bytes: u64) {
        self.taken = self.taken.saturating_sub(bytes);
    }
}

/// The bytes of a buffer.
pub(super) struct Memory {
    /// How many there are.
    pub bytes: u64,
    contents: Contents,
    pages: Pages<u8>,
}

impl Memory {
    pub fn new(bytes: u64, contents: Contents) -> Memory {
        Memory { bytes, contents, pages: Pages::default() }
    }

    /// The bytes of a leaf, which has to be within.
    pub fn leaf(&mut self, first: u64, bytes: u64, budget: &mut Budget) -> Result<&mut [u8], TraceError> {
        let number = first / PAGE_BYTES;
        let page = match self.pages.entry(number) {
            std::collections::hash_map::Entry::Occupied(page) => page.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                budget.take(PAGE_BYTES, "buffers")?;
                let mut page = vec![0; PAGE_BYTES as usize].into_boxed_slice();
                self.contents.fill(number * PAGE_BYTES, &mut page);
                place.insert(page)
            }
        };
        let start = (first % PAGE_BYTES) as usize;
        Ok(&mut page[start..start + bytes as usize])
    }

    /// What is there from byte `first` on, whether or not it was touched.
    pub fn read(&self, first: u64, bytes: &mut [u8]) {
        let mut page = vec![0; PAGE_BYTES as usize];
        for (index, byte) in (first..).zip(bytes) {
            let number = index / PAGE_BYTES;
            if index == first || index % PAGE_BYTES == 0 {
                match self.pages.get(&number) {
                    Some(touched) => page.copy_from_slice(touched),
                    None => self.contents.fill(number * PAGE_BYTES, &mut page),
                }
            }
            *byte = page[(index % PAGE_BYTES) as usize];
        }
    }

    /// Forgets all that was written.
    pub fn reset(&mut self, budget: &mut Budget) {
        budget.give(self.pages.len() as u64 * PAGE_BYTES);
        self.pages.clear();
    }
}

/// The scalar of `width` bytes at the beginning.
pub(super) fn get(bytes: &[u8], width: u8) -> u64 {
    let mut word = [0; 8];
    word[..width as usize].copy_from_slice(&bytes[..width as usize]);
    u64::from_le_bytes(word)
}

/// Writes it.
pub(super) fn set(bytes: &mut [u8], width: u8, bits: u64) {
    bytes[..width as usize].copy_from_slice(&bits.to_le_bytes()[..width as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    #[test]
    fn only_what_is_touched_takes_memory() {
        let mut budget = Budget { most: 2 * PAGE_BYTES, taken: 0 };
        let mut memory = Memory::new(1 << 50, Contents::Index(Element::U64));
        assert_eq!(get(memory.leaf(1 << 40, 8, &mut budget).unwrap(), 8), 1 << 37);
        set(memory.leaf(8, 8, &mut budget).unwrap(), 8, 7);
        let mut bytes = [0; 16];
        memory.read(0, &mut bytes);
        assert_eq!((get(&bytes, 8), get(&bytes[8..], 8)), (0, 7));
        assert!(matches!(memory.leaf(1 << 20, 8, &mut budget), Err(TraceError::TooLarge { .. })));
        memory.reset(&mut budget);
        assert_eq!(budget.taken, 0);
        memory.read(8, &mut bytes);
        assert_eq!(get(&bytes, 8), 1);
    }
}
