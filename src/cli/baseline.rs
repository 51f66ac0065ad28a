//! Records that `cornerturn bench` keeps by name, in the user's data folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use directories::ProjectDirs;

use super::output::Output;
use super::regression::Gate;
use super::{Failure, complain};
use crate::compare::Comparison;
use crate::record::{ReadError, Record};
use crate::report;

/// The options of `cornerturn bench` that concern baselines.
#[derive(clap::Args)]
pub struct Options {
    /// Keep the record under this name, for --baseline and `cornerturn compare @NAME` (letters, digits, -, _ and .)
    #[arg(long, value_name = "NAME")]
    save_baseline: Option<Name>,

    /// Compare the run with the record that was kept under this name, below the table
    #[arg(long, value_name = "NAME")]
    baseline: Option<Name>,

    #[command(flatten)]
    gate: Gate,
}

/// The baselines of a run, known to be readable and writable before it begins.
pub struct Baselines {
    base: Option<(Name, Record)>,
    save: Option<(Name, Output)>,
    gate: Gate,
}

/// What the baseline makes of a run.
pub struct Against {
    /// The comparison, as text.
    pub table: String,
    /// Whether the run passes; else a sentence that says why not.
    pub passed: Result<(), String>,
}

impl Baselines {
    /// Reads the one to compare with and makes sure that the other can be written.
    pub fn open(options: &Options) -> Result<Baselines, Failure> {
        if options.gate.is_set() && options.baseline.is_none() {
            let message = "--fail-on-regression has nothing to compare the run with; write --baseline NAME as well";
            return Err(Failure::Input(message.into()));
        }
        let base = options.baseline.clone().map(|name| read(&name).map(|record| (name, record))).transpose()?;
        let save = options.save_baseline.clone().map(|name| open(&name).map(|output| (name, output))).transpose()?;
        Ok(Baselines { base, save, gate: options.gate })
    }

    /// What is to be written.
    pub fn output(&self) -> Option<&Output> {
        self.save.as_ref().map(|(_, output)| output)
    }

    /// A run against its baseline, if there is one. Of a part of a run nothing is asked.
    pub fn against(&self, record: &Record) -> Option<Against> {
        let (name, base) = self.base.as_ref()?;
        let comparison = Comparison::of(base, record);
        let table = report::comparison_table(&comparison, [&format!("baseline {name}"), "this run"]);
        let passed = if record.interrupted { Ok(()) } else { self.gate.check(&comparison) };
        Some(Against { table, passed })
    }

    /// Keeps the record of a run. A part of a run does not replace a whole one, nor a run the baseline that it has not
    /// `passed`: the next one would be held against the loss. Either is said.
    pub fn save(self, record: &Record, passed: bool) -> Result<(), String> {
        let Some((name, output)) = self.save else { return Ok(()) };
        let replaces = self.base.is_some_and(|(base, _)| base == name);
        let obstacle = match (record.interrupted, !passed && replaces) {
            (true, _) => Some("was interrupted"),
            (false, true) => Some("has regressions against it"),
            (false, false) => None,
        };
        match obstacle {
            Some(obstacle) => {
                complain(&format!("the run {obstacle}: it is not saved as baseline {name}"));
                Ok(())
            }
            None => output.write(&record.to_json().map_err(|error| error.to_string())?),
        }
    }
}

/// The record of a name.
pub fn read(name: &Name) -> Result<Record, Failure> {
    let folder = folder()?;
    Record::read(name.file(&folder)).map_err(|error| {
        Failure::Input(match error {
            ReadError::File { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound => {
                format!("there is no baseline {name}; {}", known(&folder))
            }
            error => error.to_string(),
        })
    })
}

fn open(name: &Name) -> Result<Output, Failure> {
    let folder = folder()?;
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::Input(format!("cannot make {} for baselines: {error}", folder.display())))?;
    Output::open(&name.file(&folder)).map_err(Failure::Input)
}

fn folder() -> Result<PathBuf, Failure> {
    match ProjectDirs::from("", "", "cornerturn") {
        Some(folders) => Ok(folders.data_dir().join("baselines")),
        None => Err(Failure::Input("baselines have no place: the user has no home folder".into())),
    }
}

