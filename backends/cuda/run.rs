//! Launches: how a variant is put on the stream, and how many of them are timed.
//!
//! One launch is put on the stream as it is. More are captured into graphs, which the driver replays at a fraction of
//! the host's cost for a launch, so that the device never waits for the host while it is being timed.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaEvent, CudaGraph, result};

use super::error::failed;
use super::geam::Geam;
use super::kernel::Kernel;
use super::modules::Lines;
use super::probe::ProbeKernel;
use super::workspace::CudaWorkspace;
use crate::backend::{BackendError, PreparedRun};
use crate::probe::Launch;
use crate::timing::{DeviceTime, HostTime, Timing};
use crate::variant::Variant;

/// Launches of a graph, where a rotation over the sets is not longer.
const GRAPH_LAUNCHES: u32 = 64;
/// How long the device may take for a run once everything is queued.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What a launch does.
enum Work {
    /// The driver's own copy.
    Memcpy,
    /// A kernel of ours.
    Kernel(Kernel),
    /// cuBLAS's transpose.
    Geam(Geam),
    /// A probe of the memory hierarchy.
    Probe(ProbeKernel),
}

/// A graph and how many launches it holds, from the first set on.
struct Replay {
    launches: u32,
    graph: CudaGraph,
}

/// A variant ready to run on the buffers of a workspace.
pub(super) struct CudaRun<'a> {
    // Dropped before the workspace's buffers, which they refer to.
    whole: Option<Replay>,
    rest: Option<Replay>,
    start: CudaEvent,
    end: CudaEvent,
    /// `None` where there is nothing to move.
    work: Option<Work>,
    in_place: bool,
    workspace: &'a CudaWorkspace<'a>,
}

impl<'a> CudaRun<'a> {
    /// Loads the kernel of `variant`, which must be supported.
    pub(super) fn new(workspace: &'a CudaWorkspace<'a>, variant: Variant) -> Result<Self, BackendError> {
        let _turn = workspace.opened.turn()?;
        let work = if workspace.problem.is_empty() { None } else { Some(Work::new(workspace, variant)?) };
        CudaRun::of(workspace, work, variant.is_in_place())
    }

    /// Loads the kernel of a probe, which the device can launch.
    pub(super) fn probe(workspace: &'a CudaWorkspace<'a>, launch: &Launch) -> Result<Self, BackendError> {
        let _turn = workspace.opened.turn()?;
        let kernel = ProbeKernel::new(&workspace.opened.modules, launch)?;
        CudaRun::of(workspace, Some(Work::Probe(kernel)), false)
    }

    /// The context must be current.
    fn of(workspace: &'a CudaWorkspace<'a>, work: Option<Work>, in_place: bool) -> Result<Self, BackendError> {
        let opened = &workspace.opened;
        // cudarc's default would be an event without a time.
        let event = || opened.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(failed("cuEventCreate"));
        let (start, end) = (event()?, event()?);
        Ok(CudaRun { whole: None, rest: None, start, end, work, in_place, workspace })
    }

    /// Captures a graph of `launches` launches, and uploads it so that its first replay is no slower than the others.
    fn capture(&self, work: &Work, launches: u32) -> Result<Replay, BackendError> {
        let stream = &self.workspace.opened.stream;
        // What other threads do with the driver is no part of this and may go on.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).map_err(failed("cuStreamBeginCapture"))?;
        let captured = self.enqueue(work, launches);
        // The capture has to end even if a launch failed, or the stream would be of no use any more.
        let graph = stream.end_capture(CUgraphInstantiate_flags(0)).map_err(failed("cuGraphInstantiate"));
        captured?;
        let no_graph = || BackendError::Call { call: "cuStreamEndCapture", reason: "it returned no graph".into() };
        let graph = graph?.ok_or_else(no_graph)?;
        graph.upload().map_err(failed("cuGraphUpload"))?;
        Ok(Replay { launches, graph })
    }

    /// Puts `launches` launches on the stream, rotating over the sets from the first on.
    fn enqueue(&self, work: &Work, launches: u32) -> Result<(), BackendError> {
        let sets = self.workspace.sets.iter().cycle();
        sets.take(launches as usize)
            .try_for_each(|set| work.enqueue(self.workspace, set.source.pointer, set.destination.pointer))
    }

    /// Waits for the end event.
    fn wait(&self) -> Result<(), BackendError> {
        let asked = Instant::now();
        while !self.end.try_is_complete().map_err(failed("cuEventQuery"))? {
            let waited = asked.elapsed();
            if waited > TIMEOUT {
                self.workspace.opened.give_up();
                return Err(BackendError::Timeout { seconds: TIMEOUT.as_secs() });
            }
            std::thread::sleep(pause(waited));
        }
        Ok(())
    }
}

