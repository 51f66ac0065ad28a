//! What fits a device, and what does not and why.

use wgpu::{DownlevelFlags, Limits};

use crate::backend::Support;
use crate::device::{Api, DeviceInfo, Limit};
use crate::kernel::Language;
use crate::launch::{self, beyond, buffer_bytes, fold};
use crate::probe::Launch;
use crate::problem::Problem;
use crate::variant::{Presence, Variant};

/// The limits that decide what runs.
pub(super) fn listed(limits: &Limits) -> Vec<Limit> {
    let bytes = |name, value| Limit { name, value, unit: "B" };
    let count = |name, value: u32| Limit { name, value: value.into(), unit: "" };
    vec![
        bytes("buffer", limits.max_buffer_size),
        bytes("storage buffer binding", limits.max_storage_buffer_binding_size),
        bytes("workgroup memory", limits.max_compute_workgroup_storage_size.into()),
        count("invocations per workgroup", limits.max_compute_invocations_per_workgroup),
        count("workgroups per dimension", limits.max_compute_workgroups_per_dimension),
    ]
}

/// Why an OpenGL context of this version string runs no kernel, if it does not: compute shaders came with OpenGL 4.3 and
/// OpenGL ES 3.1.
///
/// wgpu asks for OpenGL 3.3 "or newer". Mesa gives its newest; NVIDIA gives 3.3 and the extension for compute shaders,
/// which is enough for wgpu to announce them and too little for its shader compiler.
pub(super) fn old_context(version: &str) -> Option<String> {
    let es = version.strip_prefix("OpenGL ES ");
    let needed = if es.is_some() { (3, 1) } else { (4, 3) };
    let mut numbers = es.unwrap_or(version).split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    let name = if es.is_some() { "OpenGL ES" } else { "OpenGL" };
    ((major, minor) < needed).then(|| {
        format!(
            "wgpu's context on this driver is {name} {major}.{minor}, compute shaders need {}.{}",
            needed.0, needed.1
        )
    })
}

/// Whether an adapter can run `variant` on `problem`.
pub(super) fn support(
    api: Api,
    limits: &Limits,
    downlevel: DownlevelFlags,
    variant: Variant,
    problem: &Problem,
) -> Support {
    match obstacle(api, limits, downlevel, variant, problem) {
        Some(reason) => Support::Unsupported(reason),
        None => Support::Supported,
    }
}

fn obstacle(
    api: Api,
    limits: &Limits,
    downlevel: DownlevelFlags,
    variant: Variant,
    problem: &Problem,
) -> Option<String> {
    if let Presence::Absent(reason) = variant.presence(api) {
        return Some(reason.into());
    }
    if let Some(reason) = no_buffers(limits, downlevel, problem) {
        return Some(reason);
    }
    if problem.is_empty() {
        return None;
    }
    if let Some(reason) = launch::obstacle(variant, problem) {
        return Some(reason);
    }
    let kernel = variant.spec().kernel?;
    let geometry = (kernel.geometry)(problem.width(), Language::Wgsl);
    let shared = geometry.shared_bytes();
    let grid = kernel.grid(problem, Language::Wgsl);
    let most = limits.max_compute_workgroups_per_dimension;
    beyond("a storage binding of", larger_bytes(problem), limits.max_storage_buffer_binding_size, "B")
        .or_else(|| {
            let needed = geometry.threads().into();
            beyond("a workgroup of", needed, limits.max_compute_invocations_per_workgroup.into(), "invocations")
        })
        .or_else(|| {
            beyond("a workgroup with x =", geometry.block_x.into(), limits.max_compute_workgroup_size_x.into(), "")
        })
        .or_else(|| {
            beyond("a workgroup with y =", geometry.block_y.into(), limits.max_compute_workgroup_size_y.into(), "")
        })
        .or_else(|| beyond("workgroup memory of", shared.into(), limits.max_compute_workgroup_storage_size.into(), "B"))
        .or_else(|| match fold(grid, most) {
            Some(_) => None,
            None => Some(format!("needs {} workgroups, more than {most} × {most} can number", grid.blocks())),
        })
}

/// Why an adapter has no buffers for `problem` with which anything could run.
pub(super) fn no_buffers(limits: &Limits, downlevel: DownlevelFlags, problem: &Problem) -> Option<String> {
    if !downlevel.contains(DownlevelFlags::COMPUTE_SHADERS) {
        return Some("the adapter has no compute shaders".into());
    }
    beyond("a buffer of", larger_bytes(problem), limits.max_buffer_size, "B")
}

/// Why a device cannot bind what every kernel takes: two storage buffers and the parameters, of so many bytes.
pub(super) fn no_bindings(limits: &Limits, params_bytes: u64) -> Option<String> {
    let needed = |what, needed, most: u32| beyond(what, needed, most.into(), "");
    needed("storage buffers a shader stage:", 2, limits.max_storage_buffers_per_shader_stage)
        .or_else(|| needed("uniform buffers a shader stage:", 1, limits.max_uniform_buffers_per_shader_stage))
        .or_else(|| needed("bind groups:", 1, limits.max_bind_groups))
        .or_else(|| needed("bindings a bind group:", 3, limits.max_bindings_per_bind_group))
        .or_else(|| beyond("a uniform binding of", params_bytes, limits.max_uniform_buffer_binding_size, "B"))
}

