//! An open device: its context, a stream, and the kernels loaded so far.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUjit_option};
use cudarc::driver::{CudaContext, CudaStream, result};

use super::error::{self, failed};
use super::geam;
use crate::backend::BackendError;
use crate::element::Width;
use crate::source;
use crate::variant::Variant;

/// A kernel of a loaded module; valid as long as the [`Opened`] that loaded it.
#[derive(Clone, Copy)]
pub(super) struct Function(pub(super) sys::CUfunction);

/// A module of the driver and the kernel in it.
struct Module {
    module: sys::CUmodule,
    function: Function,
}

// SAFETY: handles of the driver may be used from any thread.
unsafe impl Send for Module {}

/// A device whose context is open. Everything of it that lives on the device is gone when this is dropped.
pub(super) struct Opened {
    modules: Mutex<HashMap<(Variant, Width), Module>>,
    cublas: Mutex<Option<geam::Handle>>,
    /// A device that did not finish in time may never do so.
    hung: AtomicBool,
    turn: Mutex<()>,
    // Dropped after the modules are unloaded and the handle is destroyed, in this order.
    pub(super) stream: Arc<CudaStream>,
    pub(super) context: Arc<CudaContext>,
}

impl Opened {
    /// Retains the primary context of the device at `index` and makes a stream in it.
    pub(super) fn new(index: u32) -> Result<Opened, BackendError> {
        let cannot = |call| {
            move |error: cudarc::driver::DriverError| BackendError::Open {
                reason: format!("{call}: {}", error::name(error.0)),
            }
        };
        let context = CudaContext::new(index as usize).map_err(cannot("cuDevicePrimaryCtxRetain"))?;
        // SAFETY: everything here runs on the one stream made below, so that nothing needs tracking; the events that
        // track it would be recorded between the launches being timed.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(cannot("cuStreamCreate"))?;
        Ok(Opened {
            modules: Mutex::new(HashMap::new()),
            cublas: Mutex::new(None),
            hung: AtomicBool::new(false),
            turn: Mutex::new(()),
            stream,
            context,
        })
    }

    /// Makes the context current on this thread, which every call of the driver needs.
    pub(super) fn bind(&self) -> Result<(), BackendError> {
        if self.is_hung() {
            let reason = "it never finished an earlier launch".into();
            return Err(BackendError::Lost { reason });
        }
        self.context.bind_to_thread().map_err(failed("cuCtxSetCurrent"))
    }

    /// Makes the context current on this thread and the stream its own until the guard is dropped. All work goes through
    /// the one stream: what another thread put on it meanwhile would be timed along, or captured into a graph.
    pub(super) fn turn(&self) -> Result<MutexGuard<'_, ()>, BackendError> {
        // It guards no data, so that a panic cannot have left any half-made.
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.bind().map(|()| turn)
    }

    /// Waits until the stream is done.
    pub(super) fn finish(&self) -> Result<(), BackendError> {
        self.stream.synchronize().map_err(failed("cuStreamSynchronize"))
    }

    /// Gives the device up: nothing of it is freed any more, since the driver would wait for it in every such call.
    pub(super) fn give_up(&self) {
        if !self.hung.swap(true, Ordering::Relaxed) {
            mem::forget(self.context.clone());
        }
    }

    /// Whether the device was given up.
    pub(super) fn is_hung(&self) -> bool {
        self.hung.load(Ordering::Relaxed)
    }

    /// The kernel of `variant` for `width`, loaded and compiled for the device if it is not yet. The context must be
    /// current.
    pub(super) fn function(&self, variant: Variant, width: Width) -> Result<Function, BackendError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&(variant, width)) {
            return Ok(module.function);
        }
        let Some(ptx) = variant.ptx(width) else {
            return Err(BackendError::Unsupported(format!("{variant} has no CUDA kernel")));
        };
        let file = source::ptx_file(variant, width);
        let module = load(variant, ptx, file)?;
        let function = module.function;
        modules.insert((variant, width), module);
        Ok(function)
    }

    /// The handle of cuBLAS for the stream, made if it is not yet. The context must be current, and cuBLAS there.
    pub(super) fn cublas(&self) -> Result<geam::Handle, BackendError> {
        let mut slot = self.cublas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = *slot {
            return Ok(handle);
        }
        let handle = geam::Handle::new(&self.stream)?;
        *slot = Some(handle);
        Ok(handle)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_hung() || self.bind().is_err() {
            return;
        }
        let modules = self.modules.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in modules.drain() {
            // SAFETY: loaded in this context, unloaded only here, and no launch is left that uses it: every run waits
            // for its launches or gives the device up. There is nothing to do about an error.
            let _ = unsafe { result::module::unload(module.module) };
        }
        if let Some(handle) = self.cublas.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: made in this context, which is current, and as above no run is left that uses it.
            unsafe { handle.destroy() };
        }
    }
}

/// Loads a PTX into the current context; the kernel in it has the name of its source.
fn load(variant: Variant, ptx: &str, file: String) -> Result<Module, BackendError> {
    let no_text = |_| BackendError::Compile { file: file.clone(), log: "it has a NUL in it".into() };
    let ptx = CString::new(ptx).map_err(no_text)?;
    let name = CString::new(variant.stem()).map_err(no_text)?;
    let mut log = [0u8; 4096];
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes the size as the pointer's own value, and leaves room for a NUL if told one byte less.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), (log.len() - 1) as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: a context is current, the PTX ends in NUL, and both arrays have two entries, of which the first points
    // to as many bytes as the second says.
    let result = unsafe {
        sys::cuModuleLoadDataEx(&mut module, ptx.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
    };
    let log = || CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy).unwrap_or_default();
    result.result().map_err(|error| error::not_loaded(file.clone(), &log(), error))?;
    // SAFETY: the module was just loaded.
    match unsafe { result::module::get_function(module, name) } {
        Ok(function) => Ok(Module { module, function: Function(function) }),
        Err(error) => {
            // SAFETY: as above, and nothing else has the handle.
            let _ = unsafe { result::module::unload(module) };
            Err(error::not_loaded(file, "", error))
        }
    }
}
