//! Figures of the records of a real device, and of what others may lack.

use crate::device::DeviceKind;
use crate::record::{BanksRow, CoalescingRow, HierarchyRow, ProbeRecord, ProbeResult, Status};
use crate::report::chart::{Bars, Drawing, Figure, Lines, Stroke, Trace};
use crate::report::{Report, banks, coalescing, hierarchy};

fn real<R: ProbeResult>(text: &str) -> ProbeRecord<R> {
    ProbeRecord::from_json(text, "a record").unwrap()
}

fn of_hierarchy() -> ProbeRecord<HierarchyRow> {
    real(include_str!("../../../../benches/results/probes/nvidia-h200-hierarchy.json"))
}

fn of_coalescing() -> ProbeRecord<CoalescingRow> {
    real(include_str!("../../../../benches/results/probes/nvidia-h200-coalescing.json"))
}

fn of_banks() -> ProbeRecord<BanksRow> {
    real(include_str!("../../../../benches/results/probes/nvidia-h200-banks.json"))
}

/// The figures of the first device.
fn figures(report: &Report) -> &[Figure] {
    &report.layout.sections[0].figures
}

fn lines(figure: &Figure) -> &Lines {
    let Drawing::Lines(lines) = &figure.drawing else { panic!("{} has no curves", figure.title) };
    lines
}

fn bars(figure: &Figure) -> &Bars {
    let Drawing::Bars(bars) = &figure.drawing else { panic!("{} has no bars", figure.title) };
    bars
}

#[test]
fn the_curve_has_its_levels_and_the_bars_their_bandwidths() {
    let report = hierarchy(&of_hierarchy());
    let [latency, bandwidth] = figures(&report) else { panic!("two figures") };
    let curve = lines(latency);
    assert_eq!(curve.series[0].points.len(), 84);
    let levels: Vec<&str> = curve.limits.iter().map(|limit| limit.label.as_str()).collect();
    assert_eq!(levels, ["registers", "shared", "L1", "L2", "global"]);
    let ends: Vec<(&str, bool)> =
        curve.marks.iter().map(|mark| (mark.label.as_str(), mark.stroke == Stroke::Solid)).collect();
    assert_eq!(ends, [("L1 215.2 KiB", false), ("L2 57.43 MiB", false), ("L2 by the driver: 60 MiB", true)]);
    let texts: Vec<&str> = bars(bandwidth).groups[0].bars.iter().map(|bar| bar.text.as_str()).collect();
    let (nearest, farthest) = ("389539, 1497 B/cycle", "4588, 17.60 B/cycle");
    assert_eq!((texts.len(), texts[0], texts[4]), (5, nearest, farthest));
    assert!(bandwidth.caption.ends_with("reaches 95.3\u{a0}% of its theoretical peak."), "{}", bandwidth.caption);
    let told = latency.description();
    for words in ["16.19 at 1 KiB", "332.3 at 240 MiB", ". L2 by the driver: 60 MiB", ". registers: 2.043. "] {
        assert!(told.contains(words), "{words} in {told}");
    }
}

#[test]
fn a_device_without_levels_has_its_probes() {
    let mut record = of_hierarchy();
    record.devices[0].kind = DeviceKind::Software;
    record.results[0].levels.clear();
    let report = hierarchy(&record);
    let [latency, bandwidth] = figures(&report) else { panic!("two figures") };
    assert_eq!((lines(latency).limits.len(), lines(latency).marks.len()), (0, 0));
    assert_eq!(bars(bandwidth).groups[0].bars.len(), record.results[0].bandwidths.len());
    assert!([latency, bandwidth].iter().all(|figure| figure.caption.starts_with("This is a software device")));
    assert!(!bandwidth.caption.contains("peak"));
    record.results[0].curve.clear();
    record.results[0].bandwidths.clear();
    assert!(figures(&hierarchy(&record)).is_empty());
}

#[test]
fn strides_have_both_models_and_starts_their_ceiling() {
    let report = coalescing(&of_coalescing());
    let figures = figures(&report);
    let titles: Vec<&str> =
        figures.iter().filter_map(|figure| figure.title.split_once(':')).map(|(of, _)| of).collect();
    let expected =
        [4, 16].map(|width| ["Strides", "Misaligned starts"].map(|of| format!("{of} of {width}-byte accesses")));
    assert_eq!(titles, expected.concat());
    let names = lines(&figures[0]).series.iter().map(|series| (series.name.as_str(), series.trace == Trace::Line));
    let names: Vec<_> = names.collect();
    assert_eq!(names, [("sectors", true), ("lines", true), ("loads", false), ("stores", false)]);
    let at = |series: usize, stride: f64| {
        let points = &lines(&figures[0]).series[series].points;
        points.iter().find(|point| point.0 == stride).map(|point| point.1)
    };
    assert_eq!((at(0, 32.0), at(1, 32.0)), (Some(12.5), Some(3.125)), "the textbook's case");
    assert!(at(2, 32.0).is_some_and(|percent| (percent - 5.21).abs() < 0.01));
    let starts = &bars(&figures[1]).groups;
    assert_eq!((starts.len(), starts[1].ceiling), (9, Some(80.0)));
    assert_eq!(starts[1].bars[1].text, "stores 49.0 %");
}

#[test]
fn what_is_no_result_is_in_no_figure() {
    let mut record = of_coalescing();
    for row in record.results.iter_mut().filter(|row| row.access == "store" && row.width == 4) {
        (row.status, row.reason) = (Status::Suspect, Some("more than the memory can".into()));
    }
    let report = coalescing(&record);
    let [strides, starts, ..] = figures(&report) else { panic!("two figures of 4 bytes") };
    assert!(lines(strides).series[3].points.is_empty() && !lines(strides).series[2].points.is_empty());
    let bar = &bars(starts).groups[0].bars[1];
    assert_eq!((bar.value, bar.text.as_str()), (None, "stores suspect"));
    record.results.iter_mut().for_each(|row| row.percent_of_unit_stride = None);
    assert!(figures(&coalescing(&record)).is_empty());
}

#[test]
fn conflicts_are_columns_beside_cycles_or_else_times() {
    let mut record = of_banks();
    let shown = |record: &ProbeRecord<BanksRow>| {
        let report = banks(record);
        let [figure] = figures(&report) else { panic!("one figure") };
        let series = lines(figure).series.iter().map(|series| (series.name.clone(), series.points[32].1));
        (series.collect::<Vec<_>>(), figure.caption.clone())
    };
    let (series, caption) = shown(&record);
    assert_eq!((series.len(), &series[0]), (2, &("predicted".into(), 32.0)));
    assert!((series[1].1 - 32.0).abs() < 0.01 && caption.contains("marks: cycles"), "{series:?} {caption}");
    record.results.iter_mut().for_each(|row| (row.request_cycles, row.degree) = (None, None));
    let (series, caption) = shown(&record);
    assert!((series[0].1 - 31.77).abs() < 0.01 && series.len() == 1, "{series:?}");
    assert!(caption.starts_with("Marks: time of a request against stride 1"), "{caption}");
    record.results.iter_mut().for_each(|row| row.ratio = None);
    assert!(figures(&banks(&record)).is_empty());
}
