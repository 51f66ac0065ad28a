//! The command line, as a user meets it: exit codes, messages and files. Only the CPU is used, which is always there.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cornerturn::record::{Record, Status};

fn cornerturn(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cornerturn")).args(args).output().unwrap()
}

/// A bench that is over at once, unless `args` say otherwise.
fn bench(args: &[&str]) -> Output {
    let mut all = vec!["bench"];
    for quick in [["--device", "cpu"], ["--size", "64x48"], ["--min-time", "0.001"]] {
        if !args.contains(&quick[0]) {
            all.extend(quick);
        }
    }
    cornerturn(&[&all, args].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Exit 2, nothing on standard output, and each of `words` in the message.
fn refused(output: &Output, words: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(stdout(output), "");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn bad_words_are_refused_and_the_valid_ones_listed() {
    refused(&bench(&["--element", "f33"]), &["f33", "u8, i8, u16", "c128"]);
    refused(&bench(&["--variant", "fast"]), &["fast", "memcpy, copy, naive, tiled, padded"]);
    refused(&bench(&["--device", "gpu"]), &["gpu", "cuda:0, vulkan:0"]);
    refused(&bench(&["--size", "4096"]), &["4096", "ROWSxCOLS"]);
    refused(&bench(&["--size", "18446744073709551616x1"]), &["18446744073709551615"]);
    refused(&bench(&["--min-time", "0"]), &["from 0.0001 to 3600"]);
    refused(&bench(&["--peak", "fast"]), &["GB/s"]);
    refused(&bench(&["--bounds-checks", "maybe"]), &["off, on, both"]);
    refused(&bench(&["--batch=-1"]), &["batch"]);
    refused(&bench(&["--pad", "3"]), &["`3`", "SOURCE,DESTINATION", "96,0"]);
    refused(&bench(&["--batch-pad", "1,2,3"]), &["`1,2,3`", "SOURCE,DESTINATION"]);
    refused(&bench(&["--batch-pad", "0,5"]), &["--batch-pad 0,5", "--batch 1 has no two"]);
    refused(&bench(&["--pad", "0,18446744073709551616"]), &["more than 18446744073709551615"]);
    refused(&bench(&["--peak", "vulkan:0=10"]), &["vulkan:0", "not part of this run"]);
    refused(&cornerturn(&["benchmark"]), &["benchmark"]);
}

#[test]
fn a_device_that_is_not_here_is_refused_with_the_ones_that_are() {
    refused(&cornerturn(&["bench", "--device", "cuda:4094"]), &["no device `cuda:4094`", "the devices here are cpu"]);
}

#[test]
fn sizes_that_overflow_are_refused_before_anything_runs() {
    let output = bench(&["--size", "9223372036854775807x3"]);
    refused(&output, &["9223372036854775807×3 of f32", "9223372036854775807 bytes"]);
    let output = bench(&["--pad", "0,18446744073709551615"]);
    refused(&output, &["64×48 of f32 (4 bytes each) with ld 48 → 18446744073709551615 is more"]);
    let output = bench(&["--batch", "3", "--batch-pad", "1152921504606846976,0"]);
    refused(&output, &["3 × 64×48 of f32", "stride 1152921504606850048 → 3072 is more"]);
}

#[test]
fn gaps_are_measured_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (json, csv) = (path("run.json"), path("run.csv"));
    let files = ["--json", &json, "--csv", &csv];
    let output = bench(&[&["--pad", "3,1", "--batch", "2", "--batch-pad", "5,0"], &files[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let schema = serde_json::from_str(include_str!("../docs/record.schema.json")).unwrap();
    let written = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(jsonschema::validate(&schema, &written).map_err(|error| error.to_string()), Ok(()));
    assert!(stdout(&output).contains("2 × 64×48, ld 51 → 65, stride 3269 → 3120"), "{}", stdout(&output));
    let record = Record::read(&json).unwrap();
    let row = |variant: &str| record.results.iter().find(|row| row.variant == variant).unwrap();
    for variant in ["memcpy", "copy", "naive", "tiled", "auto"] {
        assert_eq!((row(variant).status, row(variant).verified), (Status::Ok, true), "{variant}");
    }
    let reason = row("transpose-crate").reason.as_deref();
    let packed =
        "the `transpose` crate takes packed matrices; the source's have a leading dimension of 51 for 48 columns";
    assert_eq!(reason, Some(packed));
    assert!(fs::read_to_string(&csv).unwrap().contains(",64,48,2,51,3269,65,3120,f32,"));
}

#[test]
fn a_size_larger_than_memory_and_an_empty_one_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let output = bench(&["--size", "1000000x1000000,0x7", "--element", "c128", "--json", json.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = Record::read(&json).unwrap();
    assert!(record.results.iter().all(|row| row.status == Status::Unsupported));
    let reason = |rows: u64| {
        let mut rows = record.results.iter().filter(|row| row.rows == rows && row.variant == "naive");
        rows.next().unwrap().reason.clone().unwrap()
    };
    assert!(reason(1_000_000).contains("32000000000000 B"), "{}", reason(1_000_000));
    assert!(reason(0).contains("empty"), "{}", reason(0));
}

#[test]
fn files_are_written_and_agree_with_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (json, csv, markdown) = (path("run.json"), path("run.csv"), path("run.md"));
    let html = path("run.html");
    fs::write(&json, "an older run").unwrap();
    let texts = ["--csv", &csv, "--markdown", &markdown, "--html", &html];
    let output = bench(&[&["--element", "u8,c128", "--json", &json], &texts[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let schema = serde_json::from_str(include_str!("../docs/record.schema.json")).unwrap();
    let written = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(jsonschema::validate(&schema, &written).map_err(|error| error.to_string()), Ok(()));
    let record = Record::read(Path::new(&json)).unwrap();
    assert_eq!(record.results.len(), 2 * cornerturn::variant::Variant::ALL.len());
    let measured = record.results.iter().filter(|row| row.status == Status::Ok);
    assert!(measured.clone().count() >= 8);
    assert!(measured.clone().all(|row| row.verified && row.gbps.is_some_and(|gbps| gbps > 0.0)));
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 1 + record.results.len());
    let table = stdout(&output);
    let markdown = fs::read_to_string(&markdown).unwrap();
    let html = fs::read_to_string(&html).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("</html>"));
    for row in &record.results {
        assert!(table.contains(&row.variant) && markdown.contains(&row.variant) && html.contains(&row.variant));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no temporary files are left");
}

#[test]
fn standard_output_is_plain_text_and_quiet_is_silent() {
    let output = bench(&[]);
    assert!(!stdout(&output).chars().any(|c| c.is_control() && c != '\n'), "no escape codes when piped");
    assert_eq!(stderr(&output), "", "no progress bar when piped");
    let quiet = bench(&["--quiet"]);
    assert_eq!((quiet.status.code(), stdout(&quiet), stderr(&quiet)), (Some(0), String::new(), String::new()));
}

#[test]
fn an_output_that_cannot_be_written_is_found_out_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing/run.json");
    // At a minute a cell this would not be over if it measured first.
    let slow = |path: &Path| bench(&["--min-time", "60", "--json", path.to_str().unwrap()]);
    refused(&slow(&missing), &["cannot write", "missing/run.json"]);
    refused(&slow(folder.path()), &["cannot write"]);
    let both = folder.path().join("same");
    fs::write(&both, "kept").unwrap();
    let same = both.to_str().unwrap();
    refused(&bench(&["--json", same, "--csv", same]), &["named for two outputs"]);
    refused(&bench(&["--html", same, "--csv", same]), &["named for two outputs"]);
    // Also where it is not there yet, and under another spelling.
    let (new, spelt) = (folder.path().join("new"), folder.path().join("./new"));
    refused(&bench(&["--json", new.to_str().unwrap(), "--csv", spelt.to_str().unwrap()]), &["named for two outputs"]);
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(&both).unwrap(), "kept");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_the_figures_are_still_shown() {
    let output = bench(&["--json", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write /dev/full: No space left"), "{}", stderr(&output));
    assert!(stdout(&output).contains("naive"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_measured_and_writes_the_files() {
    use std::time::{Duration, Instant};
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cornerturn"))
        .args(["bench", "--device", "cpu", "--size", "64x48,96x80", "--min-time", "4", "--json"])
        .arg(&json)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough for a round, short against the run, which would take a minute.
    std::thread::sleep(Duration::from_secs(8));
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    while child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it did not stop");
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let record = Record::read(&json).unwrap();
    assert!(record.interrupted);
    assert!(record.results.iter().any(|row| row.status == Status::Ok && row.verified), "{:?}", record.results);
    assert!(stdout(&output).contains("interrupted"));
}

/// Linux, where a variable says which cache folder to use.
#[cfg(target_os = "linux")]
mod tuning {
    use super::*;

    /// `auto` on 64×48, tuned, with `cache` as the user's cache folder.
    fn tune(cache: &Path, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
        command.args(["bench", "--device", "cpu", "--size", "64x48", "--min-time", "0.001", "--tune"]);
        command.args(args).env("XDG_CACHE_HOME", cache).output().unwrap()
    }

    #[test]
    fn winners_are_stored_and_taken_the_next_time() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("cornerturn");
        let (file, json) = (folder.join("tuning.json"), cache.path().join("run.json"));
        let first = tune(cache.path(), &["--json", json.to_str().unwrap()]);
        assert_eq!((first.status.code(), stderr(&first)), (Some(0), String::new()));
        let note = |measured, taken| {
            let file = file.display();
            format!("\n\nTuning: {file}; winners measured and stored there: {measured}, taken from there: {taken}.\n")
        };
        assert!(stdout(&first).ends_with(&note(1, 0)), "{}", stdout(&first));
        let record = Record::read(&json).unwrap();
        let auto = record.results.iter().find(|row| row.variant == "auto").unwrap();
        assert!(auto.tuned && stdout(&first).contains(&format!("| {} ", auto.label())), "{}", stdout(&first));
        let schema = serde_json::from_str(include_str!("../docs/record.schema.json")).unwrap();
        let written = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
        assert_eq!(jsonschema::validate(&schema, &written).map_err(|error| error.to_string()), Ok(()));

        // The other of the two that a CPU has: taken from the file, not measured.
        let other = if auto.chosen.as_deref() == Some("naive") { "tiled" } else { "naive" };
        let winner = |name: &str| format!("\"variant\": \"{name}\"");
        let stored = fs::read_to_string(&file).unwrap();
        let changed = stored.replace(&winner(auto.chosen.as_deref().unwrap()), &winner(other));
        assert_ne!(changed, stored);
        fs::write(&file, &changed).unwrap();
        let second = tune(cache.path(), &["--variant", "auto"]);
        assert!(stdout(&second).ends_with(&note(0, 1)), "{}", stdout(&second));
        assert!(stdout(&second).contains(&format!("auto ({other}, tuned)")), "{}", stdout(&second));
        assert_eq!(fs::read_to_string(&file).unwrap(), changed);
        // What another run has stored stays.
        let third = tune(cache.path(), &["--quiet", "--size", "48x64", "--element", "u8,i8"]);
        assert_eq!((third.status.code(), stdout(&third), stderr(&third)), (Some(0), String::new(), String::new()));
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches("\"variant\"").count(), 3, "{text}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no temporary files are left, but a lock");
    }

    #[test]
    fn without_the_option_winners_are_not_used() {
        let cache = tempfile::tempdir().unwrap();
        let bench = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
            command.args(["bench", "--device", "cpu", "--size", "64x48", "--min-time", "0.001"]).args(args);
            stdout(&command.env("XDG_CACHE_HOME", cache.path()).output().unwrap())
        };
        let text = bench(&[]);
        assert!(text.contains("| auto (tiled) ") && !text.contains("uning"), "{text}");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0, "nor is any stored");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_found_out_before_measuring() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("file");
        fs::write(&file, "").unwrap();
        // At a minute a cell this would not be over if it measured first.
        let output = tune(&file, &["--size", "2048x2048", "--quiet"]);
        refused(&output, &["--tune cannot make", "file/cornerturn for what it measures"]);
        let folder = cache.path().join("cornerturn/tuning.json");
        fs::create_dir_all(&folder).unwrap();
        refused(&tune(cache.path(), &[]), &["cornerturn/tuning.json", "irectory"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_kept() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("cornerturn/tuning.json");
        fs::create_dir(cache.path().join("cornerturn")).unwrap();
        for (text, says) in [
            ("", "cornerturn/tuning.json: not a file of winners: EOF while parsing a value at line 1 column 0;"),
            (
                "{\"schema\": \"cornerturn-tuning/1\",\n",
                "EOF while parsing a value at line 2 column 0; once it is removed",
            ),
            ("{\"schema\": \"cornerturn-tuning/9\"}", "tuning.json is a file of format `cornerturn-tuning/9`; only"),
        ] {
            fs::write(&file, text).unwrap();
            refused(&tune(cache.path(), &[]), &[says, "once it is removed, all is measured anew"]);
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no temporary files are left");
    }

    #[test]
    fn the_file_of_winners_is_no_output() {
        let cache = tempfile::tempdir().unwrap();
        let file = cache.path().join("cornerturn/tuning.json");
        let output = tune(cache.path(), &["--json", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("is named for two outputs"), "{}", stderr(&output));
        assert!(!file.exists());
    }

    #[test]
    fn tuning_without_auto_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let output = tune(cache.path(), &["--variant", "naive,copy"]);
        refused(&output, &["auto is not among the variants", "--variant naive,copy,auto"]);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_interrupt_keeps_the_winners_that_were_found() {
        use std::time::{Duration, Instant};
        let cache = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_cornerturn"))
            .args(["bench", "--device", "cpu", "--size", "256x200", "--min-time", "20", "--variant", "auto", "--tune"])
            .env("XDG_CACHE_HOME", cache.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Long enough to tune, short against the run, which would take a minute.
        std::thread::sleep(Duration::from_secs(8));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(30), "it did not stop");
            std::thread::sleep(Duration::from_millis(50));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(stdout(&output).contains("winners measured and stored there: 1"), "{}", stdout(&output));
        let text = fs::read_to_string(cache.path().join("cornerturn/tuning.json")).unwrap();
        assert_eq!(text.matches("\"variant\"").count(), 1, "{text}");
    }
}

#[test]
fn devices_lists_the_cpu_and_every_other_api() {
    let output = cornerturn(&["devices"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("cpu  "), "{text}");
    for api in cornerturn::device::Api::ALL {
        assert!(text.contains(api.name()), "{api} is missing in: {text}");
    }
}

#[test]
fn help_shows_examples() {
    for args in [&["--help"][..], &["bench", "--help"], &["report", "--help"], &["devices", "--help"], &["--version"]] {
        assert_eq!(cornerturn(args).status.code(), Some(0));
    }
    for command in ["bench", "report", "hierarchy", "coalescing", "banks"] {
        let help = cornerturn(&[command, "--help"]);
        assert_eq!(help.status.code(), Some(0), "{command}");
        assert!(stdout(&help).contains("Examples:"), "{command}");
    }
}
