//! Golden reports of a small made-up record.

use super::{Screen, bench, csv};
use crate::device::{DeviceKind, Peak, PeakSource, TimerKind};
use crate::record::{Absent, Device, Environment, Record, Row, SCHEMA, Status};

fn device(id: &str, name: &str, physical: usize) -> Device {
    Device {
        id: id.into(),
        name: name.into(),
        api: id.split(':').next().unwrap_or_default().into(),
        driver: "example 1.2".into(),
        kind: DeviceKind::Gpu,
        pci: None,
        physical,
        memory_bytes: Some(16 << 30),
        cache_bytes: Some(32 << 20),
        peak: Some(Peak { gbps: 1000.0, source: PeakSource::User }),
    }
}

fn row(device: &str, variant: &str, gbps: f64) -> Row {
    let median = 134_217_728.0 / (gbps * 1e9);
    Row {
        device: device.into(),
        variant: variant.into(),
        chosen: None,
        tuned: false,
        rows: 4096,
        cols: 4096,
        batch: 1,
        source_ld: None,
        source_stride: None,
        destination_ld: None,
        destination_stride: None,
        element: "f32".into(),
        bounds_checks: device.starts_with("vulkan").then_some(false),
        status: Status::Ok,
        reason: None,
        timer: Some(TimerKind::Device),
        timer_note: None,
        samples_s: vec![median, median * 1.25],
        launches: 100,
        median_s: Some(median),
        min_s: Some(median),
        spread: Some(0.004),
        bytes: 134_217_728,
        gbps: Some(gbps),
        percent_of_copy: Some(gbps / 9.0),
        percent_of_peak: Some(gbps / 10.0),
        sets: 2,
        cache_resident: Some(false),
        verified: true,
        limiter: None,
        sm_mhz: None,
        memory_mhz: None,
        throttled: None,
    }
}

/// The row with leading dimensions and batch strides.
fn with_gaps(batch: u64, row: Row) -> Row {
    Row {
        batch,
        source_ld: Some(4100),
        source_stride: Some(16_793_600),
        destination_ld: Some(4097),
        destination_stride: Some(16_781_312),
        ..row
    }
}

fn without_figures(status: Status, reason: &str, row: Row) -> Row {
    Row {
        status,
        reason: Some(reason.into()),
        timer: None,
        samples_s: vec![],
        median_s: None,
        min_s: None,
        spread: None,
        gbps: None,
        percent_of_copy: None,
        percent_of_peak: None,
        verified: false,
        ..row
    }
}

/// One GPU through two APIs, and a software device, with a row of each status.
pub(super) fn record() -> Record {
    let mut software = device("vulkan:1", "soft|pipe <1>", 1);
    software.kind = DeviceKind::Software;
    software.cache_bytes = None;
    software.peak = None;
    let limited = Row { limiter: Some("strided writes: 1 of 32 bytes used".into()), ..row("cuda:0", "naive", 120.5) };
    let host = Row {
        timer: Some(TimerKind::Host),
        timer_note: Some("zero timestamps".into()),
        cache_resident: Some(true),
        ..row("vulkan:0", "naive", 119.3)
    };
    let suspect = Row { status: Status::Suspect, reason: Some("above peak".into()), ..row("vulkan:0", "copy", 1234.5) };
    let soft = Row { limiter: Some("banks".into()), percent_of_peak: None, ..row("vulkan:1", "naive", 3.125) };
    let tiled = without_figures(Status::Failed, "wrong at 0:\n1", row("vulkan:0", "tiled", 1.0));
    let padded = without_figures(Status::Unsupported, "needs 33 KiB", row("vulkan:1", "padded", 1.0));
    Record {
        schema: SCHEMA.into(),
        environment: Environment {
            version: "0.1.0".into(),
            command: vec!["cornerturn".into(), "bench".into(), "a b".into()],
            date: "2026-01-02T03:04:05Z".into(),
            os: "linux".into(),
            arch: "x86_64".into(),
            cpus: 8,
        },
        devices: vec![device("cuda:0", "Example GPU", 0), software, device("vulkan:0", "Example GPU", 0)],
        absent: vec![Absent { api: "gl".into(), reason: "no libEGL".into(), remedy: "install Mesa".into() }],
        results: vec![
            row("cuda:0", "copy", 900.0),
            limited,
            row("cuda:0", "tiled", 450.0),
            soft,
            padded,
            suspect,
            host,
            tiled,
        ],
        interrupted: true,
    }
}

