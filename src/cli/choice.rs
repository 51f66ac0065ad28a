//! Which of the devices here run.

use super::Failure;
use crate::backend::TransposeBackend;
use crate::backends::{self, Discovery};
use crate::device::{Api, DeviceId};
use crate::record;

/// The APIs to look at: opening a driver takes time and memory, so only those that are asked for.
pub fn apis(devices: &[DeviceId]) -> Vec<Api> {
    let asked = |api: &Api| devices.is_empty() || devices.iter().any(|id| id.api == *api);
    Api::ALL.into_iter().filter(asked).collect()
}

/// The devices asked for, in the order asked; all of them if none is named.
pub fn choose<'a>(ids: &[DeviceId], discovery: &'a Discovery) -> Result<Vec<&'a dyn TransposeBackend>, Failure> {
    let devices = || discovery.devices.iter().map(Box::as_ref);
    if ids.is_empty() {
        return Ok(devices().collect());
    }
    let find = |id: DeviceId| devices().find(|device| device.device().id == id);
    without_repeats(ids).into_iter().map(|id| find(id).ok_or_else(|| unknown_device(id, discovery))).collect()
}

fn unknown_device(id: DeviceId, discovery: &Discovery) -> Failure {
    let mut message = format!("there is no device `{id}`");
    for absent in discovery.absent.iter().filter(|absent| absent.api == id.api) {
        message += &format!("; {}: {}", absent.api, absent.reason);
        if !absent.remedy.is_empty() {
            message += &format!(" ({})", absent.remedy);
        }
    }
    // Only now are the other APIs worth looking at.
    let all = backends::discover(&Api::ALL);
    let ids: Vec<String> = all.devices.iter().map(|device| device.device().id.to_string()).collect();
    Failure::Input(format!("{message}; the devices here are {}", ids.join(", ")))
}

/// An API without devices, as a record has it.
pub fn absent(absent: &backends::Absent) -> record::Absent {
    record::Absent { api: absent.api.name().into(), reason: absent.reason.clone(), remedy: absent.remedy.clone() }
}

/// The list without what stands in it earlier, in the same order.
pub fn without_repeats<T: Copy + PartialEq>(list: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for item in list {
        if !seen.contains(item) {
            seen.push(*item);
        }
    }
    seen
}
