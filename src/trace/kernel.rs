//! Our own kernels, with what the wgpu backend binds to them.

use super::binding::{Binding, Contents};
use super::error::TraceError;
use super::run::Dispatch;
use super::shader::Shader;
use crate::backend::Support;
use crate::device::Api;
use crate::launch::{self, Launch, buffer_bytes};
use crate::pattern::Pattern;
use crate::planner;
use crate::problem::Problem;
use crate::source;
use crate::variant::{Presence, Variant};

/// The workgroups that every WebGPU device takes along a dimension.
const MOST_WORKGROUPS: u32 = 65_535;

/// The data that a transpose is traced on; it decides nothing.
pub const PATTERN: Pattern = Pattern { seed: 0 };

/// The WGSL of a variant and its dispatch on a problem, with the buffers, parameters and grid that the wgpu backend
/// gives it. [`Variant::Auto`] is the one that it chooses on Vulkan.
///
/// # Errors
/// [`TraceError::Binding`] with the reason if the variant has no WGSL, or it cannot run on the problem.
pub fn kernel(variant: Variant, problem: &Problem) -> Result<(Shader, Dispatch), TraceError> {
    let refused = |reason: String| TraceError::Binding(format!("{variant} on {problem}: {reason}"));
    let support = |variant| launch::obstacle(variant, problem).map_or(Support::Supported, Support::Unsupported);
    let variant = planner::choose(variant, problem, Api::Vulkan, support);
    if let Presence::Absent(reason) = variant.presence(Api::Vulkan) {
        return Err(refused(reason.into()));
    }
    let text = source::wgsl(variant, problem.width()).ok_or_else(|| refused("it is no kernel of ours".into()))?;
    if problem.is_empty() {
        return Err(refused("there is nothing to move".into()));
    }
    if let Some(reason) = launch::obstacle(variant, problem) {
        return Err(refused(reason));
    }
    let launch = Launch::new(variant, problem, MOST_WORKGROUPS);
    let Launch { params, workgroups: [x, y] } = launch.ok_or_else(|| refused("it is beyond 32-bit numbers".into()))?;
    let shader = Shader::new(&source::wgsl_file(variant), text, None, &[])?;
    let data = Contents::Pattern(PATTERN, problem.width());
    let source = Binding { bytes: buffer_bytes(problem.source_bytes()), contents: data.clone() };
    // What is transposed in place is in the destination.
    let contents = if variant.is_in_place() { data } else { Contents::Zero };
    let destination = Binding { bytes: buffer_bytes(problem.destination_bytes()), contents };
    let params = Binding::of_bytes(bytemuck::bytes_of(&params));
    let mut dispatch = Dispatch::new([x, y, 1]);
    dispatch.bindings = [source, destination, params].into_iter().zip(0..).map(|(to, at)| ((0, at), to)).collect();
    Ok((shader, dispatch))
}
