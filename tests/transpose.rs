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
        (header("'<f4'", false, "(4294967296, 4294967296, 4294967296)"), "4294967296"),
        (header("'|O'", false, "(3, 5)"), "Python objects"),
    ];
    for (bytes, expected) in cases {
        fs::write(path("in.npy"), bytes).unwrap();
        let message = refused(folder.path(), &["in.npy", "old.npy"]);
        assert!(message.contains("in.npy") || message.contains("4294967296"), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    fs::write(path("in.npy"), [good, vec![0; 60]].concat()).unwrap();
    assert!(refused(folder.path(), &["in.npy", "in.npy"]).contains("is input and output"));
    assert!(refused(folder.path(), &["missing.npy", "old.npy"]).contains("cannot read missing.npy"));
    assert!(refused(folder.path(), &["in.npy", "no/such/folder/out.npy"]).contains("no/such/folder"));
    let raw = ["--raw", "--rows", "3", "--cols", "7", "--element", "u8", "in.npy", "old.npy"];
    assert!(refused(folder.path(), &raw).contains("the options say 21 B"));
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
