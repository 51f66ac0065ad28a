//! `cornerturn report`, as a user meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cornerturn::record::AnyRecord;
use cornerturn::report;

fn results(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results").join(format!("nvidia-h200-{name}.json"))
}

fn probe(name: &str) -> PathBuf {
    results("x").with_file_name("probes").join(format!("nvidia-h200-{name}.json"))
}

const PROBES: [&str; 4] = ["hierarchy", "coalescing", "banks", "profile"];

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
    let mut records = PROBES.map(probe).to_vec();
    records.insert(1, results("ladder"));
    records.push(results("checks"));
    let output = run(&records.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0));
    let tables = records.iter().map(|path| report::of(&AnyRecord::read(path).unwrap()).table());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), tables.collect::<Vec<_>>().join("\n"));
}

#[test]
fn records_of_probes_become_pages_alone_and_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for (name, title) in
        PROBES.into_iter().zip(["Memory hierarchy", "Coalescing", "Bank conflicts", "Hardware counters"])
    {
        assert_eq!(run(&[&probe(name), Path::new("-o"), &page]).status.code(), Some(0));
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(&format!("<h1>{title} on NVIDIA H200</h1>")), "{name}");
        assert!(text.contains(&format!(">nvidia-h200-{name}.json, measured ")), "{name}");
        assert_eq!(text.contains("<figure>"), name != "profile", "{name}");
    }
    let [banks, hierarchy] = ["banks", "hierarchy"].map(probe);
    assert_eq!(run(&[&banks, &results("ladder"), &hierarchy, Path::new("-o"), &page]).status.code(), Some(0));
    let text = fs::read_to_string(&page).unwrap();
    let places = [
        "<h1>Bank conflicts, Matrix transpose, Memory hierarchy on NVIDIA H200</h1>",
        "<h2 id=\"record-0\">Bank conflicts: nvidia-h200-banks.json, measured ",
        "<h2 id=\"record-1\">Matrix transpose: nvidia-h200-ladder.json, measured ",
        "<h2 id=\"record-2\">Memory hierarchy: nvidia-h200-hierarchy.json, measured ",
        "<h2 id=\"method\">",
        "<h3>Bank conflicts</h3>",
        "<h3>Matrix transpose</h3>",
        "<h3>Memory hierarchy</h3>",
    ];
    let places = places.map(|text_of| text.find(text_of).unwrap_or_else(|| panic!("{text_of}")));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn what_is_no_record_of_a_probe_is_refused_by_name_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let page = path("page.html");
    let whole = fs::read_to_string(probe("hierarchy")).unwrap();
    let counters = fs::read_to_string(probe("profile")).unwrap();
    let other = whole.replace("cornerturn-hierarchy/1", "cornerturn-hierarchy/9");
    let unknown = whole.replace("cornerturn-hierarchy/1", "some-other-tool/1");
    let negative = whole.replacen("\"median\": ", "\"median\": -", 1);
    let nan = whole.replacen("\"median\": ", "\"median\": NaN, \"x\": ", 1);
    let huge = whole.replacen("\"gbps\": ", "\"gbps\": 1e999, \"x\": ", 1);
    let twice = whole.replacen("\"id\": \"vulkan:0\"", "\"id\": \"cuda:0\"", 1);
    for (name, text, words) in [
        ("cut.json", &whole[..5000], &["cut.json:", "it was cut off"][..]),
        ("other.json", &other, &["other.json", "`cornerturn-hierarchy/9`; only `cornerturn-hierarchy/1` can be read"]),
        (
            "unknown.json",
            &unknown,
            &["unknown.json", "`some-other-tool/1`", "`cornerturn/1`, `cornerturn-hierarchy/1`"],
        ),
        ("negative.json", &negative, &["negative.json: results[0].levels[0].latency_s is -"]),
        ("nan.json", &nan, &["nan.json: not a record", "line"]),
        ("huge.json", &huge, &["huge.json: not a record", "line"]),
        ("twice.json", &twice, &["twice.json: devices[1].id is cuda:0"]),
        (
            "counts.json",
            &counters.replacen("\"measured\": ", "\"measured\": -", 1),
            &["counts.json: results[0].counters[0].measured is -"],
        ),
        ("empty.json", " \n", &["empty.json is empty"]),
    ] {
        fs::write(path(name), text).unwrap();
        refused(&[&results("ladder"), &path(name), Path::new("-o"), &page], words);
        refused(&[&path(name)], words);
    }
    fs::File::create(path("long.json")).unwrap().set_len(cornerturn::record::MAX_BYTES + 1).unwrap();
    refused(&[&path("long.json")], &["long.json has more than 67108864 B"]);
    assert!(!page.exists());
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
        (
            "lines.json",
            &whole.replacen("\"gpu\"", "\"g\\np\\u001bu\"", 1),
            &["lines.json: not a record", "`g\\np\\u{1b}u`"],
        ),
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
    refused(&[&record, Path::new("-o"), &spelt], &["run.json is input and output; name another file"]);
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
