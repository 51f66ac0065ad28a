//! `cornerturn transpose`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use super::input::{Elements, Input};
use super::interrupt::{end_at_once, stop_on_interrupt};
use super::output::Output;
use super::progress::Progress;
use super::{Failure, complain};
use crate::backend::{Support, TransposeBackend};
use crate::backends::{self, Discovery};
use crate::device::{Api, DeviceId, DeviceKind, InvalidDeviceId};
use crate::element::Element;
use crate::file::npy::Header;
use crate::file::stream::{self, Sink, StreamError};
use crate::file::turn::Turn;
use crate::harness::Observer;
use crate::problem::Problem;
use crate::variant::Variant;

/// The options of `cornerturn transpose`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn transpose in.npy out.npy
  cornerturn transpose in.npy - | python3 -c 'import numpy, sys; print(numpy.load(sys.stdin.buffer).shape)'
  cornerturn transpose --raw --rows 1080 --cols 1920 --element u8 image.raw turned.raw

A .npy file holds a matrix or, with three axes, a batch of matrices, in C or Fortran order, of booleans, integers, \
floats, complex numbers or dates in any byte order, of 1, 2, 4, 8 or 16 bytes. The result is in C order, as NumPy's \
in.T or numpy.swapaxes(in, -1, -2), with the same type. It is written beside OUT and put in its place when it is whole, if IN was not changed meanwhile.
Exit codes: 0 all well, 1 the run failed, 2 bad input, 130 interrupted; OUT is as it was unless all is well.")]
pub struct Args {
    /// The file to transpose; - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write; - for standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The device to run on, such as cpu, cuda:0 or vulkan:0; auto is the first GPU that can, else the CPU
    #[arg(long, value_name = "ID", default_value = "auto")]
    device: Wanted,

    /// Take IN as elements without a header, in C order, and write OUT so
    #[arg(long, requires_all = ["rows", "cols", "element"])]
    raw: bool,

    /// Rows of a matrix in a raw file
    #[arg(long, value_name = "COUNT", requires = "raw")]
    rows: Option<u64>,

    /// Columns of a matrix in a raw file
    #[arg(long, value_name = "COUNT", requires = "raw")]
    cols: Option<u64>,

    /// Matrices in a raw file, one after the other [default: 1]
    #[arg(long, value_name = "COUNT", requires = "raw")]
    batch: Option<u64>,

    /// Element type of a raw file: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128
    #[arg(long, value_name = "NAME", requires = "raw")]
    element: Option<Element>,

    /// Print no progress and no notes; errors still come
    #[arg(long)]
    quiet: bool,
}

/// Where to run.
#[derive(Clone, Copy)]
enum Wanted {
    Auto,
    Device(DeviceId),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        match text {
            "auto" => Ok(Wanted::Auto),
            id => id.parse().map(Wanted::Device).map_err(|error: InvalidDeviceId| format!("{error}, or auto")),
        }
    }
}

/// What is to be written: a header, if any, and the elements turned.
struct Job {
    header: Vec<u8>,
    turn: Turn,
    elements: Elements,
}

impl Job {
    /// The bytes that are to be written.
    fn bytes(&self) -> u64 {
        self.header.len() as u64 + self.turn.bytes
    }
}

/// A writer that counts what has gone through.
struct Counted<'a> {
    to: &'a mut dyn Write,
    bytes: &'a mut u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        *self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Transposes a file.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let stop = stop_on_interrupt("stopping; once more to stop at once")?;
    // Reading a stream to its end may take forever, as may waiting for who reads a pipe, and leaves nothing behind.
    let mut input = end_at_once(&stop, || Input::open(&args.input))?;
    let job = job(args, &mut input)?;
    let output = end_at_once(&stop, || Output::open(stream_of(&args.output))).map_err(Failure::Input)?;
    output.spare(input.path.as_slice()).map_err(Failure::Input)?;
    let discovery = discover(args.device, &job.turn);
    let device = job.turn.transpose.as_ref().and_then(|problem| {
        device_for(args.device, &discovery, problem).unwrap_or_else(|note| {
            if !args.quiet {
                complain(&format!("{note}; on the CPU instead"));
            }
            None
        })
    });
    let mut progress = Progress::new(args.quiet);
    let mut written = 0;
    let filled = output.fill(|to| {
        let mut to = Counted { to, bytes: &mut written };
        let mut done = 0;
        let mut arrived = |bytes| {
            done += bytes;
            progress.step(done, job.turn.bytes, &input.name);
        };
        let done = write(&job, device, args.quiet, &mut Sink { to: &mut to, arrived: &mut arrived, stop: &stop });
        match input.changed(&job.elements) {
            Some(how) if !matches!(done, Err(StreamError::Interrupted)) => Err(StreamError::Source(how)),
            _ => done,
        }
    });
    progress.finish();
    match filled {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(StreamError::Interrupted) => Ok(ExitCode::from(130)),
        Err(StreamError::Write(error)) => {
            let (name, whole) = (args.output.display(), job.bytes());
            Err(Failure::Run(format!("cannot write {name}: {error}, after {written} B of {whole} B")))
        }
        Err(error) => Err(Failure::Run(error.to_string())),
    }
}

