//! Where values stand along an axis, and where its ticks are.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use crate::report::chart::Scale;

/// An axis with its ends, as plotters takes it.
#[derive(Clone)]
pub(super) struct Ruler {
    scale: Scale,
    /// The positions of both ends, the second above the first: equal distances between positions are equal distances
    /// on paper.
    ends: [f64; 2],
    /// The values of the ticks, from low to high.
    pub(super) ticks: Vec<f64>,
}

impl Ruler {
    /// One that all values fit on, with about `most` ticks or fewer.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>, most: usize) -> Ruler {
        let values: Vec<f64> = values.filter(|value| scale.takes(*value)).collect();
        let low = values.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let high = values.iter().copied().reduce(f64::max).unwrap_or(1.0);
        let most = most.max(2);
        if scale.begins_at_zero() {
            // Between these, everything below can be computed with.
            let high = 1.02 * if high > 0.0 { high.clamp(1e-300, 1e300) } else { 1.0 };
            return Ruler { scale, ends: [0.0, high], ticks: multiples(step(scale, high / most as f64), high) };
        }
        // A little room at both ends, and some where all values are one.
        let (low, high) = (scale.position(low), scale.position(high));
        let room = if high > low { (high - low) * 0.04 } else { scale.position(2.0) };
        let ends = [low - room, high + room];
        Ruler { scale, ends, ticks: logarithmic(scale, ends, most) }
    }

    /// The pixel of a value, from the low end to the high one; `None` where it has none.
    pub(super) fn pixel(&self, value: f64, [from, to]: [i32; 2]) -> Option<i32> {
        let [low, high] = self.ends;
        let part = self.scale.takes(value).then(|| (self.scale.position(value) - low) / (high - low))?;
        Some(from + (part.clamp(0.0, 1.0) * f64::from(to - from)).round() as i32)
    }
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        self.pixel(*value, [from, to]).unwrap_or(from)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { vec![] } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        let [low, high] = self.ends.map(|end| self.scale.value(end));
        low..high
    }
}

impl Scale {
    pub(super) fn begins_at_zero(self) -> bool {
        matches!(self, Scale::Linear | Scale::Binary)
    }

    fn takes(self, value: f64) -> bool {
        value.is_finite() && (self.begins_at_zero() || value > 0.0)
    }

    fn position(self, value: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Binary => value,
            Scale::Decades => value.log10(),
            Scale::Octaves => value.log2(),
        }
    }

    fn value(self, position: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Binary => position,
            Scale::Decades => 10f64.powf(position),
            Scale::Octaves => position.exp2(),
        }
    }
}

/// A distance of ticks, at least this rough one: a power of two, or 1, 2 or 5 times a power of ten.
fn step(scale: Scale, rough: f64) -> f64 {
    if scale == Scale::Binary {
        return rough.log2().ceil().exp2();
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= rough);
    step.unwrap_or(10.0 * power)
}

fn multiples(step: f64, high: f64) -> Vec<f64> {
    (0..=(high / step) as usize).map(|i| i as f64 * step).collect()
}

/// Powers of the scale's base, every so many; of ten also twice and five times them where they are few.
fn logarithmic(scale: Scale, [low, high]: [f64; 2], most: usize) -> Vec<f64> {
    let base: f64 = if scale == Scale::Decades { 10.0 } else { 2.0 };
    let powers = || (low.ceil() as i32)..=(high.floor() as i32);
    let every = powers().count().div_ceil(most).max(1);
    let fine: Vec<f64> = ((low.floor() as i32)..=(high.floor() as i32))
        .flat_map(|power| [1.0, 2.0, 5.0].map(|times| times * base.powi(power)))
        .filter(|tick| (low..=high).contains(&tick.log10()))
        .collect();
    if scale == Scale::Decades && powers().count() < 3 && fine.len() <= most {
        return fine;
    }
    powers().filter(|power| power.rem_euclid(every as i32) == 0).map(|power| base.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, values: &[f64], most: usize) -> Vec<f64> {
        Ruler::new(scale, values.iter().copied(), most).ticks
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(Scale::Linear, &[4814.3, 3.0], 6), [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
        assert_eq!(ticks(Scale::Linear, &[0.03], 4), [0.0, 0.01, 0.02, 0.03]);
        assert_eq!(ticks(Scale::Binary, &[33.0], 5), [0.0, 8.0, 16.0, 24.0, 32.0]);
        assert_eq!(ticks(Scale::Decades, &[3.0, 90.0], 8), [5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(Scale::Decades, &[1.0, 1e6], 4), [1.0, 100.0, 1e4, 1e6]);
        assert_eq!(ticks(Scale::Octaves, &[1024.0, 8192.0], 8), [1024.0, 2048.0, 4096.0, 8192.0]);
        for scale in [Scale::Linear, Scale::Binary, Scale::Decades, Scale::Octaves] {
            for high in [1e-9, 0.7, 1.0, 7.3e4, 1e15] {
                for most in [2, 5, 9] {
                    let ticks = ticks(scale, &[high / 1e4, high], most);
                    assert!((1..=most + 1).contains(&ticks.len()), "{scale:?} {high} {most}: {ticks:?}");
                }
            }
        }
    }

    #[test]
    fn every_value_is_between_the_ends() {
        for scale in [Scale::Linear, Scale::Binary, Scale::Decades, Scale::Octaves] {
            for values in [&[5.0][..], &[1.0, 2.0, 1e9], &[], &[f64::NAN, 1.0], &[-1.0, 0.0], &[f64::MAX], &[5e-324]] {
                let ruler = Ruler::new(scale, values.iter().copied(), 5);
                let [low, high] = ruler.ends;
                assert!(low < high && low.is_finite() && high.is_finite(), "{scale:?} {values:?}");
                for value in values.iter().filter(|value| **value > 0.0) {
                    assert!((0..=900).contains(&ruler.pixel(*value, [0, 900]).unwrap()), "{scale:?} {value}");
                }
            }
        }
    }
}