#[test]
fn the_table_of_a_small_record() {
    assert_eq!(bench(&record()).table(), TABLE);
}

#[test]
fn a_wide_screen_has_bars_beside_the_figures() {
    let record = record();
    let on = |columns, colour, unicode| bench(&record).table_on(Screen { columns, colour, unicode });
    let plain = bench(&record).table();
    assert_eq!(on(80, true, true), plain);
    let wide = on(200, false, true);
    assert!(wide.contains(&format!("| {:<40} |", "of the peak, 1000 GB/s")), "{wide}");
    // 90 and 12 % of 40 columns; the suspect row has no bar.
    let bar = |line: &str, text: &str| line.contains(&format!("| {text:<40} |"));
    assert!(wide.lines().any(|line| line.contains("|   900.0 |") && bar(line, &"█".repeat(36))), "{wide}");
    assert!(wide.lines().any(|line| line.contains("|   120.5 |") && bar(line, "████▉")), "{wide}");
    assert!(wide.lines().any(|line| line.contains("| suspect |") && bar(line, "")), "{wide}");
    // Without the column of bars it is the same.
    assert_eq!(wide.lines().count(), plain.lines().count());
    assert!(on(200, false, false).contains(&format!("| {:<40} |", "#".repeat(36))));
    assert!(!wide.contains('\u{1b}') && on(200, true, true).contains('\u{1b}'));
    // As wide as the screen at most.
    for columns in 100..180 {
        let text = on(columns, false, true);
        let bars = text.lines().filter(|line| line.contains('█'));
        assert!(bars.clone().all(|line| line.chars().count() <= columns), "{text}");
        assert!(columns < 150 || bars.count() > 0, "{columns}");
    }
}

#[test]
fn the_markdown_of_a_small_record() {
    assert_eq!(bench(&record()).markdown(), MARKDOWN);
}

#[test]
fn the_csv_of_a_small_record() {
    assert_eq!(csv(&record()), CSV);
}

#[test]
fn csv_has_every_field_of_a_row_and_is_read_back() {
    let mut record = record();
    let tuned = Row { variant: "auto".into(), chosen: Some("tiled".into()), tuned: true, ..record.results[0].clone() };
    let throttled = Some(vec!["power cap".into(), "thermal slowdown".into()]);
    let seen = Row { sm_mhz: Some([1700, 1980]), memory_mhz: Some([3201; 2]), throttled, ..tuned };
    record.results[0] = with_gaps(1, seen);
    let text = csv(&record);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let row = serde_json::to_value(&record.results[0]).unwrap();
    let mut fields: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    fields.extend(["device_api", "device_driver", "device_kind", "device_name"]);
    fields.sort_unstable();
    let mut sorted: Vec<&str> = header.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, fields);

    let lines: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), record.results.len());
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    assert_eq!(&lines[7][at("reason")], "wrong at 0:\n1");
    assert_eq!((&lines[0][at("source_ld")], &lines[0][at("destination_stride")]), ("4100", "16781312"));
    assert_eq!((&lines[0][at("tuned")], &lines[1][at("tuned")]), ("true", ""));
    assert_eq!(&lines[1][at("source_ld")], "");
    assert_eq!((&lines[0][at("sm_mhz")], &lines[1][at("memory_mhz")]), ("1700;1980", ""));
    assert_eq!((&lines[0][at("throttled")], &lines[1][at("throttled")]), ("power cap;thermal slowdown", ""));
    let samples: Vec<f64> = lines[0][at("samples_s")].split(';').map(|sample| sample.parse().unwrap()).collect();
    assert_eq!(samples, record.results[0].samples_s);
}

#[test]
fn an_empty_record_says_that_it_is_empty() {
    let nothing = Record { devices: vec![], absent: vec![], results: vec![], interrupted: false, ..record() };
    let text = bench(&nothing).table();
    assert!(text.ends_with("\n\nWarning: The record has no results.\n"), "{text}");
    assert!(!text.contains("% of copy"), "{text}");
    assert!(bench(&nothing).markdown().contains("\n\n**The record has no results.**\n"));
    assert_eq!(csv(&nothing).lines().count(), 1);

    let idle = Record { results: vec![], ..record() };
    let text = bench(&idle).table();
    assert!(text.contains("\nExample GPU\n  cuda:0: Example GPU;"), "{text}");
    assert!(text.contains("No gl device: no libEGL; install Mesa\n"), "{text}");
}

