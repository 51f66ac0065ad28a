//! `cornerturn report`, as a user meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cornerturn::record::Record;
use cornerturn::report;

fn results(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results").join(format!("nvidia-h200-{name}.json"))
}

fn run(arguments: &[&Path]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
    // Colours are for terminals, whatever is asked for.
    program.arg("report").args(arguments).envs([("CLICOLOR_FORCE", "1"), ("COLUMNS", "400")]).output().unwrap()
}

/// Exit 2, one line with each of `words`, and nothing on standard output.
fn refused(arguments: &[&Path], words: &[&str]) {
    let output = run(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
}

#[test]
fn records_become_one_page_with_a_section_each() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let output = run(&[&results("ladder"), &results("square"), Path::new("-o"), &page]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout.len() + output.stderr.len(), 0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"));
    let place = |name: &str| text.find(&format!("<h2 id=\"{name}\">")).unwrap();
    assert!(place("record-0") < place("record-1") && place("record-1") < place("method"));
    assert!(text.contains("nvidia-h200-ladder.json, measured"), "by its name alone");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "not where somebody keeps it");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
}

#[test]
fn without_a_file_the_tables_are_printed_as_plain_text() {
    let output = run(&[&results("ladder"), &results("checks")]);
    assert_eq!(output.status.code(), Some(0));
    let [ladder, checks] = ["ladder", "checks"].map(|name| report::table(&Record::read(results(name)).unwrap()));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{ladder}\n{checks}"));
}

#[test]
fn what_is_no_record_is_refused_by_name_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let whole = fs::read_to_string(results("ladder")).unwrap();
    let page = path("page.html");
    fs::write(&page, "kept").unwrap();
    for (name, text, words) in [
        ("empty.json", "", &["empty.json is empty"][..]),
        ("cut.json", &whole[..5000], &["cut.json:", "it was cut off"]),
        ("other.json", &whole.replace("cornerturn/1", "cornerturn/9"), &["other.json", "`cornerturn/9`"]),
        ("foreign.json", "{\"schema\": 3}", &["foreign.json: not a record", "line 1"]),
        ("negative.json", &whole.replacen("\"min_s\": ", "\"min_s\": -", 1), &["negative.json: results[0].min_s is -"]),
        ("nan.json", &whole.replacen("\"min_s\": ", "\"min_s\": NaN, \"x\": ", 1), &["nan.json: not a record", "line"]),
    ] {
        fs::write(path(name), text).unwrap();
        refused(&[&results("ladder"), &path(name), Path::new("-o"), &page], words);
    }
    refused(&[&path("missing.json"), Path::new("-o"), &page], &["cannot read", "missing.json"]);
    assert_eq!(fs::read_to_string(&page).unwrap(), "kept");
}

#[test]
fn a_page_goes_only_where_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("run.json");
    fs::copy(results("ladder"), &record).unwrap();
    let before = fs::read_to_string(&record).unwrap();
    let spelt = folder.path().join("./run.json");
    refused(&[&record, Path::new("-o"), &spelt], &["run.json is a record, and would be written over"]);
    assert_eq!(fs::read_to_string(&record).unwrap(), before);
    refused(&[&record, Path::new("-o"), folder.path()], &["cannot write"]);
    refused(&[&record, Path::new("-o"), &folder.path().join("no/page.html")], &["cannot write", "no/page.html"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failed_run() {
    let output = run(&[&results("ladder"), Path::new("-o"), Path::new("/dev/full")]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("cannot write /dev/full: No space left"), "{message}");
}
