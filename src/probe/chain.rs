//! Chains of pointers: every line of a set once, in random order, and back to the first.

/// Bytes from one access of a chain to the next, at the least: no cache of a GPU or CPU has longer lines.
pub use crate::model::LINE_BYTES;

/// The successor of each of `lines` places in one random cycle through all of them (Sattolo's algorithm): the same one
/// for the same seed.
pub fn cycle(lines: usize, seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    let mut next: Vec<u32> = (0..lines as u32).collect();
    for i in (1..lines).rev() {
        next.swap(i, random.below(i as u64) as usize);
    }
    next
}

/// How a kernel takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// By the address of the next line, 8 bytes, in a set that begins here.
    Address(u64),
    /// By the index of the next line's first word, 4 bytes.
    Index,
}

/// Writes the chain into `set`: at the begin of each line the link to the next one, from line `first` of the whole set
/// on. What lies between is left as it is.
pub fn write(next: &[u32], first: usize, link: Link, set: &mut [u8]) {
    for (line, to) in set.chunks_mut(LINE_BYTES as usize).zip(&next[first..]) {
        let offset = u64::from(*to) * LINE_BYTES;
        match link {
            Link::Address(begin) => line[..8].copy_from_slice(&(begin + offset).to_le_bytes()),
            Link::Index => line[..4].copy_from_slice(&((offset / 4) as u32).to_le_bytes()),
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// A number below `bound`, which is far below 2³².
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let high = (z ^ (z >> 31)) >> 32;
        (high * bound) >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cycle_goes_through_all_lines() {
        for lines in [1, 2, 3, 8, 1000, 4097] {
            let next = cycle(lines, 7);
            let (mut at, mut steps) = (0, 0);
            loop {
                at = next[at] as usize;
                steps += 1;
                if at == 0 {
                    break;
                }
                assert!(steps < lines, "{lines} lines: it is back late");
            }
            assert_eq!(steps, lines);
        }
    }

    #[test]
    fn the_order_is_random_and_the_same_for_the_same_seed() {
        let next = cycle(10_000, 1);
        assert_eq!(next, cycle(10_000, 1));
        assert_ne!(next, cycle(10_000, 2));
        // Of random steps, two in 10,000 are expected to be to a neighbour.
        let near = next.iter().enumerate().filter(|(i, to)| i.abs_diff(**to as usize) == 1).count();
        assert!(near < 20, "{near}");
    }

    #[test]
    fn links_are_addresses_or_indices() {
        let next = [2, 0, 1];
        let mut set = vec![0xFF; 3 * 128];
        write(&next, 0, Link::Address(0x7000_0000_1000), &mut set);
        assert_eq!(set[..8], 0x7000_0000_1100_u64.to_le_bytes());
        assert_eq!(set[8], 0xFF);
        write(&next, 1, Link::Index, &mut set[128..]);
        assert_eq!(set[128..132], [0; 4]);
        assert_eq!(set[256..260], 32_u32.to_le_bytes());
    }
}
