//! The kernels' WGSL without a GPU: it validates, it says what the variant table says, every backend of wgpu can
//! translate it, and each file has a CUDA twin.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use cornerturn::element::Width;
use cornerturn::kernel::{Geometry, Language};
use cornerturn::probe::Probe;
use cornerturn::source;
use cornerturn::variant::Variant;
use libtest_mimic::{Arguments, Failed, Trial};
use naga::back::{glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage};

/// What every kernel's first comment tells, in this order, each at the beginning of a line.
const HEADINGS: [&str; 5] = ["Moves:", "Threads:", "Shared memory:", "Launch:", "Bounds:"];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for &variant in Variant::ALL {
        let Some(kernel) = variant.spec().kernel else { continue };
        for width in Width::ALL {
            let geometry = (kernel.geometry)(width, Language::Wgsl);
            trials.push(Trial::test(format!("{variant}::{width}"), move || kernel_is_sound(variant, width, geometry)));
        }
    }
    for &probe in Probe::ALL {
        trials.push(Trial::test(format!("probe {}", probe.name()), move || probe_is_sound(probe)));
    }
    trials.push(Trial::test("every_shader_has_a_cuda_twin", every_shader_has_a_cuda_twin));
    trials.push(Trial::test("every_kernel_opens_with_the_five_headings", every_kernel_opens_with_the_five_headings));
    libtest_mimic::run(&arguments, trials).exit();
}

fn kernel_is_sound(variant: Variant, width: Width, geometry: Geometry) -> Result<(), Failed> {
    let source = source::wgsl(variant, width).ok_or("no source")?;
    let found = is_sound(&source, [geometry.block_x, geometry.block_y, 1], geometry.shared_bytes())?;
    expect_eq("bindings", found, BTreeSet::from([(0, 0), (0, 1), (0, 2)]))
}

fn probe_is_sound(probe: Probe) -> Result<(), Failed> {
    let found = is_sound(&probe.wgsl(), [probe.block(Language::Wgsl), 1, 1], probe.shared_bytes())?;
    // Not all have a source.
    expect_eq("state and parameters", found.is_superset(&BTreeSet::from([(0, 1), (0, 2)])), true)?;
    expect_eq("other bindings", found.is_subset(&BTreeSet::from([(0, 0), (0, 1), (0, 2)])), true)
}

/// Checks a shader against its workgroup's size and memory, and returns its bindings.
fn is_sound(source: &str, workgroup: [u32; 3], shared: u32) -> Result<BTreeSet<(u32, u32)>, Failed> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    // What WebGPU grants without asking for a feature.
    let info = Validator::new(ValidationFlags::all(), Capabilities::default())
        .validate(&module)
        .map_err(|error| error.emit_to_string(source))?;

    let [entry] = module.entry_points.as_slice() else { return Err("not exactly one entry point".into()) };
    expect_eq("entry point", entry.name.as_str(), "main")?;
    expect_eq("workgroup size", entry.workgroup_size, workgroup)?;
    expect_eq("workgroup memory", shared_bytes(&module)?, shared)?;

    for translate in [to_spirv, to_msl, to_hlsl, to_gles, to_desktop_gl] {
        translate(&module, &info)?;
    }
    Ok(bindings(&module))
}

fn expect_eq<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}").into()) }
}

/// Workgroup memory as naga lays it out.
fn shared_bytes(module: &Module) -> Result<u32, Failed> {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).map_err(|error| error.to_string())?;
    let shared = module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
    Ok(shared.map(|(_, variable)| layouter[variable.ty].size).sum())
}

fn bindings(module: &Module) -> BTreeSet<(u32, u32)> {
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| variable.binding.as_ref());
    bindings.map(|binding| (binding.group, binding.binding)).collect()
}

fn to_spirv(module: &Module, info: &ModuleInfo) -> Result<(), Failed> {
    let words =
        spv::write_vec(module, info, &spv::Options::default(), None).map_err(|error| chain("SPIR-V", &error))?;
    expect_eq("SPIR-V magic number", words.first().copied(), Some(0x0723_0203))
}

