//! A variant ready to run.

use std::iter::repeat;
use std::num::NonZeroU32;
use std::time::Instant;

use wgpu::{BufferUsages, Features};

use super::clock::Clock;
use super::gpu::{Gpu, Held};
use super::pipeline::Key;
use super::workspace::Set;
use crate::backend::{BackendError, PreparedRun, RunOptions};
use crate::launch::{Launch, buffer_bytes, fold};
use crate::probe;
use crate::problem::Problem;
use crate::timing::{DeviceTime, HostTime, Timing};
use crate::variant::Variant;

/// Launches in one command buffer: drivers slow down or fail where there are very many.
const LAUNCHES_PER_COMMANDS: u64 = 1024;

/// How often N launches are held against 2N before the host's clock is given up.
const HOST_TRIES: usize = 5;

/// A prepared run.
pub(super) struct WgpuRun<'a> {
    gpu: &'a Gpu,
    parts: Held<'a, Parts>,
    /// Why the host's clock times the run although the device has one.
    note: Option<String>,
}

/// What a run has on the device.
struct Parts {
    work: Work,
    /// `None` where the device has no clock for this work.
    clock: Option<Clock>,
}

/// What one launch does.
enum Work {
    /// An empty problem.
    Nothing,
    Kernel {
        pipeline: wgpu::ComputePipeline,
        /// One for each set.
        groups: Vec<wgpu::BindGroup>,
        workgroups: [u32; 2],
        /// What is transposed in place: sets of which the destinations first become the sources, of so many bytes.
        first: Option<(Vec<Set>, u64)>,
    },
    /// The API's own copy.
    Copy { sets: Vec<Set>, bytes: u64 },
}

