//! The backends, and the only list of them.
//!
//! A new backend is one folder here, one line in `REGISTRY` and one Cargo feature.

use crate::backend::TransposeBackend;
use crate::device::Api;

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "cuda")]
mod nvml;
#[cfg(feature = "wgpu")]
pub mod wgpu;

/// A backend's name, the APIs it brings, and how it looks for devices.
struct Registration {
    name: &'static str,
    apis: &'static [Api],
    /// `None` where the feature of that name is not compiled in.
    probe: Option<fn(&[Api]) -> Discovery>,
}

const REGISTRY: [Registration; 3] = [
    Registration { name: "cpu", apis: &[Api::Cpu], probe: Some(cpu::discover) },
    Registration {
        name: "cuda",
        apis: &[Api::Cuda],
        #[cfg(feature = "cuda")]
        probe: Some(cuda::discover),
        #[cfg(not(feature = "cuda"))]
        probe: None,
    },
    Registration {
        name: "wgpu",
        apis: &[Api::Vulkan, Api::Metal, Api::Dx12, Api::Gl],
        #[cfg(feature = "wgpu")]
        probe: Some(wgpu::discover),
        #[cfg(not(feature = "wgpu"))]
        probe: None,
    },
];

/// What was found when looking for devices.
#[derive(Default)]
pub struct Discovery {
    /// The devices, in the order of their ids.
    pub devices: Vec<Box<dyn TransposeBackend>>,
    /// The APIs without a device.
    pub absent: Vec<Absent>,
}

/// An API that brings no device, why, and what would bring one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The API.
    pub api: Api,
    /// Why there is no device.
    pub reason: String,
    /// What would bring one; empty where nothing would, such as Metal on Linux.
    pub remedy: String,
}

/// Looks for the devices of `apis`; looking at an API opens its driver, so name only those that are wanted.
///
/// Every API that was asked for ends up with at least one device or an entry in [`Discovery::absent`].
pub fn discover(apis: &[Api]) -> Discovery {
    let mut all = Discovery::default();
    for registration in &REGISTRY {
        let wanted: Vec<Api> = registration.apis.iter().copied().filter(|api| apis.contains(api)).collect();
        if wanted.is_empty() {
            continue;
        }
        let found = match registration.probe {
            Some(probe) => probe(&wanted),
            None => not_compiled_in(registration.name, &wanted),
        };
        all.devices.extend(found.devices);
        all.absent.extend(found.absent);
    }
    all
}

fn not_compiled_in(feature: &str, apis: &[Api]) -> Discovery {
    let absent = |&api| Absent {
        api,
        reason: format!("this build leaves out the Cargo feature `{feature}`"),
        remedy: format!("build with `--features {feature}`"),
    };
    Discovery { devices: Vec::new(), absent: apis.iter().map(absent).collect() }
}
