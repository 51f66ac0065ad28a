//! A device as the harness sees it: with what is known of the hardware through any of its APIs.

use crate::backend::{BackendError, TransposeBackend, Workspace};
use crate::device::{DeviceId, DeviceInfo, Peak};
use crate::peak;
use crate::physical;
use crate::problem::Problem;
use crate::record;
use crate::verify::{self, Stopped, VerifyError};

/// Buffers should be this many times the last-level cache, so that nothing of a set is left in it when its turn comes.
const CACHE_MULTIPLE: u64 = 4;
/// The cache to beat where no size is known: the largest of any consumer GPU's (AMD Infinity Cache).
const UNKNOWN_CACHE_BYTES: u64 = 128 << 20;
/// Sets beyond which a problem is too small for rotation to be worth its memory and time.
const MAX_SETS: u64 = 32;

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

impl<'a> Target<'a> {
    /// What the device says of itself.
    pub fn info(&self) -> &DeviceInfo {
        self.backend.device()
    }

    /// Allocates buffers and fills the sources with their patterns: as many sets as the cache demands, or fewer if they
    /// do not fit. Returns them with the number of sets.
    ///
    /// # Errors
    /// [`VerifyError::Backend`] if not even one set fits or the device fails, [`VerifyError::Stopped`] once `stopped`
    /// says so.
    pub fn filled_workspace(
        &self,
        problem: &Problem,
        stopped: Stopped,
    ) -> Result<(Box<dyn Workspace + 'a>, usize), VerifyError> {
        let mut sets = self.sets_wanted(problem);
        loop {
            match self.backend.workspace(problem, sets) {
                Ok(workspace) => {
                    verify::fill_sources(workspace.as_ref(), problem, sets, stopped)?;
                    return Ok((workspace, sets));
                }
                Err(BackendError::OutOfMemory { .. }) if sets > 1 => sets /= 2,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn sets_wanted(&self, problem: &Problem) -> usize {
        // An empty problem has nothing to rotate over. Gaps that nothing touches take memory and no place in the cache.
        let wanted = self.working_set_wanted().div_ceil(problem.bytes_moved().max(1));
        // Half of the memory is left to others.
        let fitting = self.info().memory_bytes.unwrap_or(u64::MAX) / 2 / problem.buffer_bytes().max(1);
        wanted.min(fitting).clamp(1, MAX_SETS) as usize
    }

    /// Bytes that all sets together should move for none to stay in the cache.
    pub(crate) fn working_set_wanted(&self) -> u64 {
        CACHE_MULTIPLE * self.cache_or_guess()
    }

    /// Bytes of the last-level cache, or of the largest that it may be.
    pub(crate) fn cache_or_guess(&self) -> u64 {
        self.cache_bytes.unwrap_or(UNKNOWN_CACHE_BYTES)
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
