//! The access model: how many sectors and bank passes the requests of a warp take, computed from addresses alone.
//!
//! Constants are those of NVIDIA GPUs since Maxwell (CUDA C++ Best Practices Guide, "Coalesced Access to Global
//! Memory" and "Shared Memory"); other vendors' differ in size, not in kind.

use std::collections::BTreeSet;

use crate::kernel::Walk;

/// Lanes that make one request together.
pub const WARP: u64 = 32;
/// Bytes of one sector, the smallest piece that moves between L2 and DRAM.
pub const SECTOR_BYTES: u64 = 32;
/// Banks of shared memory.
pub const BANKS: u64 = 32;
/// Bytes that one bank serves in one pass.
pub const BANK_BYTES: u64 = 4;

/// Sectors that one request of a warp touches, and the fewest that could hold the bytes it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sectors {
    /// Sectors touched.
    pub touched: u64,
    /// Sectors that the useful bytes would fill.
    pub ideal: u64,
}

impl Sectors {
    /// Useful bytes over moved bytes, between 0 and 1.
    pub fn efficiency(self) -> f64 {
        self.ideal as f64 / self.touched as f64
    }
}

/// Sectors of one request over a matrix whose rows are `row_bytes` apart, starting at a row's begin; `element_bytes`
/// is what one lane touches when walking down.
pub fn sectors(walk: Walk, row_bytes: u64, element_bytes: u64) -> Sectors {
    let (stride, access) = match walk {
        Walk::Along { bytes } => (u64::from(bytes), u64::from(bytes)),
        Walk::Down => (row_bytes, element_bytes),
    };
    // A stride may be a whole matrix; beyond a terabyte its size cannot matter and its products would overflow.
    let stride = stride.min(1 << 40);
    let mut touched = BTreeSet::new();
    for lane in 0..WARP {
        let first = lane * stride;
        touched.extend(first / SECTOR_BYTES..=(first + access - 1) / SECTOR_BYTES);
    }
    Sectors { touched: touched.len() as u64, ideal: (WARP * access).div_ceil(SECTOR_BYTES) }
}

/// How many passes a shared-memory request takes for each pass that it needs at least: 1 is conflict-free.
///
/// Lane n accesses the `access_bytes` bytes from `byte(n)` on. Accesses of 8 and 16 bytes go in two and four phases of
/// 16 and 8 lanes, of which the first stands for all; lanes that want the same word share it.
pub fn bank_conflict_degree(byte: impl Fn(u64) -> u64, access_bytes: u64) -> u64 {
    let lanes = WARP * BANK_BYTES / access_bytes.max(BANK_BYTES);
    let mut words_of_bank = vec![BTreeSet::new(); BANKS as usize];
    for lane in 0..lanes {
        let first = byte(lane);
        for word in first / BANK_BYTES..=(first + access_bytes - 1) / BANK_BYTES {
            words_of_bank[(word % BANKS) as usize].insert(word);
        }
    }
    words_of_bank.iter().map(|words| words.len() as u64).max().unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_words_take_one_line_and_scattered_ones_a_sector_each() {
        assert_eq!(sectors(Walk::Along { bytes: 4 }, 0, 0), Sectors { touched: 4, ideal: 4 });
        assert_eq!(sectors(Walk::Along { bytes: 16 }, 0, 0), Sectors { touched: 16, ideal: 16 });
        // The textbook case: 32 sectors for 128 useful bytes, 12.5 %.
        let down = sectors(Walk::Down, 4096 * 4, 4);
        assert_eq!(down, Sectors { touched: 32, ideal: 4 });
        assert_eq!(down.efficiency(), 0.125);
        assert_eq!(sectors(Walk::Down, 4096, 1).efficiency(), 1.0 / 32.0);
        assert_eq!(sectors(Walk::Down, u64::MAX / 64, 16).touched, 32);
    }

    #[test]
    fn narrow_matrices_are_coalesced_even_when_walked_down() {
        assert_eq!(sectors(Walk::Down, 4, 4), Sectors { touched: 4, ideal: 4 });
        assert_eq!(sectors(Walk::Down, 8, 4), Sectors { touched: 8, ideal: 4 });
    }

    #[test]
    fn a_column_of_32_words_lies_in_one_bank_and_both_cures_spread_it() {
        for (width, degree) in [(1, 8), (2, 16), (4, 32), (8, 16), (16, 8)] {
            let degree_of = |element: fn(u64) -> u64| bank_conflict_degree(|lane| element(lane) * width, width);
            assert_eq!(degree_of(|lane| 32 * lane), degree, "width {width}");
            assert_eq!(degree_of(|lane| 33 * lane), 1, "width {width}, padded");
            assert_eq!(degree_of(|lane| 32 * lane + (5 ^ lane)), 1, "width {width}, swizzled");
            assert_eq!(degree_of(|lane| lane), 1, "width {width}, along");
        }
        assert_eq!(bank_conflict_degree(|lane| 8 * lane, 4), 2);
        assert_eq!(bank_conflict_degree(|_| 0, 4), 1, "a broadcast");
    }
}