/// Which baselines there are, for a message.
fn known(folder: &Path) -> String {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let stem = |file: fs::DirEntry| file.file_name().to_str()?.strip_suffix(SUFFIX)?.parse::<Name>().ok();
    let mut names: Vec<String> = files.filter_map(stem).map(|name| name.0).collect();
    names.sort();
    match names.is_empty() {
        true => "none is saved yet: `bench --save-baseline NAME` does".into(),
        false => format!("there are {}", names.join(", ")),
    }
}

const SUFFIX: &str = ".json";

/// Characters of a name at the most, so that with its suffix it is a file's name everywhere.
const LONGEST: usize = 64;

/// What Windows takes for a device, with whatever suffix.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name of a baseline: that of a file in one folder, and nothing else on any system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}{SUFFIX}", self.0))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Name, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let why = if text.is_empty() {
            "a name has at least one character".into()
        } else if text.len() > LONGEST {
            format!("a name has at most {LONGEST} characters, and this one {}", text.chars().count())
        } else if !text.bytes().all(allowed) {
            "a name has letters (a to z), digits, `-`, `_` and `.` only".into()
        } else if text.starts_with(['.', '-']) || text.ends_with('.') {
            "a name begins with neither `.` nor `-` and does not end with `.`".into()
        } else if is_reserved(text) {
            "Windows keeps this name for a device".into()
        } else {
            return Ok(Name(text.into()));
        };
        // As much as a message needs.
        let shown: String = text.chars().take(LONGEST).collect();
        Err(format!("`{shown}` is no name of a baseline: {why}"))
    }
}

fn is_reserved(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or(text).to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    RESERVED.contains(&stem.as_str()) || port.is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let text = include_str!("../../benches/results/nvidia-h200-ladder.json");
        Record::from_json(text, "nvidia-h200-ladder.json").unwrap()
    }

    /// What is in `file` after a run was to be saved there as `main`, having been compared with `base`.
    fn saved(file: &Path, base: Option<&str>, run: &Record, passed: bool) -> String {
        let save = Some(("main".parse().unwrap(), Output::open(file).unwrap()));
        let base = base.map(|name| (name.parse().unwrap(), record()));
        let gate = Gate { fail_on_regression: None };
        Baselines { base, save, gate }.save(run, passed).unwrap();
        fs::read_to_string(file).unwrap()
    }

    #[test]
    fn what_has_not_passed_replaces_another_baseline_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.json");
        fs::write(&file, "before").unwrap();
        assert_eq!(saved(&file, Some("main"), &record(), false), "before");
        assert_eq!(saved(&file, Some("main"), &record(), true), record().to_json().unwrap());
        fs::write(&file, "before").unwrap();
        assert_eq!(saved(&file, Some("other"), &record(), false), record().to_json().unwrap());
    }

    #[test]
    fn a_part_of_a_run_does_not_replace_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("main.json");
        fs::write(&file, "whole").unwrap();
        let mut record = record();
        record.interrupted = true;
        assert_eq!(saved(&file, None, &record, true), "whole");
        record.interrupted = false;
        assert_eq!(saved(&file, None, &record, true), record.to_json().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
    }

    #[test]
    fn names_are_files_in_one_folder() {
        for name in ["main", "v1.2", "a", "Feature_7-b", "com", "com10", "console", &"x".repeat(64)] {
            let file = name.parse::<Name>().unwrap().file(Path::new("folder"));
            assert_eq!(file.parent(), Some(Path::new("folder")), "{name}");
            assert_eq!(file.file_name().unwrap().to_str().unwrap(), format!("{name}.json"));
        }
    }

    #[test]
    fn what_could_leave_the_folder_is_no_name() {
        let long = "x".repeat(65);
        for text in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "/etc/passwd",
            "a\\b",
            "C:x",
            "a:b",
            ".hidden",
            "x.",
            "-x",
            "a b",
            "ä",
            "a\0b",
            "a\nb",
            "\u{1b}[31m",
            "%2e%2e",
            "~",
            "con",
            "NUL",
            "nul.txt",
            "Com1",
            "lpt9.x.y",
            &long,
        ] {
            assert!(text.parse::<Name>().is_err(), "{text:?}");
        }
    }
}
