//! `cornerturn bench`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::ValueEnum;

use super::Failure;
use super::baseline::{self, Baselines};
use super::choice::{self, without_repeats};
use super::interrupt::stop_on_interrupt;
use super::output::{self, Output};
use super::parse::{self, PeakArg};
use super::progress::Progress;
use super::tuning::Tuning;
use crate::backend::TransposeBackend;
use crate::backends;
use crate::device::{DeviceId, DeviceKind};
use crate::element::Element;
use crate::harness::{self, Plan, Target};
use crate::record::{self, Record, Status};
use crate::report::{self, Report};
use crate::variant::Variant;

/// The options of `cornerturn bench`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn bench
  cornerturn bench --device cuda:0,vulkan:0 --size 4096x4096,10000x10007 --element f32,u8
  cornerturn bench --variant padded --bounds-checks both --json run.json
  cornerturn bench --size 1024x1024,4096x4096,16384x16384 --html report.html
  cornerturn bench --size 4000x4000 --pad 96,0   (source rows begin every 4096 elements)
  cornerturn bench --save-baseline main      (and after a change: cornerturn bench --baseline main)
  cornerturn bench --baseline main --fail-on-regression=10   (exit 1 where more than 10 % are lost)
  cornerturn bench --size 10000x3 --tune   (auto runs the kernel that was measured to be the fastest)

--tune keeps the winner for each device, driver, version of cornerturn, shape, width, layout and setting of the \
bounds checks in tuning.json in the user's cache folder (on Linux $XDG_CACHE_HOME/cornerturn or ~/.cache/cornerturn) \
and takes it from there the next time; remove the file to measure anew. Without --tune no winner is used: auto \
chooses by shape, width, layout and device alone.

--save-baseline keeps the record as NAME.json in the folder baselines of the user's data folder (on Linux \
$XDG_DATA_HOME/cornerturn or ~/.local/share/cornerturn); remove the file to forget it. What has become faster or \
slower is told as by cornerturn compare; see its --help, also for what --fail-on-regression takes for a regression. A \
run that has one does not replace the baseline that it was compared with.

GB/s counts each element read once and written once: 2 x rows x cols x batch x width; GB = 10^9 bytes.
Exit codes: 0 all well, 1 a row failed or, with --fail-on-regression, a regression, 2 bad input, 130 interrupted.")]
pub struct Args {
    /// Devices to run on, separated by commas, such as cpu, cuda:0, vulkan:0, metal:0, dx12:0, gl:0 [default: all]
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    device: Vec<DeviceId>,

    /// Matrix sizes, separated by commas [default: 4096x4096 on GPUs, 2048x2048 on CPUs, 1024x1024 on software devices]
    #[arg(long, value_name = "ROWSxCOLS", value_delimiter = ',', value_parser = parse::size)]
    size: Vec<(u64, u64)>,

    /// Matrices of each size, one after the other
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u64,

    /// Elements between the end of a row and the beginning of the next: leading dimensions larger than a row
    #[arg(
        long, value_name = "SOURCE,DESTINATION", default_value = "0,0", value_parser = parse::sides,
        allow_hyphen_values = true
    )]
    pad: [u64; 2],

    /// Elements more between a matrix and the next, with --batch: batch strides larger than a matrix
    #[arg(
        long, value_name = "SOURCE,DESTINATION", default_value = "0,0", value_parser = parse::sides,
        allow_hyphen_values = true
    )]
    batch_pad: [u64; 2],

    /// Element types, separated by commas: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "f32")]
    element: Vec<Element>,

    /// Variants, separated by commas: memcpy copy naive tiled padded swizzled vectorized compact gather tall wide inplace swap
    /// auto geam transpose-crate; the copies memcpy and copy run in any case, for they make the ceiling [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<Variant>,

    /// Have auto run the fastest of cornerturn's own kernels as measured: once for each device and problem, then kept
    #[arg(long)]
    tune: bool,

    /// Whether WGSL is compiled with bounds checks
    #[arg(long, value_enum, default_value_t = BoundsChecks::Off)]
    bounds_checks: BoundsChecks,

    /// Seconds for which each cell of the table is measured
    #[arg(long, value_name = "SECONDS", default_value = "0.25", value_parser = parse::seconds)]
    min_time: Duration,

    /// Theoretical peak in GB/s, for all devices or for one as ID=GBPS
    #[arg(long, value_name = "[ID=]GBPS", value_delimiter = ',', value_parser = parse::peak)]
    peak: Vec<PeakArg>,

    /// Write the record as JSON (docs/RECORD.md describes it)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Write the tables with figures as an HTML page that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    baselines: baseline::Options,

    /// Print no table and no progress; errors and files still come
    #[arg(long)]
    quiet: bool,
}

