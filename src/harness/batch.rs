//! How many launches are timed together.

use std::num::NonZeroU32;

use crate::backend::{BackendError, PreparedRun};
use crate::verify::Stopped;

/// Launches in one batch at the most; enough to make any clock's resolution vanish.
const MAX_LAUNCHES: u32 = 1 << 16;

/// How many times longer than asked a batch may be for the sake of a whole rotation.
pub(super) const LONGEST_ROTATION: f64 = 4.0;

/// Finds how many launches fill `batch_seconds`, warming the device up on the way: a batch is doubled until it fills
/// half of that time, then scaled. A whole number of rotations over the `sets` makes all batches alike, and one
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
