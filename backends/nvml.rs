//! The sensors of NVIDIA's GPUs, through NVML, a library of the driver that is opened at run time.
//!
//! Whichever API reaches a GPU, it is found here by its PCI address, or by its UUID where the API tells that and NVML does
//! not know the address, as in virtual machines that give GPUs addresses of their own.

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons as Reasons;
use nvml_wrapper::enum_wrappers::device::{Clock, PerformancePolicy as Policy};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use crate::sensor::{Reading, Sensor, Throttle};

/// What holds clocks down against the user's will, by NVML's flags. A GPU that is idle, or whose clocks the user has
/// set, is not throttled.
const REASONS: [(Reasons, Throttle); 6] = [
    (Reasons::SW_POWER_CAP, POWER_CAP),
    (Reasons::HW_SLOWDOWN, "hardware slowdown"),
    (Reasons::SYNC_BOOST, "sync boost"),
    (Reasons::SW_THERMAL_SLOWDOWN, THERMAL),
    (Reasons::HW_THERMAL_SLOWDOWN, "hardware thermal slowdown"),
    (Reasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
];

/// What is counted as well, and so is seen also where it ends before a reading.
const COUNTED: [(Policy, Throttle); 2] = [(Policy::Power, POWER_CAP), (Policy::Thermal, THERMAL)];

const POWER_CAP: Throttle = "power cap";
const THERMAL: Throttle = "thermal slowdown";

/// The sensor of the GPU at a PCI address or else of a UUID, if NVML is there and knows either.
pub fn sensor(pci: Option<&str>, uuid: Option<&str>) -> Option<Box<dyn Sensor>> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    let open = || Nvml::init().inspect_err(|error| log::info!("no clocks can be read: NVML: {error}")).ok();
    // Nothing is opened for a device that cannot be found in it.
    pci.or(uuid)?;
    let nvml = NVML.get_or_init(open).as_ref()?;
    let found = |name: &str, device: Result<Device<'static>, NvmlError>| {
        device.inspect_err(|error| log::info!("NVML does not know {name}: {error}")).ok()
    };
    let by_pci = pci.and_then(|pci| found(pci, nvml.device_by_pci_bus_id(pci)));
    let device = by_pci.or_else(|| uuid.and_then(|uuid| found(uuid, nvml.device_by_uuid(uuid))))?;
    Some(Box::new(NvmlSensor(device)))
}

struct NvmlSensor(Device<'static>);

impl Sensor for NvmlSensor {
    fn read(&self) -> Reading {
        let reasons = self.0.current_throttle_reasons().ok();
        let count =
            |(policy, reason): (Policy, Throttle)| Some((reason, self.0.violation_status(policy).ok()?.violation_time));
        Reading {
            sm_mhz: self.0.clock_info(Clock::SM).ok(),
            memory_mhz: self.0.clock_info(Clock::Memory).ok(),
            throttled: reasons.map(named),
            throttled_ns: COUNTED.into_iter().filter_map(count).collect(),
        }
    }
}

fn named(reasons: Reasons) -> Vec<Throttle> {
    REASONS.into_iter().filter(|(flag, _)| reasons.contains(*flag)).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_did_not_ask_for_is_throttling() {
        assert_eq!(named(Reasons::NONE), [""; 0]);
        assert_eq!(named(Reasons::GPU_IDLE | Reasons::APPLICATIONS_CLOCKS_SETTING), [""; 0]);
        assert_eq!(named(Reasons::GPU_IDLE | Reasons::SW_POWER_CAP), ["power cap"]);
        assert_eq!(named(Reasons::all()).len(), REASONS.len());
    }

    #[test]
    fn a_device_without_an_address_has_no_sensor() {
        assert!(sensor(None, None).is_none());
        assert!(sensor(Some("no address"), Some("no UUID")).is_none());
    }
}
