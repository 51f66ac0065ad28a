//! Page-locked memory of the host, and copies between it and the device by the device's own copy engines, which take rows at
//! equal distances.

use std::ffi::c_void;

use cudarc::driver::sys::{self, CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype, CUpointer_attribute, CUstream};

use super::error::failed;
use crate::backend::BackendError;
use crate::problem::{Problem, Side};

/// Rows of bytes at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    /// Bytes before the first row.
    first: u64,
    /// Bytes of a row.
    row: u64,
    /// Bytes from the beginning of a row to that of the next.
    pitch: u64,
    rows: u64,
}

/// Shorter rows are packed faster by the host: an engine takes some 30 ns for a row (measured on an H200 behind PCIe 5, where
/// rows of 1 KiB go at 27 GB/s and those of 64 KiB at 55).
const LEAST_ROW_BYTES: u64 = 512;
/// An engine takes rows in pieces of so many bytes, and the last piece of a row, however short, takes as long as a whole one:
/// both ways at once, 45 GB/s with rows of 8 KiB, 30 of 10, 36 of 12, 43 of 16 and 47 of 24 or more (the same H200).
pub(super) const PIECE_BYTES: u64 = 8 << 10;
/// Pieces of a row at which the bus and not the engine is the limit.
const LONG_PIECES: u64 = 3;
/// Windows of long rows that there have to be, for nothing goes down before the first is up, nor up after the last.
const LONG_WINDOWS: u64 = 28;
/// Bytes of the largest window of long rows: those of elements of 4 bytes. For smaller ones a row of one piece is enough.
const MOST_BYTES: u64 = 144 << 20;

/// Bytes of a window whose rows are so many pieces long on either side.
fn window(problem: &Problem, pieces: u64) -> u64 {
    (pieces * PIECE_BYTES).pow(2) / problem.width().bytes() as u64
}

/// Bytes of the smallest window that engines take fast.
pub(super) fn short_window(problem: &Problem) -> u64 {
    window(problem, 1)
}

/// Bytes of a window that they take faster, where the problem has enough of them.
pub(super) fn long_window(problem: &Problem) -> Option<u64> {
    let bytes = window(problem, LONG_PIECES);
    (bytes <= MOST_BYTES && bytes.saturating_mul(LONG_WINDOWS) <= problem.copied_bytes()).then_some(bytes)
}

impl Plane {
    /// A side of a window, if it is one.
    pub(super) fn of(window: &Problem, side: Side) -> Option<Plane> {
        let (rows, cols, layout) = match side {
            Side::Source => (window.rows(), window.cols(), window.source()),
            Side::Destination => (window.cols(), window.rows(), window.destination()),
        };
        let batch = window.batch();
        let (row, pitch, rows) = if layout.ld == cols || rows == 1 {
            (rows * cols, layout.stride, batch)
        } else if batch == 1 || rows.checked_mul(layout.ld) == Some(layout.stride) {
            (cols, layout.ld, rows * batch)
        } else {
            return None;
        };
        let one = rows == 1 || row == pitch;
        let width = window.width().bytes() as u64;
        let [first, row, pitch, rows] = match one {
            true => [layout.first, row * rows, row * rows, 1],
            false => [layout.first, row, pitch, rows],
        };
        Some(Plane { first: first * width, row: row * width, pitch: pitch * width, rows })
    }

    /// Whether the engines take it, of a device with this largest pitch, and are faster than the host.
    pub(super) fn suits(&self, max_pitch: u64) -> bool {
        self.rows == 1 || self.pitch <= max_pitch && self.row >= LEAST_ROW_BYTES
    }

