//! The commands on every device of the machine, as a user meets them.

use std::fs;
use std::process::{Command, Output};

use cornerturn::device::{DeviceId, DeviceKind};
use jsonschema::Registry;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::expect;

/// Checks that a record of a device of this kind shows what it must.
type Shows = fn(&Value, DeviceKind) -> Result<(), Failed>;

/// The three commands on a device, with small sets, and what a record of each must show.
pub fn trials(id: DeviceId) -> Vec<Trial> {
    let cases: [(&str, &[&str], Shows); 3] = [
        ("hierarchy", &["--largest", "1MiB"], hierarchy_shows),
        ("coalescing", &["--set", "4MiB"], coalescing_shows),
        ("banks", &[], banks_shows),
    ];
    let trial = |(name, more, shows): (&'static str, &'static [&'static str], _)| {
        Trial::test(format!("{id}/cornerturn {name}"), move || command(id, name, more, shows))
    };
    cases.into_iter().map(trial).collect()
}

fn cornerturn(args: &[&str]) -> Result<Output, Failed> {
    Ok(Command::new(env!("CARGO_BIN_EXE_cornerturn")).args(args).output()?)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn command(id: DeviceId, name: &str, more: &[&str], shows: Shows) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, markdown, html) = (path("run.json"), path("run.md"), path("run.html"));
    let id = id.to_string();
    let quick = [name, "--device", &id, "--repetitions", "1", "--min-time", "0.0001", "--json", &json];
    let output = cornerturn(&[&quick, more, &["--markdown", &markdown, "--html", &html]].concat())?;
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    expect(&format!("the exit code after {out}{err}"), output.status.code(), Some(0))?;
    expect("standard error", err.as_str(), "")?;
    let record: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
    valid(&record)?;
    let kind: DeviceKind = serde_json::from_value(record["devices"][0]["kind"].clone())?;
    if kind == DeviceKind::Software && !out.contains("figures of a CPU") {
        return Err(format!("nothing says whose figures these are:\n{out}").into());
    }
    if !fs::read_to_string(&markdown)?.contains("| ---") {
        return Err("the Markdown has no table".into());
    }
    let page = fs::read_to_string(&html)?;
    let drawn = results(&record).is_empty() || page.contains("<figure>");
    expect("a page with figures", (page.starts_with("<!DOCTYPE html>"), drawn), (true, true))?;
    expect("files", fs::read_dir(folder.path())?.count(), 3)?;
    shows(&record, kind)?;
    let quiet = cornerturn(&[&quick[..7], &["--quiet"], more].concat())?;
    expect(
        "quiet output",
        (quiet.status.code(), text(&quiet.stdout), text(&quiet.stderr)),
        (Some(0), String::new(), String::new()),
    )
}

/// The results; none where the device says that it has no such probe.
fn results(record: &Value) -> Vec<&Value> {
    let all = record["results"].as_array().into_iter().flatten();
    all.filter(|result| result["status"] != "unsupported").collect()
}

fn hierarchy_shows(record: &Value, kind: DeviceKind) -> Result<(), Failed> {
    for result in results(record) {
        let levels = result["levels"].as_array().map_or(0, Vec::len);
        expect("levels", levels, if kind == DeviceKind::Gpu { 5 } else { 0 })?;
        let curve = result["curve"].as_array().ok_or("no curve")?;
        expect(
            "the sizes' ends",
            (&curve[0]["bytes"], &curve[curve.len() - 1]["bytes"]),
            (&1024.into(), &(1 << 20).into()),
        )?;
        expect("bandwidths", result["bandwidths"].as_array().is_none_or(Vec::is_empty), false)?;
    }
    Ok(())
}

fn coalescing_shows(record: &Value, _: DeviceKind) -> Result<(), Failed> {
    let rows = results(record);
    if rows.is_empty() {
        return Ok(());
    }
    let textbook = rows.iter().find(|row| row["access"] == "load" && row["width"] == 4 && row["stride"] == 32);
    let row = textbook.ok_or("no loads of 4 bytes with stride 32")?;
    let part =
        |moved: &str| row["useful_bytes"].as_f64().zip(row[moved].as_f64()).map(|(useful, moved)| useful / moved);
    expect("use of sectors and lines", (part("sector_bytes"), part("line_bytes")), (Some(0.125), Some(1.0 / 32.0)))?;
    let unit = rows.iter().filter(|row| row["stride"] == 1 && row["first"] == 0);
    expect("accesses", unit.clone().count(), 4)?;
    expect("unit strides", unit.clone().all(|row| row["percent_of_unit_stride"] == 100.0), true)
}

fn banks_shows(record: &Value, kind: DeviceKind) -> Result<(), Failed> {
    let rows = results(record);
    if rows.is_empty() {
        return Ok(());
    }
    let strides: Vec<_> = rows.iter().filter_map(|row| row["stride"].as_u64()).collect();
    expect("strides", strides, (0..=33).collect())?;
    expect("a degree", rows[32]["degree"].as_u64(), (kind == DeviceKind::Gpu).then_some(32))?;
    expect("the ratio of stride 1", rows[1]["ratio"].as_f64(), Some(1.0))
}

