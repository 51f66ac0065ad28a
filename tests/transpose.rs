//! `cornerturn transpose` on files: every kind of array, bad input, and what is left where it goes wrong.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cornerturn"));
    command.current_dir(folder).arg("transpose");
    command
}

/// Runs it with these arguments, on the CPU, in `folder`.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    program(folder).args(arguments).args(["--device", "cpu"]).output().expect("it starts")
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

fn header(descr: &str, fortran: bool, shape: &str) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

fn shape_text(shape: &[usize]) -> String {
    format!("({})", shape.iter().map(|length| format!("{length}, ")).collect::<String>())
}

/// What a file of ours says its shape is, and its elements.
fn read(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).expect("it is there");
    let length = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let text = String::from_utf8(bytes[10..length].to_vec()).expect("text");
    assert!(text.contains("'fortran_order': False"), "{text}");
    (text, bytes[length..].to_vec())
}

/// Offset in elements of a cell, the last axis or the first one varying fastest.
fn offset(cell: &[usize], shape: &[usize], fortran: bool) -> usize {
    let axes: Vec<usize> = if fortran { (0..shape.len()).rev().collect() } else { (0..shape.len()).collect() };
    axes.into_iter().fold(0, |offset, axis| offset * shape[axis] + cell[axis])
}

#[test]
fn arrays_of_every_width_order_and_shape_are_turned() {
    let folder = tempfile::tempdir().unwrap();
    let shapes: [&[usize]; 8] = [&[3, 5], &[1, 7], &[7, 1], &[65, 130], &[0, 4], &[3, 4, 5], &[5, 1, 7], &[2, 33, 65]];
    for (descr, width) in [("|u1", 1), (">f2", 2), ("<i4", 4), ("<c8", 8), (">c16", 16)] {
        for shape in shapes {
            for fortran in [false, true] {
                let elements: usize = shape.iter().product();
                let data: Vec<u8> = (0..elements * width).map(|byte| (byte * 131 + byte / 251) as u8).collect();
                let input = [header(&format!("'{descr}'"), fortran, &shape_text(shape)), data.clone()].concat();
                fs::write(folder.path().join("in.npy"), input).unwrap();
                let output = run(folder.path(), &["in.npy", "out.npy"]);
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

                let (text, turned) = read(&folder.path().join("out.npy"));
                let mut turned_shape = shape.to_vec();
                let last = shape.len() - 1;
                turned_shape.swap(last - 1, last);
                let told: Vec<String> = turned_shape.iter().map(usize::to_string).collect();
                assert!(text.contains(&format!("'descr': '{descr}'")), "{text}");
                assert!(text.contains(&format!("'shape': ({}),", told.join(", "))), "{text}");
                assert_eq!(turned.len(), data.len());
                for index in 0..elements {
                    // The cell of the result with this index, and the one of the input that it comes from.
                    let mut rest = index;
                    let mut cell: Vec<usize> = turned_shape
                        .iter()
                        .rev()
                        .map(|length| {
                            let at = rest % length;
                            rest /= length;
                            at
                        })
                        .collect();
                    cell.reverse();
                    cell.swap(last - 1, last);
                    let from = offset(&cell, shape, fortran) * width;
                    let got = &turned[index * width..][..width];
                    assert_eq!(got, &data[from..][..width], "{descr} {shape:?} fortran {fortran} at {index}");
                }
            }
        }
    }
}

#[test]
fn streams_and_raw_files_are_turned() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in.raw"), [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16]).unwrap();
    let raw = ["--raw", "--rows", "3", "--cols", "2", "--batch", "2", "--element", "u8"];
    assert!(run(folder.path(), &[&raw[..], &["in.raw", "out.raw"]].concat()).status.success());
    assert_eq!(fs::read(path("out.raw")).unwrap(), [1, 3, 5, 2, 4, 6, 11, 13, 15, 12, 14, 16]);

    fs::write(path("in.npy"), [header("'|u1'", false, "(2, 3)"), vec![1, 2, 3, 4, 5, 6]].concat()).unwrap();
    let stdin = File::open(path("in.npy")).unwrap();
    let output = program(folder.path()).args(["-", "-", "--device", "cpu"]).stdin(stdin).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.ends_with(&[b'\n', 1, 4, 2, 5, 3, 6]), "{:?}", output.stdout);
}