/// A setting that can be an axis.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BoundsChecks {
    Off,
    On,
    Both,
}

/// Runs the benchmark and presents it.
pub fn run(args: &Args, command: &[OsString]) -> Result<ExitCode, Failure> {
    let plan = plan(args)?;
    // Before there are temporary files to leave behind.
    let stop = stop_on_interrupt("stopping after this batch; once more to stop at once")?;
    let mut tuning = args.tune.then(Tuning::open).transpose()?;
    let baselines = Baselines::open(&args.baselines)?;
    let taken: Vec<&Output> = tuning.iter().map(|tuning| &tuning.output).chain(baselines.output()).collect();
    let outputs = Outputs::open(args, &taken)?;
    let discovery = backends::discover(&choice::apis(&args.device));
    let chosen = choice::choose(&args.device, &discovery)?;
    check_peaks(&args.peak, &chosen)?;
    let targets = harness::targets(chosen, |id| user_peak(&args.peak, id));
    let environment = super::environment(command);
    let mut progress = Progress::new(args.quiet);
    let rows = match &mut tuning {
        Some(tuning) => harness::run_tuned(&targets, &plan, &mut tuning.winners, &stop, &mut progress),
        None => harness::run(&targets, &plan, &stop, &mut progress),
    };
    let rows = rows.map_err(|error| Failure::Input(error.to_string()))?;
    progress.finish();
    let record = Record {
        schema: record::SCHEMA.into(),
        environment,
        devices: targets.iter().map(Target::record).collect(),
        absent: discovery.absent.iter().map(choice::absent).collect(),
        results: rows,
        interrupted: stop.load(Ordering::Relaxed),
    };
    let tuned = tuning.map(Tuning::store).transpose();
    let against = baselines.against(&record);
    let below = [tuned.as_ref().ok().and_then(Option::as_deref), against.as_ref().map(|against| &*against.table)];
    let report = report::bench(&record);
    // The table first: should a file fail to be written, the figures are still there to see.
    let printed = if args.quiet { Ok(()) } else { super::print(&table(&report, below)) };
    let passed = against.map_or(Ok(()), |against| against.passed);
    let written = [outputs.write(&record, &report), baselines.save(&record, passed.is_ok())].map(Result::err);
    let failures: Vec<String> = written.into_iter().flatten().collect();
    if !failures.is_empty() {
        return Err(Failure::Run(failures.join("; ")));
    }
    printed?;
    tuned.map_err(Failure::Run)?;
    passed.map_err(Failure::Run)?;
    Ok(ExitCode::from(exit_code(&record)))
}

/// The table, and below it what was tuned and what the baseline says, if anything. Neither is in the record: what was
/// tuned says where somebody keeps files.
fn table(report: &Report, below: [Option<&str>; 2]) -> String {
    below.into_iter().flatten().fold(super::table(report), |table, text| format!("{table}\n{text}"))
}