/// Holds a record against the schema, whose parts are in two files.
fn valid(record: &Value) -> Result<(), Failed> {
    let file = |name: &str| -> Result<Value, Failed> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    };
    let registry = Registry::new().add("urn:cornerturn:record:1", file("record.schema.json")?)?.prepare()?;
    let schema = file("probes.schema.json")?;
    jsonschema::meta::validate(&schema).map_err(|error| error.to_string())?;
    let validator = jsonschema::options().with_registry(&registry).build(&schema).map_err(|error| error.to_string())?;
    let errors: Vec<_> = validator.iter_errors(record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n").into()) }
}

pub fn wrong_input() -> Result<(), Failed> {
    let cases: [(&[&str], &[&str]); 10] = [
        (&["hierarchy", "--device", "gpu"], &["gpu", "cuda:0, vulkan:0"]),
        (&["hierarchy", "--device", "cuda:4094"], &["no device `cuda:4094`", "the devices here are cpu"]),
        (&["hierarchy", "--largest", "10"], &["`10` is no size", "64KiB to 1TiB"]),
        (&["hierarchy", "--largest", "64MB"], &["`64MB` is no size", "64MiB"]),
        (&["coalescing", "--set", "2048GiB"], &["`2048GiB`", "64KiB to 1TiB"]),
        (&["coalescing", "--repetitions", "0"], &["0 is not in 1..=100"]),
        (&["banks", "--repetitions", "1000"], &["1000 is not in 1..=100"]),
        (&["banks", "--min-time", "fast"], &["`fast` is no time", "0.0001 to 3600"]),
        (&["coalescing", "--device", "cpu", "--html", "/nowhere/run.html"], &["cannot write /nowhere/run.html"]),
        (&["banks", "--device", "cpu", "--json", "/nowhere/run.json"], &["cannot write /nowhere/run.json"]),
    ];
    for (args, words) in cases {
        let output = cornerturn(args)?;
        let message = text(&output.stderr);
        expect(&message, (output.status.code(), text(&output.stdout)), (Some(2), String::new()))?;
        if let Some(word) = words.iter().find(|word| !message.contains(**word)) {
            return Err(format!("`{word}` is missing in: {message}").into());
        }
    }
    let folder = tempfile::tempdir()?;
    let same = folder.path().join("same").to_string_lossy().into_owned();
    for other in ["--markdown", "--html"] {
        let output = cornerturn(&["banks", "--device", "cpu", "--json", &same, other, &same])?;
        let message = text(&output.stderr);
        expect(&message, (output.status.code(), message.contains("is named for two outputs")), (Some(2), true))?;
    }
    expect("leftovers", fs::read_dir(folder.path())?.count(), 0)
}

pub fn schema_is_strict() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let json = folder.path().join("run.json").to_string_lossy().into_owned();
    let args = ["hierarchy", "--device", "cpu", "--largest", "64KiB", "--repetitions", "1", "--min-time", "0.0001"];
    cornerturn(&[&args[..], &["--quiet", "--json", &json]].concat())?;
    let record: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
    valid(&record)?;
    /// What makes a record invalid.
    type Break = fn(&mut Value);
    let broken: [(&str, Break); 6] = [
        ("of another kind", |record| record["schema"] = "cornerturn-banks/1".into()),
        ("of another version", |record| record["schema"] = "cornerturn-hierarchy/2".into()),
        ("with an unknown field", |record| record["results"][0]["more"] = 1.into()),
        ("failed without a reason", |record| record["results"][0]["status"] = "failed".into()),
        ("with a latency of zero", |record| record["results"][0]["curve"][0]["latency_s"]["median"] = 0.into()),
        ("without a command", |record| record["environment"]["command"] = Value::Array(vec![])),
    ];
    for (what, break_it) in broken {
        let mut record = record.clone();
        break_it(&mut record);
        if valid(&record).is_ok() {
            return Err(format!("the schema lets a record pass that is {what}").into());
        }
    }
    Ok(())
}

/// Ctrl-C: what is measured is written, and the exit code says so.
#[cfg(unix)]
pub fn interrupted() -> Result<(), Failed> {
    use std::time::{Duration, Instant};
    let folder = tempfile::tempdir()?;
    let json = folder.path().join("run.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_cornerturn"))
        .args(["hierarchy", "--device", "cpu", "--largest", "64MiB", "--repetitions", "100", "--json"])
        .arg(&json)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    // Long enough for some sizes, short against the run, which would take minutes.
    std::thread::sleep(Duration::from_secs(4));
    expect("kill", Command::new("kill").args(["-INT", &child.id().to_string()]).status()?.success(), true)?;
    let begin = Instant::now();
    while child.try_wait()?.is_none() {
        if begin.elapsed() > Duration::from_secs(30) {
            child.kill()?;
            return Err("it did not stop".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output()?;
    expect("the exit code", output.status.code(), Some(130))?;
    let record: Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
    valid(&record)?;
    expect("interrupted", &record["interrupted"], &Value::Bool(true))?;
    expect("a curve", record["results"][0]["curve"].as_array().is_none_or(Vec::is_empty), false)?;
    expect("a warning", text(&output.stdout).contains("interrupted"), true)
}
