//! Records against their schema: what the program may write, what it must refuse, and what a reader says of it.

use std::fs;
use std::path::Path;

use cornerturn::device::{Api, DeviceKind, Peak, PeakSource, TimerKind};
use cornerturn::element::Element;
use cornerturn::record::{Absent, Device, Environment, ReadError, Record, Row, SCHEMA, Status};
use jsonschema::Validator;
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema() -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("docs/record.schema.json")).unwrap()).unwrap()
}

fn validator() -> Validator {
    let schema = schema();
    jsonschema::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::draft202012::new(&schema).unwrap()
}

fn device(id: &str, kind: DeviceKind, physical: usize) -> Device {
    Device {
        id: id.into(),
        name: "Example GPU".into(),
        api: id.split(':').next().unwrap().into(),
        driver: "example 1.2".into(),
        kind,
        pci: Some("0000:01:00.0".into()),
        physical,
        memory_bytes: Some(16 << 30),
        cache_bytes: Some(32 << 20),
        peak: Some(Peak { gbps: 1000.0, source: PeakSource::User }),
    }
}

/// A row of each status; everything that may be null is null somewhere and given elsewhere.
fn row(status: Status) -> Row {
    let figures = status.has_figures();
    Row {
        device: "vulkan:0".into(),
        variant: "transpose-crate".into(),
        chosen: None,
        tuned: false,
        rows: 1024,
        cols: 2048,
        batch: 3,
        source_ld: Some(2049),
        source_stride: Some(2_098_200),
        destination_ld: Some(1024),
        destination_stride: Some(2_097_152),
        element: "f32".into(),
        bounds_checks: Some(false),
        status,
        reason: (status != Status::Ok).then(|| "because".into()),
        timer: figures.then_some(TimerKind::Host),
        timer_note: figures.then(|| "the device has no timestamps".into()),
        samples_s: if figures { vec![1.25e-4, 1.5e-4, 2e-4] } else { vec![] },
        launches: if figures { 100 } else { 0 },
        median_s: figures.then_some(1.5e-4),
        min_s: figures.then_some(1.25e-4),
        spread: figures.then_some(0.25),
        bytes: 50_331_648,
        gbps: figures.then_some(335.544_32),
        percent_of_copy: figures.then_some(90.5),
        percent_of_peak: figures.then_some(33.554_432),
        sets: if figures { 4 } else { 0 },
        cache_resident: figures.then_some(false),
        verified: figures,
        limiter: figures.then(|| "strided writes".into()),
        sm_mhz: None,
        memory_mhz: None,
        throttled: None,
    }
}

fn record() -> Record {
    let mut devices = vec![device("vulkan:0", DeviceKind::Gpu, 0), device("cpu", DeviceKind::Cpu, 1)];
    devices[1] = Device { pci: None, memory_bytes: None, cache_bytes: None, peak: None, ..devices[1].clone() };
    let bare = Row {
        device: "cpu".into(),
        source_ld: None,
        source_stride: None,
        destination_ld: None,
        destination_stride: None,
        bounds_checks: None,
        timer: Some(TimerKind::Device),
        timer_note: None,
        percent_of_copy: None,
        percent_of_peak: None,
        cache_resident: None,
        limiter: None,
        ..row(Status::Ok)
    };
    Record {
        schema: SCHEMA.into(),
        environment: Environment {
            version: "0.1.0".into(),
            command: vec!["cornerturn".into(), "bench".into()],
            date: "2026-01-02T03:04:05Z".into(),
            os: "linux".into(),
            arch: "x86_64".into(),
            cpus: 8,
        },
        devices,
        absent: vec![Absent { api: "cuda".into(), reason: "no driver".into(), remedy: "install one".into() }],
        results: vec![row(Status::Ok), row(Status::Unsupported), row(Status::Suspect), row(Status::Failed), bare],
        interrupted: false,
    }
}

fn to_value(record: &Record) -> Value {
    serde_json::to_value(record).unwrap()
}

#[track_caller]
fn refused(validator: &Validator, value: &Value, what: &str) {
    assert!(!validator.is_valid(value), "the schema lets this pass: {what}");
}

#[test]
fn every_status_is_valid_and_comes_back_as_it_went() {
    let record = record();
    let json = record.to_json().unwrap();
    assert!(json.ends_with("}\n"));
    assert_eq!(json, record.to_json().unwrap());
    let errors: Vec<String> =
        validator().iter_errors(&to_value(&record)).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(Record::from_json(&json, "x.json").unwrap(), record);
}

