//! Reading a device's sensor between batches, without keeping the device waiting.

use std::time::{Duration, Instant};

use crate::sensor::{Clocks, Reading, Sensor};

/// Time between two readings at least. A reading takes a fraction of a millisecond, in which the device has
/// nothing to do; batches that are shorter than this share one.
const PAUSE: Duration = Duration::from_millis(10);

/// What has been read so far.
pub struct Watch<'a> {
    sensor: &'a dyn Sensor,
    pause: Duration,
    at: Instant,
    last: Reading,
    seen: Clocks,
}

impl<'a> Watch<'a> {
    /// Looks for the first time.
    pub fn new(sensor: &'a dyn Sensor) -> Watch<'a> {
        Watch::with_pause(sensor, PAUSE)
    }

    fn with_pause(sensor: &'a dyn Sensor, pause: Duration) -> Watch<'a> {
        let last = sensor.read();
        let seen = Clocks::between(&last, &last);
        Watch { sensor, pause, at: Instant::now(), last, seen }
    }

    /// What is to be said of a batch that has just ended.
    pub fn look(&mut self) -> &Clocks {
        if self.at.elapsed() >= self.pause {
            let now = self.sensor.read();
            self.seen = Clocks::between(&self.last, &now);
            (self.last, self.at) = (now, Instant::now());
        }
        &self.seen
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A device that becomes slower by 10 MHz with every look, and is throttled for a nanosecond before the third.
    struct Slowing(Cell<u32>);

    impl Sensor for Slowing {
        fn read(&self) -> Reading {
            let look = self.0.replace(self.0.get() + 1);
            let throttled_ns = vec![("power cap", u64::from(look >= 2))];
            Reading { sm_mhz: Some(1980 - 10 * look), throttled: Some(vec![]), throttled_ns, ..Reading::default() }
        }
    }

    #[test]
    fn each_look_tells_of_the_time_since_the_one_before() {
        let slowing = Slowing(Cell::new(0));
        let mut watch = Watch::with_pause(&slowing, Duration::ZERO);
        let mut looks = (0..3).map(|_| watch.look().clone());
        let mut next = || looks.next().map(|clocks| (clocks.sm_mhz.unwrap()[0], clocks.throttled.unwrap().len()));
        assert_eq!([next(), next(), next()], [Some((1970, 0)), Some((1960, 1)), Some((1950, 0))]);
    }

    #[test]
    fn short_batches_share_a_look() {
        let slowing = Slowing(Cell::new(0));
        let mut watch = Watch::with_pause(&slowing, Duration::from_secs(3600));
        assert_eq!((watch.look().sm_mhz, watch.look().sm_mhz), (Some([1980; 2]), Some([1980; 2])));
        assert_eq!(slowing.0.get(), 1);
    }
}
