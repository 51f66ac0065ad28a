//! `cornerturn hierarchy`, `cornerturn coalescing` and `cornerturn banks`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::choice::{absent, apis, choose};
use super::interrupt::stop_on_interrupt;
use super::output::{self, Output};
use super::parse;
use super::progress::Progress;
use super::{Failure, environment};
use crate::backend::TransposeBackend;
use crate::backends::{self, Discovery};
use crate::device::{DeviceId, DeviceKind};
use crate::harness::{self, Observer, Target};
use crate::probe::{self, Settings};
use crate::record::{BanksRow, CoalescingRow, HierarchyRow, ProbeRecord, ProbeResult, Status};
use crate::report::{self, Report};

/// The options that all three have.
#[derive(clap::Args)]
struct Common {
    /// Devices to measure, separated by commas, such as cuda:0, vulkan:0, metal:0, dx12:0, gl:0 [default: all GPUs]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    device: Vec<DeviceId>,

    /// How often everything is measured, each time in memory allocated anew
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    repetitions: u32,

    /// The least time of a timed batch of launches, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.01", value_parser = parse::seconds)]
    min_time: Duration,

    /// Write the record as JSON (docs/RECORD.md describes it)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write the tables with figures as an HTML page that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print no table and no progress; errors and files still come
    #[arg(long)]
    quiet: bool,
}

/// The options of `cornerturn hierarchy`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn hierarchy
  cornerturn hierarchy --device cuda:0,vulkan:0 --json hierarchy.json --html hierarchy.html

Latency: one lane follows a random chain of loads through sets of growing size; a level ends where the latency \
leaves its plateau. Bandwidth: all multiprocessors read from one level; GB = 10^9 bytes. docs/HIERARCHY.md tells how, and \
what biases it.
Exit codes: 0 all well, 1 a device failed, 2 bad input, 130 interrupted.")]
pub struct HierarchyArgs {
    #[command(flatten)]
    common: Common,

    /// The largest set, such as 512MiB [default: four times the last-level cache]
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    largest: Option<u64>,
}

/// The options of `cornerturn coalescing`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn coalescing
  cornerturn coalescing --device cuda:0,vulkan:0 --json coalescing.json --html coalescing.html

Sectors of 32 bytes and lines of 128 bytes are what the access model says that a request of 32 lanes touches; measured \
is the bandwidth of the bytes that were asked for; GB = 10^9 bytes. docs/HIERARCHY.md tells how, and what biases it.
Exit codes: 0 all well, 1 a device failed, 2 bad input, 130 interrupted.")]
pub struct CoalescingArgs {
    #[command(flatten)]
    common: Common,

    /// Bytes over which the accesses spread, such as 512MiB [default: 32 times the last-level cache]
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    set: Option<u64>,
}

/// The options of `cornerturn banks`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn banks
  cornerturn banks --device cuda:0,vulkan:0 --json banks.json --html banks.html

Lane n of a warp reads word n x stride of shared memory, which has 32 banks of 4 bytes; the degree is how many passes \
the access model predicts for such a request. docs/HIERARCHY.md tells how it is measured.
Exit codes: 0 all well, 1 a device failed, 2 bad input, 130 interrupted.")]
pub struct BanksArgs {
    #[command(flatten)]
    common: Common,
}

/// Measures the levels of memory.
pub fn hierarchy(args: &HierarchyArgs, command: &[OsString]) -> Result<ExitCode, Failure> {
    run::<HierarchyRow>(&args.common, args.largest, command, probe::hierarchy::run, report::hierarchy)
}

/// Measures strided and misaligned accesses.
pub fn coalescing(args: &CoalescingArgs, command: &[OsString]) -> Result<ExitCode, Failure> {
    run::<CoalescingRow>(&args.common, args.set, command, probe::coalescing::run, report::coalescing)
}

/// Measures bank conflicts.
pub fn banks(args: &BanksArgs, command: &[OsString]) -> Result<ExitCode, Failure> {
    run::<BanksRow>(&args.common, None, command, probe::banks::run, report::banks)
}