#[test]
fn sizes_and_settings_have_columns_where_they_differ() {
    let mut record = record();
    record.results.truncate(1);
    let batch = Row { rows: 100, cols: 7, batch: 3, ..row("cuda:0", "copy", 800.0) };
    let off = row("vulkan:0", "copy", 450.0);
    let on = Row { bounds_checks: Some(true), ..row("vulkan:0", "copy", 300.0) };
    record.results.extend([on, batch, off]);
    let text = bench(&record).table();
    assert!(text.contains("\nExample GPU\n"), "{text}");
    assert!(text.contains(SETTINGS), "{text}");
    assert!(text.contains(SETTINGS_SIDE_BY_SIDE), "{text}");
    assert!(text.contains("shaders with and without bounds checks\n"), "{text}");
}

#[test]
fn rows_tell_what_was_chosen_and_how() {
    let mut record = record();
    let auto = Row { variant: "auto".into(), chosen: Some("tiled".into()), ..row("cuda:0", "auto", 450.0) };
    record.results = vec![auto.clone(), Row { tuned: true, ..auto }];
    for text in [bench(&record).table(), bench(&record).markdown()] {
        assert!(text.contains("| auto (tiled) ") && text.contains("| auto (tiled, tuned) "), "{text}");
    }
}

#[test]
fn throttling_and_a_wide_spread_are_told_and_the_figures_kept() {
    let mut record = record();
    record.results[0].throttled = Some(vec!["power cap".into(), "a\u{1b}".into()]);
    record.results[0].sm_mhz = Some([1700, 1980]);
    record.results[0].memory_mhz = Some([3201, 3201]);
    record.results[1].throttled = Some(vec![]);
    record.results[1].spread = Some(0.051);
    record.results[2].spread = Some(0.05);
    let text = bench(&record).table();
    let note = |said: &str| {
        let line = text.lines().find(|line| line.contains(said)).unwrap_or_else(|| panic!("{said} in\n{text}"));
        line.split('.').next().unwrap().to_owned()
    };
    let throttled = note(r". throttled while it was measured: power cap, a\u{1b}");
    let spread = note(". its samples vary by more than 5 % (spread): ");
    let rows = text.lines().filter(|line| line.starts_with("| cuda:0"));
    let notes: Vec<&str> =
        rows.map(|line| line.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap().trim()).collect();
    assert_eq!(notes[..2], [&throttled, &spread], "{text}");
    assert!(text.contains("clocks while it was measured: SM 1700 to 1980 MHz, memory 3201 MHz"), "{text}");
    assert!(text.contains(" 900.0 |") && text.contains(" 120.5 |"), "{text}");
    assert_eq!(text.matches("samples vary").count(), 1, "{text}");
}

#[test]
fn layouts_are_told_where_matrices_are_not_packed() {
    let mut record = record();
    record.results.truncate(1);
    record.results.push(with_gaps(1, row("cuda:0", "copy", 800.0)));
    record.results.push(with_gaps(3, row("cuda:0", "copy", 700.0)));
    let text = bench(&record).table();
    // The last is so wide that it is broken.
    let sizes = ["4096×4096 ", "4096×4096, ld 4100 → 4097 ", "3 × 4096×4096, ld 4100 → 4097, stride "];
    for size in sizes {
        assert_eq!(text.matches(&format!("| {size}")).count(), 1, "{size}: {text}");
    }
    assert!(text.contains("\nld: leading dimension, "), "{text}");
    record.results.drain(..2);
    let text = bench(&record).markdown();
    assert!(text.contains("### Example GPU, 3 × 4096×4096, ld 4100 → 4097, stride 16793600 → 16781312\n"), "{text}");
    record.results.clear();
    assert!(!bench(&record).table().contains("leading dimension"));
}

#[test]
fn strangers_cannot_write_to_the_terminal_or_as_markup() {
    let mut record = record();
    let nasty = "\u{1b}]0;x\u{7}<img src=x>|a\n# b\u{202e}";
    record.environment.command.push(nasty.into());
    record.environment.os = nasty.into();
    record.absent[0].reason = nasty.into();
    record.devices[0].name = nasty.into();
    record.devices[0].driver = nasty.into();
    record.results[0].variant = nasty.into();
    record.results[1].limiter = Some(nasty.into());
    record.results[7].reason = Some(nasty.into());
    for text in [bench(&record).table(), bench(&record).markdown()] {
        assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("# b")), "{text}");
    }
    let text = bench(&record).markdown();
    assert!(!text.contains("<img"), "{text}");
    let shown = r"\\u{1b}\]0;x\\u{7}&lt;img src=x&gt;\|a\\n\# b\\u{202e}";
    assert!(text.contains(shown), "{text}");
    // As many cells as the header has, whatever they hold.
    let cells = |line: &str| line.replace(r"\|", "").matches('|').count();
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).take(8).collect();
    assert!(table.iter().all(|line| cells(line) == cells(table[0])), "{table:#?}");
}

