//! The probes on every device of the machine: that each kernel accesses what the table says, and that the commands write
//! records which their schema allows.

use std::fs;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use cornerturn::backend::{BackendError, TransposeBackend, Workspace};
use cornerturn::backends::{self, Discovery};
use cornerturn::device::{Api, DeviceId, DeviceKind};
use cornerturn::kernel::Language;
use cornerturn::probe::{Launch, Parameters, Probe, TRAP, chain, space, state_bytes};
use jsonschema::Registry;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

#[path = "common/devices.rs"]
mod devices;
#[path = "common/require.rs"]
mod require;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let discovery = Arc::new(backends::discover(&devices::wanted_apis()));
    let mut trials = Vec::new();
    for absent in &discovery.absent {
        let (required, reason) = (require::required(absent.api.name()), absent.reason.clone());
        let name = format!("{} ({reason})", absent.api);
        trials.push(Trial::test(name, move || Err(Failed::from(reason))).with_ignored_flag(!required));
    }
    for index in 0..discovery.devices.len() {
        let id = discovery.devices[index].device().id;
        if devices::wanted(id) {
            trials.extend(kernels(&discovery, index, id));
            trials.extend(commands(id));
        }
    }
    trials.push(Trial::test("what the user gets wrong is refused", wrong_input));
    trials.push(Trial::test("the schema is a schema and holds records apart", schema_is_strict));
    #[cfg(unix)]
    trials.push(Trial::test("an interrupt keeps what is measured", interrupted));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The checks of the kernels, on buffers of the device; a device without a probe has the reason.
type Check = fn(&dyn TransposeBackend) -> Result<(), Failed>;

fn kernels(discovery: &Arc<Discovery>, index: usize, id: DeviceId) -> Vec<Trial> {
    let all: [(&str, Check); 6] = [
        ("chase", chase),
        ("chase-shared", chase_shared),
        ("read", read),
        ("read of shared memory", read_shared),
        ("load", load),
        ("store", store),
    ];
    let here = if id.api == Api::Cpu { &all[..1] } else { &all[..] };
    let trial = |(name, check): &(&str, Check)| {
        let (discovery, check) = (Arc::clone(discovery), *check);
        Trial::test(format!("{id}/{name}"), move || check(discovery.devices[index].as_ref()))
    };
    here.iter().map(trial).collect()
}

fn language(device: &dyn TransposeBackend) -> Language {
    if device.device().id.api == Api::Cuda { Language::Cuda } else { Language::Wgsl }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:x?}, not {expected:x?}").into()) }
}

fn word_at(bytes: &[u8], word: u64) -> u32 {
    u32::from_le_bytes(bytes[4 * word as usize..][..4].try_into().unwrap())
}

/// The first words of the destination.
fn state(workspace: &dyn Workspace, words: usize) -> Result<Vec<u32>, BackendError> {
    let mut bytes = vec![0; 4 * words];
    workspace.read_destination(0, 0, &mut bytes)?;
    Ok((0..words as u64).map(|word| word_at(&bytes, word)).collect())
}

/// Random data: the word at an index is a hash of it.
fn data(bytes: u64) -> Vec<u8> {
    (0..bytes / 4).flat_map(|word| (word as u32).wrapping_mul(0x9E37_79B1).rotate_left(13).to_le_bytes()).collect()
}

fn launch(workspace: &dyn Workspace, probe: Probe, parameters: Parameters) -> Result<(), Failed> {
    let mut run = workspace.prepare_probe(&Launch { probe, parameters })?;
    run.run(std::num::NonZeroU32::MIN)?;
    Ok(())
}

fn chase(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const LINES: usize = 100;
    let workspace = device.workspace(&space(128 * LINES as u64, state_bytes(1)).unwrap(), 1)?;
    workspace.poison(0)?;
    let next = chain::cycle(LINES, 5);
    let begin = workspace.source_address(0);
    let mut set = vec![0; 128 * LINES];
    chain::write(&next, 0, begin.map_or(chain::Link::Index, chain::Link::Address), &mut set);
    workspace.write_source(0, 0, &set)?;
    let mut line = 0;
    // A launch goes on where the last one stopped; once around, and beyond.
    for steps in [8, 64, 128] {
        let parameters = Parameters { blocks: 1, steps, ..Parameters::default() };
        // By the host's clock a backend may launch more than once.
        let mut run = workspace.prepare_probe(&Launch { probe: Probe::Chase, parameters })?;
        let before = position(workspace.as_ref(), begin)?;
        run.run(std::num::NonZeroU32::MIN)?;
        let after = position(workspace.as_ref(), begin)?;
        expect("the line before", before, line)?;
        let walk = |from: usize, steps: u32| (0..steps).fold(from, |at, _| next[at] as usize);
        let launches = (1..=64).find(|launches| walk(line, launches * steps) == after);
        launches.ok_or_else(|| format!("no number of launches of {steps} steps ends in line {after}"))?;
        line = after;
    }
    Ok(())
}