#[test]
fn only_what_was_chosen_is_tuned() {
    let mut record = record();
    record.results[0] = Row { chosen: Some("tiled".into()), tuned: true, ..record.results[0].clone() };
    let mut value = to_value(&record);
    assert!(validator().is_valid(&value));
    assert_eq!(Record::from_json(&record.to_json().unwrap(), "x").unwrap(), record);
    assert_eq!(value["results"][1].get("tuned"), None);
    value["results"][0]["tuned"] = json!(false);
    refused(&validator(), &value, "false where the field should be missing");
    value["results"][1]["tuned"] = json!(true);
    value["results"][0]["tuned"] = json!(true);
    refused(&validator(), &value, "tuned where nothing was chosen");
}

#[test]
fn clocks_are_there_or_not() {
    let mut record = record();
    let throttled = Some(vec!["power cap".into()]);
    let seen =
        Row { sm_mhz: Some([1700, 1980]), memory_mhz: Some([3201, 3201]), throttled, ..record.results[0].clone() };
    record.results[0] = seen;
    record.results[4].throttled = Some(vec![]);
    let value = to_value(&record);
    assert!(validator().is_valid(&value));
    assert_eq!(Record::from_json(&record.to_json().unwrap(), "x").unwrap(), record);
    assert_eq!((value["results"][1].get("sm_mhz"), value["results"][1].get("throttled")), (None, None));
    for (field, wrong) in [
        ("sm_mhz", json!(null)),
        ("sm_mhz", json!([1])),
        ("sm_mhz", json!([1, 2, 3])),
        ("memory_mhz", json!([-1, 2])),
        ("memory_mhz", json!(3201)),
        ("throttled", json!([""])),
        ("throttled", json!("power cap")),
    ] {
        let mut value = value.clone();
        let what = format!("{field} = {wrong}");
        value["results"][0][field] = wrong;
        refused(&validator(), &value, &what);
    }
    record.results[0].sm_mhz = Some([2, 1]);
    let message = record.to_json().unwrap_err().to_string();
    assert_eq!(message, "results[0].sm_mhz is [2, 1]; it must be the smallest and then the largest");
}

#[test]
fn an_empty_run_is_valid() {
    let record = Record { devices: vec![], absent: vec![], results: vec![], interrupted: true, ..record() };
    assert!(validator().is_valid(&to_value(&record)));
    record.to_json().unwrap();
}

#[test]
fn the_committed_records_are_valid() {
    let validator = validator();
    let Ok(folder) = fs::read_dir(root().join("benches/results")) else { return };
    for path in folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let text = fs::read_to_string(&path).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
        let record = Record::read(&path).unwrap();
        assert_eq!(Record::from_json(&record.to_json().unwrap(), "again").unwrap(), record, "{}", path.display());
    }
}

/// Calls `visit` with the pointer of every object in `value`.
fn objects(value: &Value, pointer: String, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            visit(&pointer);
            fields.iter().for_each(|(key, field)| objects(field, format!("{pointer}/{key}"), visit));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| objects(item, format!("{pointer}/{i}"), visit));
        }
        _ => {}
    }
}

#[test]
fn no_field_may_be_missing_or_unknown() {
    let (validator, whole) = (validator(), to_value(&record()));
    objects(&whole, String::new(), &mut |pointer| {
        let keys: Vec<String> = whole.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let mut value = whole.clone();
            value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(&key);
            refused(&validator, &value, &format!("{pointer} without {key}"));
        }
        let mut value = whole.clone();
        value.pointer_mut(pointer).unwrap()["unknown"] = json!(1);
        refused(&validator, &value, &format!("{pointer} with a field more"));
    });
}

