//! The command line: what `cornerturn --help` shows.
//!
//! Exit codes: 0, all well; 1, something that was run failed; 2, bad input, found before anything ran; 130,
//! interrupted.

mod baseline;
mod bench;
mod choice;
mod compare;
mod devices;
mod doctor;
mod explain;
mod input;
mod interrupt;
mod lost;
mod output;
mod parse;
mod probe;
mod profile;
mod progress;
mod regression;
mod report;
mod screen;
mod shell;
mod transpose;
mod tuning;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Parser, Subcommand};

use crate::record::Environment;
use crate::report::Report;

/// Matrix transpose at the speed of a copy on any GPU: files, benchmark, the memory underneath, and what shaders do with it.
#[derive(Parser)]
#[command(
    name = "cornerturn",
    version,
    max_term_width = 100,
    after_help = "Examples:
  cornerturn devices                            what is here, what is not, and why
  cornerturn doctor                             what to install or set where something is not
  cornerturn bench --json run.json              all variants on all devices
  cornerturn compare before.json run.json       what has become faster or slower
  cornerturn transpose in.npy out.npy"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every variant on every device and compare their bandwidth with the copy ceiling and the peak
    Bench(Box<bench::Args>),
    /// Compare two records of bench row by row, and say what has become faster or slower
    Compare(compare::Args),
    /// Measure each level of memory: capacity, latency and bandwidth, from the registers to DRAM
    Hierarchy(probe::HierarchyArgs),
    /// Measure what strides and misaligned starts make of the bandwidth of loads and stores
    Coalescing(probe::CoalescingArgs),
    /// Measure what bank conflicts in shared memory cost
    Banks(probe::BanksArgs),
    /// Transpose the matrices in a file: NumPy's .npy, or raw elements
    Transpose(transpose::Args),
    /// Count sectors and bank conflicts of the CUDA kernels in hardware, with Nsight Compute
    Profile(profile::Args),
    /// Make a page of records that bench and the probes wrote, or show them in the terminal
    Report(report::Args),
    /// Trace a WGSL compute shader on the CPU: coalescing, bank conflicts and data races, line by line
    Explain(Box<explain::Args>),
    /// List the devices, and why the others are not here
    Devices,
    /// Check the machine step by step, and say what to install or set
    Doctor(doctor::Args),
    /// Print the script by which a shell completes command lines
    Completions(shell::Completions),
    /// Print a page of the manual
    Man(shell::Page),
}

/// What the program sets `XDG_RUNTIME_DIR` to where it is not set: a folder without a Wayland display's socket.
pub const NO_RUNTIME_FOLDER: &str = "/nonexistent";

/// Something ended the run; what it is decides the exit code.
enum Failure {
    /// What the user asked for cannot be: exit 2.
    Input(String),
    /// It was tried and did not work: exit 1.
    Run(String),
}

/// Runs the program with `args`, program name first, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Graphics drivers and wgpu log what is no fault of anyone's; RUST_LOG brings it back.
    let quiet = env_logger::Env::default().default_filter_or("warn,wgpu_core=off,wgpu_hal=off,naga=off");
    env_logger::Builder::from_env(quiet).format_timestamp(None).init();
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(message) => {
            // A closed pipe is the only way in which this fails, and then nobody is there to be told.
            let _ = message.print();
            return ExitCode::from(message.exit_code() as u8);
        }
    };
    // What is wrong with a shader is told with its lines.
    let shows_lines = matches!(cli.command, Command::Explain(_));
    let done = match cli.command {
        Command::Bench(arguments) => bench::run(&arguments, &args),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Hierarchy(arguments) => probe::hierarchy(&arguments, &args),
        Command::Coalescing(arguments) => probe::coalescing(&arguments, &args),
        Command::Banks(arguments) => probe::banks(&arguments, &args),
        Command::Transpose(arguments) => transpose::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments, &args),
        Command::Report(arguments) => report::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Devices => devices::run(),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(arguments) => shell::page(&arguments),
    };
    let (code, message) = match done {
        Ok(code) => return code,
        Err(Failure::Input(message)) => (2, message),
        Err(Failure::Run(message)) => (1, message),
    };
    let message = format!("error: {message}");
    match shows_lines {
        true => say(&crate::report::escape_lines(&message)),
        false => complain(&message),
    }
    ExitCode::from(code)
}

/// Prints a line to standard error, one whatever is in it of files and their names.
fn complain(line: &str) {
    say(&crate::report::escape(line));
}

/// Prints to standard error. Where that cannot be written, there is nobody left to tell.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The tables of a report, for whatever standard output is.
fn table(report: &Report) -> String {
    screen::screen().map_or_else(|| report.table(), |screen| report.table_on(screen))
}

/// Prints to standard output. A reader that went away is no error: `cornerturn devices | head -1` is fine.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Where and how the program runs.
fn environment(command: &[OsString]) -> Environment {
    // The program's own path says where somebody keeps their files, and nothing about the run.
    let program = command.first().and_then(|path| Path::new(path).file_name()).unwrap_or_default().to_owned();
    let words = std::iter::once(&program).chain(command.iter().skip(1));
    Environment {
        version: env!("CARGO_PKG_VERSION").into(),
        command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        os: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
    }
}