fn to_msl(module: &Module, info: &ModuleInfo) -> Result<(), Failed> {
    // A bind target for each buffer and one for their sizes, as wgpu's Metal backend has them.
    let target = |slot, mutable| msl::BindTarget { buffer: Some(slot), mutable, ..Default::default() };
    let resources = [(0, false), (1, true), (2, false)]
        .map(|(binding, mutable)| (naga::ResourceBinding { group: 0, binding }, target(binding as u8, mutable)));
    let entry = msl::EntryPointResources {
        resources: resources.into_iter().collect(),
        sizes_buffer: Some(3),
        ..Default::default()
    };
    let options = msl::Options {
        lang_version: (2, 0),
        per_entry_point_map: [("main".to_owned(), entry)].into_iter().collect(),
        fake_missing_bindings: false,
        ..Default::default()
    };
    let (text, _) = msl::write_string(module, info, &options, &msl::PipelineOptions::default())
        .map_err(|error| chain("MSL", &error))?;
    contains("MSL", &text, "kernel void")
}

fn to_hlsl(module: &Module, info: &ModuleInfo) -> Result<(), Failed> {
    let options = hlsl::Options {
        fake_missing_bindings: true,
        // Where the number of workgroups comes from, which HLSL does not tell.
        special_constants_binding: Some(hlsl::BindTarget { space: 1, register: 0, ..Default::default() }),
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions::default();
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .map_err(|error| chain("HLSL", &error))?;
    contains("HLSL", &text, "numthreads")
}

fn to_gles(module: &Module, info: &ModuleInfo) -> Result<(), Failed> {
    to_glsl(module, info, glsl::Version::new_gles(310))
}

fn to_desktop_gl(module: &Module, info: &ModuleInfo) -> Result<(), Failed> {
    to_glsl(module, info, glsl::Version::Desktop(430))
}

fn to_glsl(module: &Module, info: &ModuleInfo, version: glsl::Version) -> Result<(), Failed> {
    let options = glsl::Options { version, ..Default::default() };
    let pipeline =
        glsl::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned(), multiview: None };
    let mut text = String::new();
    glsl::Writer::new(&mut text, module, info, &options, &pipeline, naga::proc::BoundsCheckPolicies::default())
        .and_then(|mut writer| writer.write())
        .map_err(|error| chain("GLSL", &error))?;
    contains("GLSL", &text, "local_size_x")
}

fn contains(language: &str, text: &str, what: &str) -> Result<(), Failed> {
    if text.contains(what) { Ok(()) } else { Err(format!("the {language} has no `{what}`:\n{text}").into()) }
}

fn chain(language: &str, error: &dyn Error) -> String {
    let mut text = format!("{language}: {error}");
    let mut next = error.source();
    while let Some(cause) = next {
        text += &format!(": {cause}");
        next = cause.source();
    }
    text
}

/// The kernels' files in a folder, one for each stem.
fn kernels(folder: &str, extension: &str) -> Result<Vec<PathBuf>, Failed> {
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn every_shader_has_a_cuda_twin() -> Result<(), Failed> {
    let stems = |files: Vec<PathBuf>| -> BTreeSet<_> {
        files.iter().filter_map(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned()).collect()
    };
    for (shaders, kernels_of_cuda) in [("shaders", "cuda"), ("shaders/probes", "cuda/probes")] {
        let (wgsl, cuda) = (stems(kernels(shaders, "wgsl")?), stems(kernels(kernels_of_cuda, "cu")?));
        let missing: Vec<_> = wgsl.symmetric_difference(&cuda).collect();
        if !missing.is_empty() {
            return Err(format!("without a twin in the other language: {missing:?}").into());
        }
    }
    Ok(())
}

fn every_kernel_opens_with_the_five_headings() -> Result<(), Failed> {
    let folders = [("shaders", "wgsl"), ("cuda", "cu"), ("shaders/probes", "wgsl"), ("cuda/probes", "cu")];
    let files = folders.map(|(folder, extension)| kernels(folder, extension));
    let files = files.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    for path in files {
        let text = fs::read_to_string(&path)?;
        let comment = text.lines().take_while(|line| line.starts_with("//"));
        let lines = comment.map(|line| line.trim_start_matches('/').trim_start());
        let found: Vec<_> =
            lines.filter_map(|line| HEADINGS.into_iter().find(|heading| line.starts_with(heading))).collect();
        expect_eq(&path.display().to_string(), found.as_slice(), &HEADINGS)?;
    }
    Ok(())
}