#[test]
fn nothing_is_cut_off() {
    let mut record = record();
    let long = "word ".repeat(60) + "end";
    record.results[1].limiter = Some(long.clone());
    record.results[7].reason = Some(long.clone());
    let text = bench(&record).table();
    assert!(text.contains(&format!("4. failed: {long}\n")), "{text}");
    let limiter: String = text.lines().skip_while(|line| !line.contains("| naive")).take(9).collect();
    assert_eq!(limiter.matches("word").count(), 60, "{text}");
    assert!(text.lines().filter(|line| line.starts_with('|')).all(|line| line.chars().count() < 160), "{text}");
}

#[test]
fn rows_of_devices_that_are_not_listed_are_shown() {
    let record = Record { devices: vec![], ..record() };
    let text = bench(&record).table();
    assert!(text.contains("\ndevices that are not listed, 4096×4096\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("4096×4096")).count(), 1, "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("| f32 ")).count(), record.results.len(), "{text}");
}

#[test]
fn software_devices_side_by_side_are_flagged() {
    let mut record = record();
    let mut gl = device("gl:0", "soft|pipe <1>", 1);
    gl.kind = DeviceKind::Software;
    record.devices.push(gl);
    // What must not be in a record is not shown either.
    let claims = Row { limiter: Some("banks".into()), percent_of_peak: Some(77.7), ..row("gl:0", "naive", 2.5) };
    record.results.push(claims);
    let text = bench(&record).table();
    assert!(text.contains("| gl:0 (software) / vulkan:1 (software) |"), "{text}");
    assert!(text.contains(" 0.80 |"), "{text}");
    assert!(!text.contains("banks") && !text.contains("77.7"), "{text}");
}

/// Several sizes, and a GPU with and without bounds checks.
const SETTINGS: &str = "| cuda:0   | cuda   | copy    | f32     | 4096×4096 | -             | 900.0 |     100.0 |      90.0 | 149.1 µs |  0.4 % | -       |
| vulkan:0 | vulkan | copy    | f32     | 4096×4096 | off           | 450.0 |      50.0 |      45.0 | 298.3 µs |  0.4 % | -       |
|          |        |         |         |           |               |       |           |           |          |        |         |
| vulkan:0 | vulkan | copy    | f32     | 4096×4096 | on            | 300.0 |      33.3 |      30.0 | 447.4 µs |  0.4 % | -       |
|          |        |         |         |           |               |       |           |           |          |        |         |
| cuda:0   | cuda   | copy    | f32     | 3 × 100×7 | -             | 800.0 |      88.9 |      80.0 | 167.8 µs |  0.4 % | -       |
";

/// The same side by side.
const SETTINGS_SIDE_BY_SIDE: &str = "| variant | element | size      | cuda:0 | vulkan:0 unchecked | vulkan:0 checked | vulkan:0 unchecked / cuda:0 | vulkan:0 checked / cuda:0 |
|---------|---------|-----------|--------|--------------------|------------------|-----------------------------|---------------------------|
| copy    | f32     | 4096×4096 |  900.0 |              450.0 |            300.0 |                        0.50 |                      0.33 |
";

/// What the terminal shows.
const TABLE: &str = r"cornerturn 0.1.0 on linux x86_64, 8 processors, 2026-01-02T03:04:05Z
Command: cornerturn bench 'a b'

Warning: The run was interrupted: rows are missing.

Example GPU, 4096×4096
  cuda:0: Example GPU; driver example 1.2; memory 16 GiB; last-level cache 32 MiB; theoretical peak 1000 GB/s (source: the user)
  vulkan:0: Example GPU; driver example 1.2; memory 16 GiB; last-level cache 32 MiB; theoretical peak 1000 GB/s (source: the user); shaders without bounds checks

