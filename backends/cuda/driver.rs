//! The driver's library: whether it is there, new enough, and works.
//!
//! cudarc opens the library and looks up each function when it is first called, and panics where one is missing. So
//! everything that is ever called is looked up here first.

use cudarc::driver::sys;

use super::error;
use crate::nvidia::UPDATE;

/// Why the driver cannot be used, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unusable {
    pub(super) reason: String,
    pub(super) remedy: String,
}

/// A version of CUDA as the driver gives it: 1000 × major + 10 × minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CudaVersion(pub(super) i32);

impl std::fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// The first version that takes the PTX of `cuda/ptx/` (ISA 8.0) and has every function called here.
const MIN_VERSION: CudaVersion = CudaVersion(12_000);

/// What is called only where the driver has it: CUDA 13's headers have a later version in its place.
pub const OPTIONAL_SYMBOLS: [&str; 1] = [GET_UUID];
pub(super) const GET_UUID: &str = "cuDeviceGetUuid";

/// Every other function of the driver's library that is ever called, directly or by cudarc on this crate's behalf.
///
/// A library that lacks one of them brings no devices.
pub const SYMBOLS: [&str; 46] = [
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuPointerGetAttributes",
    "cuStreamBeginCapture_v2",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    // Not called, but what cudarc formats an error with, should anything ever print one of its errors as it is.
    "cuGetErrorString",
];

/// Opens and initialises the driver, and returns the version of CUDA that it supports.
pub(super) fn open() -> Result<CudaVersion, Unusable> {
    // SAFETY: opens and closes the library; the driver's initialisers have no preconditions.
    if !unsafe { sys::is_culib_present() } {
        return Err(not_installed());
    }
    // The version comes first, since an old driver explains missing functions.
    need(&["cuDriverGetVersion"])?;
    let mut version = 0;
    // SAFETY: the function is there, may be called before cuInit, and writes one int.
    let result = unsafe { sys::cuDriverGetVersion(&mut version) };
    result.result().map_err(|error| failed("cuDriverGetVersion", error.0))?;
    let version = CudaVersion(version);
    if version < MIN_VERSION {
        let reason = format!("the driver supports CUDA {version}, the kernels need {MIN_VERSION}");
        return Err(Unusable { reason, remedy: UPDATE.into() });
    }
    need(&SYMBOLS)?;
    // SAFETY: the function is there, and the flags must be zero.
    unsafe { sys::cuInit(0) }.result().map_err(|error| failed("cuInit", error.0))?;
    Ok(version)
}

fn not_installed() -> Unusable {
    let (file, remedy) = if cfg!(windows) {
        ("nvcuda.dll", UPDATE)
    } else if cfg!(target_os = "macos") {
        // There has been no driver for macOS since CUDA 10.2.
        ("libcuda.dylib", "")
    } else {
        ("libcuda.so.1", UPDATE)
    };
    Unusable { reason: format!("the NVIDIA driver's library {file} cannot be opened"), remedy: remedy.into() }
}

/// Whether the library, which could be opened, has a function.
pub(super) fn has(name: &str) -> bool {
    // SAFETY: the function is only looked up, never called by this type.
    unsafe { sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()).is_ok() }
}

/// Refuses a library that lacks one of `symbols`.
fn need(symbols: &[&str]) -> Result<(), Unusable> {
    match lacking("the driver's library", symbols, has) {
        None => Ok(()),
        Some(reason) => Err(Unusable { reason, remedy: UPDATE.into() }),
    }
}

/// Why a library is not used that has not all the functions needed; `None` for one that has.
pub(super) fn lacking(library: &str, needed: &[&str], has: impl Fn(&str) -> bool) -> Option<String> {
    let missing: Vec<&str> = needed.iter().copied().filter(|name| !has(name)).collect();
    let first = missing.first()?;
    Some(format!("{library} lacks {} of the functions needed, such as {first}", missing.len()))
}

fn failed(call: &str, error: sys::CUresult) -> Unusable {
    use sys::CUresult::*;
    let remedy = match error {
        CUDA_ERROR_NO_DEVICE => "see whether `nvidia-smi -L` lists a GPU and CUDA_VISIBLE_DEVICES hides none",
        CUDA_ERROR_STUB_LIBRARY => "take the toolkit's folder `stubs` out of the loader's path",
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => "restart, so that the kernel module becomes as new as the library",
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => {
            "take CUDA's folder `compat` out of the loader's path, or install a newer NVIDIA driver"
        }
        CUDA_ERROR_SYSTEM_NOT_READY => "start the NVIDIA fabric manager",
        _ => "see whether `nvidia-smi` works; if not, load the kernel module or reinstall the NVIDIA driver",
    };
    Unusable { reason: format!("{call} failed: {}", error::name(error)), remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_print_as_people_write_them() {
        for (raw, text) in [(11_040, "11.4"), (12_000, "12.0"), (12_090, "12.9"), (13_000, "13.0"), (0, "0.0")] {
            assert_eq!(CudaVersion(raw).to_string(), text);
        }
    }

    #[test]
    fn every_error_has_a_remedy() {
        for error in [sys::CUresult::CUDA_ERROR_NO_DEVICE, sys::CUresult::CUDA_ERROR_UNKNOWN] {
            let unusable = failed("cuInit", error);
            assert!(unusable.reason.starts_with("cuInit failed: CUDA_ERROR_"), "{}", unusable.reason);
            assert!(!unusable.remedy.is_empty());
        }
    }
}
