//! `cornerturn transpose` with what a machine may not have: NumPy.
//!
//! `CORNERTURN_REQUIRE=numpy` fails where it is missing; otherwise such tests are skipped.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use missing::unless_missing;

#[path = "common/missing.rs"]
mod missing;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cornerturn");

fn main() -> ExitCode {
    let trials = vec![Trial::ignorable_test("numpy_reads_what_is_turned", || {
        unless_missing("numpy", &numpy_usable(), round_trips)
    })];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Fails with all that was printed, unless it went well.
fn succeeded(output: &Output) -> Result<(), Failed> {
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}\n{}", output.status, told(output)).into()),
    }
}

fn told(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

/// Python: what the environment variable `PYTHON` names, or else `python3`.
fn python() -> Command {
    Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}

fn numpy_usable() -> Result<(), String> {
    match python().args(["-c", "import numpy"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(told(&output).lines().last().unwrap_or("Python fails").into()),
        Err(error) => Err(format!("Python does not start: {error}")),
    }
}

fn round_trips() -> Result<(), Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numpy/round_trips.py");
    let output = python().arg(script).arg(PROGRAM).output()?;
    succeeded(&output)?;
    match String::from_utf8_lossy(&output.stdout).trim().strip_suffix(" arrays").map(str::parse) {
        Some(Ok(1_u32..)) => Ok(()),
        _ => Err(format!("the script says no number of arrays: {}", told(&output)).into()),
    }
}
