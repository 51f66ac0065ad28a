//! `cornerturn doctor`: looks at the machine step by step and says what to install or set.

mod finding;
mod graphics;
mod nvidia;
mod place;
mod system;

use std::io::IsTerminal;
use std::process::ExitCode;

use super::Failure;
use crate::backend::{RunOptions, Support};
use crate::backends::{self, Absent, Discovery};
use crate::device::{Api, DeviceInfo, DeviceKind};
use crate::element::Element;
use crate::harness::{self, Target};
use crate::problem::Problem;
use crate::variant::Variant;
use crate::verify::{self, POISON};
use finding::{Finding, Level};
use system::System;

/// The options of `cornerturn doctor`.
#[derive(clap::Args)]
#[command(
    after_help = "Each line says ok, warn (something is missing that not everything needs) or fail, and below it \
what to install or set. At last every device transposes a small matrix, and the result is checked.

Examples:
  cornerturn doctor
  cornerturn doctor | grep -A1 fail
  NO_COLOR=1 cornerturn doctor

Exit codes: 0 at least one GPU works, 1 none does (software devices and the CPU do not count)."
)]
pub struct Args {}

/// What looking for devices has brought.
struct Seen<'a> {
    devices: Vec<&'a DeviceInfo>,
    absent: &'a [Absent],
    /// Whether cuBLAS can be used, or why not; `None` where there is no device for it.
    cublas: Option<Result<(), String>>,
}