/// The path that stands for what the user wrote.
fn stream_of(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("/dev/stdout") } else { path }
}

/// Reads what the input is, and makes sure that it is all there.
fn job(args: &Args, input: &mut Input) -> Result<Job, Failure> {
    let (turn, header, offset) = match (args.rows, args.cols, args.element) {
        (Some(rows), Some(cols), Some(element)) => {
            let batch = args.batch.unwrap_or(1);
            let turn = Turn::packed(batch, rows, cols, element, &[batch, cols, rows]);
            let wrong = |error| Failure::Input(format!("what the options say {error}"));
            (turn.map_err(wrong)?, Vec::new(), 0)
        }
        _ => {
            let name = input.name.clone();
            let wrong = |error: &dyn std::fmt::Display| Failure::Input(format!("{name} {error}"));
            let header = Header::read(input.reader()).map_err(|error| wrong(&error))?;
            let turn = Turn::of(&header).map_err(|error| wrong(&error))?;
            let written = Header::of_shape(&header.descr, &turn.shape);
            (turn, written, header.data)
        }
    };
    let there = input.length - offset.min(input.length);
    if there != turn.bytes {
        let wanted = if args.raw { "the options say" } else { "its header says" };
        let message = format!("{} holds {there} B of elements; {wanted} {} B", input.name, turn.bytes);
        return Err(Failure::Input(message));
    }
    let elements = input.elements(offset).map_err(Failure::Run)?;
    Ok(Job { header, turn, elements })
}

/// The devices to choose from; none where nothing is to be chosen.
fn discover(wanted: Wanted, turn: &Turn) -> Discovery {
    match (wanted, &turn.transpose) {
        (_, None) | (Wanted::Device(DeviceId { api: Api::Cpu, .. }), _) => Discovery::default(),
        (Wanted::Device(id), _) => backends::discover(&[id.api]),
        (Wanted::Auto, _) => backends::discover(&Api::ALL),
    }
}

/// The device that runs; `None` for the CPU, if that is wanted.
///
/// # Errors
/// Why the CPU runs although something else is wanted.
fn device_for<'a>(
    wanted: Wanted,
    discovery: &'a Discovery,
    problem: &Problem,
) -> Result<Option<&'a dyn TransposeBackend>, String> {
    let mut devices = discovery.devices.iter().map(Box::as_ref);
    let usable = |device: &'a dyn TransposeBackend| match device.support(Variant::Auto, problem) {
        Support::Supported => Ok(Some(device)),
        Support::Unsupported(reason) => Err(format!("{}: {reason}", device.device().id)),
    };
    match wanted {
        Wanted::Device(id) if id == DeviceId::CPU => Ok(None),
        Wanted::Device(id) => {
            let absent = || match discovery.absent.iter().find(|absent| absent.api == id.api) {
                Some(absent) => format!("{id}: {}", absent.reason),
                None => format!("there is no device `{id}`"),
            };
            usable(devices.find(|device| device.device().id == id).ok_or_else(absent)?)
        }
        Wanted::Auto => {
            let gpus = devices.filter(|device| device.device().kind == DeviceKind::Gpu);
            gpus.map(usable).find(Result::is_ok).unwrap_or(Ok(None))
        }
    }
}

fn write(
    job: &Job,
    device: Option<&dyn TransposeBackend>,
    quiet: bool,
    sink: &mut Sink<'_>,
) -> Result<(), StreamError> {
    sink.to.write_all(&job.header).map_err(StreamError::Write)?;
    let Some(problem) = job.turn.transpose else { return stream::copy(&job.elements, sink) };
    let Some(device) = device else { return stream::on_cpu(&job.elements, problem, sink) };
    let mut any = false;
    let mut arrived = |bytes| {
        any = true;
        (sink.arrived)(bytes);
    };
    let mut watched = Sink { to: sink.to, arrived: &mut arrived, stop: sink.stop };
    match stream::on_device(device, &job.elements, problem, &mut watched) {
        Err(StreamError::Device(error)) if !any => {
            if !quiet {
                complain(&format!("{}: {error}; on the CPU instead", device.device().id));
            }
            stream::on_cpu(&job.elements, problem, sink)
        }
        done => done,
    }
}
