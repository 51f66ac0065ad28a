//! `cornerturn compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::output;
use super::{Failure, baseline, parse};
use crate::compare::{Comparison, Pair};
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

    /// Exit with 1 if a row has lost more than so many percent of its bandwidth (5 if none is given), or runs no more
    #[arg(
        long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, value_parser = parse::percent,
        default_missing_value = "5"
    )]
    fail_on_regression: Option<f64>,

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
    match args.fail_on_regression {
        Some(percent) => check(&comparison, percent),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The record in a file, or under the name of a baseline.
fn read(path: &Path) -> Result<Record, Failure> {
    match path.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(name) => baseline::read(&name.parse().map_err(Failure::Input)?),
        None => Record::read(path).map_err(|error| Failure::Input(error.to_string())),
    }
}

/// Rows that a message names; the table has them all.
const NAMED: usize = 3;

fn check(comparison: &Comparison, percent: f64) -> Result<ExitCode, Failure> {
    let regressions: Vec<&Pair> = comparison.regressions(percent).collect();
    if regressions.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let mut named: Vec<String> = regressions.iter().take(NAMED).map(|pair| report::told(pair, comparison)).collect();
    named.extend((regressions.len() > NAMED).then(|| format!("and {} more", regressions.len() - NAMED)));
    let count = regressions.len();
    let rows = if count == 1 { "row has" } else { "rows have" };
    let message =
        format!("{count} {rows} lost more than {percent} % of the bandwidth, or run no more: {}", named.join("; "));
    Err(Failure::Run(message))
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches};

    use super::*;
    use crate::compare::REGRESSION_PERCENT;

    #[test]
    fn the_default_is_that_of_the_library() {
        let command = Args::augment_args(Command::new("compare"));
        let matches = command.try_get_matches_from(["compare", "--fail-on-regression", "a", "b"]).unwrap();
        assert_eq!(Args::from_arg_matches(&matches).unwrap().fail_on_regression, Some(REGRESSION_PERCENT));
    }
}