impl<'a> Seen<'a> {
    fn of(discovery: &'a Discovery) -> Seen<'a> {
        let devices = discovery.devices.iter().map(|device| device.device()).collect();
        let cuda = discovery.devices.iter().find(|device| device.device().id.api == Api::Cuda);
        let cublas = cuda.zip(trial_problem()).map(|(device, problem)| match device.support(Variant::Geam, &problem) {
            Support::Supported => Ok(()),
            Support::Unsupported(reason) => Err(reason),
        });
        Seen { devices, absent: &discovery.absent, cublas }
    }

    /// What is said of an API that brings no device.
    fn absent(&self, api: Api) -> Option<&Absent> {
        self.absent.iter().find(|absent| absent.api == api)
    }

    /// A line for each device of an API.
    fn listed(&self, api: Api) -> Vec<Finding> {
        let devices = self.devices.iter().filter(|device| device.id.api == api);
        devices.map(|device| Finding::ok(device.id.to_string(), told(device))).collect()
    }
}

fn told(device: &DeviceInfo) -> String {
    let software = if device.kind == DeviceKind::Software { ", a software device" } else { "" };
    let driver = if device.driver.is_empty() { String::new() } else { format!(", {}", device.driver) };
    format!("{}{software}{driver}", device.name)
}

/// Looks at the machine, and says what it found.
pub fn run(_: &Args) -> Result<ExitCode, Failure> {
    let system = System::here();
    let discovery = backends::discover(&Api::ALL);
    let seen = Seen::of(&discovery);
    let targets = harness::targets(discovery.devices.iter().map(Box::as_ref), |_| None);
    let trials: Vec<(&DeviceInfo, Finding)> = targets.iter().map(|target| (target.info(), trial(target))).collect();
    let works =
        |(device, finding): &&(&DeviceInfo, Finding)| device.kind == DeviceKind::Gpu && finding.level == Level::Ok;
    let working: Vec<String> = trials.iter().filter(works).map(|(device, _)| device.id.to_string()).collect();
    let mut groups = groups(&system, &seen);
    groups.push(("a transpose on each device", trials.into_iter().map(|(_, finding)| finding).collect()));
    let text = report(&groups, &working, colour(std::io::stdout().is_terminal()));
    super::print(&text)?;
    Ok(if working.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type Group = (&'static str, Vec<Finding>);

fn groups(system: &System, seen: &Seen) -> Vec<Group> {
    let os = (std::env::consts::OS, std::env::consts::ARCH);
    let mut machine = vec![Finding::ok("system", format!("{} {}", os.0, os.1))];
    let (mut nvidia_gpus, mut vulkan) = (Vec::new(), Vec::new());
    // What is read from files is there on Linux alone.
    if cfg!(target_os = "linux") {
        let checks = [place::hardware, place::wsl, place::container, place::render_nodes, place::runtime_folder];
        machine.extend(checks.iter().flat_map(|check| check(system)));
        if nvidia::expected(system) {
            let checks = [nvidia::module, nvidia::nodes, nvidia::mig, nvidia::profiler];
            nvidia_gpus.extend(checks.iter().flat_map(|check| check(system)));
        }
        vulkan.extend(graphics::drivers(system, seen));
    }
    nvidia_gpus.extend([nvidia::cuda, nvidia::cublas].iter().flat_map(|check| check(system, seen)));
    vulkan.extend([graphics::vulkan, graphics::others, graphics::adapters].iter().flat_map(|check| check(seen)));
    vec![("the machine", machine), ("NVIDIA and CUDA", nvidia_gpus), ("Vulkan and others", vulkan)]
}

/// A matrix whose sides are no multiples of any tile's.
fn trial_problem() -> Option<Problem> {
    Problem::new(67, 45, 1, Element::F32).ok()
}

/// Transposes a small matrix on a device, and compares the result bit for bit.
fn trial(target: &Target) -> Finding {
    let what = target.info().id.to_string();
    let Some(problem) = trial_problem() else { return Finding::ok(what, "not tried") };
    match transpose(target, &problem) {
        Ok(()) => Finding::ok(what, format!("right: {problem}, by auto")),
        Err(error) => Finding::fail(what, error, "update or repair the driver; RUST_LOG=warn shows what it says"),
    }
}

fn transpose(target: &Target, problem: &Problem) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let (workspace, sets) = target.filled_workspace(problem, &|| false).map_err(|error| told(&error))?;
    let variant = target.backend.choose(Variant::Auto, problem);
    let mut run = workspace.prepare(variant, RunOptions::default()).map_err(|error| told(&error))?;
    let moves = Variant::Auto.spec().moves;
    verify::check_run(run.as_mut(), workspace.as_ref(), problem, moves, sets, POISON[0], &|| false)
        .map_err(|error| told(&error))
}

/// Whether words have a colour: on a terminal, unless the user wants none.
fn colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn report(groups: &[Group], working: &[String], colour: bool) -> String {
    let groups = groups.iter().filter(|(_, findings)| !findings.is_empty());
    let mut text: String =
        groups.map(|(name, findings)| format!("{name}\n{}\n", finding::lines(findings, colour))).collect();
    text += &match working {
        [] => "No GPU works here; the CPU always does, and software devices show whether the shaders run.\n".into(),
        [one] => format!("One GPU works: {one}.\n"),
        several => format!("GPUs that work: {}.\n", several.join(", ")),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::cpu::Cpu;

    #[test]
    fn every_api_without_a_device_is_told_with_its_remedy() {
        let root = system::folder(&[]);
        let absent = |api, remedy: &str| Absent { api, reason: format!("no {api} here"), remedy: remedy.into() };
        let absent = [
            absent(Api::Cuda, "install cuda"),
            absent(Api::Vulkan, "install vulkan"),
            absent(Api::Gl, "install gl"),
            absent(Api::Metal, ""),
        ];
        let seen = Seen { devices: vec![], absent: &absent, cublas: None };
        let text = report(&groups(&System::of(root.path(), &[]), &seen), &[], false);
        for said in ["no cuda here", "-> install cuda", "no vulkan here", "-> install vulkan", "-> install gl"] {
            assert!(text.contains(said), "{said} in\n{text}");
        }
        assert!(!text.contains("metal") && text.contains("\nNo GPU works here"), "{text}");
    }

    #[test]
    fn the_cpu_transposes() {
        let cpu = Cpu::new();
        let targets = harness::targets([&cpu as &dyn crate::backend::TransposeBackend], |_| None);
        assert_eq!(trial(&targets[0]).level, Level::Ok);
    }

    #[test]
    fn colour_is_for_terminals_alone() {
        assert!(!colour(false));
    }
}
