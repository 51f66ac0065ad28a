//! `cornerturn profile`.

use std::env;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use super::Failure;
use super::choice;
use super::output::Output;
use super::parse;
use crate::backend::{RunOptions, Support, TransposeBackend};
use crate::backends;
use crate::device::{Api, DeviceId};
use crate::element::Element;
use crate::harness;
use crate::problem::Problem;
use crate::profile::{self, Ncu, Profile, ProfileError, Row};
use crate::report;
use crate::variant::Variant;
use crate::verify;

/// The options of `cornerturn profile`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn profile
  cornerturn profile --variant tiled,padded --size 4096x4096 --element f32
  cornerturn profile --device cuda:1 --json counters.json

Each variant is launched once, under ncu with --clock-control none: clocks are left as they are. Bank conflicts are \
passes beyond the first of a request. A sector is 32 bytes; a request is one of a warp.
Exit codes: 0 all well, 1 ncu is missing, refused or failed, 2 bad input.")]
pub struct Args {
    /// The CUDA device
    #[arg(long, value_name = "ID", default_value = "cuda:0")]
    device: DeviceId,

    /// Variants, separated by commas [default: all kernels of cornerturn's own that can run]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<Variant>,

    /// The matrix's size
    #[arg(long, value_name = "ROWSxCOLS", default_value = "4096x4096", value_parser = parse::size)]
    size: (u64, u64),

    /// The element's type
    #[arg(long, value_name = "NAME", default_value = "f32")]
    element: Element,

    /// Write the counters as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Print no table; errors and the file still come
    #[arg(long)]
    quiet: bool,

    /// Launch each variant once and end: what runs under ncu
    #[arg(long, hide = true)]
    launch: bool,
}

/// Reads the counters and presents them; or is what they are read of.
pub fn run(args: &Args, command: &[OsString]) -> Result<ExitCode, Failure> {
    let (rows, cols) = args.size;
    let problem = Problem::new(rows, cols, 1, args.element).map_err(|error| Failure::Input(error.to_string()))?;
    if args.device.api != Api::Cuda {
        let message = format!("ncu counts on CUDA's devices alone, and `{}` is none; write cuda:0", args.device);
        return Err(Failure::Input(message));
    }
    if problem.is_empty() {
        return Err(Failure::Input(format!("a matrix of {rows}x{cols} has no elements: nothing would be launched")));
    }
    let output = args.json.as_deref().map(Output::open).transpose().map_err(Failure::Input)?;
    let discovery = backends::discover(&[Api::Cuda]);
    let devices = choice::choose(&[args.device], &discovery)?;
    let device = devices[0];
    let variants = variants(&args.variant, device, &problem)?;
    if args.launch {
        return launch(device, &problem, &variants);
    }
    let measured = count(args, &variants)?;
    let target = harness::targets([device], |_| None).remove(0);
    let row = |(variant, measured): (&Variant, profile::Launch)| {
        Row::new(variant.name(), profile::predicted(*variant, &problem), measured.counts)
    };
    let profile = Profile {
        schema: profile::SCHEMA.into(),
        environment: super::environment(command),
        device: target.record(),
        problem: problem.to_string(),
        results: variants.iter().zip(measured).map(row).collect(),
    };
    // The table first: should the file fail to be written, the figures are still there to see.
    let printed = if args.quiet { Ok(()) } else { super::print(&report::profile(&profile).table()) };
    if let Some(output) = output {
        let text = profile.to_json().map_err(|error| Failure::Run(error.to_string()))?;
        output.write(&text).map_err(Failure::Run)?;
    }
    printed.map(|()| ExitCode::SUCCESS)
}

/// The kernels to launch: those named, each of which must be able to run, or all that can.
fn variants(named: &[Variant], device: &dyn TransposeBackend, problem: &Problem) -> Result<Vec<Variant>, Failure> {
    let obstacle = |variant: Variant| match (variant.spec().kernel, device.support(variant, problem)) {
        (None, _) => Some("it is no kernel of cornerturn's own".to_owned()),
        (_, Support::Unsupported(reason)) => Some(reason),
        (Some(_), Support::Supported) => None,
    };
    if named.is_empty() {
        return Ok(Variant::ALL.iter().copied().filter(|&variant| obstacle(variant).is_none()).collect());
    }
    let named = choice::without_repeats(named);
    match named.iter().find_map(|&variant| Some((variant, obstacle(variant)?))) {
        Some((variant, reason)) => Err(Failure::Input(format!("{variant} cannot be profiled: {reason}"))),
        None => Ok(named),
    }
}

/// Launches each variant once.
fn launch(device: &dyn TransposeBackend, problem: &Problem, variants: &[Variant]) -> Result<ExitCode, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Run(error.to_string());
    let workspace = device.workspace(problem, 1).map_err(|error| failed(&error))?;
    verify::fill_sources(workspace.as_ref(), problem, 1, &|| false).map_err(|error| failed(&error))?;
    for &variant in variants {
        let mut run = workspace.prepare(variant, RunOptions::default()).map_err(|error| failed(&error))?;
        run.run(NonZeroU32::MIN).map_err(|error| failed(&error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs this program under ncu to launch the variants.
fn count(args: &Args, variants: &[Variant]) -> Result<Vec<profile::Launch>, Failure> {
    let failed = |error: ProfileError| Failure::Run(error.to_string());
    let ncu = Ncu::find().map_err(failed)?;
    let program = env::current_exe().map_err(|error| Failure::Run(format!("this program's own file: {error}")))?;
    let names: Vec<&str> = variants.iter().map(|variant| variant.name()).collect();
    let stems: Vec<&str> = variants.iter().map(|variant| variant.stem()).collect();
    let (rows, cols) = args.size;
    let words = [
        "profile".to_owned(),
        "--launch".to_owned(),
        format!("--device={}", args.device),
        format!("--variant={}", names.join(",")),
        format!("--size={rows}x{cols}"),
        format!("--element={}", args.element),
    ];
    let launches = ncu.count(&stems, &program, words.map(OsString::from)).map_err(failed)?;
    let kernels: Vec<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
    if kernels != stems {
        let message = format!("ncu counted the kernels {}, launched were {}", kernels.join(", "), stems.join(", "));
        return Err(Failure::Run(message));
    }
    Ok(launches)
}
