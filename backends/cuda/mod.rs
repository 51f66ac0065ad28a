//! CUDA devices, through the driver's own library, which is opened at run time; no toolkit is needed.
//!
//! | module | what it does |
//! |---|---|
//! | `driver` | opens the library, or says why it cannot be used |
//! | `discovery` | lists the devices and reads what they say of themselves |
//! | `limits` | what fits a device, and what does not and why |
//! | `modules` | kernels loaded into a context |
//! | `kernel` | a kernel with all it takes to launch it |
//! | `open` | a context with a stream and its modules, made when first needed |
//! | `workspace` | buffers |
//! | `run` | launches, graphs and events |
//! | `geam` | cuBLAS's transpose, and whether the library is there |
//! | `probe` | probes of the memory hierarchy |
//! | `transpose` | transposes on the caller's own streams |
//! | `host` | matrices in host memory, in windows through a device |
//! | `plane` | page-locked memory of the host, and copies between it and a device |
//! | `error` | the driver's errors as this crate's |

mod discovery;
mod driver;
mod error;
mod geam;
mod host;
mod kernel;
mod limits;
mod modules;
mod open;
mod plane;
mod probe;
mod run;
mod transpose;
mod workspace;

use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::{BackendError, Support, TransposeBackend, Workspace};
use crate::backends::nvml;
use crate::device::{DeviceInfo, Hardware};
use crate::problem::Problem;
use crate::sensor::Sensor;
use crate::variant::Variant;

pub use discovery::discover;
pub use driver::{OPTIONAL_SYMBOLS, SYMBOLS};
pub use geam::CUBLAS_SYMBOLS;
pub use transpose::CudaTranspose;

use limits::Limits;
use open::Opened;
use workspace::CudaWorkspace;

/// A device of the CUDA driver.
///
/// Its context, the device's primary one, is retained when a workspace first needs it and kept until the backend is
/// dropped.
pub struct CudaBackend {
    info: DeviceInfo,
    /// The GPU's UUID as NVML writes it, where the driver tells it.
    uuid: Option<String>,
    hardware: Hardware,
    limits: Limits,
    opened: Mutex<Option<Arc<Opened>>>,
}

impl CudaBackend {
    fn new(info: DeviceInfo, uuid: Option<String>, hardware: Hardware, limits: Limits) -> CudaBackend {
        CudaBackend { info, uuid, hardware, limits, opened: Mutex::new(None) }
    }

    /// The device's context, opened if it is not yet.
    fn opened(&self) -> Result<Arc<Opened>, BackendError> {
        // What the lock guards is replaced as a whole, so that a panic elsewhere cannot have left it half-made.
        let mut slot = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = &*slot {
            return Ok(opened.clone());
        }
        let opened = Arc::new(Opened::new(self.info.id.index)?);
        *slot = Some(opened.clone());
        Ok(opened)
    }
}

impl TransposeBackend for CudaBackend {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn hardware(&self) -> Hardware {
        self.hardware
    }

    fn support(&self, variant: Variant, problem: &Problem) -> Support {
        let variant = self.choose(variant, problem);
        let obstacle = self.limits.obstacle(variant, problem).or_else(|| variant.unlike_in_place(problem));
        obstacle.map_or(Support::Supported, Support::Unsupported)
    }

    fn sensor(&self) -> Option<Box<dyn Sensor>> {
        nvml::sensor(self.info.pci.as_deref(), self.uuid.as_deref())
    }

