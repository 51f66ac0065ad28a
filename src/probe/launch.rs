//! What a probe is launched with.

use bytemuck::{Pod, Zeroable};

use super::kernels::Probe;
use crate::element::Element;
use crate::kernel::{Grid, Language, Order};
use crate::problem::{Layout, Problem};

/// The parameters of every probe: `Probe` in `cuda/probe.cuh` and `shaders/lib/probe.wgsl`, which say what they mean.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Parameters {
    /// Blocks of the launch.
    pub blocks: u32,
    /// Rounds of the timed loop.
    pub steps: u32,
    /// The element that the first thread accesses.
    pub first: u32,
    /// Elements from one thread's access to the next one's.
    pub stride: u32,
    /// Windows in the whole set.
    pub count: u32,
    /// Vectors of 16 bytes that a block reads in a round.
    pub window: u32,
    /// Windows by which a block moves on from round to round.
    pub shift: u32,
    /// The sum that is stored if it is ever met.
    pub trap: u32,
}

/// A number that no sum of random data is likely to be.
pub const TRAP: u32 = 0x5EED_7A4B;

/// A probe with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel.
    pub probe: Probe,
    /// What it is given.
    pub parameters: Parameters,
}

impl Launch {
    /// The launch's blocks in a row.
    pub fn grid(&self) -> Grid {
        let across = self.parameters.blocks.into();
        Grid { across, down: 1, batch: 1, order: Order::Across, lines: 0, segments: 0 }
    }

    /// Threads of the launch.
    pub fn threads(&self, language: Language) -> u64 {
        u64::from(self.parameters.blocks) * u64::from(self.probe.block(language))
    }
}

/// Bytes of the state of a probe with so many blocks: a word of 64 bits of its own, and one for each block's cycles.
pub fn state_bytes(blocks: u32) -> u64 {
    8 * (1 + u64::from(blocks))
}

/// A problem whose source and destination have so many bytes, multiples of 4 and at least 16: two rows of two elements,
/// with whatever lies between the rows. It stands for two buffers; nothing is transposed.
///
/// `None` where so many bytes cannot be counted.
pub fn space(source_bytes: u64, destination_bytes: u64) -> Option<Problem> {
    let layout = |bytes: u64| Layout { first: 0, ld: (bytes / 4).saturating_sub(2).max(2), stride: 0 };
    let problem = Problem::new(2, 2, 1, Element::U32).ok()?;
    problem.with_layouts(layout(source_bytes), layout(destination_bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_have_the_bytes_asked_for() {
        for (source, destination) in [(16, 16), (1 << 20, 16), (16, 1 << 20), (60 << 20, 8 * 133)] {
            let problem = space(source, destination).unwrap();
            assert_eq!((problem.source_bytes(), problem.destination_bytes()), (source, destination));
        }
        assert_eq!(space(u64::MAX, 16), None);
    }
}