#[test]
fn values_out_of_range_are_refused() {
    let (validator, whole) = (validator(), to_value(&record()));
    let mutations = [
        ("/schema", json!("cornerturn/2")),
        ("/interrupted", json!(null)),
        ("/environment/version", json!("one")),
        ("/environment/command", json!([])),
        ("/environment/date", json!("2026-01-02 03:04:05")),
        ("/environment/date", json!("2026-01-02T03:04:05+01:00")),
        ("/environment/cpus", json!(0)),
        ("/devices/0/id", json!("cuda")),
        ("/devices/0/id", json!("cuda:01")),
        ("/devices/0/api", json!("opencl")),
        ("/devices/0/kind", json!("tpu")),
        ("/devices/0/pci", json!("01:00.0")),
        ("/devices/0/physical", json!(-1)),
        ("/devices/0/memory_bytes", json!(1.5)),
        ("/devices/0/peak/gbps", json!(0)),
        ("/devices/0/peak/source", json!("unknown")),
        ("/absent/0/reason", json!("")),
        // The measured row.
        ("/results/0/device", json!("cpu:0")),
        ("/results/0/variant", json!("Naive")),
        ("/results/0/rows", json!(-1)),
        ("/results/0/source_ld", json!(0)),
        ("/results/0/source_stride", json!(null)),
        ("/results/0/destination_ld", json!(1024.5)),
        ("/results/0/destination_stride", json!(-1)),
        ("/results/0/element", json!("float")),
        ("/results/0/bounds_checks", json!("on")),
        ("/results/0/status", json!("skipped")),
        ("/results/0/reason", json!("a reason")),
        ("/results/0/timer", json!("wall")),
        ("/results/0/timer", json!(null)),
        ("/results/0/timer", json!("device")),
        ("/results/0/timer_note", json!("")),
        ("/results/0/samples_s", json!([])),
        ("/results/0/samples_s/0", json!(0)),
        ("/results/0/samples_s/0", json!(-1e-6)),
        ("/results/0/samples_s/0", json!(null)),
        ("/results/0/launches", json!(0)),
        ("/results/0/median_s", json!(null)),
        ("/results/0/median_s", json!(0)),
        ("/results/0/min_s", json!(-1)),
        ("/results/0/spread", json!(-0.1)),
        ("/results/0/spread", json!(null)),
        ("/results/0/bytes", json!(-2)),
        ("/results/0/gbps", json!(null)),
        ("/results/0/gbps", json!(-5)),
        ("/results/0/percent_of_copy", json!(-1)),
        ("/results/0/percent_of_peak", json!(100.5)),
        ("/results/0/sets", json!(0)),
        ("/results/0/verified", json!(false)),
        ("/results/0/limiter", json!("")),
        // The unsupported one.
        ("/results/1/reason", json!(null)),
        ("/results/1/reason", json!("")),
        ("/results/1/timer", json!("host")),
        ("/results/1/timer_note", json!("a note")),
        ("/results/1/samples_s", json!([1.0])),
        ("/results/1/median_s", json!(1.0)),
        ("/results/1/min_s", json!(1.0)),
        ("/results/1/spread", json!(0.0)),
        ("/results/1/gbps", json!(1.0)),
        ("/results/1/percent_of_copy", json!(1.0)),
        ("/results/1/percent_of_peak", json!(1.0)),
        ("/results/1/verified", json!(true)),
        ("/results/1/limiter", json!("banks")),
        // The suspect one.
        ("/results/2/reason", json!(null)),
        ("/results/2/gbps", json!(null)),
        ("/results/2/verified", json!(false)),
        // The failed one.
        ("/results/3/reason", json!(null)),
        ("/results/3/gbps", json!(1.0)),
        ("/results/3/verified", json!(true)),
    ];
    for (pointer, new) in mutations {
        let mut value = whole.clone();
        let what = format!("{pointer} = {new}");
        *value.pointer_mut(pointer).unwrap() = new;
        refused(&validator, &value, &what);
    }
}

#[test]
fn the_schema_names_what_the_program_names() {
    let schema = schema();
    let names = |pointer: &str| schema.pointer(pointer).unwrap().clone();
    assert_eq!(names("/$defs/api/enum"), json!(Api::ALL.map(Api::name)));
    let elements: Vec<&str> = Element::ALL.iter().map(|element| element.name()).collect();
    assert_eq!(names("/$defs/row/properties/element/enum"), json!(elements));
    let statuses = [Status::Ok, Status::Unsupported, Status::Suspect, Status::Failed];
    assert_eq!(names("/$defs/row/properties/status/enum"), json!(statuses));
    assert_eq!(json!(statuses), json!(statuses.map(Status::name)));
    assert_eq!(names("/$defs/row/properties/timer/enum"), json!([TimerKind::Device, TimerKind::Host, Value::Null]));
    let kinds = [DeviceKind::Gpu, DeviceKind::Software, DeviceKind::Cpu];
    assert_eq!(names("/$defs/device/properties/kind/enum"), json!(kinds));
    let sources = [PeakSource::Attribute, PeakSource::Table, PeakSource::User];
    assert_eq!(names("/$defs/peak/properties/source/enum"), json!(sources));
    assert_eq!(names("/properties/schema/const"), json!(SCHEMA));
}

#[test]
fn every_field_is_described_in_the_schema_and_in_prose() {
    let schema = schema();
    let prose = fs::read_to_string(root().join("docs/RECORD.md")).unwrap();
    objects(&schema, String::new(), &mut |pointer| {
        if !pointer.ends_with("/properties") || pointer.contains("/allOf/") {
            return;
        }
        for (field, of) in schema.pointer(pointer).unwrap().as_object().unwrap() {
            let reference = of["$ref"].as_str().map(|r| schema.pointer(&r[1..]).unwrap());
            assert!(reference.unwrap_or(of)["description"].is_string(), "{pointer}/{field} has no description");
            assert!(prose.contains(&format!("`{field}`")), "docs/RECORD.md does not tell of `{field}`");
        }
    });
}

