//! The tracer: runs a WGSL compute shader on the CPU and counts, line by line, what its accesses cost on a GPU.
//!
//! All invocations of a workgroup run together, statement by statement, as the lanes of a very wide processor; those
//! that a condition leaves out wait until control flow joins again. So each access that is executed is one request for
//! each subgroup that takes part, as it is on a GPU, and the [access model](crate::model) says what it touches. What the
//! shader computes is computed for real, and can be read from its buffers afterwards.
//!
//! ```
//! use cornerturn::element::Element;
//! use cornerturn::problem::Problem;
//! use cornerturn::trace::{self, Kind, Space};
//! use cornerturn::variant::Variant;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let problem = Problem::new(4096, 4096, 1, Element::F32)?; // rows, columns, matrices
//! let (shader, dispatch) = trace::kernel(Variant::Tiled, &problem)?;
//! let report = trace::trace(&shader, &dispatch)?.report;
//! let loads = report.total(Space::Workgroup, Kind::Load);
//! assert_eq!((loads.requests, loads.extra_passes()), (524_288, 16_252_928)); // 31 for each
//! assert_eq!(report.total(Space::Storage, Kind::Store).sectors, 2_097_152); // 4 for each
//! # Ok(())
//! # }
//! ```

mod access;
mod arithmetic;
mod binding;
mod directives;
mod error;
mod expression;
mod finding;
mod findings;
mod kernel;
mod lanes;
mod layout;
mod lines;
mod machine;
mod math;
mod memory;
mod overrides;
mod pointer;
mod race;
mod record;
mod report;
mod run;
mod sample;
mod scalar;
mod shader;
mod stack;
mod statement;
mod subgroup;

pub use binding::{Binding, Contents};
pub use error::{Location, TraceError};
pub use finding::{Finding, Party};
pub use kernel::{PATTERN, kernel};
pub use machine::Limits;
pub use record::{Counts, Kind, Space};
pub use report::{Access, Bound, Figures, Line, Report, SCHEMA, Total};
pub use run::{Dispatch, Traced, trace};
pub use sample::Selection;
pub use shader::Shader;
