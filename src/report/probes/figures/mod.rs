//! The figures of the probes' records.

pub(super) mod banks;
pub(super) mod coalescing;
pub(super) mod hierarchy;

#[cfg(test)]
mod tests;

use super::super::figures::caveat;
use crate::record::Device;

/// A caption: what must be known of the device first, and then these sentences.
fn caption(device: &Device, sentences: impl IntoIterator<Item = impl Into<String>>) -> String {
    let sentences = sentences.into_iter().map(Into::into);
    caveat(device).into_iter().chain(sentences).collect::<Vec<String>>().join(" ")
}
