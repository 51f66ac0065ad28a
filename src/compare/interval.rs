//! How many times faster samples are than others, and how sure that is.
//!
//! The interval is the one that belongs to the rank test of Mann and Whitney (Hodges and Lehmann 1963, Moses 1965):
//! all ratios of an earlier to a later sample are put in order, the one in the middle is the estimate, and how many may
//! be cut off at either end follows from the exact distribution of the test's statistic. It asks nothing of the
//! distribution of the times, which is skewed and has outliers, needs no random numbers, and does not exist where there
//! are too few samples to tell anything.

/// The confidence of the interval of a [`Change`]. A comparison has dozens of rows; at 95 %, every twentieth of
/// them that has not changed would miss the truth.
pub const CONFIDENCE: f64 = 0.99;

/// More samples than these are joined, neighbours to means, as if their batches had been longer: the distribution of
/// the statistic for 50 against 50 is the last to be counted in 128 bits with room to spare, and a run has 11 samples of
/// each row unless it takes minutes.
const MOST_SAMPLES: usize = 50;

/// How a bandwidth has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The later bandwidth over the earlier one: 1.1 is 10 % faster.
    pub ratio: f64,
    /// Ends of the interval in which that is with a probability of [`CONFIDENCE`]; `None` where there are too few samples.
    pub interval: Option<[f64; 2]>,
}

/// The change from the times `base` to the times `new`, in any unit; `None` if there are none of either.
pub(super) fn change(base: &[f64], new: &[f64]) -> Option<Change> {
    if base.is_empty() || new.is_empty() {
        return None;
    }
    // The very same samples are no two measurements, and nothing is uncertain about them.
    if base == new {
        return Some(Change { ratio: 1.0, interval: Some([1.0; 2]) });
    }
    let (base, new) = (joined(base), joined(new));
    let mut ratios: Vec<f64> = base.iter().flat_map(|base| new.iter().map(move |new| base / new)).collect();
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len() - 1;
    // The geometric mean of the two in the middle: what is exchanged becomes the reciprocal.
    let ratio = (ratios[last / 2] * ratios[ratios.len() / 2]).sqrt();
    let interval = cut_off(base.len(), new.len()).map(|cut| [ratios[cut], ratios[last - cut]]);
    Some(Change { ratio, interval })
}

fn joined(samples: &[f64]) -> Vec<f64> {
    let together = samples.len().div_ceil(MOST_SAMPLES);
    samples.chunks(together).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect()
}

/// How many of the ordered ratios of `n` and `m` samples lie outside of the interval at either end; `None` where
/// even all of them together are not sure enough.
fn cut_off(n: usize, m: usize) -> Option<usize> {
    let ways = ways(n, m);
    let all: f64 = ways.iter().map(|&ways| ways as f64).sum();
    let mut outside = 0.0;
    // With `cut` ratios outside at either end, the interval misses where the statistic is at most `cut`, or as far from
    // the other end.
    let enough = ways.iter().take_while(|&&ways| {
        outside += 2.0 * ways as f64;
        outside <= (1.0 - CONFIDENCE) * all
    });
    enough.count().checked_sub(1)
}

/// In how many ways `n` and `m` samples can be ordered so that the statistic of Mann and Whitney is 0, 1, 2 and so on:
/// the coefficients of the Gaussian binomial of n + m over n, which is the product of (1 - q^(m+i)) / (1 - q^i) for i
/// from 1 to n.
fn ways(n: usize, m: usize) -> Vec<u128> {
    let mut ways = vec![0u128; n * m + 1];
    ways[0] = 1;
    for i in 1..=n {
        // In between, coefficients are negative; modulo 2^128 that comes out right.
        for k in (m + i..ways.len()).rev() {
            ways[k] = ways[k].wrapping_sub(ways[k - m - i]);
        }
        for k in i..ways.len() {
            ways[k] = ways[k].wrapping_add(ways[k - i]);
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_as_by_hand() {
        assert_eq!(ways(1, 3), [1, 1, 1, 1]);
        assert_eq!(ways(2, 2), [1, 1, 2, 1, 1]);
        assert_eq!(ways(3, 2), [1, 1, 2, 2, 2, 1, 1]);
        assert_eq!(ways(11, 11).iter().sum::<u128>(), 705_432);
        // 100 over 50.
        assert_eq!(ways(50, 50).iter().sum::<u128>(), 100_891_344_545_564_193_334_812_497_256);
    }

    #[test]
    fn critical_values_are_those_of_the_tables() {
        // Mann and Whitney's critical values of U for a two-sided test at 1 %, as every table of them has.
        for (n, m, critical) in [(5, 5, Some(0)), (6, 6, Some(2)), (10, 10, Some(16)), (11, 11, Some(21))] {
            assert_eq!(cut_off(n, m), critical, "{n} and {m}");
        }
        assert_eq!(cut_off(20, 20), Some(105));
        for (n, m) in [(1, 1), (3, 3), (4, 4), (1, 50), (3, 7)] {
            assert_eq!(cut_off(n, m), None, "{n} and {m}");
        }
    }

    #[test]
    fn the_estimate_is_the_middle_ratio_and_turns_over_with_its_sides() {
        let (base, new) = ([2.0, 4.0, 8.0], [1.0, 1.0, 2.0]);
        // 1, 2, 2, 2, 4, 4, 4, 8, 8
        let there = change(&base, &new).unwrap();
        assert_eq!(there, Change { ratio: 4.0, interval: None });
        assert_eq!(change(&new, &base).unwrap().ratio, 0.25);
        assert_eq!(change(&[], &new), None);
        assert_eq!(change(&base, &[]), None);
    }

    #[test]
    fn the_same_samples_are_the_same() {
        assert_eq!(change(&[1.0, 3.0], &[1.0, 3.0]), Some(Change { ratio: 1.0, interval: Some([1.0; 2]) }));
    }

    #[test]
    fn many_samples_are_joined_to_as_many_as_can_be_counted() {
        let many: Vec<f64> = (0..1001).map(|i| 1.0 + f64::from(i % 7) * 1e-3).collect();
        assert_eq!(joined(&many).len(), 48);
        let change = change(&many, &[2.0; 11]).unwrap();
        assert!((change.ratio - 0.5015).abs() < 1e-3, "{change:?}");
        assert_eq!(joined(&[1.0, 2.0]), [1.0, 2.0]);
    }
}
