//! The trait that every backend implements, in three steps: a device, a workspace of buffers on it, and a variant
//! prepared to run on those buffers.
//!
//! Only the last step is timed. Everything that costs time once (allocation, upload, compilation) happens in the
//! first two, so that it cannot end up in a figure.

use std::num::NonZeroU32;

use crate::device::{DeviceInfo, Hardware};
use crate::planner;
use crate::probe::Launch;
use crate::problem::Problem;
use crate::sensor::Sensor;
use crate::timing::{ClockError, Timing};
use crate::variant::Variant;

/// Whether a device can run a variant on a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Supported,
    /// It cannot, for this reason, with the numbers in it.
    Unsupported(String),
}

/// One device of one backend.
pub trait TransposeBackend: Send + Sync {
    /// What the device says of itself.
    fn device(&self) -> &DeviceInfo;

    /// What its driver tells of its memories.
    fn hardware(&self) -> Hardware {
        Hardware::default()
    }

    /// Whether `variant` can run on `problem` here, in a workspace of at least one set.
    ///
    /// Empty problems are supported: they move nothing.
    fn support(&self, variant: Variant, problem: &Problem) -> Support;

    /// The variant that runs for `variant`: what [`Variant::Auto`] stands for here, and otherwise `variant` itself.
    fn choose(&self, variant: Variant, problem: &Problem) -> Variant {
        planner::choose(variant, problem, self.device().id.api, |candidate| self.support(candidate, problem))
    }

    /// What can be read of the device while it works; `None` where nothing can.
    fn sensor(&self) -> Option<Box<dyn Sensor>> {
        None
    }

    /// Allocates `sets` pairs of source and destination buffers for `problem`; their content is undefined.
    ///
    /// # Errors
    /// [`BackendError`] if the device cannot be opened or the memory is not there.
    fn workspace(&self, problem: &Problem, sets: usize) -> Result<Box<dyn Workspace + '_>, BackendError>;
}

/// Pairs of source and destination buffers on a device, all for the same problem. A pair is a *set*.
///
/// A buffer has the bytes of its side from the first element to the last, gaps included: [`Problem::source_bytes`] and
/// [`Problem::destination_bytes`].
///
/// All methods return when the device is done.
pub trait Workspace {
    /// Writes `bytes` into the source of `set`, from byte `offset` on.
    ///
    /// `offset` is a multiple of [`BAND_BYTES`]. Only the last band of a source may be shorter.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn write_source(&self, set: usize, offset: u64, bytes: &[u8]) -> Result<(), BackendError>;

    /// Sets every byte of every destination to `value`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn poison(&self, value: u8) -> Result<(), BackendError>;

    /// Reads the destination of `set` from byte `offset` on into `bytes`; the same rule as for `write_source`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn read_destination(&self, set: usize, offset: u64, bytes: &mut [u8]) -> Result<(), BackendError>;

    /// Makes `variant` ready to run on these buffers: compiles it, binds the buffers, creates what times it.
    ///
    /// # Errors
    /// [`BackendError`] if it does not compile or the device fails. Call only what
    /// [`support`](TransposeBackend::support) allows; anything else may fail as well.
    fn prepare(&self, variant: Variant, options: RunOptions) -> Result<Box<dyn PreparedRun + '_>, BackendError>;

    /// Makes a probe of the memory hierarchy ready to run with the sources as its data and the destinations as its state,
    /// or as what it stores to. The buffers must be as large as the launch's parameters say.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] if the device has no such probe or cannot launch it, and others as
    /// [`prepare`](Self::prepare).
    fn prepare_probe(&self, launch: &Launch) -> Result<Box<dyn PreparedRun + '_>, BackendError> {
        Err(BackendError::Unsupported(format!("the backend has no probe {}", launch.probe.name())))
    }

    /// The address of the source of `set` as a kernel sees it; `None` where kernels know no addresses.
    fn source_address(&self, set: usize) -> Option<u64> {
        let _ = set;
        None
    }
}

/// Uploads and downloads go in bands of this many bytes, so that a large matrix needs little host memory.
pub const BAND_BYTES: usize = 32 << 20;

/// Settings of a prepared run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunOptions {
    /// Whether shaders are compiled with bounds checks. Only devices that have them heed it. On by default: variants with
    /// 16-byte accesses, which are those that `auto` takes, lose nothing by them.
    pub bounds_checks: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { bounds_checks: true }
    }
}

/// A variant ready to run.
pub trait PreparedRun {
    /// Launches `launches` times, one after the other, rotating over the sets from the first on, and returns how
    /// long all launches took together. What is transposed in place is put into the destinations before that.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails or takes too long.
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError>;

    /// Why the host's clock times this run although the device has one of its own; `None` where nothing is amiss.
    fn timer_note(&self) -> Option<String> {
        None
    }
}

/// What goes wrong on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BackendError {
    /// The memory is not there.
    #[error("out of memory: {requested} B requested{}", available.map_or(String::new(), |bytes| format!(", {bytes} B free")))]
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes free, where the API tells.
        available: Option<u64>,
    },
    /// The device could not be opened.
    #[error("the device cannot be opened: {reason}")]
    Open {
        /// What the driver says.
        reason: String,
    },
    /// The device is gone, and with it everything on it.
    #[error("the device was lost: {reason}")]
    Lost {
        /// What the driver says.
        reason: String,
    },
    /// A kernel does not compile or load.
    #[error("{file} does not compile: {log}")]
    Compile {
        /// The source, relative to the package.
        file: String,
        /// What the compiler says.
        log: String,
    },
    /// A call of the API failed.
    #[error("{call} failed: {reason}")]
    Call {
        /// The call.
        call: &'static str,
        /// What the API says.
        reason: String,
    },
    /// The device did not finish in time.
    #[error("the device did not finish within {seconds} s")]
    Timeout {
        /// How long was waited.
        seconds: u64,
    },
    /// The clock gave a time that cannot be.
    #[error(transparent)]
    Clock(#[from] ClockError),
    /// The variant cannot run on this device.
    #[error("{0}")]
    Unsupported(String),
}
