//! The harness: runs every variant on every device with the same problem, and makes the rows of a record.
//!
//! It measures and prints nothing; an [`Observer`] is told how far it is.

pub mod batch;
mod cell;
mod group;
mod rows;
pub mod stats;
mod target;
mod tune;
mod turns;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::device::DeviceKind;
use crate::element::Element;
use crate::limiter::Limiters;
use crate::problem::{Layout, LayoutError, Problem};
use crate::record::Row;
use crate::tune::Winners;
use crate::variant::Variant;

pub use target::{Target, targets};

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The variants, in the order of the rows. The copies that the ceiling is made of are run in any case.
    pub variants: Vec<Variant>,
    /// Rows and columns of the matrices; `None` for the default of each kind of device.
    pub sizes: Option<Vec<(u64, u64)>>,
    /// Matrices of each problem.
    pub batch: u64,
    /// Elements between the end of a row and the beginning of the next, in the source and in the destination.
    pub pad: [u64; 2],
    /// Elements between the gap of a matrix's last row and the next matrix, likewise.
    pub batch_pad: [u64; 2],
    /// Element types.
    pub elements: Vec<Element>,
    /// Settings of the shaders' bounds checks, on devices that have such a setting.
    pub bounds_checks: Vec<bool>,
    /// Time for which each cell is measured at least.
    pub min_time: Duration,
    /// Timed batches of each cell.
    pub rounds: u32,
}

impl Default for Plan {
    /// Every variant on the default size in f32, packed, without bounds checks.
    fn default() -> Plan {
        Plan {
            variants: Variant::ALL.to_vec(),
            sizes: None,
            batch: 1,
            pad: [0; 2],
            batch_pad: [0; 2],
            elements: vec![Element::F32],
            bounds_checks: vec![false],
            min_time: Duration::from_millis(250),
            rounds: 11,
        }
    }
}

/// The default problem of a GPU: 64 MiB of f32, past any cache but the largest.
const GPU_SIZE: (u64, u64) = (4096, 4096);
/// The default problem of a CPU.
const CPU_SIZE: (u64, u64) = (2048, 2048);
/// The default problem of a CPU that pretends to be a GPU, which is far slower than one that does not.
const SOFTWARE_SIZE: (u64, u64) = (1024, 1024);

impl Plan {
    /// The problems for a kind of device.
    ///
    /// # Errors
    /// [`LayoutError`] for the first whose bytes cannot be counted.
    pub fn problems(&self, kind: DeviceKind) -> Result<Vec<Problem>, LayoutError> {
        let default = [match kind {
            DeviceKind::Gpu => GPU_SIZE,
            DeviceKind::Cpu => CPU_SIZE,
            DeviceKind::Software => SOFTWARE_SIZE,
        }];
        let sizes = self.sizes.as_deref().unwrap_or(&default);
        let each = sizes.iter().flat_map(|&(rows, cols)| self.elements.iter().map(move |&e| (rows, cols, e)));
        each.map(|(rows, cols, element)| self.problem(rows, cols, element)).collect()
    }

    fn problem(&self, rows: u64, cols: u64, element: Element) -> Result<Problem, LayoutError> {
        let source = Layout::with_gaps(rows, cols, self.pad[0], self.batch_pad[0]);
        let destination = Layout::with_gaps(cols, rows, self.pad[1], self.batch_pad[1]);
        Problem::new(rows, cols, self.batch, element)?.with_layouts(source, destination)
    }

    /// The variants to run: those asked for and the copies, in the order of the table.
    fn all_variants(&self) -> Vec<Variant> {
        let wanted = |variant: &Variant| variant.is_ceiling() || self.variants.contains(variant);
        Variant::ALL.iter().copied().filter(wanted).collect()
    }
}

/// Is told how far the harness is. Nothing it does is timed.
pub trait Observer {
    /// `done` of `total` steps are done; `what` comes next.
    fn step(&mut self, done: u64, total: u64, what: &str);
}

/// Runs `plan` on `targets` and returns the rows, in order of target, problem, setting and variant.
///
/// When `stop` becomes true, the current batch is finished, and the rows measured so far are returned.
///
/// # Errors
/// [`LayoutError`] before anything is run. Whatever goes wrong later is in the row that it concerns.
pub fn run(
    targets: &[Target],
    plan: &Plan,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, LayoutError> {
    run_all(targets, plan, None, stop, observer)
}

/// Does what [`run`] does, but for `auto`, which runs the transpose that has been measured to be the fastest. Where
/// `winners` has none for a device and problem, all kernels that can run there are measured first, and the winner is
/// added; where there is nothing to choose from, where none is right, and where `stop` becomes true before all are
/// measured, none is.
///
/// # Errors
/// As [`run`].
pub fn run_tuned(
    targets: &[Target],
    plan: &Plan,
    winners: &mut Winners,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, LayoutError> {
    run_all(targets, plan, Some(winners), stop, observer)
}

fn run_all(
    targets: &[Target],
    plan: &Plan,
    mut winners: Option<&mut Winners>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Vec<Row>, LayoutError> {
    let mut groups = Vec::new();
    for target in targets {
        for problem in plan.problems(target.info().kind)? {
            groups.push(group::Group::new(target, problem, plan, winners.as_deref()));
        }
    }
    let total = groups.iter().map(group::Group::steps).sum();
    let mut progress = Progress::new(total, stop, observer);
    let (mut rows, mut limiters) = (Vec::new(), Limiters::default());
    for group in groups {
        if progress.stopped() {
            break;
        }
        rows.extend(group.run(winners.as_deref_mut(), &mut limiters, &mut progress));
    }
    Ok(rows)
}

/// How far the run is, and whether it should stop.
pub(crate) struct Progress<'a> {
    done: u64,
    total: u64,
    stop: &'a AtomicBool,
    observer: &'a mut dyn Observer,
}

impl<'a> Progress<'a> {
    /// Of a run of `total` steps, at the most.
    pub(crate) fn new(total: u64, stop: &'a AtomicBool, observer: &'a mut dyn Observer) -> Progress<'a> {
        Progress { done: 0, total, stop, observer }
    }

    /// Passes over steps, up to this one, that turned out not to be needed.
    pub(crate) fn skip_to(&mut self, done: u64) {
        self.done = done.min(self.total);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop_flag()()
    }

    /// The same question, for those who get no more of this.
    pub(crate) fn stop_flag(&self) -> impl Fn() -> bool + use<'a> {
        let stop = self.stop;
        move || stop.load(Ordering::Relaxed)
    }

    /// Announces what comes next.
    pub(crate) fn next(&mut self, what: &str) {
        self.observer.step(self.done, self.total, what);
        self.done = (self.done + 1).min(self.total);
    }
}
