//! Which devices are one and the same piece of hardware, reached through several APIs.

use crate::device::{DeviceInfo, DeviceKind};

/// The number of the physical device of each device, numbered from 0 in order of first appearance.
///
/// Devices with the same PCI address are one. A device whose API does not tell its address (OpenGL) joins the hardware
/// of the same kind and product name, if there is exactly one such in the list.
pub fn group(devices: &[&DeviceInfo]) -> Vec<usize> {
    let mut leaders: Vec<&DeviceInfo> = Vec::new();
    // Those with an address first: they are what the others may join.
    for device in devices.iter().filter(|device| device.pci.is_some()) {
        if !leaders.iter().any(|leader| leader.pci == device.pci) {
            leaders.push(device);
        }
    }
    let mut leader_of: Vec<usize> = Vec::new();
    for device in devices {
        let found = match &device.pci {
            Some(_) => leaders.iter().position(|leader| leader.pci == device.pci),
            None => only_namesake(&leaders, device),
        };
        leader_of.push(found.unwrap_or_else(|| {
            leaders.push(device);
            leaders.len() - 1
        }));
    }
    by_first_appearance(&leader_of)
}

fn only_namesake(leaders: &[&DeviceInfo], device: &DeviceInfo) -> Option<usize> {
    if device.kind == DeviceKind::Cpu {
        return None;
    }
    let same = |leader: &&DeviceInfo| {
        leader.kind == device.kind
            && product(&leader.name) == product(&device.name)
            // One API never lists the same hardware twice.
            && leader.id.api != device.id.api
    };
    let mut found = leaders.iter().enumerate().filter(|(_, leader)| same(leader)).map(|(i, _)| i);
    found.next().filter(|_| found.next().is_none())
}

/// The name without what drivers append to it: `NVIDIA H200/PCIe/SSE2`, `AMD Radeon RX 6800 (RADV NAVI21)`.
fn product(name: &str) -> &str {
    name.split(['/', '(']).next().unwrap_or(name).trim()
}

fn by_first_appearance(leaders: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let mut number = |leader: &usize| {
        order.iter().position(|seen| seen == leader).unwrap_or_else(|| {
            order.push(*leader);
            order.len() - 1
        })
    };
    leaders.iter().map(&mut number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TimerKind;

    fn device(id: &str, name: &str, kind: DeviceKind, pci: Option<&str>) -> DeviceInfo {
        DeviceInfo {
            id: id.parse().unwrap(),
            name: name.into(),
            driver: String::new(),
            kind,
            pci: pci.map(Into::into),
            memory_bytes: None,
            cache_bytes: None,
            peak: None,
            timer: TimerKind::Device,
            has_bounds_checks: false,
            limits: Vec::new(),
        }
    }

    fn groups(devices: &[DeviceInfo]) -> Vec<usize> {
        group(&devices.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_same_address_or_the_only_namesake_is_the_same_hardware() {
        use DeviceKind::{Cpu, Gpu, Software};
        let devices = [
            device("cpu", "Some CPU", Cpu, None),
            device("cuda:0", "NVIDIA H200", Gpu, Some("0000:01:00.0")),
            device("vulkan:0", "NVIDIA H200", Gpu, Some("0000:01:00.0")),
            device("vulkan:1", "llvmpipe (LLVM 15.0.6, 256 bits)", Software, None),
            device("gl:0", "NVIDIA H200/PCIe/SSE2", Gpu, None),
            device("gl:1", "llvmpipe (LLVM 15.0.6, 256 bits)", Software, None),
        ];
        assert_eq!(groups(&devices), [0, 1, 1, 2, 1, 2]);
    }

    #[test]
    fn two_cards_of_one_name_stay_apart() {
        let devices = [
            device("cuda:0", "NVIDIA H200", DeviceKind::Gpu, Some("0000:01:00.0")),
            device("cuda:1", "NVIDIA H200", DeviceKind::Gpu, Some("0000:02:00.0")),
            device("gl:0", "NVIDIA H200/PCIe/SSE2", DeviceKind::Gpu, None),
        ];
        assert_eq!(groups(&devices), [0, 1, 2]);
    }
}
