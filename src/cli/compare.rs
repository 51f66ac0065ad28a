//! `cornerturn compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::output;
use super::regression::Gate;
use super::{Failure, baseline};
use crate::compare::Comparison;
use crate::record::Record;
use crate::report;

/// The options of `cornerturn compare`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cornerturn compare before.json after.json
  cornerturn compare @main run.json              (a baseline that bench --save-baseline main has saved)
  cornerturn compare before.json after.json --fail-on-regression=10
  cornerturn compare before.json after.json --quiet --markdown /dev/stdout   (for a pull request)

A verdict comes from all samples of both runs: from an interval in which the ratio of the bandwidths is with 99 % \
certainty. faster and slower are rows whose whole interval is more than 2 % away from 1, same are those for which it \
is within 2 %, and the others are unsure; new and gone rows have figures in one record only. Devices are matched by id \
and name, else by name, else by id; what differs between the runs is told. docs/RECORD.md tells how.

A regression is a row that is slower and has lost more than PERCENT of its bandwidth, or one that ran and fails now or \
cannot run any more. Rows that are missing in NEW are none.

Exit codes: 0 all well, 1 a regression, with --fail-on-regression; 2 bad input.")]
pub struct Args {
    /// The earlier record, as bench --json writes it; or @NAME, a saved baseline (./@NAME is a file of that name)
    #[arg(value_name = "BASE.json")]
    base: PathBuf,

    /// The later record, or @NAME
    #[arg(value_name = "NEW.json")]
    new: PathBuf,

    #[command(flatten)]
    gate: Gate,

    /// Write the comparison as JSON (docs/RECORD.md describes it)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Print no table; errors and files still come
    #[arg(long)]
    quiet: bool,
}

/// Compares two records and presents the comparison.
pub fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (base, new) = (read(&args.base)?, read(&args.new)?);
    let [json, markdown] = output::open_all([&args.json, &args.markdown], &[]).map_err(Failure::Input)?;
    for output in [&json, &markdown].into_iter().flatten() {
        output.spare(&[&args.base, &args.new]).map_err(Failure::Input)?;
    }
    let comparison = Comparison::of(&base, &new);
    let names = [&args.base, &args.new].map(|path| path.display().to_string());
    let names = [names[0].as_str(), names[1].as_str()];
    let printed = if args.quiet { Ok(()) } else { super::print(&report::comparison_table(&comparison, names)) };
    output::write_all([
        (json, &|| Ok(comparison.to_json(names))),
        (markdown, &|| Ok(report::comparison_markdown(&comparison, names))),
    ])
    .map_err(Failure::Run)?;
    printed?;
    args.gate.check(&comparison).map_err(Failure::Run)?;
    Ok(ExitCode::SUCCESS)
}

/// The record in a file, or under the name of a baseline.
fn read(path: &Path) -> Result<Record, Failure> {
    match path.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(name) => baseline::read(&name.parse().map_err(Failure::Input)?),
        None => Record::read(path).map_err(|error| Failure::Input(error.to_string())),
    }
}