impl<'a> WgpuRun<'a> {
    /// Prepares `variant` on `sets`, made for `problem`, on a device that takes `most` workgroups a dimension.
    pub(super) fn new(
        gpu: &'a Gpu,
        problem: &Problem,
        sets: &[Set],
        most: u32,
        variant: Variant,
        options: RunOptions,
    ) -> Result<WgpuRun<'a>, BackendError> {
        let turn = gpu.turn();
        let work = if problem.is_empty() || sets.is_empty() {
            Work::Nothing
        } else if variant == Variant::Memcpy {
            Work::Copy { sets: sets.to_vec(), bytes: buffer_bytes(problem.copied_bytes()) }
        } else {
            kernel(gpu, problem, sets, most, variant, options)?
        };
        let needed = match work {
            Work::Copy { .. } => Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS,
            _ => Features::TIMESTAMP_QUERY,
        };
        let clock = Clock::new(gpu, needed)?;
        let note = (clock.is_none() && gpu.device.features().contains(Features::TIMESTAMP_QUERY))
            .then(|| "the device has timestamps for compute passes only, and this is a copy".to_owned());
        drop(turn);
        Ok(WgpuRun { gpu, parts: Held::new(gpu, Parts { work, clock }), note })
    }

    /// Prepares a probe on `sets`, on a device that takes `most` workgroups a dimension.
    pub(super) fn probe(
        gpu: &'a Gpu,
        sets: &[Set],
        most: u32,
        launch: &probe::Launch,
    ) -> Result<WgpuRun<'a>, BackendError> {
        let turn = gpu.turn();
        let beyond = || {
            let blocks = launch.parameters.blocks;
            BackendError::Unsupported(format!(
                "the probe takes {blocks} workgroups, more than {most} × {most} can number"
            ))
        };
        let workgroups = fold(launch.grid(), most).ok_or_else(beyond)?;
        gpu.alive()?;
        let pipeline = gpu.pipelines.probe(launch.probe)?;
        let work = bound(gpu, sets, pipeline, workgroups, bytemuck::bytes_of(&launch.parameters), None)?;
        let clock = Clock::new(gpu, Features::TIMESTAMP_QUERY)?;
        drop(turn);
        Ok(WgpuRun { gpu, parts: Held::new(gpu, Parts { work, clock }), note: None })
    }

    /// Runs and times by the device's clock; the inner error is a time that cannot be.
    fn by_device(&self, clock: &Clock, launches: u64) -> Result<Result<Timing, String>, BackendError> {
        let commands = self.encode(launches, Some(clock))?;
        let (begin, end) = self.gpu.submit(commands)?;
        let (first, last, period_ns) = clock.read(self.gpu)?;
        let time = DeviceTime::from_ticks(first, last, period_ns, HostTime::between(begin, end));
        Ok(time.map(Timing::Device).map_err(|error| error.to_string()))
    }

    /// Runs and times by the host's clock, without what a submission costs once.
    fn by_host(&self, launches: u64) -> Result<Timing, BackendError> {
        let run = |launches| {
            let commands = self.encode(launches, None)?;
            let (begin, end) = self.gpu.submit(commands)?;
            Ok::<_, BackendError>(HostTime::between(begin, end))
        };
        let mut time = HostTime::from_doubling(run(launches)?, run(2 * launches)?);
        for _ in 1..HOST_TRIES {
            if time.is_ok() {
                break;
            }
            time = HostTime::from_doubling(run(launches)?, run(2 * launches)?);
        }
        Ok(Timing::Host(time?))
    }

    fn encode(&self, launches: u64, clock: Option<&Clock>) -> Result<Vec<wgpu::CommandBuffer>, BackendError> {
        self.gpu.call("encode", 0, || {
            (0..launches)
                .step_by(LAUNCHES_PER_COMMANDS as usize)
                .map(|start| self.encode_some(start, (start + LAUNCHES_PER_COMMANDS).min(launches), launches, clock))
                .collect()
        })
    }

    /// The launches from `start` to before `end` of `all`.
    fn encode_some(&self, start: u64, end: u64, all: u64, clock: Option<&Clock>) -> wgpu::CommandBuffer {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let (first, last) = (start == 0, end == all);
        match &self.parts.work {
            Work::Nothing => {}
            Work::Kernel { pipeline, groups, workgroups: [x, y], first: sets } => {
                for (set, bytes) in
                    sets.iter().filter(|_| first).flat_map(|(sets, bytes)| sets.iter().zip(repeat(bytes)))
                {
                    encoder.copy_buffer_to_buffer(&set.source, 0, &set.destination, 0, *bytes);
                }
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: None,
                    timestamp_writes: clock.and_then(|clock| clock.of_pass(first, last)),
                });
                pass.set_pipeline(pipeline);
                for launch in start..end {
                    pass.set_bind_group(0, &groups[(launch % groups.len() as u64) as usize], &[]);
                    pass.dispatch_workgroups(*x, *y, 1);
                }
            }
            Work::Copy { sets, bytes } => {
                if let Some(clock) = clock.filter(|_| first) {
                    clock.begin(&mut encoder);
                }
                for launch in start..end {
                    let set = &sets[(launch % sets.len() as u64) as usize];
                    encoder.copy_buffer_to_buffer(&set.source, 0, &set.destination, 0, *bytes);
                }
                if let Some(clock) = clock.filter(|_| last) {
                    clock.end(&mut encoder);
                }
            }
        }
        if let Some(clock) = clock.filter(|_| last) {
            clock.resolve(&mut encoder);
        }
        encoder.finish()
    }
}

fn kernel(
    gpu: &Gpu,
    problem: &Problem,
    sets: &[Set],
    most: u32,
    variant: Variant,
    options: RunOptions,
) -> Result<Work, BackendError> {
    let unsupported = || BackendError::Unsupported(format!("{variant} on {problem} is beyond 32-bit numbers"));
    let Launch { params: content, workgroups } = Launch::new(variant, problem, most).ok_or_else(unsupported)?;
    let key = Key { variant, width: problem.width(), bounds_checks: options.bounds_checks };
    gpu.alive()?;
    let pipeline = gpu.pipelines.get(key)?;
    let first = variant.is_in_place().then(|| (sets.to_vec(), buffer_bytes(problem.copied_bytes())));
    bound(gpu, sets, pipeline, workgroups, bytemuck::bytes_of(&content), first)
}

