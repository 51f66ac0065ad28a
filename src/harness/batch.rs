//! How many launches are timed together.

use std::num::NonZeroU32;

use crate::backend::{BackendError, PreparedRun};
use crate::verify::Stopped;

/// Launches in one batch at the most; enough to make any clock's resolution vanish.
const MAX_LAUNCHES: u32 = 1 << 16;

/// How many times longer than asked a batch may be for the sake of a whole rotation.
pub(super) const LONGEST_ROTATION: f64 = 4.0;

/// Seconds of work in which a device that has warmed up becomes no faster. A GPU that has rested raises its clocks in
/// steps while it works; on an H200 through Vulkan they were up to 0.3 s apart, the last of them for 10 %.
const STEADY_SECONDS: f64 = 0.35;
/// Seconds of a batch while it warms up.
const WARM_UP_SECONDS: f64 = 0.01;
/// What is faster than this part of the fastest time before is faster by more than noise.
const FASTER: f64 = 0.98;

/// Keeps the device at work until it becomes no faster by that.
///
/// # Errors
/// [`BackendError`] if the device fails or takes too long.
pub fn warm_up(run: &mut dyn PreparedRun, stopped: Stopped) -> Result<(), BackendError> {
    let launches = calibrate(run, WARM_UP_SECONDS, 1, stopped)?;
    let mut fastest = f64::INFINITY;
    let mut steady = 0.0;
    while steady < STEADY_SECONDS && !stopped() {
        let seconds = run.run(launches)?.seconds();
        if seconds < FASTER * fastest {
            fastest = seconds;
            steady = 0.0;
        }
        steady += seconds;
    }
    Ok(())
}

/// Finds how many launches fill `batch_seconds`: a batch is doubled until it fills half of that time, then scaled. A
/// whole number of rotations over the `sets` makes all batches alike, and one
/// rotation is taken even if it is a few times longer than asked for: fewer would leave a part of the buffers out, and
/// the rest might stay in the cache.
///
/// # Errors
/// [`BackendError`] if the device fails or takes too long.
pub fn calibrate(
    run: &mut dyn PreparedRun,
    batch_seconds: f64,
    sets: usize,
    stopped: Stopped,
) -> Result<NonZeroU32, BackendError> {
    let mut launches = NonZeroU32::MIN;
    let seconds = loop {
        let seconds = run.run(launches)?.seconds();
        if seconds >= batch_seconds / 2.0 || launches.get() >= MAX_LAUNCHES || stopped() {
            break seconds;
        }
        launches = launches.saturating_mul(NonZeroU32::new(2).unwrap_or(launches));
    };
    let fitting = |wanted: f64| {
        let count = f64::from(launches.get()) * wanted / seconds;
        (count.ceil().min(f64::from(MAX_LAUNCHES)) as u32).max(1)
    };
    let sets = (sets as u32).max(1);
    let whole = match fitting(batch_seconds) {
        enough if enough >= sets => enough.next_multiple_of(sets),
        _ => fitting(LONGEST_ROTATION * batch_seconds).min(sets),
    };
    Ok(NonZeroU32::new(whole).unwrap_or(NonZeroU32::MIN))
}