/// 130 for an interrupted run, 1 if a row failed, else 0.
fn exit_code(record: &Record) -> u8 {
    let failed = record.results.iter().any(|row| row.status == Status::Failed);
    if record.interrupted { 130 } else { failed.into() }
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let plan = Plan {
        variants: if args.variant.is_empty() { Variant::ALL.to_vec() } else { args.variant.clone() },
        sizes: (!args.size.is_empty()).then(|| without_repeats(&args.size)),
        batch: args.batch,
        pad: args.pad,
        batch_pad: args.batch_pad,
        elements: without_repeats(&args.element),
        bounds_checks: match args.bounds_checks {
            BoundsChecks::Off => vec![false],
            BoundsChecks::On => vec![true],
            BoundsChecks::Both => vec![false, true],
        },
        min_time: args.min_time,
        ..Plan::default()
    };
    if args.batch <= 1 && args.batch_pad != [0; 2] {
        let [source, destination] = args.batch_pad;
        let batch = args.batch;
        let message =
            format!("--batch-pad {source},{destination} is between matrices, of which --batch {batch} has no two");
        return Err(Failure::Input(message));
    }
    if args.tune && !plan.variants.contains(&Variant::Auto) {
        let named: Vec<&str> = plan.variants.iter().map(|variant| variant.name()).collect();
        let message = "--tune finds what auto is to run, and auto is not among the variants; write --variant";
        return Err(Failure::Input(format!("{message} {},auto, or leave --tune out", named.join(","))));
    }
    // The sizes that depend on the kind of device are all small: one kind stands for all.
    plan.problems(DeviceKind::Gpu).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(plan)
}

/// A peak for a device that does not run would be lost without a word, most likely for a slip of the pen.
fn check_peaks(peaks: &[PeakArg], chosen: &[&dyn TransposeBackend]) -> Result<(), Failure> {
    let here = |id: DeviceId| chosen.iter().any(|device| device.device().id == id);
    match peaks.iter().filter_map(|peak| peak.device).find(|id| !here(*id)) {
        Some(id) => Err(Failure::Input(format!("a peak is given for `{id}`, which is not part of this run"))),
        None => Ok(()),
    }
}

/// What the user gave for this very device, else for all.
fn user_peak(peaks: &[PeakArg], id: DeviceId) -> Option<f64> {
    let last = |wanted: Option<DeviceId>| peaks.iter().rev().find(|peak| peak.device == wanted).map(|peak| peak.gbps);
    last(Some(id)).or_else(|| last(None))
}

/// The files to write.
struct Outputs {
    json: Option<Output>,
    csv: Option<Output>,
    markdown: Option<Output>,
    html: Option<Output>,
}

impl Outputs {
    /// Opens them. None may be one of the files that are `taken`.
    fn open(args: &Args, taken: &[&Output]) -> Result<Outputs, Failure> {
        let outputs = output::open_all([&args.json, &args.csv, &args.markdown, &args.html], taken);
        outputs.map(|[json, csv, markdown, html]| Outputs { json, csv, markdown, html }).map_err(Failure::Input)
    }

    /// Writes all of them, also those after one that fails.
    fn write(self, record: &Record, report: &Report) -> Result<(), String> {
        output::write_all([
            (self.json, &|| record.to_json().map_err(|error| error.to_string())),
            (self.csv, &|| Ok(report::csv(record))),
            (self.markdown, &|| Ok(report.markdown())),
            (self.html, &|| Ok(report::html(&[report::Source { name: None, report }]))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};

    use super::*;

    #[test]
    fn help_names_every_variant() {
        let help = Args::augment_args(Command::new("bench")).render_long_help().to_string();
        for variant in Variant::ALL {
            assert!(help.split([' ', '\n', ';', ':']).any(|word| word == variant.name()), "{variant}");
        }
    }

    fn record_of(statuses: &[Status], interrupted: bool) -> Record {
        let file = include_str!("../../benches/results/nvidia-h200-ladder.json");
        let mut record = Record::from_json(file, "nvidia-h200-ladder.json").unwrap();
        record.results.truncate(statuses.len());
        record.results.iter_mut().zip(statuses).for_each(|(row, status)| row.status = *status);
        record.interrupted = interrupted;
        record
    }

    #[test]
    fn only_failures_and_interrupts_change_the_exit_code() {
        use Status::{Failed, Ok, Suspect, Unsupported};
        assert_eq!(exit_code(&record_of(&[Ok, Suspect, Unsupported], false)), 0);
        assert_eq!(exit_code(&record_of(&[Ok, Failed, Ok], false)), 1);
        assert_eq!(exit_code(&record_of(&[Ok, Failed], true)), 130);
        assert_eq!(exit_code(&record_of(&[], false)), 0);
    }
}