/// A kernel bound to each of `sets` and to these parameters.
fn bound(
    gpu: &Gpu,
    sets: &[Set],
    pipeline: wgpu::ComputePipeline,
    workgroups: [u32; 2],
    parameters: &[u8],
    first: Option<(Vec<Set>, u64)>,
) -> Result<Work, BackendError> {
    let params = gpu.buffer(parameters.len() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)?;
    gpu.call("write_buffer", 0, || gpu.queue.write_buffer(&params, 0, parameters))?;
    let groups = sets.iter().map(|set| {
        let buffers = [&set.source, &set.destination, &params].map(wgpu::Buffer::as_entire_buffer_binding);
        gpu.pipelines.bind(buffers)
    });
    let groups = groups.collect::<Result<_, _>>()?;
    Ok(Work::Kernel { pipeline, groups, workgroups, first })
}

impl PreparedRun for WgpuRun<'_> {
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError> {
        if let Work::Nothing = self.parts.work {
            return Ok(Timing::Host(HostTime::since(Instant::now())));
        }
        let _turn = self.gpu.turn();
        let launches = launches.get().into();
        if let Some(clock) = self.parts.clock.as_ref().filter(|_| self.note.is_none()) {
            match self.by_device(clock, launches)? {
                Ok(time) => return Ok(time),
                // A clock that has been wrong once is not asked again.
                Err(error) => self.note = Some(format!("the device's timestamps are of no use: {error}")),
            }
        }
        self.by_host(launches)
    }

    fn timer_note(&self) -> Option<String> {
        self.note.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::wgpu::discovery;
    use crate::element::Element;

    /// Runs `check` on the first adapter of the machine, if there is one.
    fn on_an_adapter(check: impl Fn(&Gpu)) {
        match discovery::list(wgpu::Backends::all()).first() {
            Some(adapter) => check(&Gpu::open(adapter).unwrap()),
            None => println!("skipped: the machine has no adapter"),
        }
    }

    fn prepared<'a>(gpu: &'a Gpu, problem: &Problem, variant: Variant) -> WgpuRun<'a> {
        let sets = [0, 1, 2].map(|_| Set::new(gpu, problem).unwrap());
        WgpuRun::new(gpu, problem, &sets, 65_535, variant, RunOptions::default()).unwrap()
    }

    fn launches(n: u64) -> NonZeroU32 {
        NonZeroU32::new(n as u32).unwrap()
    }

    #[test]
    fn an_empty_problem_runs_by_the_hosts_clock() {
        on_an_adapter(|gpu| {
            let mut run = prepared(gpu, &Problem::new(0, 7, 3, Element::F32).unwrap(), Variant::Padded);
            assert!(matches!(run.run(launches(1)), Ok(Timing::Host(_))));
            assert_eq!(run.timer_note(), None);
        });
    }

    #[test]
    fn launches_beyond_one_command_buffer_are_timed_together() {
        on_an_adapter(|gpu| {
            for variant in [Variant::Memcpy, Variant::Naive] {
                let mut run = prepared(gpu, &Problem::new(5, 7, 1, Element::U8).unwrap(), variant);
                assert!(run.run(launches(2 * LAUNCHES_PER_COMMANDS + 1)).unwrap().seconds() > 0.0);
            }
        });
    }

    #[test]
    fn a_clock_that_was_wrong_is_not_asked_again() {
        on_an_adapter(|gpu| {
            let mut run = prepared(gpu, &Problem::new(300, 500, 1, Element::F32).unwrap(), Variant::Naive);
            run.note = Some("for a reason".into());
            assert!(matches!(run.run(launches(50)), Ok(Timing::Host(_))));
            assert_eq!(run.timer_note().as_deref(), Some("for a reason"));
        });
    }

    #[test]
    fn a_lost_device_is_an_error() {
        on_an_adapter(|gpu| {
            let mut run = prepared(gpu, &Problem::new(5, 7, 1, Element::F32).unwrap(), Variant::Copy);
            gpu.device.destroy();
            let error = run.run(launches(1)).unwrap_err();
            assert!(matches!(error, BackendError::Lost { .. }), "{error:?}");
        });
    }
}
