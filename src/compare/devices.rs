//! Which device of one record is which of the other.

use super::DevicePair;
use crate::record::{Device, Record};

/// How two devices were found to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// They have the same id, and the same name.
    IdAndName,
    /// They have the same API and the same name, and no other has.
    Name,
    /// They have the same id, and that alone.
    Id,
}

/// The devices of both records: by id where the name is the same, then by name within an API, where there is one of
/// that name, then by id alone.
pub(super) fn pairs<'a>(base: &'a Record, new: &'a Record) -> Vec<DevicePair<'a>> {
    let mut pairs: Vec<DevicePair> =
        base.devices.iter().map(|device| DevicePair { base: Some(device), new: None, by: None }).collect();
    let mut left: Vec<&Device> = new.devices.iter().collect();
    let same_name = |one: &Device, other: &Device| one.api == other.api && one.name == other.name;
    for by in [MatchedBy::IdAndName, MatchedBy::Name, MatchedBy::Id] {
        let same = |one: &Device, other: &Device| match by {
            MatchedBy::IdAndName => one.id == other.id && same_name(one, other),
            MatchedBy::Name => same_name(one, other),
            MatchedBy::Id => one.id == other.id,
        };
        for i in 0..pairs.len() {
            let Some(device) = pairs[i].base.filter(|_| pairs[i].new.is_none()) else { continue };
            let rivals = pairs.iter().filter(|pair| pair.new.is_none());
            let alone = rivals.filter(|pair| pair.base.is_some_and(|other| same(other, device))).count() == 1;
            let mut found = left.iter().enumerate().filter(|(_, other)| same(device, other)).map(|(j, _)| j);
            if let (Some(j), None, true) = (found.next(), found.next(), alone) {
                pairs[i] = DevicePair { new: Some(left.remove(j)), by: Some(by), ..pairs[i] };
            }
        }
    }
    pairs.extend(left.into_iter().map(|device| DevicePair { base: None, new: Some(device), by: None }));
    pairs
}
