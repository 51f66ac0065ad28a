//! `cornerturn report`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::Failure;
use super::output::Output;
use crate::record::AnyRecord;
use crate::report::{self, Report, Source};

/// The options of `cornerturn report`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn report run.json                      (the tables, in the terminal)
  cornerturn report run.json -o report.html
  cornerturn report monday.json friday.json -o week.html
  cornerturn report run.json hierarchy.json coalescing.json banks.json -o gpu.html

The page holds everything it needs and loads nothing. Each record has a section of its own, in the order given.
Exit codes: 0 all well, 1 the page could not be written, 2 bad input.")]
pub struct Args {
    /// Records, as bench, hierarchy, coalescing, banks and profile write them with --json
    #[arg(value_name = "RECORD", required = true)]
    records: Vec<PathBuf>,

    /// Write an HTML page instead of printing the tables
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Reads the records and presents them.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let read = |path: &PathBuf| match AnyRecord::read(path) {
        Ok(record) => Ok(report::of(&record)),
        Err(error) => Err(Failure::Input(error.to_string())),
    };
    let reports = args.records.iter().map(read).collect::<Result<Vec<Report>, Failure>>()?;
    match &args.output {
        Some(path) => write(path, &args.records, &reports)?,
        None => print(&reports)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, inputs: &[PathBuf], reports: &[Report]) -> Result<(), Failure> {
    // Names of files without their folders, which say where somebody keeps them.
    let names: Vec<String> = inputs.iter().map(|path| name(path)).collect();
    let sources: Vec<Source> =
        names.iter().zip(reports).map(|(name, report)| Source { name: Some(name), report }).collect();
    let page = report::html(&sources);
    let output = Output::open(path).map_err(Failure::Input)?;
    // Whoever forgets the -o's argument would lose a record.
    output.spare(inputs).map_err(Failure::Input)?;
    output.write(&page).map_err(Failure::Run)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn print(reports: &[Report]) -> Result<(), Failure> {
    let tables: Vec<String> = reports.iter().map(super::table).collect();
    super::print(&tables.join("\n"))
}
