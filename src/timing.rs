//! How long launches took, and by which clock.
//!
//! The two clocks are two types whose fields are private: a [`DeviceTime`] can only be made from what a device
//! reports, a [`HostTime`] only from [`Instant`]s, so one can never pass for the other.

use std::time::{Duration, Instant};

/// The time of a number of launches, by the clock that measured it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// Measured on the device, between the first launch's start and the last one's end.
    Device(DeviceTime),
    /// Measured on the host.
    Host(HostTime),
}

impl Timing {
    /// The time in seconds of all launches of the run together.
    pub fn seconds(self) -> f64 {
        match self {
            Timing::Device(time) => time.0,
            Timing::Host(time) => time.0.as_secs_f64(),
        }
    }
}

/// Seconds by the device's own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceTime(f64);

impl DeviceTime {
    /// The time between two timestamps of a device whose clock ticks every `period_ns` nanoseconds.
    ///
    /// # Errors
    /// [`ClockError`] if a timestamp is zero, the end is not after the begin, the period is not positive, or the
    /// time is longer than `host`, the time the host saw around the same work: some drivers report such timestamps.
    pub fn from_ticks(begin: u64, end: u64, period_ns: f64, host: HostTime) -> Result<DeviceTime, ClockError> {
        if begin == 0 || end == 0 {
            return Err(ClockError::Zero { begin, end });
        }
        if end <= begin {
            return Err(ClockError::NotAfter { begin, end });
        }
        DeviceTime::checked((end - begin) as f64 * period_ns * 1e-9, host)
    }

    /// The time between two events of a CUDA stream, in milliseconds as the driver gives it.
    ///
    /// # Errors
    /// [`ClockError`] if the time is not positive or longer than `host`.
    pub fn from_event_ms(ms: f32, host: HostTime) -> Result<DeviceTime, ClockError> {
        DeviceTime::checked(f64::from(ms) * 1e-3, host)
    }

    fn checked(seconds: f64, host: HostTime) -> Result<DeviceTime, ClockError> {
        // The clocks are calibrated separately: a thousandth and a tenth of a millisecond apart is no contradiction.
        let longest = host.0.as_secs_f64() * 1.001 + 1e-4;
        if seconds.is_finite() && seconds > 0.0 && seconds <= longest {
            Ok(DeviceTime(seconds))
        } else {
            Err(ClockError::Implausible { seconds, host_seconds: host.0.as_secs_f64() })
        }
    }
}

/// Time by the host's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostTime(Duration);

impl HostTime {
    /// The time since `start`.
    pub fn since(start: Instant) -> HostTime {
        HostTime(start.elapsed())
    }

    /// The time between two instants, zero if `end` is before `start`.
    pub fn between(start: Instant, end: Instant) -> HostTime {
        HostTime(end.saturating_duration_since(start))
    }

    /// The time of N launches without what is paid once a submission: the time of 2N launches less that of N.
    ///
    /// # Errors
    /// [`ClockError::Doubling`] if twice the launches took no longer.
    pub fn from_doubling(n: HostTime, two_n: HostTime) -> Result<HostTime, ClockError> {
        match two_n.0.checked_sub(n.0) {
            Some(time) if !time.is_zero() => Ok(HostTime(time)),
            _ => Err(ClockError::Doubling { n: n.0.as_secs_f64(), two_n: two_n.0.as_secs_f64() }),
        }
    }
}

/// A clock that gave a time which cannot be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClockError {
    /// A timestamp was never written.
    #[error("the device wrote a zero timestamp (begin {begin}, end {end})")]
    Zero {
        /// Ticks at the begin.
        begin: u64,
        /// Ticks at the end.
        end: u64,
    },
    /// Time stood still or ran backwards.
    #[error("the device's end timestamp {end} is not after its begin {begin}")]
    NotAfter {
        /// Ticks at the begin.
        begin: u64,
        /// Ticks at the end.
        end: u64,
    },
    /// Not a time, or more than the host saw pass.
    #[error("the device reports {seconds} s for work that the host saw take {host_seconds} s")]
    Implausible {
        /// What the device reports, in seconds.
        seconds: f64,
        /// What the host saw, in seconds.
        host_seconds: f64,
    },
    /// The host's clock could not tell N launches from 2N.
    #[error("twice the launches took no longer by the host's clock ({n} s, then {two_n} s)")]
    Doubling {
        /// Seconds of N launches.
        n: f64,
        /// Seconds of 2N launches.
        two_n: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(ms: u64) -> HostTime {
        HostTime(Duration::from_millis(ms))
    }

    #[test]
    fn ticks_become_seconds() {
        let time = DeviceTime::from_ticks(1_000, 2_001_000, 0.5, host(2)).unwrap();
        assert_eq!(Timing::Device(time).seconds(), 1e-3);
    }

    #[test]
    fn impossible_timestamps_are_refused() {
        assert!(matches!(DeviceTime::from_ticks(0, 5, 1.0, host(1)), Err(ClockError::Zero { .. })));
        assert!(matches!(DeviceTime::from_ticks(7, 7, 1.0, host(1)), Err(ClockError::NotAfter { .. })));
        assert!(matches!(DeviceTime::from_ticks(9, 7, 1.0, host(1)), Err(ClockError::NotAfter { .. })));
        assert!(matches!(DeviceTime::from_ticks(1, 9, 0.0, host(1)), Err(ClockError::Implausible { .. })));
        assert!(matches!(DeviceTime::from_ticks(1, 9_000_001, 1.0, host(1)), Err(ClockError::Implausible { .. })));
        assert!(matches!(DeviceTime::from_event_ms(f32::NAN, host(1)), Err(ClockError::Implausible { .. })));
        assert!(matches!(DeviceTime::from_event_ms(-1.0, host(1)), Err(ClockError::Implausible { .. })));
    }

    #[test]
    fn doubling_takes_the_fixed_cost_away() {
        assert_eq!(HostTime::from_doubling(host(3), host(5)), Ok(host(2)));
        assert!(matches!(HostTime::from_doubling(host(5), host(5)), Err(ClockError::Doubling { .. })));
    }
}