/// The line at which a chase is.
fn position(workspace: &dyn Workspace, begin: Option<u64>) -> Result<usize, BackendError> {
    let words = state(workspace, 2)?;
    Ok(match begin {
        Some(begin) => match u64::from(words[0]) | u64::from(words[1]) << 32 {
            0 => 0,
            at => ((at - begin) / 128) as usize,
        },
        None => words[0] as usize / 32,
    })
}

fn chase_shared(device: &dyn TransposeBackend) -> Result<(), Failed> {
    let words = Probe::ChaseShared.define("RING", language(device)) as usize;
    let workspace = device.workspace(&space(4 * words as u64, state_bytes(1)).unwrap(), 1)?;
    let next = chain::cycle(words, 3);
    let ring: Vec<u8> = next.iter().flat_map(|word| word.to_le_bytes()).collect();
    workspace.write_source(0, 0, &ring)?;
    for steps in [8, 1000] {
        launch(workspace.as_ref(), Probe::ChaseShared, Parameters { blocks: 1, steps, ..Parameters::default() })?;
        let expected = (0..steps).fold(0, |at: u32, _| next[at as usize]);
        // Addresses are bytes.
        let unit = if language(device) == Language::Cuda { 4 } else { 1 };
        expect("the end of the chain", state(workspace.as_ref(), 1)?[0], unit * expected)?;
    }
    Ok(())
}

/// Runs a probe whose sum of a thread is `expected`, and again waiting for another.
fn meets(workspace: &dyn Workspace, probe: Probe, parameters: Parameters, expected: u32) -> Result<(), Failed> {
    assert!(expected != 0 && expected != TRAP);
    for (trap, stored) in [(expected, expected), (TRAP, 0)] {
        workspace.poison(0)?;
        launch(workspace, probe, Parameters { trap, ..parameters })?;
        expect(&format!("{} {parameters:?} waiting for {trap:x}", probe.name()), state(workspace, 1)?[0], stored)?;
    }
    Ok(())
}

/// The exclusive or of the four words of each of these vectors.
fn sum_of(data: &[u8], vectors: impl Iterator<Item = u64>) -> u32 {
    vectors.flat_map(|vector| (0..4).map(move |k| 4 * vector + k)).fold(0, |sum, word| sum ^ word_at(data, word))
}

fn read(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 3;
    for probe in [Probe::ReadL1, Probe::ReadL2, Probe::ReadOnce1, Probe::ReadOnce2, Probe::ReadOnce4] {
        let (block, unroll) = (probe.block(language(device)), probe.define("UNROLL", language(device)));
        // Two rounds of the inner loop, and five windows of which three blocks move on by two.
        let (window, count) = (2 * block * unroll, 5);
        let bytes = u64::from(window) * 16 * count;
        let workspace = device.workspace(&space(bytes, state_bytes(BLOCKS)).unwrap(), 1)?;
        let data = data(bytes);
        workspace.write_source(0, 0, &data)?;
        for (shift, steps) in [(0, 1), (0, 3), (2, 1), (2, 4)] {
            let parameters =
                Parameters { blocks: BLOCKS, steps, window, count: count as u32, shift, ..Parameters::default() };
            for (number, thread) in [(0, 0), (1, 77), (2, block - 1)] {
                let windows = (0..steps).map(|step| u64::from(number + step * shift) % count * u64::from(window));
                let parts = (0..window / block).map(|i| u64::from(i * block + thread));
                let sum = sum_of(&data, windows.flat_map(|begin| parts.clone().map(move |i| begin + i)));
                meets(workspace.as_ref(), probe, parameters, sum)?;
            }
        }
    }
    Ok(())
}

fn read_shared(device: &dyn TransposeBackend) -> Result<(), Failed> {
    let tile = 16 * u64::from(Probe::ReadShared.define("TILE", language(device)));
    let workspace = device.workspace(&space(tile, state_bytes(1)).unwrap(), 1)?;
    let data = data(tile);
    workspace.write_source(0, 0, &data)?;
    for (thread, steps) in [(0, 1), (255, 1), (17, 2), (99, 3)] {
        let rounds = (0..steps).flat_map(|step| (0..8).map(move |k| thread + 256 * (step % 2) + 64 * k));
        let parameters = Parameters { blocks: 1, steps: steps as u32, ..Parameters::default() };
        meets(workspace.as_ref(), Probe::ReadShared, parameters, sum_of(&data, rounds))?;
    }
    for stride in [0, 1, 2, 32, 33] {
        for (lane, steps) in [(31, 1), (5, 2), (1, 3)] {
            let words =
                (0..steps).flat_map(|step| (0..16).map(move |k| lane * u64::from(stride) + 512 * (step % 2) + 32 * k));
            let sum = words.fold(0, |sum, word| sum ^ word_at(&data, word));
            let parameters = Parameters { blocks: 1, steps: steps as u32, stride, ..Parameters::default() };
            meets(workspace.as_ref(), Probe::Banks, parameters, sum)?;
        }
    }
    Ok(())
}

