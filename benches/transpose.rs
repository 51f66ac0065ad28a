//! `cargo bench`: every device × problem × variant, timed by the device's own clock where it has one, and held by
//! criterion against the run before.
//!
//! An iteration is a launch. Throughput counts as everywhere in Cornerturn: bytes read plus bytes written, in units of
//! 10⁹. `CORNERTURN_DEVICES=cuda:0,…` restricts the run to some devices, and criterion's filter to some benchmarks:
//! `cargo bench -- 'cuda:0/.*/vectorized'`. Their names are `DEVICE/ROWSxCOLS ELEMENT/VARIANT`.

#[path = "../tests/common/devices.rs"]
mod devices;

use std::cell::OnceCell;
use std::fmt::Display;
use std::num::NonZeroU32;
use std::time::Duration;

use cornerturn::backend::{BackendError, PreparedRun, RunOptions, Support, Workspace};
use cornerturn::backends;
use cornerturn::device::DeviceKind;
use cornerturn::element::Element;
use cornerturn::harness::{Plan, Target, batch, targets};
use cornerturn::problem::Problem;
use cornerturn::variant::Variant;
use cornerturn::verify::{self, POISON, VerifyError};
use criterion::{Criterion, SamplingMode, Throughput};

/// Seconds of one batch of launches, as in `cornerturn bench`: far below what any driver takes for a hang.
const BATCH_SECONDS: f64 = 0.025;
/// Criterion's fewest.
const SAMPLES: usize = 10;
/// Two batches a sample.
const MEASUREMENT: Duration = Duration::from_millis(500);
/// Enough batches for criterion to see what a launch takes: it begins with one, for which a whole batch is run.
const WARM_UP: Duration = Duration::from_millis(500);

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(SAMPLES)
        .measurement_time(MEASUREMENT)
        .warm_up_time(WARM_UP)
        .without_plots()
        .configure_from_args();
    let found = backends::discover(&devices::wanted_apis());
    for absent in &found.absent {
        eprintln!("left out: {} ({})", absent.api, absent.reason);
    }
    let mut targets = targets(found.devices.iter().map(AsRef::as_ref), |_| None);
    targets.retain(|target| devices::wanted(target.info().id));
    assert!(!targets.is_empty(), "CORNERTURN_DEVICES names no device that is here");
    for target in &targets {
        problems(target.info().kind).iter().for_each(|problem| bench(&mut criterion, target, problem));
    }
    criterion.final_summary();
}

/// The default size in a wide and a narrow element, and one that is all edge: `auto` must notice it.
fn problems(kind: DeviceKind) -> Vec<Problem> {
    let plan = Plan { elements: vec![Element::F32, Element::U8], ..Plan::default() };
    let skinny = Plan { sizes: Some(vec![(1000, 3)]), ..Plan::default() };
    [plan, skinny].iter().flat_map(|plan| plan.problems(kind).expect("the sizes are small")).collect()
}

/// Benchmarks all variants on one problem.
fn bench(criterion: &mut Criterion, target: &Target, problem: &Problem) {
    let name = format!("{}/{}x{} {}", target.info().id, problem.rows(), problem.cols(), problem.element());
    let mut group = criterion.benchmark_group(&name);
    // Batches take what they take: samples of different lengths would tell no more.
    group.throughput(Throughput::BytesDecimal(problem.bytes_moved())).sampling_mode(SamplingMode::Flat);
    // Filled for the first variant that criterion's filter lets through.
    let buffers = OnceCell::new();
    for &variant in Variant::ALL {
        let name = format!("{name}/{variant}");
        if let Support::Unsupported(reason) = target.backend.support(variant, problem) {
            eprintln!("left out: {name} ({reason})");
            continue;
        }
        // Criterion calls the closure anew for every sample.
        let mut timed = None;
        group.bench_function(variant.name(), |bencher| {
            let (workspace, sets) =
                buffers.get_or_init(|| or_panic(&name, target.filled_workspace(problem, &|| false)));
            let timed = timed
                .get_or_insert_with(|| or_panic(&name, Timed::new(&name, workspace.as_ref(), *sets, problem, variant)));
            bencher.iter_custom(|launches| or_panic(&name, timed.time(launches)));
        });
    }
    group.finish();
}

/// Criterion has no other way out of a benchmark.
fn or_panic<T>(name: &str, result: Result<T, impl Display>) -> T {
    result.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A variant whose results are right, ready to be timed.
struct Timed<'a> {
    name: &'a str,
    run: Box<dyn PreparedRun + 'a>,
    /// Launches in one batch.
    batch: NonZeroU32,
    /// Why the host's clock times it, as last printed.
    note: Option<String>,
}

impl<'a> Timed<'a> {
    /// Prepares a variant, verifies it and sizes its batches.
    fn new(
        name: &'a str,
        workspace: &'a dyn Workspace,
        sets: usize,
        problem: &Problem,
        variant: Variant,
    ) -> Result<Timed<'a>, VerifyError> {
        let mut run = workspace.prepare(variant, RunOptions { bounds_checks: false })?;
        let moves = variant.spec().moves;
        for poison in POISON {
            verify::check_run(run.as_mut(), workspace, problem, moves, sets, poison, &|| false)?;
        }
        let batch = batch::calibrate(run.as_mut(), BATCH_SECONDS, sets, &|| false)?;
        Ok(Timed { name, run, batch, note: None })
    }

    /// How long `launches` take. What runs is always whole batches, whose time is scaled: fewer launches would touch
    /// fewer buffers, which might then stay in the cache, and more at once might be taken for a hang.
    fn time(&mut self, launches: u64) -> Result<Duration, BackendError> {
        let batch = u64::from(self.batch.get());
        let batches = launches.div_ceil(batch);
        let mut seconds = 0.0;
        for _ in 0..batches {
            seconds += self.run.run(self.batch)?.seconds();
        }
        self.tell_of_the_clock();
        Ok(Duration::from_secs_f64(seconds * launches as f64 / (batches * batch) as f64))
    }

    /// Says so when the host's clock had to step in: such samples do not compare with those of the device's.
    fn tell_of_the_clock(&mut self) {
        let note = self.run.timer_note();
        if let Some(note) = note.as_ref().filter(|_| note != self.note) {
            eprintln!("{}: timed by the host's clock: {note}", self.name);
        }
        self.note = note;
    }
}
