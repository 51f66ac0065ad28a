//! An open device: its context, a stream, and the kernels loaded so far.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};

use super::error::{self, failed};
use super::geam;
use super::modules::Modules;
use crate::backend::BackendError;

/// A device whose context is open. Everything of it that lives on the device is gone when this is dropped.
pub(super) struct Opened {
    pub(super) modules: Modules,
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
            modules: Modules::default(),
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
        // SAFETY: they were loaded in this context, which is current, and no launch is left that uses one: every run
        // waits for its launches or gives the device up.
        unsafe { self.modules.unload() };
        if let Some(handle) = self.cublas.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: made in this context, which is current, and as above no run is left that uses it.
            unsafe { handle.destroy() };
        }
    }
}
