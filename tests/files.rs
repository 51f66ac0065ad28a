//! `cornerturn transpose` with what a machine may not have: NumPy, and a file system that is soon full.
//!
//! `CORNERTURN_REQUIRE=numpy,tmpfs` fails where it is missing; otherwise such tests are skipped.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use missing::unless_missing;

#[path = "common/missing.rs"]
mod missing;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cornerturn");

fn main() -> ExitCode {
    let mut trials = vec![Trial::ignorable_test("numpy_reads_what_is_turned", || {
        unless_missing("numpy", &numpy_usable(), round_trips)
    })];
    #[cfg(target_os = "linux")]
    trials.extend(tmpfs::trials());
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

/// Linux, where a process can mount a small file system that nobody else sees and that goes with it.
#[cfg(target_os = "linux")]
mod tmpfs {
    use std::sync::OnceLock;

    use super::*;

    /// For `sh`: a file system of 1 MiB in the folder `$1`, in which the rest of the script runs.
    const MOUNTED: &str = "mount -t tmpfs -o size=1m tmpfs \"$1\" && cd \"$1\" || exit 99\n";

    pub fn trials() -> Vec<Trial> {
        let trial = |name: &str, case: fn() -> Result<(), Failed>| {
            Trial::ignorable_test(name, move || unless_missing("tmpfs", usable(), case))
        };
        vec![
            trial("no_space_for_the_output", no_space_for_the_output),
            trial("no_space_for_standard_input", no_space_for_standard_input),
        ]
    }

    fn no_space_for_the_output() -> Result<(), Failed> {
        // Elements that are transposed and such that are only copied, where there is an old file and where there is none.
        for (rows, cols) in [("2000", "2000"), ("1", "4000000")] {
            for old in ["printf old >out.raw", "true"] {
                let raw = format!("--raw --rows {rows} --cols {cols} --element u8");
                let output = on_a_small_one(&format!(
                    "{old}; \"$2\" transpose --device cpu {raw} \"$3\" out.raw; code=$?; ls -A; cat out.raw 2>/dev/null; exit $code"
                ))?;
                let kept = if old == "true" { "" } else { "out.raw\nold" };
                failed(
                    &output,
                    kept,
                    &["write out.raw: No space left on device (os error 28), after 1", " B of 4000000 B"],
                )?;
            }
        }
        Ok(())
    }

    fn no_space_for_standard_input() -> Result<(), Failed> {
        let output = on_a_small_one(
            "cat \"$3\" | TMPDIR=. \"$2\" transpose --device cpu - out.npy; code=$?; ls -A; exit $code",
        )?;
        let words = ["cannot keep standard input in .: No space left on device", "after 1048576 B", "TMPDIR"];
        failed(&output, "", &words)
    }

    /// Runs the script in a mount namespace of its own: as root, or as root of a user namespace.
    fn mounted(flags: &[&str], script: &str, arguments: &[&Path]) -> std::io::Result<Output> {
        let script = format!("{MOUNTED}{script}");
        Command::new("unshare").args(flags).args(["sh", "-c", &script, "sh"]).args(arguments).output()
    }

    /// The options of `unshare` with which mounting works here.
    fn flags() -> &'static Result<&'static [&'static str], String> {
        static FLAGS: OnceLock<Result<&[&str], String>> = OnceLock::new();
        FLAGS.get_or_init(|| {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let mut reasons = Vec::new();
            for flags in [&["--mount"][..], &["--mount", "--map-root-user"]] {
                match mounted(flags, "", &[folder.path()]) {
                    Ok(output) if output.status.success() => return Ok(flags),
                    Ok(output) => reasons.push(told(&output).trim().to_string()),
                    Err(error) => reasons.push(format!("unshare does not start: {error}")),
                }
            }
            Err(format!("mounting does not work: {}", reasons.join("; ")))
        })
    }

    fn usable() -> &'static Result<(), String> {
        static USABLE: OnceLock<Result<(), String>> = OnceLock::new();
        USABLE.get_or_init(|| flags().clone().map(drop))
    }

    /// Runs the script on the small file system; it is given the program as `$2`, and a file of 4,000,000 B of elements
    /// as `$3`.
    fn on_a_small_one(script: &str) -> Result<Output, Failed> {
        let folder = tempfile::tempdir()?;
        let (mount, input) = (folder.path().join("mount"), folder.path().join("in.raw"));
        std::fs::create_dir(&mount)?;
        std::fs::write(&input, vec![7; 4_000_000])?;
        Ok(mounted(flags().as_ref()?, script, &[&mount, Path::new(PROGRAM), &input])?)
    }

    /// Fails unless it has ended with exit code 1, this standard output, and one line of errors with these words.
    fn failed(output: &Output, stdout: &str, words: &[&str]) -> Result<(), Failed> {
        let message = String::from_utf8_lossy(&output.stderr);
        let as_expected = output.status.code() == Some(1)
            && output.stdout == stdout.as_bytes()
            && message.lines().count() == 1
            && words.iter().all(|word| message.contains(word));
        match as_expected {
            true => Ok(()),
            false => Err(format!("{}, expected {stdout:?} and {words:?}:\n{}", output.status, told(output)).into()),
        }
    }
}
