//! An opened device: every call to wgpu goes through here, so that its errors become ours and none becomes a panic.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use wgpu::{ErrorFilter, Features, PollError, PollType};

use super::pipeline::Pipelines;
use crate::backend::BackendError;

/// How long the device may take for one submission. A GPU needs milliseconds, a software device seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks at a device that cannot be waited for so long at once.
const NAP: Duration = Duration::from_micros(100);

/// The features that are asked for, where the adapter has them.
const TIMESTAMPS: Features = Features::TIMESTAMP_QUERY.union(Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

/// An opened device.
pub(super) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) pipelines: Pipelines,
    /// What wgpu reported outside any call of ours: the device is lost, or in a state that nobody knows.
    fault: Arc<Mutex<Option<String>>>,
    turn: Mutex<()>,
}

impl Gpu {
    /// Opens an adapter with all it has.
    pub(super) fn open(adapter: &wgpu::Adapter) -> Result<Gpu, BackendError> {
        let opened = catch_unwind(AssertUnwindSafe(|| {
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                label: Some("cornerturn"),
                required_features: adapter.features() & TIMESTAMPS,
                required_limits: adapter.limits(),
                memory_hints: wgpu::MemoryHints::MemoryUsage,
                ..Default::default()
            }))
        }));
        let (device, queue) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Err(BackendError::Open { reason: error.to_string() }),
            Err(panic) => return Err(BackendError::Open { reason: panic_text(panic.as_ref()) }),
        };
        let fault = Arc::new(Mutex::new(None));
        let record = |fault: &Arc<Mutex<Option<String>>>, text: String| {
            lock(fault).get_or_insert(text);
        };
        let (uncaptured, lost) = (Arc::clone(&fault), Arc::clone(&fault));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| record(&uncaptured, describe(&error))));
        device.set_device_lost_callback(move |reason, text| record(&lost, format!("{text} ({reason:?})")));
        let pipelines = Pipelines::new(&device)?;
        let gpu = Gpu { device, queue, pipelines, fault, turn: Mutex::new(()) };
        gpu.alive()?;
        Ok(gpu)
    }

    /// Waits until nobody else uses the device, and keeps it.
    ///
    /// Two runs at once would disturb each other's timing, and wgpu panics if a GL context stays busy for seconds
    /// while another thread wants it.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.turn)
    }

    /// Calls wgpu and returns what it reports meanwhile as an error; `requested` is the memory asked for.
    pub(super) fn call<T>(&self, call: &'static str, requested: u64, f: impl FnOnce() -> T) -> Result<T, BackendError> {
        self.alive()?;
        let value = called(&self.device, call, requested, f);
        self.alive()?;
        value
    }

    pub(super) fn alive(&self) -> Result<(), BackendError> {
        match lock(&self.fault).clone() {
            Some(reason) => Err(BackendError::Lost { reason }),
            None => Ok(()),
        }
    }

    /// A buffer of `size` bytes, a multiple of 4.
    pub(super) fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, BackendError> {
        self.alive()?;
        let buffer = buffer(&self.device, size, usage, false);
        self.alive()?;
        buffer
    }

    /// Submits and waits; returns the instants before the submission and after its completion.
    pub(super) fn submit(
        &self,
        commands: impl IntoIterator<Item = wgpu::CommandBuffer>,
    ) -> Result<(Instant, Instant), BackendError> {
        let begin = Instant::now();
        let submission = self.call("submit", 0, || self.queue.submit(commands))?;
        self.wait(Some(submission))?;
        Ok((begin, Instant::now()))
    }

    /// Waits for a submission, or else for the latest one.
    fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), BackendError> {
        let waited = wait(&self.device, submission);
        // What wgpu has reported says more than that it went wrong.
        self.alive()?;
        waited
    }

    /// Reads the beginning of a mappable buffer that no submission uses any more.
    pub(super) fn read(&self, buffer: &wgpu::Buffer, bytes: &mut [u8]) -> Result<(), BackendError> {
        self.alive()?;
        let size = (bytes.len() as u64).next_multiple_of(4);
        let mapped =
            Mapping::begin(&self.device, buffer, wgpu::MapMode::Read, size).and_then(|it| it.wait(&self.device));
        self.alive()?;
        mapped?;
        let view = buffer.slice(..size).get_mapped_range().map_err(unmapped)?;
        bytes.copy_from_slice(&view[..bytes.len()]);
        drop(view);
        buffer.unmap();
        Ok(())
    }
}

/// Calls wgpu and returns what it reports meanwhile as an error; `requested` is the memory asked for.
pub(super) fn called<T>(
    device: &wgpu::Device,
    call: &'static str,
    requested: u64,
    f: impl FnOnce() -> T,
) -> Result<T, BackendError> {
    match scoped(device, f) {
        (value, None) => Ok(value),
        (_, Some(wgpu::Error::OutOfMemory { .. })) => Err(BackendError::OutOfMemory { requested, available: None }),
        (_, Some(error)) => Err(BackendError::Call { call, reason: describe(&error) }),
    }
}

