//! `cornerturn compare` and the baselines of `cornerturn bench`, as a user meets them: exit codes, messages and files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cornerturn::record::{MAX_BYTES, Record, Row, Status};
use serde_json::{Value, json};

/// The record of a real device, as a value to change at will.
fn ladder() -> Value {
    serde_json::from_str(include_str!("../benches/results/nvidia-h200-ladder.json")).unwrap()
}

/// How many of its rows ran, and how many could not.
fn rows() -> [usize; 2] {
    let record = ladder();
    let (none, ran): (Vec<&Value>, Vec<&Value>) =
        record["results"].as_array().unwrap().iter().partition(|row| row["status"] == "unsupported");
    [ran.len(), none.len()]
}

/// The record with all times of one variant on one device so many times as long.
fn slowed(device: &str, variant: &str, factor: f64) -> Value {
    let mut record: Record = serde_json::from_value(ladder()).unwrap();
    let named = |row: &&mut Row| row.device == device && row.variant == variant;
    let row = record.results.iter_mut().find(named).unwrap();
    row.samples_s.iter_mut().for_each(|seconds| *seconds *= factor);
    row.median_s = row.median_s.map(|seconds| seconds * factor);
    row.gbps = row.gbps.map(|gbps| gbps / factor);
    serde_json::to_value(record).unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Runs the program in the folder, which is also where it keeps its data.
    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
        command.args(args).current_dir(self.0.path()).env("XDG_DATA_HOME", self.path("data")).output().unwrap()
    }

    /// Compares two records.
    fn compare(&self, base: &Value, new: &Value, args: &[&str]) -> Output {
        self.write("base.json", base.to_string());
        self.write("new.json", new.to_string());
        self.run(&[&["compare", "base.json", "new.json"], args].concat())
    }

    /// A bench that is over at once.
    fn bench(&self, args: &[&str]) -> Output {
        let quick = ["bench", "--device", "cpu", "--size", "64x48", "--min-time", "0.001", "--variant", "naive"];
        self.run(&[&quick, args].concat())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Exit 2, nothing on standard output, and one line with each of `words` in it.
#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(stdout(output), "");
    assert_eq!(message.lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
}

#[test]
fn a_record_is_the_same_as_itself() {
    let folder = Folder::new();
    let output = folder.compare(&ladder(), &ladder(), &["--fail-on-regression=0"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let text = stdout(&output);
    assert!(text.starts_with("Base: base.json, cornerturn 0.1.0, ") && text.contains("\nNew: new.json, "), "{text}");
    let [same, left_out] = rows();
    let counts = format!("\nRows: {same} same; left out, as they can run in neither: {left_out}.\n");
    assert!(text.contains(&counts), "{text}");
    assert!(text.contains("\ncuda:0: NVIDIA H200\n") && !text.contains("Warning"), "{text}");
    assert!(text.contains("1.000 to 1.000 | same"), "{text}");
}

#[test]
fn what_has_become_slower_fails_only_where_asked() {
    let folder = Folder::new();
    let slower = slowed("cuda:0", "padded", 1.1);
    let output = folder.compare(&ladder(), &slower, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = |output: &Output, verdict: &str| {
        let text = stdout(output);
        text.lines().find(|line| line.ends_with(&format!("| {verdict}  |"))).unwrap_or("").to_owned()
    };
    let slower_line = line(&output, "slower");
    assert!(slower_line.starts_with("| padded ") && slower_line.contains(" 0.909 |"), "{}", stdout(&output));
    for (option, code) in [("--fail-on-regression", 1), ("--fail-on-regression=9", 1), ("--fail-on-regression=10", 0)] {
        let output = folder.compare(&ladder(), &slower, &[option]);
        assert_eq!(output.status.code(), Some(code), "{option}: {}", stderr(&output));
        let message = "error: 1 row has lost more than";
        assert_eq!(stderr(&output).starts_with(message), code == 1, "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("cuda:0 padded 4096×4096 f32 (9.1 % slower)"), code == 1);
    }
    let faster = folder.compare(&slower, &ladder(), &["--fail-on-regression"]);
    assert_eq!(faster.status.code(), Some(0));
    assert!(line(&faster, "faster").contains(" 1.100 |"), "{}", stdout(&faster));
}

#[test]
fn what_ran_and_fails_now_is_a_regression() {
    let folder = Folder::new();
    let mut record: Record = serde_json::from_value(ladder()).unwrap();
    record.results[0] = Row {
        status: Status::Failed,
        reason: Some("cuLaunchKernel failed:\n\u{1b}[2J".into()),
        gbps: None,
        percent_of_copy: None,
        percent_of_peak: None,
        limiter: None,
        verified: false,
        ..record.results[0].clone()
    };
    let output = folder.compare(&ladder(), &serde_json::to_value(record).unwrap(), &["--fail-on-regression"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("memcpy 4096×4096 f32 (failed)"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains(r"failed in new: cuLaunchKernel failed:\n\u{1b}[2J"), "{text}");
    assert!(text.contains("1 gone"), "{text}");
}

#[test]
fn files_are_written_and_names_escaped() {
    let folder = Folder::new();
    let mut evil = ladder();
    evil["devices"][0]["name"] = json!("a|<b>\u{1b}[31m\nx");
    let output = folder.compare(&ladder(), &evil, &["--json", "c.json", "--markdown", "c.md"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let text = stdout(&output);
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    assert!(text.contains(r"a|<b>\u{1b}[31m\nx"), "{text}");
    let markdown = fs::read_to_string(folder.path("c.md")).unwrap();
    assert!(markdown.contains(r"a\|&lt;b&gt;\\u{1b}\[31m\\nx") && !markdown.contains("<b>"), "{markdown}");
    let value: Value = serde_json::from_str(&fs::read_to_string(folder.path("c.json")).unwrap()).unwrap();
    assert_eq!(value["schema"], cornerturn::compare::SCHEMA);
    assert_eq!(value["base"]["file"], "base.json");
    assert_eq!(value["rows"].as_array().unwrap().len(), rows()[0]);
    assert_eq!(value["rows"][0]["verdict"], "same");
    assert_eq!(value["rows"][0]["interval"], json!([1.0, 1.0]));
    let docs = include_str!("../docs/RECORD.md");
    for field in value.as_object().unwrap().keys().chain(value["rows"][0].as_object().unwrap().keys()) {
        assert!(docs.contains(&format!("`{field}`")), "docs/RECORD.md does not tell of `{field}`");
    }
    let quiet = folder.compare(&ladder(), &evil, &["--quiet", "--markdown", "/dev/stdout"]);
    assert!(stdout(&quiet).starts_with("- Base: base.json"), "{}", stdout(&quiet));
    refused(&folder.compare(&ladder(), &evil, &["--json", "x", "--markdown", "./x"]), &["named for two outputs"]);
    refused(&folder.compare(&ladder(), &evil, &["--json", "no/x"]), &["cannot write no/x"]);
    for (option, input) in [("--json", "base.json"), ("--markdown", "./new.json")] {
        refused(&folder.compare(&ladder(), &evil, &[option, input]), &["is input and output"]);
    }
    assert_eq!(fs::read_to_string(folder.path("base.json")).unwrap(), ladder().to_string());
}

#[test]
fn what_is_no_record_is_refused_by_name_and_place() {
    let folder = Folder::new();
    let text = serde_json::to_string_pretty(&ladder()).unwrap();
    folder.write("good.json", &text);
    let refused = |bytes: &[u8], words: &[&str]| {
        folder.write("bad.json", bytes);
        for args in [["compare", "bad.json", "good.json"], ["compare", "good.json", "bad.json"]] {
            refused(&folder.run(&args), &[words, &["error: bad.json"]].concat());
        }
    };
    refused(b"", &["is empty"]);
    refused(b" \n\n", &["is empty"]);
    refused(&text.as_bytes()[..text.len() / 2], &["bad.json:", "it was cut off"]);
    refused(text.trim_end().trim_end_matches('}').as_bytes(), &["it was cut off"]);
    let named = text.replacen("NVIDIA H200", "µ", 1);
    refused(&named.as_bytes()[..named.find('µ').unwrap() + 1], &["bad.json:", "it was cut off"]);
    refused(br#"{"schema": "cornerturn/2", "rows": 7}"#, &["format `cornerturn/2`; only `cornerturn/1`"]);
    refused(br#"{"schema": "hyperfine/1"}"#, &["format `hyperfine/1`"]);
    refused(br#"{"schema": "\u001b[31m\n"}"#, &[r"format `\u{1b}[31m\n`"]);
    refused(br#"{"results": [{"command": "sleep 1", "mean": 1.0}]}"#, &["not a record of cornerturn", "no `schema`"]);
    refused(b"\xff\xfe{}", &["bad.json:1:", "not UTF-8"]);
    refused(b"{\n\n\"schema\": \"\xff\"}", &["bad.json:3:", "not UTF-8"]);
    refused(b"device,variant\ncpu,naive\n", &["at line 1 column 1"]);
    refused("[".repeat(100_000).as_bytes(), &["bad.json: not a record"]);
    refused(format!("{text}{{}}").as_bytes(), &["trailing characters at line"]);
    let with = |pointer: &str, value: &str| {
        let mut record = ladder();
        *record.pointer_mut(pointer).unwrap() = json!("HERE");
        record.to_string().replace("\"HERE\"", value)
    };
    refused(with("/results/3/samples_s/2", "NaN").as_bytes(), &["not a record", "at line 1 column"]);
    refused(with("/results/3/samples_s/2", "-1e-5").as_bytes(), &["results[3].samples_s[2] is -0.00001"]);
    refused(with("/results/3/samples_s/2", "0").as_bytes(), &["results[3].samples_s[2] is 0"]);
    refused(with("/results/3/samples_s/2", "1e999").as_bytes(), &["number out of range"]);
    refused(with("/results/3/median_s", "null").as_bytes(), &["results[3].median_s is null"]);
    refused(with("/results/3/device", "\"cuda:9\"").as_bytes(), &["results[3].device is cuda:9"]);
    refused(with("/results/3/status", "\"great\"").as_bytes(), &["unknown variant `great`"]);
}

#[test]
fn what_is_no_file_or_too_large_is_refused_at_once() {
    let folder = Folder::new();
    folder.write("good.json", ladder().to_string());
    refused(&folder.run(&["compare", "none.json", "good.json"]), &["cannot read none.json"]);
    refused(&folder.run(&["compare", "good.json", "."]), &["cannot read ."]);
    let large = fs::File::create(folder.path("large.json")).unwrap();
    large.set_len(200_000_000).unwrap();
    let words = [&format!("large.json has more than {MAX_BYTES} B"), "64 MiB"];
    refused(&folder.run(&["compare", "good.json", "large.json"]), &words);
    if Path::new("/dev/zero").exists() {
        refused(&folder.run(&["compare", "/dev/zero", "good.json"]), &["/dev/zero has more than"]);
    }
    // At the limit all is read, and told from a record by what is in it.
    large.set_len(MAX_BYTES).unwrap();
    refused(&folder.run(&["compare", "good.json", "large.json"]), &["large.json: not a record", "at line 1 column 1"]);
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    let folder = Folder::new();
    for percent in ["-1", "100", "nan", "five", ""] {
        let option = format!("--fail-on-regression={percent}");
        let output = folder.run(&["compare", "a", "b", &option]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(stderr(&output).contains("--fail-on-regression"), "{}", stderr(&output));
    }
}

/// Linux, where a variable says which data folder to use.
#[cfg(target_os = "linux")]
mod baselines {
    use super::*;

    #[test]
    fn a_run_is_saved_and_compared_with() {
        let folder = Folder::new();
        let first = folder.bench(&["--save-baseline", "main", "--json", "run.json"]);
        assert_eq!((first.status.code(), stderr(&first)), (Some(0), String::new()));
        assert!(!stdout(&first).contains("baseline `main`"), "{}", stdout(&first));
        let file = folder.path("data/cornerturn/baselines/main.json");
        assert_eq!(Record::read(&file).unwrap(), Record::read(folder.path("run.json")).unwrap());

        let second = folder.bench(&["--baseline", "main", "--save-baseline", "v1.2", "--element", "u8,f32"]);
        assert_eq!((second.status.code(), stderr(&second)), (Some(0), String::new()));
        let text = stdout(&second);
        let (table, comparison) = text.split_once("\n\nBase: baseline `main`, ").unwrap_or_else(|| panic!("{text}"));
        assert!(table.contains("% of copy") && comparison.contains("\nNew: this run, "), "{text}");
        assert!(comparison.contains("Different settings: ") && comparison.contains("| new     |"), "{text}");

        let third = folder.run(&["compare", "@main", "@v1.2"]);
        assert!(stdout(&third).starts_with("Base: @main, "), "{}", stderr(&third));
        let itself = folder.run(&["compare", "@main", "run.json", "--fail-on-regression=0"]);
        assert_eq!(itself.status.code(), Some(0), "{}", stderr(&itself));
        // In place of the earlier one, and compared with it first.
        let fourth = folder.bench(&["--baseline", "main", "--save-baseline", "main", "--quiet"]);
        assert_eq!((fourth.status.code(), stdout(&fourth), stderr(&fourth)), (Some(0), String::new(), String::new()));
        let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 2, "no temporary files are left");
    }

    #[test]
    fn a_run_that_lost_bandwidth_fails_where_asked_and_replaces_no_baseline() {
        let folder = Folder::new();
        // Long enough for all samples to be taken, whatever else the machine does: with few there is no verdict.
        let copies = ["bench", "--device", "cpu", "--size", "64x48", "--min-time", "0.1", "--variant", "copy"];
        let bench = |args: &[&str]| folder.run(&[&copies, args].concat());
        bench(&["--save-baseline", "main", "--quiet"]);
        let file = folder.path("data/cornerturn/baselines/main.json");
        // A baseline that took so many times as long.
        let base = |factor: f64| {
            let mut record = Record::read(&file).unwrap();
            for row in &mut record.results {
                row.samples_s.iter_mut().for_each(|seconds| *seconds *= factor);
                row.median_s = row.median_s.map(|seconds| seconds * factor);
                row.gbps = row.gbps.map(|gbps| gbps / factor);
            }
            fs::write(&file, record.to_json().unwrap()).unwrap();
            record
        };
        let faster = base(1e-3);
        let against = ["--baseline", "main", "--save-baseline", "main"];
        let failed = bench(&[&against[..], &["--fail-on-regression", "--json", "run.json"]].concat());
        let message = stderr(&failed);
        assert_eq!(failed.status.code(), Some(1), "{message}");
        assert!(message.contains("not saved as baseline `main`"), "{message}");
        assert!(message.contains("error: 2 rows have lost more than 5 % of the bandwidth"), "{message}");
        assert!(message.contains("cpu copy 64×48 f32 ("), "{message}");
        assert!(stdout(&failed).contains("| slower  |"), "{}", stdout(&failed));
        assert_eq!(Record::read(&file).unwrap(), faster);
        Record::read(folder.path("run.json")).unwrap();

        let told = bench(&["--baseline", "main"]);
        assert_eq!((told.status.code(), stderr(&told)), (Some(0), String::new()));
        base(1e6);
        let passed = bench(&[&against[..], &["--fail-on-regression=1"]].concat());
        assert_eq!((passed.status.code(), stderr(&passed)), (Some(0), String::new()));
        assert!(Record::read(&file).unwrap().results[0].median_s < faster.results[0].median_s.map(|s| s * 1e5));

        refused(&bench(&["--fail-on-regression"]), &["write --baseline NAME"]);
    }

    #[test]
    fn a_name_cannot_leave_the_folder() {
        let folder = Folder::new();
        folder.write("good.json", ladder().to_string());
        for name in ["../main", "a/b", "/etc/passwd", "..", ".x", "nul", "a b", "", "x\u{1b}[2J", &"x".repeat(65)] {
            for option in ["--save-baseline", "--baseline"] {
                let output = folder.bench(&[&format!("{option}={name}")]);
                assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{name:?}");
                assert!(!stderr(&output).contains('\u{1b}'), "{name:?}");
            }
            if !name.is_empty() {
                refused(&folder.run(&["compare", &format!("@{name}"), "good.json"]), &["is no name of a baseline"]);
            }
        }
        assert!(!folder.path("data").exists());
    }

    #[test]
    fn what_cannot_be_read_or_written_is_found_out_before_measuring() {
        let folder = Folder::new();
        // At a minute a cell this would not be over if it measured first.
        let slow = |args: &[&str]| {
            folder.run(&[&["bench", "--device", "cpu", "--size", "2048x2048", "--min-time", "60"], args].concat())
        };
        refused(&slow(&["--baseline", "main"]), &["there is no baseline `main`", "--save-baseline NAME"]);
        folder.bench(&["--save-baseline", "other", "--quiet"]);
        refused(&slow(&["--baseline", "main"]), &["there is no baseline `main`; there are other"]);
        folder.write("data/cornerturn/baselines/main.json", "{");
        refused(&slow(&["--baseline", "main"]), &["baselines/main.json:1:1", "cut off"]);
        let same = folder.path("data/cornerturn/baselines/x.json");
        let output = slow(&["--save-baseline", "x", "--json", same.to_str().unwrap()]);
        refused(&output, &["named for two outputs"]);
        fs::create_dir(&same).unwrap();
        refused(&slow(&["--save-baseline", "x"]), &["cannot write", "x.json", "irectory"]);
        fs::remove_dir_all(folder.path("data")).unwrap();
        folder.write("data", "");
        refused(&slow(&["--save-baseline", "x"]), &["cannot make", "data/cornerturn/baselines for baselines"]);
    }
}
