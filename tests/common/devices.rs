//! Which devices to run on: all, or those that the environment variable `CORNERTURN_DEVICES=cuda:0,…` names.

use cornerturn::device::{Api, DeviceId};

/// Whether to run on this device.
///
/// # Panics
/// If the list holds what is no device id.
pub fn wanted(id: DeviceId) -> bool {
    list().is_none_or(|list| list.contains(&id))
}

/// The APIs of those devices: looking at another would only open its driver.
///
/// # Panics
/// If the list holds what is no device id.
pub fn wanted_apis() -> Vec<Api> {
    let list = list();
    Api::ALL.into_iter().filter(|api| list.as_ref().is_none_or(|list| list.iter().any(|id| id.api == *api))).collect()
}

fn list() -> Option<Vec<DeviceId>> {
    let list = std::env::var("CORNERTURN_DEVICES").ok()?;
    Some(list.split(',').map(|id| id.parse().unwrap_or_else(|error| panic!("CORNERTURN_DEVICES: {error}"))).collect())
}
