//! `cornerturn explain`, as a user meets it: exit codes, messages and the report.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn explain(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cornerturn")).arg("explain").args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The exit code, and each of `words` in the message, which is no panic.
fn fails(output: &Output, code: i32, words: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing in: {message}");
    }
    assert!(!message.contains("panicked") && !message.contains("error: error"), "{message}");
}

/// Files in a folder of their own, which goes with it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

const RACY: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(1) @binding(2) var<uniform> count: u32;
override STEP = 1u;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
    if i < count { data[i] = data[STEP * i + 1u]; }
}
@compute @workgroup_size(1)
fn other() { loop { data[0] += 1u; if data[0] == 0u { break; } } }
";

#[test]
fn a_variant_is_explained() {
    let output = explain(&["tiled"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in ["sampled 12 of 16384 workgroups; totals are scaled to all", "32-way", "16252928", "No data race"] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    assert!(text.lines().any(|line| line.starts_with("! wg load tile") && line.contains("word |= place(")), "{text}");
    let text =
        stdout(&explain(&["padded", "--element", "u8", "--size", "64x96", "--batch", "2", "--pad", "3,5", "--whole"]));
    assert!(text.contains("traced all 12 workgroups") && text.contains("Generated from the variant table"), "{text}");
}

#[test]
fn a_file_is_explained_with_its_findings() {
    let folder = Folder::new();
    let file = folder.file("racy.wgsl", RACY);
    let json = folder.0.path().join("out.json").display().to_string();
    let binds = ["--entry", "main", "--bind", "0=64xu32:index", "--bind", "1.2=u32:50", "--json", &json];
    let output = explain(&[&[file.as_str()][..], &binds].concat());
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [
        "data race on byte",
        "of data (storage): load at 6:30",
        "then store at 6:20",
        "49 times",
        "   6 |     if i < count",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["schema"], "cornerturn-trace/1");
    assert_eq!(report["findings"][0]["finding"], "data-race");
    assert_eq!(report["lines"][0]["accesses"][0]["variable"], "data");
    assert_eq!(report["totals"][1]["sectors"], 7);

    let more = ["--fail-on-findings", "--set", "STEP=2"];
    let output = explain(&[&[file.as_str()][..], &binds, &more].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output)
            .contains("out of bounds: load at 6:30 of index 65 of data, which has 64, by invocation [32, 0, 0]")
    );
    let only_json = explain(&[&[file.as_str()][..], &binds[..6], &["--json", "-"]].concat());
    assert!(serde_json::from_slice::<serde_json::Value>(&only_json.stdout).is_ok());
}

#[test]
fn a_buffer_comes_from_a_file() {
    let folder = Folder::new();
    let file = folder.file("racy.wgsl", RACY);
    let count = format!("1.2=@{}", folder.file("count", "\u{1}\0\0\0"));
    let output = explain(&[&file, "--entry", "main", "--bind", "0=1KiB", "--bind", &count]);
    assert!(stdout(&output).contains("No data race"), "{}", stdout(&output));
    for input in [&file, count.trim_start_matches("1.2=@")] {
        let output = explain(&[&file, "--entry", "main", "--bind", "0=1KiB", "--bind", &count, "--json", input]);
        fails(&output, 2, &["is input and output"]);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), RACY);
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new();
    let file = folder.file("racy.wgsl", RACY);
    let with = |args: &[&str]| explain(&[&[file.as_str()], args].concat());
    fails(&with(&[]), 2, &["several compute entry points", "--entry", "main, other"]);
    fails(&with(&["--entry", "no"]), 2, &["`no`", "main, other"]);
    fails(&with(&["--entry", "main"]), 2, &["--bind 0=", "`data: array<u32>`", "--bind 1.2=", "`count: u32`"]);
    let bound = ["--entry", "main", "--bind", "0=64xu32", "--bind", "1.2=u32:1"];
    let more = |args: &[&str]| with(&[&bound, args].concat());
    fails(&more(&["--bind", "0=4"]), 2, &["binding 0.0 is given twice"]);
    fails(&more(&["--bind", "7=4"]), 2, &["no binding 0.7"]);
    #[cfg(unix)]
    fails(&with(&["--entry", "main", "--bind", "0=@/dev/zero"]), 2, &["/dev/zero has more than 1073741824 B"]);
    fails(&more(&["--set", "NO=1"]), 2, &["there is no `NO`, but STEP"]);
    fails(&more(&["--subgroup", "33"]), 2, &["power of two", "33"]);
    fails(&more(&["--workgroups", "1,0,0"]), 2, &["no workgroup [1, 0, 0]"]);
    fails(&more(&["--grid", "67108864,67108864,67108864", "--workgroups", "all"]), 2, &["302231454903657293676544"]);
    fails(&more(&["--grid", "67108865"]), 2, &["invocations along x: 4294967360; the most is 4294967296"]);
    fails(&more(&["--size", "4x4"]), 2, &["--size is for variants"]);
    fails(&with(&["--entry", "other", "--bind", "0=4"]), 1, &["more than 10000000 steps at line 9", "--max-steps"]);
    fails(&explain(&["tiled", "--grid", "4"]), 2, &["--grid is for files"]);
    fails(&explain(&["memcpy"]), 2, &["no kernel of ours"]);
    fails(&explain(&["tall"]), 2, &["at most 127"]);
    fails(&explain(&["tild"]), 2, &["cannot read tild", "the variants are copy, naive, tiled"]);
    fails(&explain(&["no/such.wgsl"]), 2, &["cannot read no/such.wgsl"]);
    fails(&explain(&["tiled", "--size", "0x5"]), 2, &["nothing to move"]);
    let broken = folder.file("broken.wgsl", "fn main() {\n    let x = 1u + ;\n}");
    fails(&explain(&[&broken]), 2, &["broken.wgsl:2:18", "let x = 1u + ;"]);
    let marked = folder.file("marked.wgsl", "\u{feff}@compute @workgroup_size(1) fn main() { }");
    assert_eq!(explain(&[&marked]).status.code(), Some(0));
    let empty = folder.file("empty.wgsl", "");
    fails(&explain(&[&empty]), 2, &["no compute entry point"]);
    let binary = folder.0.path().join("binary.wgsl");
    fs::write(&binary, [0xff, 0xfe, 0]).unwrap();
    fails(&explain(&[binary.to_str().unwrap()]), 2, &["no text in UTF-8: byte 0"]);
}
