//! What a device says of itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The programming interface through which a device is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// The host's own processor.
    Cpu,
    /// The CUDA driver.
    Cuda,
    /// Vulkan, through wgpu.
    Vulkan,
    /// Metal, through wgpu.
    Metal,
    /// Direct3D 12, through wgpu.
    Dx12,
    /// OpenGL or OpenGL ES, through wgpu.
    Gl,
}

impl Api {
    /// Every API.
    pub const ALL: [Api; 6] = [Api::Cpu, Api::Cuda, Api::Vulkan, Api::Metal, Api::Dx12, Api::Gl];

    /// The name in device ids and records.
    pub const fn name(self) -> &'static str {
        match self {
            Api::Cpu => "cpu",
            Api::Cuda => "cuda",
            Api::Vulkan => "vulkan",
            Api::Metal => "metal",
            Api::Dx12 => "dx12",
            Api::Gl => "gl",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of machine does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A GPU.
    Gpu,
    /// A CPU that pretends to be a GPU, such as llvmpipe. Its figures say nothing about GPUs.
    Software,
    /// A CPU.
    Cpu,
}

/// The id of a device: `cpu`, or an API and a number in the order the API lists its devices, such as `cuda:0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    /// The API.
    pub api: Api,
    /// The number; 0 for the CPU.
    pub index: u32,
}

impl DeviceId {
    /// The id of the host's processor.
    pub const CPU: DeviceId = DeviceId { api: Api::Cpu, index: 0 };
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.api {
            Api::Cpu => f.write_str("cpu"),
            api => write!(f, "{api}:{}", self.index),
        }
    }
}

/// Text that is no device id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no device id; ids look like cpu, cuda:0, vulkan:0, metal:0, dx12:0, gl:0")]
pub struct InvalidDeviceId {
    /// What was given.
    pub text: String,
}

impl FromStr for DeviceId {
    type Err = InvalidDeviceId;

    fn from_str(text: &str) -> Result<Self, InvalidDeviceId> {
        let invalid = || InvalidDeviceId { text: text.into() };
        if text == "cpu" {
            return Ok(DeviceId::CPU);
        }
        let (name, number) = text.split_once(':').ok_or_else(invalid)?;
        let known = Api::ALL.into_iter().find(|api| api.name() == name && *api != Api::Cpu);
        // `+1` parses as a number but is no id that anything prints.
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match (known, number.parse()) {
            (Some(api), Ok(index)) if digits => Ok(DeviceId { api, index }),
            _ => Err(invalid()),
        }
    }
}

/// Theoretical peak bandwidth of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// GB/s, 10⁹ bytes a second, reads and writes together.
    pub gbps: f64,
    /// Where the figure comes from.
    pub source: PeakSource,
}

/// Where a theoretical peak comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PeakSource {
    /// Computed from the memory clock and bus width that the driver reports.
    Attribute,
    /// Looked up by name in the table of `src/peak.rs`.
    Table,
    /// Given by the user.
    User,
}

/// A limit of a device that decides what runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is limited, such as `workgroup memory`.
    pub name: &'static str,
    /// The most there can be.
    pub value: u64,
    /// The unit of `value`: `B`, or empty for a count.
    pub unit: &'static str,
}

/// What is known of a device before anything runs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// The id by which it is chosen.
    pub id: DeviceId,
    /// The name the driver gives it.
    pub name: String,
    /// Driver name and version.
    pub driver: String,
    /// What kind of machine it is.
    pub kind: DeviceKind,
    /// PCI address as `domain:bus:device.function` in lower-case hexadecimal, such as `0000:01:00.0`.
    pub pci: Option<String>,
    /// Device memory in bytes, where the API tells.
    pub memory_bytes: Option<u64>,
    /// Last-level cache in bytes, where the API tells.
    pub cache_bytes: Option<u64>,
    /// Theoretical peak bandwidth, where it is known.
    pub peak: Option<Peak>,
    /// The clock that times its runs.
    pub timer: TimerKind,
    /// Whether kernels can be compiled with and without bounds checks.
    pub has_bounds_checks: bool,
    /// Limits that decide what runs.
    pub limits: Vec<Limit>,
}

/// What a driver tells of the memories of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Multiprocessors (streaming multiprocessors, compute units).
    pub multiprocessors: Option<u64>,
    /// Bytes of the register file of a multiprocessor.
    pub register_bytes: Option<u64>,
    /// Bytes of a multiprocessor's shared memory, of all its blocks together.
    pub shared_bytes: Option<u64>,
    /// Bytes of shared (workgroup) memory that one block may have.
    pub block_shared_bytes: Option<u64>,
    /// Bytes of the largest buffer that a kernel can be given, where that is less than the memory.
    pub buffer_bytes: Option<u64>,
    /// Whether kernels can read a clock that counts a multiprocessor's cycles.
    pub counts_cycles: bool,
}

/// The clock behind a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimerKind {
    /// The device's own clock.
    Device,
    /// The host's monotonic clock.
    Host,
}

impl fmt::Display for TimerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimerKind::Device => "device",
            TimerKind::Host => "host",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_they_parse() {
        for text in ["cpu", "cuda:0", "vulkan:12", "metal:0", "dx12:1", "gl:0"] {
            assert_eq!(text.parse::<DeviceId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in
            ["", "cuda", "cpu:0", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "CUDA:0", "cuda:99999999999", "tpu:0"]
        {
            assert!(text.parse::<DeviceId>().is_err(), "{text}");
        }
    }
}
