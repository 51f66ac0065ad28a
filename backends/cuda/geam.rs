//! cuBLAS's own transpose.
//!
//! geam computes C = α op(A) + β op(B), which with α = 1, β = 0 and op(A) = Aᵀ is a transpose. It moves numbers rather
//! than bits: what it does to NaNs, denormal numbers and the sign of zero is its own affair, and the
//! [pattern](crate::pattern) has none of them.
//!
//! cudarc opens the library and looks up each function when it is first called, and panics where one is missing. So
//! everything that is ever called is looked up here first.

use std::sync::OnceLock;

use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys::{self, cublasOperation_t as Operation};
use cudarc::driver::CudaStream;

use super::driver;
use crate::backend::BackendError;
use crate::element::Width;
use crate::problem::{Layout, Problem};

/// Every function of cuBLAS that is ever called, directly or by cudarc on this crate's behalf.
///
/// A library that lacks one of them is not used.
pub const CUBLAS_SYMBOLS: [&str; 5] =
    ["cublasCreate_v2", "cublasDestroy_v2", "cublasDgeam", "cublasSetStream_v2", "cublasSgeam"];

/// Calls that one launch may make. There is no batched geam, and more of them would time the calls.
const MAX_CALLS: u64 = 64;

/// What stands against cuBLAS moving `problem`, if anything does.
///
/// It opens the library, which takes a while, but only once and only for what it could move.
pub(super) fn obstacle(problem: &Problem) -> Option<String> {
    let width = problem.width();
    if !matches!(width, Width::W4 | Width::W8) {
        return Some(format!("cuBLAS transposes elements of 4 and 8 bytes, these have {}", width.bytes()));
    }
    if problem.batch() > MAX_CALLS {
        let batch = problem.batch();
        return Some(format!(
            "cuBLAS transposes one matrix a call, and {batch} calls a launch are more than {MAX_CALLS}"
        ));
    }
    let most = i32::MAX as u64;
    let lengths = [
        ("number of rows", problem.rows()),
        ("number of columns", problem.cols()),
        ("source's leading dimension", problem.source().ld),
        ("destination's leading dimension", problem.destination().ld),
    ];
    match lengths.into_iter().find(|&(_, length)| length > most) {
        Some((what, length)) => Some(format!("the {what} is {length}, cuBLAS takes {most}")),
        None => unusable().map(str::to_owned),
    }
}

/// Why the library cannot be used, if it cannot.
fn unusable() -> Option<&'static str> {
    static UNUSABLE: OnceLock<Option<String>> = OnceLock::new();
    UNUSABLE.get_or_init(open).as_deref()
}

fn open() -> Option<String> {
    // SAFETY: opens and closes the library, whose initialisers have no preconditions.
    if !unsafe { sys::is_culib_present() } {
        return Some(not_found());
    }
    // SAFETY: the library could be opened a moment ago. The functions are only looked up, never called by this type.
    let has = |name: &str| unsafe { sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()).is_ok() };
    driver::lacking("cuBLAS", &CUBLAS_SYMBOLS, has)
}

fn not_found() -> String {
    let (files, path) = match cfg!(windows) {
        true => ("cublas64_12.dll", "PATH"),
        false => ("libcublas.so or libcublas.so.12", "LD_LIBRARY_PATH"),
    };
    format!(
        "cuBLAS, {files}, cannot be opened: {path} has to name its folder, in the CUDA toolkit or in pip's \
         nvidia-cublas-cu12"
    )
}

fn failed(call: &'static str) -> impl Fn(CublasError) -> BackendError {
    move |CublasError(status)| BackendError::Call { call, reason: format!("{status:?}") }
}

/// A handle of cuBLAS that puts its work on one stream; valid as long as the [`Opened`](super::open::Opened) that made
/// it.
#[derive(Clone, Copy)]
pub(super) struct Handle(sys::cublasHandle_t);

// SAFETY: a handle may be used from any thread, as long as it is one at a time, which the device's turn sees to.
unsafe impl Send for Handle {}