    /// Copies it from the host, whose memory this is, to the device, one row directly after the other.
    ///
    /// # Safety
    /// The context of `stream` is current. The plane lies in `host`, which nothing writes until the copy is over, and on the
    /// device there is room for it.
    pub(super) unsafe fn upload(
        &self,
        host: *const u8,
        device: CUdeviceptr,
        stream: CUstream,
    ) -> Result<(), BackendError> {
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: HOST,
            // SAFETY: the plane lies there.
            srcHost: unsafe { host.add(self.first as usize) }.cast::<c_void>(),
            srcPitch: self.pitch as usize,
            dstMemoryType: DEVICE,
            dstDevice: device,
            dstPitch: self.row as usize,
            ..self.nothing()
        };
        // SAFETY: by the contract.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream) }.result().map_err(failed(CALL))
    }

    /// Copies it from the device back to the host.
    ///
    /// # Safety
    /// As for [`upload`](Self::upload), and nothing reads the plane until the copy is over.
    pub(super) unsafe fn download(
        &self,
        device: CUdeviceptr,
        host: *mut u8,
        stream: CUstream,
    ) -> Result<(), BackendError> {
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: DEVICE,
            srcDevice: device,
            srcPitch: self.row as usize,
            dstMemoryType: HOST,
            // SAFETY: the plane lies there.
            dstHost: unsafe { host.add(self.first as usize) }.cast::<c_void>(),
            dstPitch: self.pitch as usize,
            ..self.nothing()
        };
        // SAFETY: by the contract.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream) }.result().map_err(failed(CALL))
    }

    /// A copy of the plane from nowhere to nowhere.
    fn nothing(&self) -> CUDA_MEMCPY2D {
        CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: HOST,
            srcHost: std::ptr::null(),
            srcDevice: 0,
            srcArray: std::ptr::null_mut(),
            srcPitch: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: HOST,
            dstHost: std::ptr::null_mut(),
            dstDevice: 0,
            dstArray: std::ptr::null_mut(),
            dstPitch: 0,
            WidthInBytes: self.row as usize,
            Height: self.rows as usize,
        }
    }
}

const CALL: &str = "cuMemcpy2DAsync";
const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;

/// Whether the driver knows all of this memory as page-locked memory of the host. A context must be current.
pub(super) fn is_page_locked(bytes: &[u8]) -> bool {
    let known = |byte: &u8| {
        let mut kind = 0u32;
        let mut attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        let mut value = (&raw mut kind).cast();
        // The function for one attribute calls any other pointer an error, which debuggers report.
        // SAFETY: there is one attribute, of 4 bytes; of an address that the driver does not know it tells 0.
        let told =
            unsafe { sys::cuPointerGetAttributes(1, &mut attribute, &mut value, std::ptr::from_ref(byte) as u64) };
        told.result().is_ok() && kind == HOST as u32
    };
    // What lies between is copied rightly even if it is not locked, only slower.
    bytes.first().is_some_and(known) && bytes.last().is_some_and(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    fn planes(shape: [u64; 3], source: Layout, destination: Layout) -> [Option<Plane>; 2] {
        let problem = Problem::new(shape[0], shape[1], shape[2], Element::F32).unwrap();
        let problem = problem.with_layouts(source, destination).unwrap();
        [Side::Source, Side::Destination].map(|side| Plane::of(&problem, side))
    }

    #[test]
    fn what_is_equally_far_apart_is_a_plane() {
        let plane = |first, row, pitch, rows| Some(Plane { first, row, pitch, rows });
        // All in one piece.
        let packed = planes([5, 7, 3], Layout::packed(5, 7), Layout::packed(7, 5));
        assert_eq!(packed, [plane(0, 420, 420, 1); 2]);
        // One matrix with gaps after its rows, and one that begins later.
        let gaps = planes([5, 7, 1], Layout::with_gaps(5, 7, 2, 0), Layout::packed(7, 5).starting_at(3));
        assert_eq!(gaps, [plane(0, 28, 36, 5), plane(12, 140, 140, 1)]);
        // Several with gaps after their rows, and with gaps after matrices alone.
        let several = planes([5, 7, 3], Layout::with_gaps(5, 7, 2, 0), Layout::with_gaps(7, 5, 0, 4));
        assert_eq!(several, [plane(0, 28, 36, 15), plane(0, 140, 156, 3)]);
        // Gaps of both kinds, which no row's distance fits; and single rows, which do not care.
        let both = planes([5, 1, 3], Layout::with_gaps(5, 1, 2, 1), Layout::with_gaps(1, 5, 2, 1));
        assert_eq!(both, [None, plane(0, 20, 32, 3)]);
    }

    #[test]
    fn short_rows_and_large_distances_do_not_suit() {
        let plane = Plane { first: 0, row: 512, pitch: 1000, rows: 2 };
        assert!(plane.suits(1000));
        assert!(!plane.suits(999));
        assert!(!Plane { row: 511, ..plane }.suits(1000));
        assert!(Plane { row: 4, pitch: 1 << 40, rows: 1, ..plane }.suits(1000));
    }
}