fn load(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 3;
    for (probe, width) in [(Probe::Load4, 4_u64), (Probe::Load16, 16)] {
        let (block, unroll) = (probe.block(language(device)), probe.define("UNROLL", language(device)));
        for (stride, first) in [(1, 0), (1, 31), (3, 0), (33, 5)] {
            let elements = u64::from(first) + u64::from(BLOCKS * block * unroll) * u64::from(stride);
            let workspace = device.workspace(&space(elements * width, state_bytes(BLOCKS)).unwrap(), 1)?;
            let data = data(elements * width);
            workspace.write_source(0, 0, &data)?;
            for (number, thread) in [(0, 0), (1, 100), (2, block - 1)] {
                let access = |k| u64::from(number * block * unroll + k * block + thread);
                let touched = (0..unroll).map(|k| u64::from(first) + access(k) * u64::from(stride));
                let words = touched.flat_map(|element| (0..width / 4).map(move |k| element * width / 4 + k));
                let sum = words.fold(0, |sum, word| sum ^ word_at(&data, word));
                let parameters = Parameters { blocks: BLOCKS, first, stride, ..Parameters::default() };
                meets(workspace.as_ref(), probe, parameters, sum)?;
            }
        }
    }
    Ok(())
}

fn store(device: &dyn TransposeBackend) -> Result<(), Failed> {
    const BLOCKS: u32 = 2;
    const POISON: u32 = 0xA5A5_A5A5;
    for (probe, width) in [(Probe::Store4, 4_u64), (Probe::Store16, 16)] {
        let accesses = BLOCKS * probe.block(language(device)) * probe.define("UNROLL", language(device));
        for (stride, first) in [(1, 0), (1, 31), (3, 0), (33, 5)] {
            let elements = u64::from(first) + u64::from(accesses) * u64::from(stride);
            let workspace = device.workspace(&space(16, elements * width).unwrap(), 1)?;
            workspace.poison(POISON as u8)?;
            let parameters = Parameters { blocks: BLOCKS, first, stride, trap: TRAP, ..Parameters::default() };
            launch(workspace.as_ref(), probe, parameters)?;
            let words = state(workspace.as_ref(), (elements * width / 4) as usize)?;
            for (index, found) in words.into_iter().enumerate() {
                let (element, part) = (index as u64 * 4 / width, index as u64 % (width / 4));
                let access = element.checked_sub(first.into()).filter(|past| past % u64::from(stride) == 0);
                let value = access.map(|past| (past / u64::from(stride)) as u32 ^ TRAP);
                let expected = value.map_or(POISON, |value| if part % 2 == 0 { value } else { !value });
                expect(&format!("{} {parameters:?}: word {index}", probe.name()), found, expected)?;
            }
        }
    }
    Ok(())
}

/// Checks that a record of a device of this kind shows what it must.
type Shows = fn(&Value, DeviceKind) -> Result<(), Failed>;

/// The three commands on a device, with small sets, and what a record of each must show.
fn commands(id: DeviceId) -> Vec<Trial> {
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
    let (json, markdown) = (path("run.json"), path("run.md"));
    let id = id.to_string();
    let quick = [name, "--device", &id, "--repetitions", "1", "--min-time", "0.0001", "--json", &json];
    let output = cornerturn(&[&quick, more, &["--markdown", &markdown]].concat())?;
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

fn wrong_input() -> Result<(), Failed> {
    let cases: [(&[&str], &[&str]); 9] = [
        (&["hierarchy", "--device", "gpu"], &["gpu", "cuda:0, vulkan:0"]),
        (&["hierarchy", "--device", "cuda:4094"], &["no device `cuda:4094`", "the devices here are cpu"]),
        (&["hierarchy", "--largest", "10"], &["`10` is no size", "64KiB to 1TiB"]),
        (&["hierarchy", "--largest", "64MB"], &["`64MB` is no size", "64MiB"]),
        (&["coalescing", "--set", "2048GiB"], &["`2048GiB`", "64KiB to 1TiB"]),
        (&["coalescing", "--repetitions", "0"], &["0 is not in 1..=100"]),
        (&["banks", "--repetitions", "1000"], &["1000 is not in 1..=100"]),
        (&["banks", "--min-time", "fast"], &["`fast` is no time", "0.0001 to 3600"]),
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
    let output = cornerturn(&["banks", "--device", "cpu", "--json", &same, "--markdown", &same])?;
    let message = text(&output.stderr);
    expect(&message, (output.status.code(), message.contains("is named for two outputs")), (Some(2), true))
}

fn schema_is_strict() -> Result<(), Failed> {
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
fn interrupted() -> Result<(), Failed> {
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
