//! Order statistics of a handful of samples.

/// What a row reports of its samples, in the samples' unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// Interquartile range over the median.
    pub spread: f64,
}

/// Summarises samples; `None` if there are none.
pub fn summarise(samples: &[f64]) -> Option<Summary> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let min = *sorted.first()?;
    let median = quantile(&sorted, 0.5);
    Some(Summary { median, min, spread: (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / median })
}

/// The quantile of sorted samples, with linear interpolation between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(summarise(&[]), None);
        assert_eq!(summarise(&[2.0]), Some(Summary { median: 2.0, min: 2.0, spread: 0.0 }));
        let five = summarise(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(five, Summary { median: 3.0, min: 1.0, spread: 2.0 / 3.0 });
        assert_eq!(summarise(&[1.0, 2.0]).unwrap().median, 1.5);
    }
}