impl Handle {
    /// Makes a handle for `stream`, which must not be capturing. Its context must be current. Call only where nothing
    /// is [`obstacle`].
    pub(super) fn new(stream: &CudaStream) -> Result<Handle, BackendError> {
        let handle = Handle(result::create_handle().map_err(failed("cublasCreate"))?);
        // SAFETY: the handle was just made. The driver's streams are the runtime's, which cuBLAS is written for.
        unsafe { result::set_stream(handle.0, stream.cu_stream().cast()) }.map_err(|error| {
            // SAFETY: as above, and nothing else has the handle.
            unsafe { handle.destroy() };
            failed("cublasSetStream")(error)
        })?;
        Ok(handle)
    }

    /// Gives back what the handle holds. The device is waited for.
    ///
    /// # Safety
    /// The context in which the handle was made is current, and no copy of the handle is used any more.
    pub(super) unsafe fn destroy(self) {
        // SAFETY: by the contract. There is nothing to do about an error.
        let _ = unsafe { result::destroy_handle(self.0) };
    }
}

/// A transpose of every matrix of a problem, but for the buffers.
pub(super) struct Geam {
    handle: Handle,
    width: Width,
    rows: i32,
    cols: i32,
    source: Matrices,
    destination: Matrices,
    matrices: u64,
}

/// How the matrices of one side lie in its buffer.
struct Matrices {
    first_byte: u64,
    ld: i32,
    stride_bytes: u64,
}

impl Geam {
    pub(super) fn new(handle: Handle, problem: &Problem) -> Result<Geam, BackendError> {
        let beyond = |_| BackendError::Unsupported(format!("{problem} is beyond cuBLAS's 32-bit numbers"));
        let fit = |length: u64| i32::try_from(length).map_err(beyond);
        let width = problem.width();
        let side = |Layout { first, ld, stride }| -> Result<Matrices, BackendError> {
            let [first_byte, stride_bytes] = [first, stride].map(|elements| elements * width.bytes() as u64);
            Ok(Matrices { first_byte, ld: fit(ld)?, stride_bytes })
        };
        Ok(Geam {
            handle,
            width,
            rows: fit(problem.rows())?,
            cols: fit(problem.cols())?,
            source: side(problem.source())?,
            destination: side(problem.destination())?,
            matrices: problem.batch(),
        })
    }

    /// Puts one launch on the handle's stream: one call for each matrix.
    ///
    /// # Safety
    /// The context is current. Both buffers hold the problem and live until the launch is over.
    pub(super) unsafe fn enqueue(&self, source: u64, destination: u64) -> Result<(), BackendError> {
        (0..self.matrices).try_for_each(|matrix| {
            let source = source + self.source.first_byte + matrix * self.source.stride_bytes;
            let destination = destination + self.destination.first_byte + matrix * self.destination.stride_bytes;
            // SAFETY: by the contract, both matrices lie within the buffers.
            unsafe { self.transpose(source, destination) }
        })
    }

    /// Transposes one matrix.
    ///
    /// cuBLAS has columns one after the other where we have rows. So it sees the source as cols × rows and C = Aᵀ as
    /// rows × cols, each with its own leading dimension. B is not read, since β = 0; it is C, which is what is always
    /// allowed.
    ///
    /// # Safety
    /// As for [`enqueue`](Self::enqueue), with a matrix of the problem in each buffer.
    unsafe fn transpose(&self, source: u64, destination: u64) -> Result<(), BackendError> {
        let (Handle(handle), m, n) = (self.handle, self.rows, self.cols);
        let (lda, ldc) = (self.source.ld, self.destination.ld);
        let (transposed, plain) = (Operation::CUBLAS_OP_T, Operation::CUBLAS_OP_N);
        let (call, status) = match self.width {
            Width::W8 => {
                let (a, c) = (source as *const f64, destination as *mut f64);
                // SAFETY: by the contract, and the handle is valid as long as the device is open. α and β are read by
                // the call itself.
                let status =
                    unsafe { sys::cublasDgeam(handle, transposed, plain, m, n, &1.0, a, lda, &0.0, c, ldc, c, ldc) };
                ("cublasDgeam", status)
            }
            _ => {
                let (a, c) = (source as *const f32, destination as *mut f32);
                // SAFETY: as above; 4 bytes is the only other width that is no obstacle.
                let status =
                    unsafe { sys::cublasSgeam(handle, transposed, plain, m, n, &1.0, a, lda, &0.0, c, ldc, c, ldc) };
                ("cublasSgeam", status)
            }
        };
        status.result().map_err(failed(call))
    }
}
