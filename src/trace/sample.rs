//! Which workgroups of a grid are traced, and how many others each of them stands for.
//!
//! A grid falls into strata: along each axis, the first workgroups, the last, and those in between. At the edges a shader
//! often has something else to do. Totals are scaled stratum by stratum.

use std::collections::BTreeSet;

use super::error::TraceError;
use crate::pattern::Pattern;

/// Which workgroups to trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All of a small grid; of a larger one the first, the last, some of each stratum, and random ones.
    #[default]
    Auto,
    /// All of them.
    All,
    /// So many, chosen like that.
    Count(u64),
    /// This one.
    One([u32; 3]),
}

/// A grid of at most so many workgroups is small.
const SMALL: u64 = 64;
/// Workgroups of a larger one, if it has no more strata.
const SAMPLED: u64 = 12;

/// The workgroups of a run, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub workgroups: Vec<[u32; 3]>,
    /// All that there are.
    pub total: u128,
}

/// Strata of a grid of three axes.
pub(super) const STRATA: usize = 27;

/// Where along an axis: in between or alone, first, or last.
const IN_BETWEEN: usize = 0;
const FIRST: usize = 1;
const LAST: usize = 2;

/// Where a stratum is along an axis.
fn class(stratum: usize, axis: usize) -> usize {
    stratum / 3usize.pow(axis as u32) % 3
}

impl Sample {
    pub fn new(grid: [u32; 3], selection: Selection, most: u64) -> Result<Sample, TraceError> {
        let total = grid.iter().map(|&count| u128::from(count)).product::<u128>();
        let workgroups = match selection {
            Selection::One(workgroup) => {
                if (0..3).any(|axis| workgroup[axis] >= grid[axis]) {
                    let message = format!("there is no workgroup {workgroup:?} in a grid of {grid:?}");
                    return Err(TraceError::Grid(message));
                }
                vec![workgroup]
            }
            Selection::All => {
                if total > most.into() {
                    let what = "--workgroups all: workgroups to trace:".into();
                    return Err(TraceError::TooLarge { what, needed: total, most });
                }
                chosen(grid, 0..total)
            }
            Selection::Auto if total <= SMALL.into() => chosen(grid, 0..total),
            Selection::Auto => sampled(grid, total, SAMPLED),
            Selection::Count(count) if u128::from(count) >= total => {
                return Sample::new(grid, Selection::All, most);
            }
            Selection::Count(count) => sampled(grid, total, count.min(most)),
        };
        Ok(Sample { workgroups, total })
    }
}

fn chosen(grid: [u32; 3], numbers: impl IntoIterator<Item = u128>) -> Vec<[u32; 3]> {
    let [x, y, _] = grid.map(u128::from);
    numbers.into_iter().map(|number| [number % x, number / x % y, number / (x * y)].map(|at| at as u32)).collect()
}

fn sampled(grid: [u32; 3], total: u128, count: u64) -> Vec<[u32; 3]> {
    let number = |[x, y, z]: [u32; 3]| {
        (u128::from(z) * u128::from(grid[1]) + u128::from(y)) * u128::from(grid[0]) + u128::from(x)
    };
    let mut numbers = BTreeSet::from([0, total - 1]);
    for stratum in 0..STRATA {
        let middle = [0, 1, 2].map(|axis| match class(stratum, axis) {
            FIRST => 0,
            LAST => grid[axis].saturating_sub(1),
            _ => grid[axis] / 2,
        });
        if stratum_of(grid, middle) == stratum {
            numbers.insert(number(middle));
        }
    }
    let mut random = (0..).map(|index| {
        let bytes = Pattern { seed: 7 }.element(index);
        u128::from_le_bytes(bytes) % total
    });
    while (numbers.len() as u64) < count {
        numbers.extend(random.next());
    }
    chosen(grid, numbers)
}

/// The stratum of a workgroup.
pub(super) fn stratum_of(grid: [u32; 3], workgroup: [u32; 3]) -> usize {
    let class = |axis: usize| match (grid[axis], workgroup[axis]) {
        (0 | 1, _) => IN_BETWEEN,
        (_, 0) => FIRST,
        (count, at) if at + 1 == count => LAST,
        _ => IN_BETWEEN,
    };
    (0..3).map(|axis| class(axis) * 3usize.pow(axis as u32)).sum()
}

/// How many workgroups a stratum has.
pub(super) fn stratum_size(grid: [u32; 3], stratum: usize) -> u128 {
    let along = |axis: usize| match (grid[axis], class(stratum, axis)) {
        (count @ (0 | 1), IN_BETWEEN) => u128::from(count),
        (0 | 1, _) => 0,
        (count, IN_BETWEEN) => u128::from(count) - 2,
        _ => 1,
    };
    (0..3).map(along).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_have_all_workgroups() {
        for grid in [[0, 3, 1], [1, 1, 1], [2, 2, 1], [5, 1, 1], [5, 4, 1], [5, 4, 3], [u32::MAX; 3]] {
            let total: u128 = (0..STRATA).map(|stratum| stratum_size(grid, stratum)).sum();
            assert_eq!(total, grid.iter().map(|&count| u128::from(count)).product::<u128>(), "{grid:?}");
        }
    }

    #[test]
    fn small_grids_are_whole_and_large_ones_are_sampled() {
        let of = |grid, selection| Sample::new(grid, selection, 1 << 20).unwrap();
        assert_eq!(of([4, 4, 4], Selection::Auto).workgroups.len(), 64);
        let sample = of([16384, 1, 1], Selection::Auto);
        assert_eq!((sample.workgroups.len(), sample.total), (12, 16384));
        assert_eq!((sample.workgroups[0], sample.workgroups[11]), ([0; 3], [16383, 0, 0]));
        let huge = of([u32::MAX; 3], Selection::Auto);
        assert_eq!(huge.workgroups.len(), STRATA);
        let strata: BTreeSet<_> = huge.workgroups.iter().map(|at| stratum_of([u32::MAX; 3], *at)).collect();
        assert_eq!(strata.len(), STRATA);
        assert_eq!(of([100, 1, 1], Selection::Count(200)).workgroups.len(), 100);
        assert_eq!(of([100, 1, 1], Selection::Count(50)).workgroups.len(), 50);
        assert!(of([0, 5, 5], Selection::Auto).workgroups.is_empty());
        assert!(Sample::new([u32::MAX; 3], Selection::All, 1 << 20).is_err());
        assert!(Sample::new([4, 1, 1], Selection::One([4, 0, 0]), 1 << 20).is_err());
    }
}
