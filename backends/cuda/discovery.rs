//! The devices of the driver, and what they say of themselves. Nothing here makes a context, which would take memory
//! on every device that is only listed.

use std::ffi::{CStr, c_char};

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute};
use cudarc::driver::{DriverError, result};

use super::CudaBackend;
use super::driver::{self, CudaVersion};
use super::error;
use super::limits::Limits;
use crate::backends::{Absent, Discovery};
use crate::device::{Api, DeviceId, DeviceInfo, DeviceKind, Hardware, Limit, Peak, PeakSource, TimerKind};
use crate::nvidia;

/// Bytes of a register; the driver counts those of 32 bits.
const REGISTER_BYTES: u64 = 4;

/// Finds the CUDA devices. A device that cannot be read is logged and left out; if that leaves none, it is the reason.
pub fn discover(_: &[Api]) -> Discovery {
    let absent = |reason: String, remedy: String| Discovery {
        devices: Vec::new(),
        absent: vec![Absent { api: Api::Cuda, reason, remedy }],
    };
    let version = match driver::open() {
        Ok(version) => version,
        Err(unusable) => return absent(unusable.reason, unusable.remedy),
    };
    let help = || "see whether `nvidia-smi -L` lists a GPU and CUDA_VISIBLE_DEVICES hides none".to_owned();
    let count = match result::device::get_count() {
        Ok(count) => u32::try_from(count).unwrap_or(0),
        Err(error) => return absent(failure("cuDeviceGetCount", error), help()),
    };
    let driver = driver_text(version, kernel_module().as_deref());
    let mut found = Discovery::default();
    let mut first_failure = None;
    for index in 0..count {
        match read(index, &driver) {
            Ok(backend) => found.devices.push(Box::new(backend)),
            Err(reason) => {
                let reason = format!("cuda:{index} cannot be read: {reason}");
                log::warn!("{reason}");
                first_failure.get_or_insert(reason);
            }
        }
    }
    if found.devices.is_empty() {
        return absent(first_failure.unwrap_or_else(|| "the driver lists no device".into()), help());
    }
    found
}

fn failure(call: &str, error: DriverError) -> String {
    format!("{call} failed: {}", error::name(error.0))
}

/// Reads the device at `index` in the driver's order.
fn read(index: u32, driver: &str) -> Result<CudaBackend, String> {
    let ordinal = i32::try_from(index).map_err(|error| error.to_string())?;
    let device = result::device::get(ordinal).map_err(|error| failure("cuDeviceGet", error))?;
    // SAFETY: the device comes from `get`.
    let attribute = |attribute| unsafe { result::device::get_attribute(device, attribute) };
    // What a launch depends on must be known; what only describes the device may be missing.
    let limits = Limits::of(device).map_err(|(call, error)| failure(call, error))?;
    let known = |which| attribute(which).ok().and_then(|value| u64::try_from(value).ok()).filter(|&value| value > 0);
    let limit = |name, value, unit| Limit { name, value, unit };
    let mut listed = vec![
        limit("grid x", limits.grid_x, ""),
        limit("threads a block", limits.block_threads, ""),
        limit("shared memory a block", limits.block_shared_bytes, "B"),
    ];
    if let Some(count) = known(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
        listed.insert(0, limit("multiprocessors", count, ""));
    }
    let info = DeviceInfo {
        id: DeviceId { api: Api::Cuda, index },
        name: result::device::get_name(device).map_err(|error| failure("cuDeviceGetName", error))?,
        driver: driver.into(),
        kind: DeviceKind::Gpu,
        pci: pci_bus_id(device).and_then(|text| pci_address(&text)),
        memory_bytes: Some(limits.memory_bytes),
        cache_bytes: known(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        peak: peak(
            known(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
            known(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        ),
        timer: TimerKind::Device,
        has_bounds_checks: false,
        limits: listed,
    };
    let hardware = Hardware {
        multiprocessors: known(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        register_bytes: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
            .map(|registers| REGISTER_BYTES * registers),
        shared_bytes: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        block_shared_bytes: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .or(Some(limits.block_shared_bytes)),
        buffer_bytes: None,
        counts_cycles: true,
    };
    Ok(CudaBackend::new(info, uuid(device), hardware, limits))
}

/// The peak of a memory with two transfers a clock, from its clock in kHz and its bus in bits; some drivers report 0
/// for devices newer than themselves.
fn peak(clock_khz: Option<u64>, bus_bits: Option<u64>) -> Option<Peak> {
    let gbps = 2.0 * clock_khz? as f64 * 1e3 * (bus_bits? as f64 / 8.0) / 1e9;
    Some(Peak { gbps, source: PeakSource::Attribute })
}

fn pci_bus_id(device: CUdevice) -> Option<String> {
    // `0000:01:00.0` and the NUL take 13 bytes; a domain may have more digits.
    let mut text = [0u8; 32];
    // SAFETY: the device comes from `get`, and the driver writes at most as many bytes as it is told.
    let result = unsafe { sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast::<c_char>(), text.len() as i32 - 1, device) };
    result.result().ok()?;
    CStr::from_bytes_until_nul(&text).ok()?.to_str().ok().map(str::to_owned)
}

/// The UUID of the GPU; of a part of one (MIG), that of the whole, whose clocks it runs at.
fn uuid(device: CUdevice) -> Option<String> {
    let uuid = driver::has(driver::GET_UUID).then(|| result::device::get_uuid(device).ok()).flatten()?;
    Some(uuid_text(uuid.bytes.map(|byte| byte as u8)))
}

/// A UUID as NVML and nvidia-smi write that of a GPU.
fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let parts = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..]];
    format!("GPU-{}", parts.map(hex).join("-"))
}