| device   | API    | variant | element |    GB/s | % of copy | % of peak |     time | spread | limiter                            | notes |
|----------|--------|---------|---------|---------|-----------|-----------|----------|--------|------------------------------------|-------|
| cuda:0   | cuda   | copy    | f32     |   900.0 |     100.0 |      90.0 | 149.1 µs |  0.4 % | -                                  |       |
| cuda:0   | cuda   | naive   | f32     |   120.5 |      13.4 |      12.1 | 1.114 ms |  0.4 % | strided writes: 1 of 32 bytes used |       |
| cuda:0   | cuda   | tiled   | f32     |   450.0 |      50.0 |      45.0 | 298.3 µs |  0.4 % | -                                  |       |
| vulkan:0 | vulkan | copy    | f32     | suspect |         - |         - |        - |      - | -                                  | 1     |
| vulkan:0 | vulkan | naive   | f32     |   119.3 |      13.3 |      11.9 | 1.125 ms |  0.4 % | -                                  | 2, 3  |
| vulkan:0 | vulkan | tiled   | f32     |  failed |         - |         - |        - |      - | -                                  | 4     |

Example GPU: GB/s side by side, 4096×4096

| variant | element | cuda:0 | vulkan:0 | vulkan:0 / cuda:0 | notes |
|---------|---------|--------|----------|-------------------|-------|
| copy    | f32     |  900.0 |  suspect |                 - | 1     |
| naive   | f32     |  120.5 |    119.3 |              0.99 | 2, 3  |
| tiled   | f32     |  450.0 |   failed |                 - | 4     |

soft|pipe <1>, 4096×4096
  vulkan:1: soft|pipe <1>; driver example 1.2; memory 16 GiB; last-level cache unknown; theoretical peak unknown; shaders without bounds checks; software device: its figures say nothing about a GPU

| device   | API    | variant | element |        GB/s | % of copy | % of peak |     time | spread | limiter | notes |
|----------|--------|---------|---------|-------------|-----------|-----------|----------|--------|---------|-------|
| vulkan:1 | vulkan | naive   | f32     |       3.125 |       0.3 |         - | 42.95 ms |  0.4 % | -       | 5     |
| vulkan:1 | vulkan | padded  | f32     | unsupported |         - |         - |        - |      - | -       | 6     |

GB/s counts each element read once and written once: 2 × rows × cols × batch × width; 1 GB = 10⁹ bytes.
% of copy: against the faster of memcpy and copy in the same run, for the same bytes on the same device.
% of peak: against the theoretical peak of the device's memory, where that is known.
Time: the median of one launch; spread: interquartile range over median.
No gl device: no libEGL; install Mesa

1. suspect: above peak (measured: 1234 GB/s)
2. the buffers together are smaller than four times the last-level cache: the figure may be the cache's
3. timed by the host's clock: zero timestamps
4. failed: wrong at 0:\n1
5. software device: its figures say nothing about a GPU
6. unsupported: needs 33 KiB
";

/// The same as Markdown.
const MARKDOWN: &str = r"- cornerturn 0.1.0 on linux x86\_64, 8 processors, 2026-01-02T03:04:05Z
- Command: cornerturn bench 'a b'

**The run was interrupted: rows are missing.**

### Example GPU, 4096×4096

- cuda:0: Example GPU; driver example 1.2; memory 16 GiB; last-level cache 32 MiB; theoretical peak 1000 GB/s (source: the user)
- vulkan:0: Example GPU; driver example 1.2; memory 16 GiB; last-level cache 32 MiB; theoretical peak 1000 GB/s (source: the user); shaders without bounds checks

| device | API | variant | element | GB/s | % of copy | % of peak | time | spread | limiter | notes |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |
| cuda:0 | cuda | copy | f32 | 900.0 | 100.0 | 90.0 | 149.1 µs | 0.4 % | - |  |
| cuda:0 | cuda | naive | f32 | 120.5 | 13.4 | 12.1 | 1.114 ms | 0.4 % | strided writes: 1 of 32 bytes used |  |
| cuda:0 | cuda | tiled | f32 | 450.0 | 50.0 | 45.0 | 298.3 µs | 0.4 % | - |  |
| vulkan:0 | vulkan | copy | f32 | suspect | - | - | - | - | - | 1 |
| vulkan:0 | vulkan | naive | f32 | 119.3 | 13.3 | 11.9 | 1.125 ms | 0.4 % | - | 2, 3 |
| vulkan:0 | vulkan | tiled | f32 | failed | - | - | - | - | - | 4 |

### Example GPU: GB/s side by side, 4096×4096

