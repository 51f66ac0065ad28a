//! The clocks of a device while it works, and what holds them down, as its own sensors tell.
//!
//! A sensor is read between timed batches, never during one.

use std::collections::BTreeSet;

/// Something that holds a device's clocks below what they could be, by the name that records give it.
pub type Throttle = &'static str;

/// One look at a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Clock of the multiprocessors in MHz, where it can be read.
    pub sm_mhz: Option<u32>,
    /// Clock of the memory in MHz, where it can be read.
    pub memory_mhz: Option<u32>,
    /// What holds the clocks down at this moment; `None` where that cannot be read.
    pub throttled: Option<Vec<Throttle>>,
    /// For how many nanoseconds each reason has done so since some moment in the past, where that is counted.
    pub throttled_ns: Vec<(Throttle, u64)>,
}

/// What can be read of a device while it works.
pub trait Sensor {
    /// Reads it, in far less time than a batch takes.
    fn read(&self) -> Reading;
}

/// What was read while something was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Smallest and largest clock of the multiprocessors in MHz.
    pub sm_mhz: Option<[u32; 2]>,
    /// Smallest and largest clock of the memory in MHz.
    pub memory_mhz: Option<[u32; 2]>,
    /// What held the clocks down; `None` where that could not be read.
    pub throttled: Option<BTreeSet<Throttle>>,
}

impl Clocks {
    /// What was seen in `now`, and happened since `before`.
    pub fn between(before: &Reading, now: &Reading) -> Clocks {
        let since = now.throttled_ns.iter().filter(|(reason, ns)| {
            let earlier = before.throttled_ns.iter().find(|(other, _)| other == reason);
            earlier.is_some_and(|(_, earlier)| ns > earlier)
        });
        let reasons = now.throttled.iter().flatten().chain(since.map(|(reason, _)| reason));
        let known = now.throttled.is_some() || !now.throttled_ns.is_empty();
        Clocks {
            sm_mhz: now.sm_mhz.map(|mhz| [mhz; 2]),
            memory_mhz: now.memory_mhz.map(|mhz| [mhz; 2]),
            throttled: known.then(|| reasons.copied().collect()),
        }
    }

    /// Takes in what was seen another time.
    pub fn join(&mut self, other: &Clocks) {
        self.sm_mhz = joined(self.sm_mhz, other.sm_mhz);
        self.memory_mhz = joined(self.memory_mhz, other.memory_mhz);
        if let Some(reasons) = &other.throttled {
            self.throttled.get_or_insert_default().extend(reasons);
        }
    }
}

fn joined(one: Option<[u32; 2]>, other: Option<[u32; 2]>) -> Option<[u32; 2]> {
    match (one, other) {
        (Some([low, high]), Some([lower, higher])) => Some([low.min(lower), high.max(higher)]),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(sm_mhz: u32, throttled: &[Throttle], power_ns: u64) -> Reading {
        let throttled_ns = vec![("power cap", power_ns)];
        Reading { sm_mhz: Some(sm_mhz), memory_mhz: None, throttled: Some(throttled.to_vec()), throttled_ns }
    }

    #[test]
    fn clocks_span_what_was_seen_and_reasons_add_up() {
        let readings =
            [reading(1900, &[], 7), reading(1980, &[], 7), reading(1700, &["heat"], 7), reading(1800, &[], 8)];
        let mut clocks = Clocks::default();
        for pair in readings.windows(2) {
            clocks.join(&Clocks::between(&pair[0], &pair[1]));
        }
        assert_eq!((clocks.sm_mhz, clocks.memory_mhz), (Some([1700, 1980]), None));
        assert_eq!(clocks.throttled, Some(["heat", "power cap"].into()));
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        let nothing = Clocks::between(&Reading::default(), &Reading::default());
        assert_eq!(nothing, Clocks::default());
        // A counter that was not there before says nothing.
        assert_eq!(Clocks::between(&Reading::default(), &reading(1, &[], 5)).throttled, Some(BTreeSet::new()));
    }
}