/// A PCI address as [`DeviceInfo::pci`] has it, from `domain:bus:device.function` in whatever case and length.
fn pci_address(text: &str) -> Option<String> {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let mut parts = text.trim().split([':', '.']).map(hex);
    let mut next = || parts.next().flatten();
    let (domain, bus, device, function) = (next()?, next()?, next()?, next()?);
    parts.next().is_none().then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}"))
}

fn driver_text(version: CudaVersion, module: Option<&str>) -> String {
    match module {
        Some(module) => format!("CUDA {version}, NVIDIA driver {module}"),
        None => format!("CUDA {version}"),
    }
}

/// The version of the kernel module, which is what NVIDIA calls the version of the driver. Only Linux tells.
fn kernel_module() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    nvidia::module_version(&std::fs::read_to_string(nvidia::MODULE_FILE).ok()?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_need_both_attributes() {
        // An H200: 3201 MHz and 6016 bits.
        let gbps = peak(Some(3_201_000), Some(6016)).unwrap().gbps;
        assert!((gbps - 4814.304).abs() < 1e-9, "{gbps}");
        assert_eq!(peak(None, Some(6016)), None);
        assert_eq!(peak(Some(3_201_000), None), None);
    }

    #[test]
    fn pci_addresses_come_out_in_one_form() {
        for (text, expected) in [
            ("0000:01:00.0", Some("0000:01:00.0")),
            ("00000000:C1:1F.0", Some("0000:c1:1f.0")),
            ("00010000:3b:00.1", Some("10000:3b:00.1")),
            ("01:00.0", None),
            ("0000:01:00.0.0", None),
            ("0000:xy:00.0", None),
            ("", None),
        ] {
            assert_eq!(pci_address(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn uuids_are_written_as_nvidia_smi_does() {
        let bytes = std::array::from_fn(|i| 0x11 * i as u8);
        assert_eq!(uuid_text(bytes), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn the_driver_is_told_by_both_of_its_versions() {
        assert_eq!(driver_text(CudaVersion(13_000), Some("580.159.04")), "CUDA 13.0, NVIDIA driver 580.159.04");
        assert_eq!(driver_text(CudaVersion(12_040), None), "CUDA 12.4");
    }
}