#[test]
fn a_device_that_is_not_there_leaves_it_to_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), [header("'|u1'", false, "(2, 3)"), vec![1, 2, 3, 4, 5, 6]].concat())
        .unwrap();
    let arguments = ["in.npy", "out.npy", "--device", "vulkan:99"];
    let output = program(folder.path()).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("vulkan:99") && message.contains("on the CPU instead"), "{message}");
    assert_eq!(read(&folder.path().join("out.npy")).1, [1, 4, 2, 5, 3, 6]);
}

#[test]
fn bad_input_is_named_with_its_numbers_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("old.npy"), "old").unwrap();
    let good = header("'<f4'", false, "(3, 5)");
    let cases: [(Vec<u8>, &str); 9] = [
        (vec![], "ends within its header: 0 B of 8 B"),
        (good[..40].to_vec(), "ends within its header"),
        ([good.clone(), vec![0; 59]].concat(), "holds 59 B of elements; its header says 60 B"),
        ([good.clone(), vec![0; 61]].concat(), "holds 61 B of elements; its header says 60 B"),
        (header("'<f4'", false, "(-3, 5)"), "the axis -3"),
        (header("'<f4'", false, "()"), "has 0 axes"),
        (header("'<f4'", false, "(4, )"), "has 1 axes"),
        (header("'<f4'", false, "(4294967296, 4294967296, 4294967296)"), "is too large: 4294967296 × "),
        (header("'|O'", false, "(3, 5)"), "Python objects"),
    ];
    for (bytes, expected) in cases {
        fs::write(path("in.npy"), bytes).unwrap();
        let message = refused(folder.path(), &["in.npy", "old.npy"]);
        assert!(message.contains("in.npy "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let input = [good, vec![0; 60]].concat();
    let length = input.len() as u64;
    fs::write(path("in.npy"), input).unwrap();
    fs::hard_link(path("in.npy"), path("second.npy")).unwrap();
    for same in ["in.npy", "./in.npy", "second.npy"] {
        assert!(refused(folder.path(), &["in.npy", same]).contains("is input and output"));
    }
    fs::remove_file(path("second.npy")).unwrap();
    let appended = File::options().append(true).open(path("in.npy")).unwrap();
    let output = program(folder.path()).args(["in.npy", "-"]).stdout(appended).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(fs::metadata(path("in.npy")).unwrap().len(), length);
    for folders in ["no/", "no/."] {
        assert!(refused(folder.path(), &["in.npy", folders]).contains("there is no such folder"));
    }
    assert!(refused(folder.path(), &["missing.npy", "old.npy"]).contains("cannot read missing.npy"));
    assert!(refused(folder.path(), &["in.npy", "no/such/folder/out.npy"]).contains("no/such/folder"));
    let raw = ["--raw", "--rows", "3", "--cols", "7", "--element", "u8", "in.npy", "old.npy"];
    assert!(refused(folder.path(), &raw).contains("the options say 21 B"));
    let raw = ["--raw", "--rows", "4294967296", "--cols", "4294967296", "--element", "u8", "in.npy", "old.npy"];
    assert!(refused(folder.path(), &raw).contains("what the options say is too large: 1 × 4294967296×4294967296"));
    assert_eq!(fs::read(path("old.npy")).unwrap(), b"old");
    let mut names: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert_eq!(names, [path("in.npy"), path("old.npy")], "no leftovers");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), [header("'|u1'", false, "(2, 3)"), vec![0; 6]].concat()).unwrap();
    let output = run(folder.path(), &["in.npy", "/dev/full"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write /dev/full: No space left on device"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_beyond_the_users_limit_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), [header("'|u1'", false, "(2, 4096)"), vec![0; 8192]].concat()).unwrap();
    let limited =
        format!("ulimit -f 1; exec {} transpose in.npy out.npy --device cpu", env!("CARGO_BIN_EXE_cornerturn"));
    let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write out.npy: File too large"), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no leftovers");
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_of_the_shell_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.npy"), [header("'|u1'", false, "(2, 3)"), vec![1, 2, 3, 4, 5, 6]].concat())
        .unwrap();
    let piped = format!("{} transpose in.npy /dev/fd/3 --device cpu 3>&1 | cat", env!("CARGO_BIN_EXE_cornerturn"));
    let output = Command::new("sh").args(["-c", &piped]).current_dir(folder.path()).output().unwrap();
    assert!(output.stdout.ends_with(&[b'\n', 1, 4, 2, 5, 3, 6]), "{output:?}");
}

#[cfg(target_os = "linux")]
mod meanwhile {
    use std::io::{self, BufRead, BufReader, Read};
    use std::os::unix::fs::FileExt;
    use std::process::Child;
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until it is so.
    fn until(what: &str, mut so: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !so() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends it these signals, each once the one before is heard, and returns what it printed on standard error, if it
    /// ends as interrupted runs do.
    fn interrupted(mut child: Child, signals: &[&str]) -> String {
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut message = String::new();
        for signal in signals {
            assert!(Command::new("kill").args([*signal, &child.id().to_string()]).status().unwrap().success());
            stderr.read_line(&mut message).unwrap();
        }
        until("it did not stop", || child.try_wait().unwrap().is_some());
        stderr.read_to_string(&mut message).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signals:?}: {message}");
        message
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Waits until a part of the output is written.
    fn until_it_writes(folder: &Path) {
        let temporary = |name: &String| name.starts_with(".cornerturn-");
        let begun = |name: String| fs::metadata(folder.join(name)).is_ok_and(|found| found.len() > 0);
        until("it wrote nothing", || names(folder).into_iter().find(temporary).is_some_and(begun));
    }

    #[test]
    fn input_that_changes_leaves_the_old_output() {
        type Change = fn(&File) -> io::Result<()>;
        let changes: [(Change, &str); 3] = [
            (|file| file.set_len(1000), "it had 1073741824 B and has 1000 B"),
            (|file| file.set_len(1 << 33), "it had 1073741824 B and has 8589934592 B"),
            (|file| file.write_all_at(b"new", 5), "its 1073741824 B were written to"),
        ];
        let raw = ["--raw", "--rows", "2", "--cols", "33554432", "--element", "c128", "--device", "cpu"];
        for (change, expected) in changes {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            let input = File::create(path("in.raw")).unwrap();
            input.set_len(1 << 30).unwrap();
            fs::write(path("out.raw"), "old").unwrap();
            let mut command = program(folder.path());
            let child = command.args(raw).args(["in.raw", "out.raw"]).stderr(Stdio::piped()).spawn().unwrap();
            until_it_writes(folder.path());
            change(&input).unwrap();
            let output = child.wait_with_output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert_eq!(message, format!("error: in.raw was changed while it was read: {expected}\n"));
            assert_eq!(names(folder.path()), ["in.raw", "out.raw"], "no leftovers");
            assert_eq!(fs::read(path("out.raw")).unwrap(), b"old");
        }
    }

    #[test]
    fn an_interrupt_while_it_writes_leaves_the_old_output() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        // A hole in a file takes no room. Two bands of 256 MiB are written at the most, of sixteen.
        let (cols, bytes) = (1 << 27, 1 << 32);
        File::create(path("in.raw")).unwrap().set_len(bytes).unwrap();
        let cols = cols.to_string();
        let raw = ["--raw", "--rows", "2", "--cols", &cols, "--element", "c128", "--device", "cpu"];
        for signals in [&["-INT"][..], &["-TERM"], &["-INT", "-INT"]] {
            fs::write(path("out.raw"), "old").unwrap();
            let mut command = program(folder.path());
            let child = command.args(raw).args(["in.raw", "out.raw"]).stderr(Stdio::piped()).spawn().unwrap();
            until_it_writes(folder.path());
            assert_eq!(interrupted(child, signals), "stopping; once more to stop at once\n");
            assert_eq!(names(folder.path()), ["in.raw", "out.raw"], "{signals:?}: no leftovers");
            assert_eq!(fs::read(path("out.raw")).unwrap(), b"old");
        }
    }

    fn until_it_catches(child: &Child, signal: u32) {
        until("it catches no signals", || {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
        });
    }

    #[test]
    fn an_interrupt_while_it_waits_for_a_reader_ends_it_at_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.npy"), [header("'|u1'", false, "(2, 3)"), vec![0; 6]].concat()).unwrap();
        assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
        let child = program(folder.path()).args(["in.npy", "pipe"]).stderr(Stdio::piped()).spawn().unwrap();
        until_it_catches(&child, 2);
        interrupted(child, &["-INT"]);
        assert_eq!(names(folder.path()), ["in.npy", "pipe"]);
    }

    #[test]
    fn an_interrupt_while_it_waits_for_input_ends_it_at_once() {
        for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("out.npy"), "old").unwrap();
            let mut command = program(folder.path());
            command.args(["-", "out.npy"]).env("TMPDIR", folder.path());
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // Held open, so that the input does not end.
            let stdin = child.stdin.take();
            until_it_catches(&child, number);
            interrupted(child, &[signal]);
            drop(stdin);
            assert_eq!(names(folder.path()), ["out.npy"], "{signal}: no leftovers");
            assert_eq!(fs::read(folder.path().join("out.npy")).unwrap(), b"old");
        }
    }
}