/// What of the device stands against a probe in buffers for `problem`.
pub(super) fn probe_obstacle(
    device: &DeviceInfo,
    limits: &Limits,
    problem: &Problem,
    launch: &Launch,
) -> Option<String> {
    let (probe, most) = (launch.probe, limits.max_compute_invocations_per_workgroup);
    let shared = limits.max_compute_workgroup_storage_size;
    old_context(&device.driver)
        .filter(|_| device.id.api == Api::Gl)
        .or_else(|| beyond("a storage binding of", larger_bytes(problem), limits.max_storage_buffer_binding_size, "B"))
        .or_else(|| beyond("a workgroup of", probe.block(Language::Wgsl).into(), most.into(), "invocations"))
        .or_else(|| beyond("workgroup memory of", probe.shared_bytes().into(), shared.into(), "B"))
}

/// Bytes of the larger one of the buffers.
fn larger_bytes(problem: &Problem) -> u64 {
    buffer_bytes(problem.source_bytes().max(problem.destination_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::problem::Layout;

    fn check(limits: &Limits, variant: Variant, rows: u64, cols: u64, element: Element) -> Option<String> {
        let problem = Problem::new(rows, cols, 1, element).unwrap();
        obstacle(Api::Vulkan, limits, DownlevelFlags::all(), variant, &problem)
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        let limits = Limits { max_storage_buffer_binding_size: 1 << 27, max_buffer_size: 1 << 28, ..Limits::default() };
        assert_eq!(check(&limits, Variant::Padded, 5, 7, Element::F32), None);
        let reason = check(&limits, Variant::Copy, 1 << 14, (1 << 11) + 1, Element::F32).unwrap();
        assert_eq!(reason, "needs a storage binding of 134283264 B; the most is 134217728");
        assert_eq!(check(&limits, Variant::Memcpy, 1 << 14, (1 << 11) + 1, Element::F32), None);
        let reason = check(&limits, Variant::Memcpy, 1 << 14, 1 << 13, Element::F32).unwrap();
        assert_eq!(reason, "needs a buffer of 536870912 B; the most is 268435456");
        // 32 × 33 × 16 bytes: more than WebGPU promises everywhere.
        let reason = check(&limits, Variant::Padded, 5, 7, Element::C128).unwrap();
        assert_eq!(reason, "needs workgroup memory of 16896 B; the most is 16384");
        let small = Limits { max_compute_invocations_per_workgroup: 128, ..limits };
        let reason = check(&small, Variant::Tiled, 5, 7, Element::F32).unwrap();
        assert_eq!(reason, "needs a workgroup of 256 invocations; the most is 128");
    }

    #[test]
    fn the_fast_kernels_fit_what_every_device_has() {
        for element in [Element::U8, Element::F16, Element::F32, Element::F64, Element::C128] {
            for variant in [Variant::Vectorized, Variant::Gather, Variant::Tall, Variant::Wide] {
                assert_eq!(check(&Limits::default(), variant, 5, 7, element), None, "{variant} {element}");
            }
        }
    }

    #[test]
    fn indices_stay_within_32_bits() {
        let limits =
            Limits { max_storage_buffer_binding_size: u64::MAX, max_buffer_size: u64::MAX, ..Limits::default() };
        assert_eq!(check(&limits, Variant::Padded, 1 << 16, (1 << 16) - 1, Element::U8), None);
        let reason = check(&limits, Variant::Padded, 1 << 16, 1 << 16, Element::U8).unwrap();
        assert_eq!(reason, "needs 32-bit indices for 4294967296 elements; the most is 4294963200");
    }

    #[test]
    fn gaps_count_and_copies_stay_within_their_bytes() {
        // Two rows of `cols` bytes 400 apart, and the destination packed.
        let check = |cols, max_buffer_size, variant| {
            let limits = Limits { max_buffer_size, ..Limits::default() };
            let packed = Problem::new(2, cols, 1, Element::U8).unwrap();
            let problem =
                packed.with_layouts(Layout { first: 0, ld: 400, stride: 0 }, Layout::packed(cols, 2)).unwrap();
            obstacle(Api::Vulkan, &limits, DownlevelFlags::all(), variant, &problem)
        };
        assert_eq!(check(8, 416, Variant::Memcpy), None);
        assert_eq!(check(8, 416, Variant::Copy), None);
        let reason = check(8, 415, Variant::Memcpy).unwrap();
        assert_eq!(reason, "needs a buffer of 416 B; the most is 415");
        assert_eq!(check(7, 416, Variant::Vectorized), None);
        let reason = check(7, 416, Variant::Memcpy).unwrap();
        assert_eq!(reason, "copies multiples of 16 bytes; 14 bytes would take in some of a gap, which has to stay");
    }

    #[test]
    fn contexts_too_old_for_compute_are_told_by_their_version() {
        let nvidia = old_context("3.3.0 NVIDIA 580.159.04").unwrap();
        assert!(nvidia.contains("OpenGL 3.3, compute shaders need 4.3"), "{nvidia}");
        assert!(old_context("OpenGL ES 3.0 Mesa 22.3.6").unwrap().contains("OpenGL ES 3.0, compute shaders need 3.1"));
        for enough in ["4.5 (Core Profile) Mesa 22.3.6", "4.3.0", "OpenGL ES 3.1 build 1", "OpenGL ES 3.2", "", "new"] {
            assert_eq!(old_context(enough), None, "{enough}");
        }
    }

    #[test]
    fn adapters_without_compute_run_nothing() {
        let problem = Problem::new(0, 5, 1, Element::F32).unwrap();
        let none = DownlevelFlags::empty();
        let reason = obstacle(Api::Gl, &Limits::default(), none, Variant::Memcpy, &problem).unwrap();
        assert_eq!(reason, "the adapter has no compute shaders");
    }
}