| variant | element | cuda:0 | vulkan:0 | vulkan:0 / cuda:0 | notes |
| --- | --- | ---: | ---: | ---: | --- |
| copy | f32 | 900.0 | suspect | - | 1 |
| naive | f32 | 120.5 | 119.3 | 0.99 | 2, 3 |
| tiled | f32 | 450.0 | failed | - | 4 |

### soft\|pipe &lt;1&gt;, 4096×4096

- vulkan:1: soft\|pipe &lt;1&gt;; driver example 1.2; memory 16 GiB; last-level cache unknown; theoretical peak unknown; shaders without bounds checks; software device: its figures say nothing about a GPU

| device | API | variant | element | GB/s | % of copy | % of peak | time | spread | limiter | notes |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |
| vulkan:1 | vulkan | naive | f32 | 3.125 | 0.3 | - | 42.95 ms | 0.4 % | - | 5 |
| vulkan:1 | vulkan | padded | f32 | unsupported | - | - | - | - | - | 6 |

- GB/s counts each element read once and written once: 2 × rows × cols × batch × width; 1 GB = 10⁹ bytes.
- % of copy: against the faster of memcpy and copy in the same run, for the same bytes on the same device.
- % of peak: against the theoretical peak of the device's memory, where that is known.
- Time: the median of one launch; spread: interquartile range over median.
- No gl device: no libEGL; install Mesa

Notes:

1. suspect: above peak (measured: 1234 GB/s)
2. the buffers together are smaller than four times the last-level cache: the figure may be the cache's
3. timed by the host's clock: zero timestamps
4. failed: wrong at 0:\\n1
5. software device: its figures say nothing about a GPU
6. unsupported: needs 33 KiB
";

/// The rows as CSV.
const CSV: &str = r#"device,variant,chosen,tuned,rows,cols,batch,source_ld,source_stride,destination_ld,destination_stride,element,bounds_checks,status,reason,timer,timer_note,samples_s,launches,median_s,min_s,spread,bytes,gbps,percent_of_copy,percent_of_peak,sets,cache_resident,verified,limiter,sm_mhz,memory_mhz,throttled,device_name,device_api,device_driver,device_kind
cuda:0,copy,,,4096,4096,1,,,,,f32,,ok,,device,,0.0001491308088888889;0.00018641351111111114,100,0.0001491308088888889,0.0001491308088888889,0.004,134217728,900,100,90,2,false,true,,,,,Example GPU,cuda,example 1.2,gpu
cuda:0,naive,,,4096,4096,1,,,,,f32,,ok,,device,,0.0011138400663900415;0.001392300082987552,100,0.0011138400663900415,0.0011138400663900415,0.004,134217728,120.5,13.38888888888889,12.05,2,false,true,strided writes: 1 of 32 bytes used,,,,Example GPU,cuda,example 1.2,gpu
cuda:0,tiled,,,4096,4096,1,,,,,f32,,ok,,device,,0.0002982616177777778;0.00037282702222222227,100,0.0002982616177777778,0.0002982616177777778,0.004,134217728,450,50,45,2,false,true,,,,,Example GPU,cuda,example 1.2,gpu
vulkan:1,naive,,,4096,4096,1,,,,,f32,false,ok,,device,,0.04294967296;0.053687091199999995,100,0.04294967296,0.04294967296,0.004,134217728,3.125,0.3472222222222222,,2,false,true,banks,,,,soft|pipe <1>,vulkan,example 1.2,software
vulkan:1,padded,,,4096,4096,1,,,,,f32,false,unsupported,needs 33 KiB,,,,100,,,,134217728,,,,2,false,false,,,,,soft|pipe <1>,vulkan,example 1.2,software
vulkan:0,copy,,,4096,4096,1,,,,,f32,false,suspect,above peak,device,,0.00010872233940866748;0.00013590292426083435,100,0.00010872233940866748,0.00010872233940866748,0.004,134217728,1234.5,137.16666666666666,123.45,2,false,true,,,,,Example GPU,vulkan,example 1.2,gpu
vulkan:0,naive,,,4096,4096,1,,,,,f32,false,ok,,host,zero timestamps,0.001125043822296731;0.0014063047778709137,100,0.001125043822296731,0.001125043822296731,0.004,134217728,119.3,13.255555555555555,11.93,2,true,true,,,,,Example GPU,vulkan,example 1.2,gpu
vulkan:0,tiled,,,4096,4096,1,,,,,f32,false,failed,"wrong at 0:
1",,,,100,,,,134217728,,,,2,false,false,,,,,Example GPU,vulkan,example 1.2,gpu
"#;
