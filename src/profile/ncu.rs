//! Nsight Compute's command line, `ncu`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use super::{COUNTERS, Counts};

/// The program, as found.
#[derive(Clone, Debug)]
pub struct Ncu {
    path: PathBuf,
}

/// Why there are no counters.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The program is not there.
    #[error(
        "Nsight Compute's `ncu` is not on the PATH: it comes with the CUDA toolkit, and by itself from \
         https://developer.nvidia.com/nsight-compute"
    )]
    Missing,
    /// The driver keeps the counters to administrators.
    #[error(
        "the driver keeps hardware counters to administrators (ERR_NVGPUCTRPERM): run it as root, in a container with \
         --cap-add SYS_ADMIN, or have the kernel module loaded with NVreg_RestrictProfilingToAdminUsers=0 \
         (https://developer.nvidia.com/ERR_NVGPUCTRPERM)"
    )]
    Refused,
    /// It could not be started, or its output not be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The program or the file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// It ran and did not measure.
    #[error("ncu measured nothing: {0}")]
    Failed(String),
    /// Its output is not what is known.
    #[error("ncu's output is not understood: {0}")]
    Output(String),
}

impl Ncu {
    /// The first one on the PATH.
    ///
    /// # Errors
    /// [`ProfileError::Missing`].
    pub fn find() -> Result<Ncu, ProfileError> {
        let name = format!("ncu{}", env::consts::EXE_SUFFIX);
        let folders = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file());
        found.map(|path| Ncu { path }).ok_or(ProfileError::Missing)
    }

    /// Runs `program` with `arguments` under it and returns what the counters had for each kernel of these names that was
    /// launched, in their order. Clocks are left alone.
    ///
    /// # Errors
    /// [`ProfileError`]; the program's own errors are among what `ncu` says.
    pub fn count(
        &self,
        names: &[&str],
        program: &Path,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Vec<Launch>, ProfileError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| ProfileError::Io { path, error }
        };
        let log = tempfile::NamedTempFile::new().map_err(io(&env::temp_dir()))?;
        let metrics: Vec<&str> = COUNTERS.iter().map(|counter| counter.metric).collect();
        let output = Command::new(&self.path)
            .args(["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics"])
            .arg(metrics.join(","))
            .args(["--kernel-name", &format!("regex:^({})$", names.join("|"))])
            .arg("--log-file")
            .args([log.path().as_os_str(), program.as_os_str()])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(io(&self.path))?;
        let said = fs::read_to_string(log.path()).map_err(io(log.path()))?;
        let complaints = format!("{said}\n{}", String::from_utf8_lossy(&output.stderr));
        if complaints.contains("ERR_NVGPUCTRPERM") {
            return Err(ProfileError::Refused);
        }
        match parse(&said)? {
            launches if launches.is_empty() || !output.status.success() => {
                Err(ProfileError::Failed(reason(&complaints, &output.status.to_string())))
            }
            launches => Ok(launches),
        }
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// What was counted.
    pub counts: Counts,
}

/// What was complained of, in one line; else how it ended.
fn reason(complaints: &str, status: &str) -> String {
    let complaint = |line: &&str| line.starts_with("==ERROR==") || line.starts_with("error:");
    let lines: Vec<&str> = complaints.lines().map(str::trim).filter(complaint).collect();
    if lines.is_empty() { status.to_owned() } else { lines.join("; ") }
}

/// The launches in the output: lines of ncu itself, which begin with `==`, then a table with a line of names and one of units.
fn parse(text: &str) -> Result<Vec<Launch>, ProfileError> {
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('"')).collect();
    let Some((head, rows)) = table.split_first() else { return Ok(Vec::new()) };
    let csv = |line: &str| {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        match reader.records().next() {
            Some(Ok(record)) => Ok(record),
            _ => Err(ProfileError::Output(line.to_owned())),
        }
    };
    let head = csv(head)?;
    let column = |name: &str| head.iter().position(|title| title == name);
    let kernel = column("Kernel Name").ok_or_else(|| ProfileError::Output("it names no kernels".into()))?;
    let columns = COUNTERS.map(|counter| column(counter.metric));
    // The units: they are base units, and their line belongs to no kernel.
    rows.iter()
        .skip(1)
        .map(|line| {
            let row = csv(line)?;
            let name = row.get(kernel).unwrap_or_default();
            let value = |column: Option<usize>| row.get(column?)?.replace(',', "").parse().ok();
            Ok(Launch { kernel: name.to_owned(), counts: columns.map(value) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum""#;
    const UNITS: &str = r#""","","","","","","","","","","","byte","sector""#;

    fn row(kernel: &str, read: &str, sectors: &str) -> String {
        format!(
            r#""0","7","cornerturn","127.0.0.1","{kernel}","1","13","(32, 8, 1)","(16384, 1, 1)","0","9.0","{read}","{sectors}""#
        )
    }

    #[test]
    fn launches_come_in_their_order_with_their_counters() {
        let rows = [row("tiled", "67,108,864", "2097152"), row("padded", "1.5", "n/a")];
        let text = format!(
            "==PROF== Connected to process 7\n{HEAD}\n{UNITS}\n{}\n{}\n==PROF== Disconnected\n",
            rows[0], rows[1]
        );
        let launches = parse(&text).unwrap();
        let names: Vec<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, ["tiled", "padded"]);
        let none = None;
        assert_eq!(launches[0].counts, [none, Some(2_097_152.0), none, none, none, none, Some(67_108_864.0), none]);
        assert_eq!(launches[1].counts, [none, none, none, none, none, none, Some(1.5), none]);
    }

    #[test]
    fn output_without_launches_is_none_and_other_output_an_error() {
        assert!(parse("==WARNING== No kernels were profiled.\n").unwrap().is_empty());
        assert!(parse("").unwrap().is_empty());
        assert!(parse(&format!("{HEAD}\n{UNITS}\n")).unwrap().is_empty());
        let error = parse("\"ID\",\"Name\"\n\"\",\"\"\n").unwrap_err().to_string();
        assert_eq!(error, "ncu's output is not understood: it names no kernels");
    }

    #[test]
    fn what_was_complained_of_comes_before_how_it_ended() {
        let said = "==PROF== Connected\n==ERROR== The application returned an error code (1).\nerror: no memory\n";
        assert_eq!(
            reason(said, "exit status: 1"),
            "==ERROR== The application returned an error code (1).; error: no memory"
        );
        assert_eq!(reason("error: no memory\n", "exit status: 1"), "error: no memory");
        assert_eq!(reason("", "exit status: 9"), "exit status: 9");
    }
}
