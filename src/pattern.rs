//! Pseudo-random test data that both sides can compute: the value of an element is a function of its index.
//!
//! GPUs compress uniform data and caches flatter it, so the data must look random; and a check of a large matrix must
//! not need a second copy of it, so the expected value of any element must be computable on its own.
//!
//! All bits are random but for one in 32. A library's transpose may be arithmetic ([`Variant::Geam`]), which is free to
//! change the bits of NaNs, denormal numbers and zeros; so elements of 4 bytes and more are normal numbers, whether
//! they are read as `f32` or as `f64`. That our own kernels keep the bits of all others too is a test of its own, in
//! `tests/conformance.rs`.
//!
//! [`Variant::Geam`]: crate::variant::Variant::Geam

use rayon::prelude::*;

/// Elements that one task of the thread pool fills or checks.
pub(crate) const TASK_ELEMENTS: usize = 1 << 16;

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
        let high = low.rotate_left(29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&normal(low).to_le_bytes());
        bytes[8..].copy_from_slice(&normal(high).to_le_bytes());
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

/// The upper bit of the exponent of an `f32`, in both halves of a word; in the upper half it is that of an `f64` too.
const EXPONENT: u64 = 0x4000_0000_4000_0000;

/// `bits` with the upper bit of each exponent made the opposite of the next, so that no exponent is all ones (infinite
/// or NaN) or all zeros (zero or denormal).
const fn normal(bits: u64) -> u64 {
    (bits & !EXPONENT) | (!bits << 1 & EXPONENT)
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
    use std::collections::HashSet;

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
            // 128,000 bits, of which one in 32 makes up for another: within those of as many fair ones, 64,000 ± 6 standard deviations of 179.
            assert!((62_900..65_100).contains(&ones(seed)), "{}", ones(seed));
        }
        assert_ne!(Pattern { seed: 0 }.element(5), Pattern { seed: 1 }.element(5));
    }

    #[test]
    fn elements_are_normal_numbers_and_differ() {
        let pattern = Pattern { seed: 0 };
        let mut seen = HashSet::new();
        for index in 0..100_000 {
            let element = pattern.element(index);
            let (singles, _) = element.as_chunks();
            assert!(singles.iter().all(|&bytes| f32::from_le_bytes(bytes).is_normal()), "{index}: {element:02x?}");
            let (doubles, _) = element.as_chunks();
            assert!(doubles.iter().all(|&bytes| f64::from_le_bytes(bytes).is_normal()), "{index}: {element:02x?}");
            seen.insert(singles[0]);
        }
        // Of 100,000 values out of 2³¹, 2.3 pairs are expected to be equal.
        assert!(seen.len() > 99_980, "{}", seen.len());
    }

    #[test]
    fn only_one_bit_of_an_exponent_is_chosen() {
        for bits in [0, u64::MAX, 0x7FF0_0000_7F80_0000, 0x0123_4567_89AB_CDEF] {
            let got = normal(bits);
            assert_eq!((got ^ bits) & !EXPONENT, 0);
            assert_eq!(got & EXPONENT, !(got << 1) & EXPONENT, "{got:#x}");
        }
    }
}