/// A buffer of `size` bytes, a multiple of 4.
pub(super) fn buffer(
    device: &wgpu::Device,
    size: u64,
    usage: wgpu::BufferUsages,
    mapped_at_creation: bool,
) -> Result<wgpu::Buffer, BackendError> {
    let descriptor = wgpu::BufferDescriptor { label: Some("cornerturn"), size, usage, mapped_at_creation };
    called(device, "create_buffer", size, || device.create_buffer(&descriptor))
}

/// Waits for a submission to a device, or else for the latest one.
pub(super) fn wait(device: &wgpu::Device, submission: Option<wgpu::SubmissionIndex>) -> Result<(), BackendError> {
    let begin = Instant::now();
    loop {
        let Some(left) = PATIENCE.checked_sub(begin.elapsed()) else {
            return Err(BackendError::Timeout { seconds: PATIENCE.as_secs() });
        };
        let poll = PollType::Wait { submission_index: submission.clone(), timeout: Some(left) };
        // wgpu panics where the device is lost while it waits.
        match catch_unwind(AssertUnwindSafe(|| device.poll(poll))) {
            Ok(Ok(_)) => return Ok(()),
            // GL waits for two seconds at most, whatever it is told.
            Ok(Err(PollError::Timeout)) => thread::sleep(NAP),
            // A device that is gone refuses a submission without a word.
            Ok(Err(PollError::WrongSubmissionIndex(..))) => {
                return Err(BackendError::Lost { reason: "it takes no submissions any more".into() });
            }
            Err(panic) => return Err(BackendError::Lost { reason: panic_text(panic.as_ref()) }),
        }
    }
}

/// A buffer on its way into the host's memory.
pub(super) struct Mapping(oneshot::Receiver<Result<(), wgpu::BufferAsyncError>>);

impl Mapping {
    /// Has the first bytes of a buffer mapped once the device is done with it.
    pub(super) fn begin(
        device: &wgpu::Device,
        buffer: &wgpu::Buffer,
        mode: wgpu::MapMode,
        bytes: u64,
    ) -> Result<Mapping, BackendError> {
        let (sender, receiver) = oneshot::channel();
        called(device, "map_async", 0, || {
            buffer.slice(..bytes).map_async(mode, move |result| {
                // Nobody listens any more where waiting has failed already.
                let _ = sender.send(result);
            });
        })?;
        Ok(Mapping(receiver))
    }

    /// Waits until the bytes are there.
    pub(super) fn wait(mut self, device: &wgpu::Device) -> Result<(), BackendError> {
        let begin = Instant::now();
        loop {
            if let Some(answer) = self.0.try_recv().map_err(unmapped)? {
                return answer.map_err(unmapped);
            }
            if begin.elapsed() >= PATIENCE {
                return Err(unmapped("the device is done, but the buffer is not mapped"));
            }
            wait(device, None)?;
            // Another thread that waits for the device may have taken the answer along, and be about to give it.
            thread::yield_now();
        }
    }
}

/// A buffer could not be mapped.
pub(super) fn unmapped(error: impl std::fmt::Display) -> BackendError {
    BackendError::Call { call: "map_async", reason: error.to_string() }
}

/// Calls wgpu and returns the first error that it reports meanwhile.
pub(super) fn scoped<T>(device: &wgpu::Device, f: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let memory = device.push_error_scope(ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(ErrorFilter::Internal);
    let validation = device.push_error_scope(ErrorFilter::Validation);
    let value = f();
    // Scopes are popped in the reverse order, all of them, before any is looked at.
    let errors = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
    (value, errors.into_iter().flatten().next())
}

/// Something on a device that is given back only in a [`turn`](Gpu::turn) of its own.
///
/// Make it when the turn in which its content was created can no longer fail: dropping it in a turn would wait for
/// ever.
pub(super) struct Held<'a, T> {
    gpu: &'a Gpu,
    content: ManuallyDrop<T>,
}

impl<'a, T> Held<'a, T> {
    pub(super) fn new(gpu: &'a Gpu, content: T) -> Held<'a, T> {
        Held { gpu, content: ManuallyDrop::new(content) }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        let _turn = self.gpu.turn();
        // SAFETY: this is the only place that takes the content, and it runs once.
        unsafe { ManuallyDrop::drop(&mut self.content) }
    }
}

/// What wgpu says of an error.
pub(super) fn describe(error: &wgpu::Error) -> String {
    error.to_string().trim().to_owned()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the driver broke down").to_owned()
}

/// Locks, also after a panic: what the locks here guard is never half-written.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