    fn workspace(&self, problem: &Problem, sets: usize) -> Result<Box<dyn Workspace + '_>, BackendError> {
        Ok(Box::new(CudaWorkspace::new(self, *problem, sets)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Api, DeviceId, DeviceKind, TimerKind};
    use crate::element::Element;
    use crate::problem::Layout;
    use crate::variant::Presence;

    fn backend(limits: Limits) -> CudaBackend {
        let info = DeviceInfo {
            id: DeviceId { api: Api::Cuda, index: 0 },
            name: String::new(),
            driver: String::new(),
            kind: DeviceKind::Gpu,
            pci: None,
            memory_bytes: None,
            cache_bytes: None,
            peak: None,
            timer: TimerKind::Device,
            has_bounds_checks: false,
            limits: Vec::new(),
        };
        CudaBackend::new(info, None, Hardware::default(), limits)
    }

    const LIMITS: Limits = Limits {
        memory_bytes: 1 << 40,
        grid_x: i32::MAX as u64,
        block_threads: 1024,
        block_shared_bytes: 48 << 10,
        max_pitch: i32::MAX as u64,
        compute_capability: (9, 0),
    };

    fn reason(limits: Limits, variant: Variant, problem: Problem) -> String {
        match backend(limits).support(variant, &problem) {
            Support::Supported => String::new(),
            Support::Unsupported(reason) => reason,
        }
    }

    #[test]
    fn limits_are_exact_and_named_with_their_numbers() {
        let problem = |rows, cols, batch, element| Problem::new(rows, cols, batch, element).unwrap();
        // Each matrix is one block, and 2³¹ − 1 blocks are the most.
        let most = problem(8, 32, i32::MAX as u64, Element::U8);
        assert_eq!(reason(LIMITS, Variant::Naive, most), "");
        let more = problem(8, 32, 1 << 31, Element::U8);
        assert_eq!(
            reason(LIMITS, Variant::Naive, more),
            "the launch takes 2147483648 blocks, the device allows 2147483647"
        );
        assert_eq!(reason(LIMITS, Variant::Memcpy, more), "");

        let small = Limits { memory_bytes: 8191, ..LIMITS };
        assert_eq!(
            reason(small, Variant::Memcpy, problem(32, 32, 1, Element::F32)),
            "source and destination take 8192 B, the device has 8191 B of memory"
        );
        assert_eq!(
            reason(Limits { memory_bytes: 8192, ..LIMITS }, Variant::Copy, problem(32, 32, 1, Element::F32)),
            ""
        );

        let tight = Limits { block_shared_bytes: 16_383, ..LIMITS };
        assert_eq!(
            reason(tight, Variant::Tiled, problem(1, 1, 1, Element::C128)),
            "the launch takes 16384 bytes of shared memory a block, the device allows 16383"
        );
        let old = Limits { compute_capability: (3, 7), ..LIMITS };
        let text = reason(old, Variant::Padded, problem(1, 1, 1, Element::U8));
        assert_eq!(text, "the device has compute capability 3.7, the kernel needs 5.0");
    }

    #[test]
    fn cublas_takes_some_widths_few_matrices_and_32_bit_sides() {
        let geam = |rows, cols, batch, element| {
            reason(LIMITS, Variant::Geam, Problem::new(rows, cols, batch, element).unwrap())
        };
        assert_eq!(geam(3, 4, 1, Element::F16), "cuBLAS transposes elements of 4 and 8 bytes, these have 2");
        assert_eq!(
            geam(3, 4, 65, Element::C64),
            "cuBLAS transposes one matrix a call, and 65 calls a launch are more than 64"
        );
        let (long, text) = (1 << 31, "is 2147483648, cuBLAS takes 2147483647");
        assert_eq!(geam(long, 1, 1, Element::F32), format!("the number of rows {text}"));
        assert_eq!(geam(1, long, 1, Element::F64), format!("the number of columns {text}"));
        let apart = |source, destination| {
            let [source, destination] = [source, destination].map(|ld| Layout { first: 0, ld, stride: 0 });
            let problem = Problem::new(3, 4, 1, Element::F32).unwrap().with_layouts(source, destination).unwrap();
            reason(LIMITS, Variant::Geam, problem)
        };
        assert_eq!(apart(long, 3), format!("the source's leading dimension {text}"));
        assert_eq!(apart(4, long), format!("the destination's leading dimension {text}"));
    }

    #[test]
    fn buffers_count_with_their_gaps() {
        // Two rows of one byte 100 apart, and a destination of 2 bytes.
        let [source, destination] = [Layout { first: 0, ld: 100, stride: 0 }, Layout::packed(1, 2)];
        let problem = Problem::new(2, 1, 1, Element::U8).unwrap().with_layouts(source, destination).unwrap();
        assert_eq!(reason(Limits { memory_bytes: 103, ..LIMITS }, Variant::Memcpy, problem), "");
        assert_eq!(
            reason(Limits { memory_bytes: 102, ..LIMITS }, Variant::Memcpy, problem),
            "source and destination take 103 B, the device has 102 B of memory"
        );
    }

    #[test]
    fn empty_problems_are_supported_and_absent_variants_never() {
        let empty = Problem::new(0, u64::MAX, u64::MAX, Element::F32).unwrap();
        for &variant in Variant::ALL {
            let expected = match variant.spec().cuda {
                Presence::Present => "",
                Presence::Absent(reason) => reason,
            };
            assert_eq!(reason(LIMITS, variant, empty), expected, "{variant}");
        }
    }
}
