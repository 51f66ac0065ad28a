//! A device as the harness sees it: with what is known of the hardware through any of its APIs.

use crate::backend::TransposeBackend;
use crate::device::{DeviceId, DeviceInfo, Peak};
use crate::peak;
use crate::physical;
use crate::record;

/// A device to run on.
pub struct Target<'a> {
    /// The device.
    pub backend: &'a dyn TransposeBackend,
    /// The number of the hardware behind it; APIs of the same hardware share it.
    pub physical: usize,
    /// Its theoretical peak, where known.
    pub peak: Option<Peak>,
    /// Its last-level cache in bytes, where known.
    pub cache_bytes: Option<u64>,
}

/// Makes targets of devices. What one API tells of the hardware (peak bandwidth, size of the cache), the others of the
/// same hardware share; `user_peak` gives the peak in GB/s that the user set for a device, if any.
pub fn targets<'a>(
    devices: impl IntoIterator<Item = &'a dyn TransposeBackend>,
    user_peak: impl Fn(DeviceId) -> Option<f64>,
) -> Vec<Target<'a>> {
    let backends: Vec<&dyn TransposeBackend> = devices.into_iter().collect();
    let infos: Vec<&DeviceInfo> = backends.iter().map(|backend| backend.device()).collect();
    let physical = physical::group(&infos);
    let target = |(i, backend): (usize, &&'a dyn TransposeBackend)| {
        let same = || infos.iter().zip(&physical).filter(|(_, number)| **number == physical[i]).map(|(info, _)| info);
        let info = infos[i];
        Target {
            backend: *backend,
            physical: physical[i],
            peak: peak::resolve(info, user_peak(info.id), same().find_map(|info| info.peak)),
            cache_bytes: info.cache_bytes.or_else(|| same().find_map(|info| info.cache_bytes)),
        }
    };
    backends.iter().enumerate().map(target).collect()
}

impl Target<'_> {
    /// What the device says of itself.
    pub fn info(&self) -> &DeviceInfo {
        self.backend.device()
    }

    /// The device's entry in a record.
    pub fn record(&self) -> record::Device {
        let info = self.info();
        record::Device {
            id: info.id.to_string(),
            name: info.name.clone(),
            api: info.id.api.name().into(),
            driver: info.driver.clone(),
            kind: info.kind,
            pci: info.pci.clone(),
            physical: self.physical,
            memory_bytes: info.memory_bytes,
            cache_bytes: self.cache_bytes,
            peak: self.peak,
        }
    }
}