/// How long to sleep before asking again, having waited so long: the device's clock times the run, so that asking late
/// costs only patience, while asking all the time would cost a core.
fn pause(waited: Duration) -> Duration {
    (waited / 8).clamp(Duration::from_micros(20), Duration::from_millis(5))
}

impl Work {
    fn new(workspace: &CudaWorkspace<'_>, variant: Variant) -> Result<Work, BackendError> {
        match variant {
            Variant::Memcpy => Ok(Work::Memcpy),
            Variant::Geam => Ok(Work::Geam(Geam::new(workspace.opened.cublas()?, &workspace.problem)?)),
            _ => Ok(Work::Kernel(Kernel::new(&workspace.opened.modules, &workspace.problem, variant, Lines::Kept)?)),
        }
    }

    /// Puts one launch on the workspace's stream. The context must be current.
    fn enqueue(&self, workspace: &CudaWorkspace<'_>, source: u64, destination: u64) -> Result<(), BackendError> {
        let stream = workspace.opened.stream.cu_stream();
        match self {
            Work::Memcpy => {
                // No more than the buffers have, whose bytes fit.
                let bytes = workspace.problem.copied_bytes() as usize;
                // SAFETY: both buffers have at least so many bytes and live until the run is over or the device is given
                // up.
                unsafe { result::memcpy_dtod_async(destination, source, bytes, stream) }
                    .map_err(failed("cuMemcpyDtoDAsync"))
            }
            // SAFETY: the function was loaded and the grid computed for the workspace, whose buffers live as above.
            Work::Kernel(kernel) => unsafe { kernel.enqueue(stream, source, destination) },
            // SAFETY: the buffers hold the problem that it was made for and live as above.
            Work::Geam(geam) => unsafe { geam.enqueue(source, destination) },
            // SAFETY: whoever prepared the probe made the buffers for its parameters; they live as above.
            Work::Probe(kernel) => unsafe { kernel.enqueue(stream, source, destination) },
        }
    }
}

/// How many launches a full graph holds: whole rotations over the sets, so that each replay starts at the first set.
fn graph_launches(sets: usize) -> u32 {
    let sets = u32::try_from(sets).unwrap_or(u32::MAX).max(1);
    sets * (GRAPH_LAUNCHES / sets).max(1)
}

impl PreparedRun for CudaRun<'_> {
    fn run(&mut self, launches: NonZeroU32) -> Result<Timing, BackendError> {
        let Some(work) = &self.work else {
            return Ok(Timing::Host(HostTime::since(Instant::now())));
        };
        let opened = &self.workspace.opened;
        let _turn = opened.turn()?;
        let launches = launches.get();
        let full = graph_launches(self.workspace.sets.len());
        let (replays, rest) = (launches / full, launches % full);
        // A single launch is not worth a graph.
        let direct = launches == 1;
        if replays > 0 && !direct && self.whole.is_none() {
            let whole = self.capture(work, full)?;
            self.whole = Some(whole);
        }
        if rest > 0 && !direct && self.rest.as_ref().is_none_or(|replay| replay.launches != rest) {
            let replay = self.capture(work, rest)?;
            self.rest = Some(replay);
        }
        if self.in_place {
            let mut sets = self.workspace.sets.iter();
            sets.try_for_each(|set| Work::Memcpy.enqueue(self.workspace, set.source.pointer, set.destination.pointer))?;
        }
        // The uploads are over before the clock starts.
        opened.finish()?;

        let (stream, launch) = (&opened.stream, "cuGraphLaunch");
        let host = Instant::now();
        self.start.record(stream).map_err(failed("cuEventRecord"))?;
        if direct {
            self.enqueue(work, 1)?;
        } else {
            for replay in self.whole.iter().cycle().take(replays as usize) {
                replay.graph.launch().map_err(failed(launch))?;
            }
            for replay in self.rest.iter().filter(|_| rest > 0) {
                replay.graph.launch().map_err(failed(launch))?;
            }
        }
        self.end.record(stream).map_err(failed("cuEventRecord"))?;
        self.wait()?;
        let host = HostTime::since(host);
        let ms = self.start.elapsed_ms(&self.end).map_err(failed("cuEventElapsedTime"))?;
        Ok(Timing::Device(DeviceTime::from_event_ms(ms, host)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_hold_whole_rotations() {
        for (sets, launches) in [(1, 64), (2, 64), (3, 63), (5, 60), (33, 33), (64, 64), (65, 65), (200, 200)] {
            assert_eq!(graph_launches(sets), launches, "{sets} sets");
        }
    }

    #[test]
    fn pauses_grow_with_the_wait_and_stay_short() {
        assert_eq!(pause(Duration::ZERO), Duration::from_micros(20));
        assert_eq!(pause(Duration::from_millis(8)), Duration::from_millis(1));
        assert_eq!(pause(TIMEOUT), Duration::from_millis(5));
    }
}
