//! Kernels loaded into a context.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::sys::{self, CUjit_option};
use cudarc::driver::{CudaContext, result};

use super::error;
use crate::backend::BackendError;
use crate::element::Width;
use crate::probe::Probe;
use crate::source;
use crate::variant::Variant;

/// A kernel of a loaded module; valid until the [`Modules`] that loaded it are unloaded.
#[derive(Clone, Copy)]
pub(super) struct Function(pub(super) sys::CUfunction);

/// A module of the driver and the kernel in it.
struct Module {
    module: sys::CUmodule,
    function: Function,
}

// SAFETY: handles of the driver may be used from any thread.
unsafe impl Send for Module {}

/// What the L2 makes of the lines that a kernel reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lines {
    /// It keeps them, for whoever comes next.
    Kept,
    /// It gives them up first: nothing on the device will read them again.
    Streamed,
}

/// A kernel of ours, by what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Variant(Variant, Width, Lines),
    Probe(Probe),
}

impl Key {
    /// Its PTX, the name of the kernel in it, and the file that it comes from.
    fn source(self) -> Option<(Cow<'static, str>, &'static str, String)> {
        Some(match self {
            Key::Variant(variant, width, lines) => {
                let ptx = variant.ptx(width)?;
                let ptx = match lines {
                    Lines::Kept => ptx.into(),
                    Lines::Streamed => source::streamed(ptx).into(),
                };
                (ptx, variant.stem(), source::ptx_file(variant, width))
            }
            Key::Probe(probe) => (probe.ptx().into(), probe.stem(), probe.ptx_file()),
        })
    }
}

/// The modules of a context, loaded when a kernel is first needed.
#[derive(Default)]
pub(super) struct Modules(Mutex<HashMap<Key, Module>>);

/// The modules of contexts of the caller's. They are gone when their context is, and not before: a graph that outlives
/// whatever loaded them may still launch their kernels.
static OF_CONTEXTS: Mutex<Vec<(Weak<CudaContext>, Arc<Modules>)>> = Mutex::new(Vec::new());

impl Modules {
    /// Those of a context of the caller's, which are never unloaded.
    pub(super) fn of(context: &Arc<CudaContext>) -> Arc<Modules> {
        let mut contexts = OF_CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        contexts.retain(|(known, _)| known.strong_count() > 0);
        let known = contexts.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(context)));
        if let Some((_, modules)) = known {
            return modules.clone();
        }
        let modules = Arc::new(Modules::default());
        contexts.push((Arc::downgrade(context), modules.clone()));
        modules
    }

    /// The kernel of `variant` for `width`, loaded and compiled for the device if it is not yet. The context must be
    /// current.
    pub(super) fn function(&self, variant: Variant, width: Width, lines: Lines) -> Result<Function, BackendError> {
        let missing = || BackendError::Unsupported(format!("{variant} has no CUDA kernel"));
        self.loaded(Key::Variant(variant, width, lines))?.ok_or_else(missing)
    }

    /// The kernel of `probe`, as [`function`](Self::function) has those of variants.
    pub(super) fn probe(&self, probe: Probe) -> Result<Function, BackendError> {
        let missing = || BackendError::Unsupported(format!("the probe {} has no CUDA kernel", probe.name()));
        self.loaded(Key::Probe(probe))?.ok_or_else(missing)
    }

    fn loaded(&self, key: Key) -> Result<Option<Function>, BackendError> {
        let mut modules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&key) {
            return Ok(Some(module.function));
        }
        let Some((ptx, name, file)) = key.source() else { return Ok(None) };
        let module = load(&ptx, name, file)?;
        let function = module.function;
        modules.insert(key, module);
        Ok(Some(function))
    }

    /// Unloads all modules.
    ///
    /// # Safety
    /// Their context is current, and nothing will run or is running any more that uses a kernel of theirs.
    pub(super) unsafe fn unload(&mut self) {
        let modules = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in modules.drain() {
            // SAFETY: by the contract; unloaded only here. There is nothing to do about an error.
            let _ = unsafe { result::module::unload(module.module) };
        }
    }
}

/// Loads a PTX into the current context, with the kernel of this name in it.
fn load(ptx: &str, name: &str, file: String) -> Result<Module, BackendError> {
    let no_text = |_| BackendError::Compile { file: file.clone(), log: "it has a NUL in it".into() };
    let ptx = CString::new(ptx).map_err(no_text)?;
    let name = CString::new(name).map_err(no_text)?;
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
