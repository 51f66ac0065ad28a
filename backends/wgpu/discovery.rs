//! Looking for adapters, and saying why there are none.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wgpu::{Backends, DeviceType, Features};

use super::adapter::WgpuAdapter;
use super::limits;
use crate::backends::{Absent, Discovery};
use crate::device::{Api, DeviceId, DeviceInfo, DeviceKind, TimerKind};

/// Finds the adapters of `apis`, in the order in which each API lists them; APIs that are not wgpu's are ignored.
pub fn discover(apis: &[Api]) -> Discovery {
    let mut found = Discovery::default();
    for &api in apis {
        let Some(backend) = backend(api) else { continue };
        match adapters(api, backend) {
            Ok(adapters) => {
                for (index, adapter) in (0..).zip(adapters) {
                    let info = info(DeviceId { api, index }, &adapter);
                    found.devices.push(Box::new(WgpuAdapter::new(adapter, info)));
                }
            }
            Err(absent) => found.absent.push(absent),
        }
    }
    found
}

fn backend(api: Api) -> Option<Backends> {
    match api {
        Api::Vulkan => Some(Backends::VULKAN),
        Api::Metal => Some(Backends::METAL),
        Api::Dx12 => Some(Backends::DX12),
        Api::Gl => Some(Backends::GL),
        Api::Cpu | Api::Cuda => None,
    }
}

fn adapters(api: Api, backend: Backends) -> Result<Vec<wgpu::Adapter>, Absent> {
    if !wgpu::Instance::enabled_backend_features().contains(backend) {
        let reason = format!("wgpu does not reach {} on {}", spoken(api), std::env::consts::OS);
        return Err(Absent { api, reason, remedy: String::new() });
    }
    // wgpu asserts what drivers should guarantee; a driver that breaks its word must not end the program.
    let listed = catch_unwind(AssertUnwindSafe(|| list(backend)));
    match listed {
        Ok(adapters) if !adapters.is_empty() => Ok(adapters),
        Ok(_) => Err(without_adapters(api)),
        Err(_) => Err(Absent {
            api,
            reason: format!("the {} driver broke down while its adapters were listed", spoken(api)),
            remedy: "update or repair the GPU vendor's driver".into(),
        }),
    }
}

/// The adapters of an API, in an instance of its own, so that no other driver is opened and none can disturb another.
pub(super) fn list(backends: Backends) -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        // Validation layers would be timed along, and a debug build would differ from a release build.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.enumerate_adapters(backends))
}

fn without_adapters(api: Api) -> Absent {
    let packages = match api {
        Api::Vulkan => "mesa-vulkan-drivers libvulkan1",
        _ => "libegl1 libgl1-mesa-dri",
    };
    let software = if cfg!(target_os = "linux") {
        format!(", or for a software device: apt-get install {packages}")
    } else {
        "".into()
    };
    let missing = loader(api).filter(|name| !opens(name));
    let reason = match missing {
        Some(library) => format!("the loader {library} is not installed"),
        None => format!("{} is there, but no driver brings an adapter", spoken(api)),
    };
    Absent { api, reason, remedy: format!("install the GPU vendor's driver{software}") }
}

/// The library through which an API is reached, where its absence is common.
fn loader(api: Api) -> Option<&'static str> {
    match api {
        Api::Vulkan if cfg!(target_os = "linux") => Some("libvulkan.so.1"),
        Api::Vulkan if cfg!(windows) => Some("vulkan-1.dll"),
        Api::Gl if cfg!(target_os = "linux") => Some("libEGL.so.1"),
        _ => None,
    }
}

fn opens(library: &str) -> bool {
    // SAFETY: opening the library runs its initialisers; it is the system's own loader of the API, which wgpu opened
    // or tried to open in the same way a moment ago.
    unsafe { libloading::Library::new(library) }.is_ok()
}

fn spoken(api: Api) -> &'static str {
    match api {
        Api::Vulkan => "Vulkan",
        Api::Metal => "Metal",
        Api::Dx12 => "Direct3D 12",
        Api::Gl => "OpenGL",
        other => other.name(),
    }
}

fn info(id: DeviceId, adapter: &wgpu::Adapter) -> DeviceInfo {
    let info = adapter.get_info();
    let has_timestamps = adapter.features().contains(Features::TIMESTAMP_QUERY);
    DeviceInfo {
        id,
        kind: kind(&info),
        driver: [info.driver.trim(), info.driver_info.trim()].join(" ").trim().to_owned(),
        name: info.name,
        pci: Some(info.device_pci_bus_id.to_lowercase()).filter(|pci| !pci.is_empty()),
        memory_bytes: None,
        cache_bytes: None,
        peak: None,
        timer: if has_timestamps { TimerKind::Device } else { TimerKind::Host },
        has_bounds_checks: true,
        limits: limits::listed(&adapter.limits()),
    }
}

/// Devices that compute on the CPU, as they call themselves where the API has no word for it.
const SOFTWARE: [&str; 5] = ["llvmpipe", "softpipe", "swiftshader", "microsoft basic render", "warp"];

fn kind(info: &wgpu::AdapterInfo) -> DeviceKind {
    let named_software = || {
        let name = info.name.to_lowercase();
        SOFTWARE.iter().any(|software| name.contains(software))
    };
    match info.device_type {
        DeviceType::Cpu => DeviceKind::Software,
        DeviceType::Other if named_software() => DeviceKind::Software,
        _ => DeviceKind::Gpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_is_told_from_gpus() {
        let kind_of = |device_type, name: &str| {
            kind(&wgpu::AdapterInfo { name: name.into(), ..wgpu::AdapterInfo::new(device_type, wgpu::Backend::Gl) })
        };
        assert_eq!(kind_of(DeviceType::Cpu, "anything"), DeviceKind::Software);
        assert_eq!(kind_of(DeviceType::Other, "llvmpipe (LLVM 15.0.7, 256 bits)"), DeviceKind::Software);
        assert_eq!(kind_of(DeviceType::Other, "Mali-G78"), DeviceKind::Gpu);
        assert_eq!(kind_of(DeviceType::DiscreteGpu, "NVIDIA H200"), DeviceKind::Gpu);
    }

    #[test]
    fn each_api_brings_a_device_or_a_reason() {
        for api in [Api::Vulkan, Api::Metal, Api::Dx12, Api::Gl] {
            let found = discover(&[api]);
            assert_eq!(found.devices.is_empty(), !found.absent.is_empty(), "{api}");
            for (index, device) in (0..).zip(&found.devices) {
                assert_eq!(device.device().id, DeviceId { api, index });
            }
            assert!(found.absent.iter().all(|absent| absent.api == api && !absent.reason.is_empty()));
        }
        assert!(discover(&[Api::Cpu, Api::Cuda]).absent.is_empty());
    }
}