/// How a probe is run.
type Measure<R> = fn(&[Target], Settings, &AtomicBool, &mut dyn Observer) -> Vec<R>;

fn run<R: ProbeResult>(
    args: &Common,
    largest: Option<u64>,
    command: &[OsString],
    measure: Measure<R>,
    present: fn(&ProbeRecord<R>) -> Report,
) -> Result<ExitCode, Failure> {
    // Before there are temporary files to leave behind.
    let stop = stop_on_interrupt("stopping after this batch; once more to stop at once")?;
    let outputs = Outputs::open(args)?;
    let discovery = backends::discover(&apis(&args.device));
    let chosen = gpus_or(&args.device, &discovery)?;
    let targets = harness::targets(chosen, |_| None);
    let environment = environment(command);
    let settings = Settings { repetitions: args.repetitions, batch_time: args.min_time, largest };
    let mut progress = Progress::new(args.quiet);
    let results = measure(&targets, settings, &stop, &mut progress);
    progress.finish();
    let record = ProbeRecord {
        schema: R::SCHEMA.into(),
        environment,
        devices: targets.iter().map(Target::record).collect(),
        absent: discovery.absent.iter().map(absent).collect(),
        results,
        interrupted: stop.load(Ordering::Relaxed),
    };
    let report = present(&record);
    // The table first: should a file fail to be written, the figures are still there to see.
    let printed = if args.quiet { Ok(()) } else { super::print(&super::table(&report)) };
    outputs.write(&record, &report).map_err(Failure::Run)?;
    printed?;
    let failed = record.results.iter().any(|result| result.ending().1 == Status::Failed);
    Ok(ExitCode::from(if record.interrupted { 130 } else { u8::from(failed) }))
}

/// The devices asked for, in the order asked; all GPUs if none is named.
fn gpus_or<'a>(ids: &[DeviceId], discovery: &'a Discovery) -> Result<Vec<&'a dyn TransposeBackend>, Failure> {
    let all = choose(ids, discovery)?;
    if !ids.is_empty() {
        return Ok(all);
    }
    let listed: Vec<String> = all.iter().map(|device| device.device().id.to_string()).collect();
    let gpus: Vec<_> = all.into_iter().filter(|device| device.device().kind == DeviceKind::Gpu).collect();
    if gpus.is_empty() {
        let listed = listed.join(", ");
        let message =
            "there is no GPU here, and cornerturn doctor says what would bring one; --device takes the others";
        return Err(Failure::Input(format!("{message}: {listed}")));
    }
    Ok(gpus)
}

/// The files to write.
struct Outputs {
    json: Option<Output>,
    markdown: Option<Output>,
    html: Option<Output>,
}

impl Outputs {
    fn open(args: &Common) -> Result<Outputs, Failure> {
        let outputs = output::open_all([&args.json, &args.markdown, &args.html], &[]);
        outputs.map(|[json, markdown, html]| Outputs { json, markdown, html }).map_err(Failure::Input)
    }

    /// Writes all of them, also those after one that fails.
    fn write<R: ProbeResult>(self, record: &ProbeRecord<R>, report: &Report) -> Result<(), String> {
        output::write_all([
            (self.json, &|| record.to_json().map_err(|error| error.to_string())),
            (self.markdown, &|| Ok(report.markdown())),
            (self.html, &|| Ok(report::html(&[report::Source { name: None, report }]))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Api;

    #[test]
    fn a_machine_without_a_gpu_says_where_to_look() {
        let found = backends::discover(&[Api::Cpu]);
        let Err(Failure::Input(message)) = gpus_or(&[], &found) else { panic!("a CPU is taken for a GPU") };
        assert!(message.contains("cornerturn doctor") && message.ends_with("takes the others: cpu"), "{message}");
        assert!(gpus_or(&["cpu".parse().unwrap()], &found).is_ok());
    }
}
