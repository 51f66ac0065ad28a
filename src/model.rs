//! The access model: how many sectors and bank passes the requests of a warp take, computed from addresses alone.
//!
//! Constants are those of NVIDIA GPUs since Maxwell (CUDA C++ Best Practices Guide, "Coalesced Access to Global
//! Memory" and "Shared Memory"); other vendors' differ in size, not in kind.

/// Lanes that make one request together.
pub const WARP: u64 = 32;
/// Bytes of one sector, the smallest piece that moves between L2 and DRAM.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of one cache line, four sectors: what the sectors of a request are looked up by.
pub const LINE_BYTES: u64 = 128;
/// Banks of shared memory.
pub const BANKS: u64 = 32;
/// Bytes that one bank serves in one pass.
pub const BANK_BYTES: u64 = 4;

/// What one request touches of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Sectors of 32 bytes.
    pub sectors: u64,
    /// Lines of 128 bytes.
    pub lines: u64,
    /// Bytes that lanes asked for, each counted once however many lanes asked for it.
    pub bytes: u64,
}

/// What lanes touch together that access `access_bytes` bytes each, from these addresses on.
pub fn touched(addresses: impl IntoIterator<Item = u64>, access_bytes: u64) -> Touched {
    let mut firsts: Vec<u64> = addresses.into_iter().collect();
    firsts.sort_unstable();
    let mut touched = Touched::default();
    // What comes before these is counted already.
    let (mut byte, mut sector, mut line) = (0, 0, 0);
    for first in firsts {
        let end = first + access_bytes;
        touched.bytes += end.saturating_sub(first.max(byte));
        byte = byte.max(end);
        let pieces = |size: u64, next: &mut u64| {
            let past = (end - 1) / size + 1;
            let new = past.saturating_sub((first / size).max(*next));
            *next = past.max(*next);
            new
        };
        touched.sectors += pieces(SECTOR_BYTES, &mut sector);
        touched.lines += pieces(LINE_BYTES, &mut line);
    }
    touched
}

/// The passes over the banks that one request to shared memory takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Passes in all.
    pub taken: u64,
    /// Phases, each of which takes one pass at least: 1 for accesses of up to 4 bytes, 2 for 8 and 4 for 16.
    pub least: u64,
    /// Passes of the phase that takes most: the conflict degree, 1 where there is no conflict.
    pub worst: u64,
}

impl Passes {
    /// Passes that conflicts cost.
    pub fn extra(self) -> u64 {
        self.taken - self.least
    }
}

/// The passes that a request takes in which lane n accesses the `access_bytes` bytes from `addresses[n]` on, if it is
/// active.
///
/// Accesses of 8 and 16 bytes go in two and four phases of 16 and 8 lanes; lanes that want the same word share it, but
/// for atomic accesses.
pub fn bank_passes(addresses: &[Option<u64>], access_bytes: u64, atomic: bool) -> Passes {
    let lanes = (WARP * BANK_BYTES / access_bytes.max(BANK_BYTES).next_power_of_two()).max(1);
    let mut passes = Passes::default();
    let mut words = Vec::with_capacity(WARP as usize);
    for phase in addresses.chunks(lanes as usize) {
        words.clear();
        for first in phase.iter().flatten() {
            words.extend(first / BANK_BYTES..=(first + access_bytes - 1) / BANK_BYTES);
        }
        if words.is_empty() {
            continue;
        }
        if !atomic {
            words.sort_unstable();
            words.dedup();
        }
        let mut of_bank = [0; BANKS as usize];
        words.iter().for_each(|word| of_bank[(word % BANKS) as usize] += 1);
        let taken = of_bank.into_iter().max().unwrap_or(1);
        passes = Passes { taken: passes.taken + taken, least: passes.least + 1, worst: passes.worst.max(taken) };
    }
    passes
}

/// How many passes a shared-memory request takes for each pass that it needs at least: 1 is conflict-free.
///
/// Lane n accesses the `access_bytes` bytes from `byte(n)` on.
pub fn bank_conflict_degree(byte: impl Fn(u64) -> u64, access_bytes: u64) -> u64 {
    let addresses: Vec<_> = (0..WARP).map(|lane| Some(byte(lane))).collect();
    bank_passes(&addresses, access_bytes, false).worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_words_take_one_line_and_scattered_ones_a_sector_each() {
        let strided = |stride: u64, bytes: u64| touched((0..WARP).map(|lane| lane * stride), bytes);
        assert_eq!(strided(4, 4), Touched { sectors: 4, lines: 1, bytes: 128 });
        assert_eq!(strided(16, 16), Touched { sectors: 16, lines: 4, bytes: 512 });
        // The textbook case: 32 sectors for 128 useful bytes, 12.5 %.
        assert_eq!(strided(4096 * 4, 4), Touched { sectors: 32, lines: 32, bytes: 128 });
        // Down a narrow matrix.
        assert_eq!(strided(8, 4), Touched { sectors: 8, lines: 2, bytes: 128 });
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

    #[test]
    fn bytes_lines_and_sectors_are_counted_once() {
        assert_eq!(touched([], 4), Touched::default());
        assert_eq!(touched((0..32).map(|_| 64), 4), Touched { sectors: 1, lines: 1, bytes: 4 });
        assert_eq!(touched((0..32).map(|lane| 4 * lane + 4), 4), Touched { sectors: 5, lines: 2, bytes: 128 });
        assert_eq!(touched([30, 28, 120], 16), Touched { sectors: 4, lines: 2, bytes: 34 });
        assert_eq!(touched([0, 1, 2], 12), Touched { sectors: 1, lines: 1, bytes: 14 });
    }

    #[test]
    fn phases_without_a_lane_take_no_pass() {
        let half: Vec<_> = (0..32).map(|lane| (lane < 16).then_some(128 * lane)).collect();
        assert_eq!(bank_passes(&half, 4, false), Passes { taken: 16, least: 1, worst: 16 });
        assert_eq!(bank_passes(&half, 16, false), Passes { taken: 16, least: 2, worst: 8 });
        assert_eq!(bank_passes(&half, 16, false).extra(), 14);
        assert_eq!(bank_passes(&[None; 32], 4, false), Passes::default());
        assert_eq!(bank_passes(&[Some(8); 32], 4, false).worst, 1);
        assert_eq!(bank_passes(&[Some(8); 32], 4, true).worst, 32);
    }
}