#[test]
fn what_is_no_record_is_refused_with_its_place() {
    let error = |text: &str| Record::from_json(text, "runs/a.json").unwrap_err();
    let json = record().to_json().unwrap();

    assert!(matches!(error(" \n"), ReadError::Empty { .. }));
    assert!(error("").to_string().starts_with("runs/a.json is empty"));

    let cut = error(&json[..json.len() / 2]);
    assert!(matches!(cut, ReadError::Truncated { line, .. } if line > 10), "{cut}");
    assert!(cut.to_string().starts_with("runs/a.json:"), "{cut}");

    let other = error(&json.replace(SCHEMA, "cornerturn/2")).to_string();
    assert_eq!(other, "runs/a.json is a record of format `cornerturn/2`; only `cornerturn/1` can be read");
    assert!(matches!(error(r#"{"schema": "cornerturn/2"}"#), ReadError::Version { .. }));

    for (from, to, says) in [
        ("\"interrupted\": false", "\"interrupted\": NaN", "at line "),
        ("0.00015,", "1e999,", "number out of range at line "),
        ("\"cpus\": 8", "\"cpus\": \"8\"", "at line "),
        ("\"status\": \"ok\"", "\"status\": \"fine\"", "unknown variant `fine`"),
        ("\"interrupted\"", "\"stopped\"", "missing field `interrupted` at line "),
    ] {
        let text = json.replacen(from, to, 1);
        assert_ne!(text, json, "{from} is in the record");
        let message = error(&text).to_string();
        assert!(message.starts_with("runs/a.json: not a record: ") && message.contains(says), "{message}");
    }
    assert!(error("[]").to_string().contains("at line 1 column "));

    let missing = Record::read("no/such/file.json").unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no/such/file.json: "), "{missing}");
}

#[test]
fn fields_of_a_later_program_are_passed_over() {
    let mut value = to_value(&record());
    value["results"][0]["later"] = json!({ "more": 1 });
    assert_eq!(Record::from_json(&value.to_string(), "x").unwrap(), record());
}

#[test]
fn what_cannot_be_is_neither_read_nor_written() {
    type Change = fn(&mut Record);
    let changes: [(&str, Change); 19] = [
        ("schema is cornerturn/0;", |r| r.schema = "cornerturn/0".into()),
        ("devices[1].id is vulkan:0;", |r| r.devices[1].id = "vulkan:0".into()),
        ("devices[0].peak.gbps is inf;", |r| r.devices[0].peak.as_mut().unwrap().gbps = f64::INFINITY),
        ("results[0].device is cuda:7;", |r| r.results[0].device = "cuda:7".into()),
        ("results[0].tuned is true;", |r| r.results[0].tuned = true),
        ("results[0].source_stride is missing;", |r| r.results[0].source_stride = None),
        ("results[4].source_ld is missing;", |r| r.results[4].destination_ld = Some(5)),
        ("results[0].samples_s[1] is NaN;", |r| r.results[0].samples_s[1] = f64::NAN),
        ("results[0].samples_s[2] is -1;", |r| r.results[0].samples_s[2] = -1.0),
        ("results[0].samples_s is empty;", |r| r.results[0].samples_s.clear()),
        ("results[2].median_s is -0.5;", |r| r.results[2].median_s = Some(-0.5)),
        ("results[0].min_s is null;", |r| r.results[0].min_s = None),
        ("results[0].gbps is inf;", |r| r.results[0].gbps = Some(f64::INFINITY)),
        ("results[0].percent_of_copy is NaN;", |r| r.results[0].percent_of_copy = Some(f64::NAN)),
        ("results[0].reason is why;", |r| r.results[0].reason = Some("why".into())),
        ("results[1].reason is null;", |r| r.results[1].reason = None),
        ("results[0].timer is null;", |r| r.results[0].timer = None),
        ("results[3].verified is true;", |r| r.results[3].verified = true),
        ("results[0].percent_of_peak is 33.554432; it must be null on a software device", |r| {
            r.devices[0].kind = DeviceKind::Software;
        }),
    ];
    for (says, change) in changes {
        let mut record = record();
        change(&mut record);
        let message = record.to_json().unwrap_err().to_string();
        assert!(message.starts_with(says), "{message} for {says}");
    }
    let mut value = to_value(&record());
    value["results"][0]["median_s"] = json!(-1.0);
    let read = Record::from_json(&value.to_string(), "x.json").unwrap_err().to_string();
    assert_eq!(read, "x.json: results[0].median_s is -1; it must be finite and above zero");
}

#[test]
fn numbers_come_back_bit_for_bit() {
    let mut record = record();
    let mut state = 1u64;
    for _ in 0..200 {
        record.results[0].samples_s = (0..100)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 11) as f64 + 1.0) * 1e-19
            })
            .collect();
        assert_eq!(Record::from_json(&record.to_json().unwrap(), "x").unwrap(), record);
    }
}
