//! The host's own processor: the embedded default, there on every machine.

pub(crate) mod kernels;
mod probe;

use std::num::NonZeroU32;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::Discovery;
use crate::backend::{BackendError, PreparedRun, RunOptions, Support, TransposeBackend, Workspace};
use crate::device::{Api, DeviceId, DeviceInfo, DeviceKind, Limit, TimerKind};
use crate::probe::Launch;
use crate::problem::Problem;
use crate::timing::{HostTime, Timing};
use crate::variant::{Presence, Variant};

/// Finds the CPU, which is always there.
pub fn discover(_: &[Api]) -> Discovery {
    Discovery { devices: vec![Box::new(Cpu::new())], absent: Vec::new() }
}

/// The host's processor with its threads.
pub struct Cpu {
    info: DeviceInfo,
}

impl Cpu {
    /// The host's processor as the operating system describes it.
    pub fn new() -> Cpu {
        ensure_threads();
        let threads = rayon::current_num_threads();
        let info = DeviceInfo {
            id: DeviceId::CPU,
            name: system::processor_name().unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH)),
            driver: format!("cornerturn {} with {threads} threads", env!("CARGO_PKG_VERSION")),
            kind: DeviceKind::Cpu,
            pci: None,
            memory_bytes: system::memory_bytes(),
            cache_bytes: system::last_level_cache_bytes(),
            peak: None,
            timer: TimerKind::Host,
            has_bounds_checks: false,
            limits: vec![Limit { name: "threads", value: threads as u64, unit: "" }],
        };
        Cpu { info }
    }
}

/// Where no thread can be had (a container's limit on processes), the thread pool would end the program on first use;
/// a pool of the calling thread alone works there too.
fn ensure_threads() {
    if std::thread::Builder::new().spawn(|| ()).is_err() {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // It fails only where a pool is there already.
        let _ = alone.build_global();
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu::new()
    }
}

impl TransposeBackend for Cpu {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn support(&self, variant: Variant, problem: &Problem) -> Support {
        let variant = self.choose(variant, problem);
        if let Presence::Absent(why) = variant.presence(Api::Cpu) {
            return Support::Unsupported(why.into());
        }
        if let Some(reason) = kernels::obstacle(variant, problem) {
            return Support::Unsupported(reason);
        }
        let needed = problem.buffer_bytes();
        match self.info.memory_bytes {
            Some(memory) if needed > memory => {
                Support::Unsupported(format!("source and destination need {needed} B, the machine has {memory} B"))
            }
            _ if usize::try_from(needed).is_err() => {
                Support::Unsupported(format!("{needed} B are more than this processor can address"))
            }
            _ => Support::Supported,
        }
    }

    fn workspace(&self, problem: &Problem, sets: usize) -> Result<Box<dyn Workspace + '_>, BackendError> {
        let sets = (0..sets).map(|_| Set::new(problem)).collect::<Result<_, _>>()?;
        Ok(Box::new(CpuWorkspace { cpu: self, problem: *problem, sets }))
    }
}

/// One source and one destination.
struct Set {
    // Locked only between timed runs and once around each: nothing contends.
    source: RwLock<Vec<u8>>,
    destination: RwLock<Vec<u8>>,
}

impl Set {
    fn new(problem: &Problem) -> Result<Set, BackendError> {
        let side = |bytes| Ok::<_, BackendError>(RwLock::new(buffer(bytes)?));
        Ok(Set { source: side(problem.source_bytes())?, destination: side(problem.destination_bytes())? })
    }
}

/// A zeroed buffer, or an error where `vec![0; n]` would abort the program.
fn buffer(bytes: u64) -> Result<Vec<u8>, BackendError> {
    let out_of_memory = BackendError::OutOfMemory { requested: bytes, available: system::available_bytes() };
    if out_of_memory_is_certain(bytes) {
        return Err(out_of_memory);
    }
    let mut buffer = Vec::new();
    let length = usize::try_from(bytes).map_err(|_| out_of_memory.clone())?;
    buffer.try_reserve_exact(length).map_err(|_| out_of_memory)?;
    buffer.resize(length, 0);
    Ok(buffer)
}

/// Linux grants memory that it does not have and ends the program when that is used.
fn out_of_memory_is_certain(bytes: u64) -> bool {
    system::available_bytes().is_some_and(|available| bytes > available)
}

struct CpuWorkspace<'a> {
    cpu: &'a Cpu,
    problem: Problem,
    sets: Vec<Set>,
}

impl Workspace for CpuWorkspace<'_> {
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError> {
        let mut source = self.sets[set].source.write().unwrap_or_else(PoisonError::into_inner);
        source[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn poison(&self, value: u8) -> Result<(), BackendError> {
        for set in &self.sets {
            set.destination.write().unwrap_or_else(PoisonError::into_inner).fill(value);
        }
        Ok(())
    }

    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError> {
        let destination = self.sets[set].destination.read().unwrap_or_else(PoisonError::into_inner);
        bytes.copy_from_slice(&destination[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn prepare(&self, variant: Variant, _: RunOptions) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        let variant = self.cpu.choose(variant, &self.problem);
        let missing = || BackendError::Unsupported(format!("the CPU backend has no variant `{variant}`"));
        let kernel = kernels::find(variant).ok_or_else(missing)?;
        Ok(Box::new(CpuRun { workspace: self, kernel }))
    }

    fn prepare_probe(&self, launch: &Launch) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        Ok(Box::new(probe::CpuProbe::new(self, launch)?))
    }
}

struct CpuRun<'a> {
    workspace: &'a CpuWorkspace<'a>,
    kernel: kernels::Kernel,
}

impl PreparedRun for CpuRun<'_> {
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError> {
        let start = Instant::now();
        let sets = self.workspace.sets.iter().cycle();
        for set in sets.take(launches.get() as usize) {
            let source = set.source.read().unwrap_or_else(PoisonError::into_inner);
            let mut destination = set.destination.write().unwrap_or_else(PoisonError::into_inner);
            (self.kernel)(&self.workspace.problem, &source, &mut destination);
        }
        Ok(Timing::Host(HostTime::since(start)))
    }
}

/// What the operating system tells of the machine. Linux tells through files; elsewhere nothing is known.
mod system {
    use std::fs::read_to_string;

    /// The processor's model name.
    pub fn processor_name() -> Option<String> {
        let text = read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_string())
    }

    /// All memory in bytes.
    pub fn memory_bytes() -> Option<u64> {
        meminfo("MemTotal:")
    }

    /// Memory that can be had without swapping, in bytes.
    pub fn available_bytes() -> Option<u64> {
        meminfo("MemAvailable:")
    }

    fn meminfo(key: &str) -> Option<u64> {
        let text = read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        kibibytes(line.trim().strip_suffix(" kB")?)
    }

    /// The size of the largest cache that the first processor uses.
    pub fn last_level_cache_bytes() -> Option<u64> {
        let caches = std::fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
        let sizes = caches.flatten().filter_map(|cache| read_to_string(cache.path().join("size")).ok());
        sizes.filter_map(|size| kibibytes(size.trim().strip_suffix('K')?)).max()
    }

    fn kibibytes(text: &str) -> Option<u64> {
        text.trim().parse::<u64>().ok()?.checked_mul(1024)
    }
}
