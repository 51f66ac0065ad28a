//! The driver's errors as this crate's.
//!
//! cudarc's own text for an error asks the driver for it; the names used here need no driver and are what one looks
//! up.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::backend::BackendError;

/// The name of an error, such as `CUDA_ERROR_NO_DEVICE`.
pub(super) fn name(error: CUresult) -> String {
    format!("{error:?}")
}

/// What the failure of `call` means.
///
/// An error that leaves the context unusable, often the late news of an earlier launch, is
/// [`BackendError::Lost`]; all others are [`BackendError::Call`].
pub(super) fn failed(call: &'static str) -> impl Fn(DriverError) -> BackendError {
    use CUresult::*;
    move |DriverError(error)| match error {
        CUDA_ERROR_DEINITIALIZED
        | CUDA_ERROR_CONTEXT_IS_DESTROYED
        | CUDA_ERROR_ECC_UNCORRECTABLE
        | CUDA_ERROR_NVLINK_UNCORRECTABLE
        | CUDA_ERROR_ILLEGAL_ADDRESS
        | CUDA_ERROR_LAUNCH_TIMEOUT
        | CUDA_ERROR_ASSERT
        | CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUDA_ERROR_MISALIGNED_ADDRESS
        | CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUDA_ERROR_INVALID_PC
        | CUDA_ERROR_LAUNCH_FAILED
        | CUDA_ERROR_EXTERNAL_DEVICE => BackendError::Lost { reason: format!("{call}: {}", name(error)) },
        _ => BackendError::Call { call, reason: name(error) },
    }
}

/// What the failure of `call` to give `requested` bytes means, of which `available` are known to be free.
pub(super) fn not_allocated(
    call: &'static str,
    requested: u64,
    available: Option<u64>,
) -> impl Fn(DriverError) -> BackendError {
    move |error| match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => BackendError::OutOfMemory { requested, available },
        _ => failed(call)(error),
    }
}

/// What a failure to load the PTX in `file` means; `log` is what the driver's compiler wrote.
pub(super) fn not_loaded(file: String, log: &str, error: DriverError) -> BackendError {
    use CUresult::*;
    match error.0 {
        CUDA_ERROR_INVALID_PTX
        | CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUDA_ERROR_INVALID_IMAGE
        | CUDA_ERROR_INVALID_SOURCE
        | CUDA_ERROR_JIT_COMPILER_NOT_FOUND
        | CUDA_ERROR_JIT_COMPILATION_DISABLED
        | CUDA_ERROR_NOT_FOUND => {
            let (name, log) = (name(error.0), log.trim());
            let log = if log.is_empty() { name } else { format!("{name}: {log}") };
            BackendError::Compile { file, log }
        }
        _ => failed("cuModuleLoadDataEx")(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ruins_the_context_is_a_lost_device() {
        for error in [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            let lost = failed("cuEventQuery")(DriverError(error));
            assert_eq!(lost, BackendError::Lost { reason: format!("cuEventQuery: {error:?}") });
        }
        assert_eq!(
            failed("cuEventCreate")(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)),
            BackendError::Call { call: "cuEventCreate", reason: "CUDA_ERROR_INVALID_VALUE".into() }
        );
    }

    #[test]
    fn ptx_the_driver_refuses_names_its_file_and_keeps_the_log() {
        let load = |error, log| not_loaded("cuda/ptx/naive.w4.ptx".into(), log, DriverError(error));
        assert_eq!(
            load(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "").to_string(),
            "cuda/ptx/naive.w4.ptx does not compile: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        );
        assert_eq!(
            load(CUresult::CUDA_ERROR_INVALID_PTX, "ptxas error: line 3\n").to_string(),
            "cuda/ptx/naive.w4.ptx does not compile: CUDA_ERROR_INVALID_PTX: ptxas error: line 3"
        );
        assert!(matches!(load(CUresult::CUDA_ERROR_LAUNCH_FAILED, ""), BackendError::Lost { .. }));
    }
}
