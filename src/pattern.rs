//! Pseudo-random test data that both sides can compute: the value of an element is a function of its index.
//!
//! GPUs compress uniform data and caches flatter it, so the data must look random; and a check of a large matrix must
//! not need a second copy of it, so the expected value of any element must be computable on its own.

use rayon::prelude::*;

/// Elements that one task of the thread pool fills or checks.
const TASK_ELEMENTS: usize = 1 << 16;

/// A stream of pseudo-random elements, different for each seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Which stream.
    pub seed: u64,
}

impl Pattern {
    /// The element at `index` as 16 bytes, of which an element of width W is the first W.
    pub fn element(self, index: u64) -> [u8; 16] {
        let low = mix(index ^ self.seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&low.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
        bytes
    }

    /// Fills `bytes` with elements of `width` bytes, the first of which has the index `first`.
    pub fn fill(self, first: u64, width: usize, bytes: &mut [u8]) {
        bytes.par_chunks_mut(TASK_ELEMENTS * width).enumerate().for_each(|(task, chunk)| {
            let start = first + (task * TASK_ELEMENTS) as u64;
            for (index, element) in (start..).zip(chunk.chunks_exact_mut(width)) {
                element.copy_from_slice(&self.element(index)[..width]);
            }
        });
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), a bijection in which each input bit flips each output
/// bit with a probability near one half.
fn mix(index: u64) -> u64 {
    let mut z = index.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_join_without_a_seam() {
        let pattern = Pattern { seed: 3 };
        for width in [1, 2, 4, 8, 16] {
            let mut whole = vec![0; 200_000 * width];
            pattern.fill(0, width, &mut whole);
            let mut bands = vec![0; 200_000 * width];
            let (head, tail) = bands.split_at_mut(70_001 * width);
            pattern.fill(0, width, head);
            pattern.fill(70_001, width, tail);
            assert!(whole == bands, "width {width}");
        }
    }

    #[test]
    fn seeds_and_elements_differ_and_bits_are_balanced() {
        let ones =
            |seed| -> u32 { (0..1000).map(|i| u128::from_le_bytes(Pattern { seed }.element(i)).count_ones()).sum() };
        for seed in 0..4 {
            // 128,000 fair bits: 64,000 ± 6 standard deviations of 179.
            assert!((62_900..65_100).contains(&ones(seed)), "{}", ones(seed));
        }
        assert_ne!(Pattern { seed: 0 }.element(5), Pattern { seed: 1 }.element(5));
    }
}
