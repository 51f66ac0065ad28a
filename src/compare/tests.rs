//! Known answers: what is to be said about samples whose change is known.

use super::{Comparison, MatchedBy, Pair, Verdict};
use crate::record::{Record, Row, Status};

/// A real record: an H200 through CUDA and Vulkan.
fn record() -> Record {
    let file = include_str!("../../benches/results/nvidia-h200-ladder.json");
    Record::from_json(file, "nvidia-h200-ladder.json").unwrap()
}

/// Samples around `middle` that vary by about `noise` of it: always the same ones, in no order.
fn samples(middle: f64, noise: f64, count: u32) -> Vec<f64> {
    // Multiples of the golden ratio are spread evenly and in no order.
    (1..=count).map(|i| middle * (1.0 + noise * ((f64::from(i) * 0.618_033_988_75).fract() * 2.0 - 1.0))).collect()
}

fn measured(row: &mut Row, samples: Vec<f64>) {
    let summary = crate::harness::stats::summarise(&samples).unwrap();
    (row.median_s, row.min_s, row.spread) = (Some(summary.median), Some(summary.min), Some(summary.spread));
    row.gbps = Some(row.bytes as f64 / summary.median / 1e9);
    row.samples_s = samples;
}

/// Two records whose first rows have these samples.
fn with_samples(base: Vec<f64>, new: Vec<f64>) -> [Record; 2] {
    [base, new].map(|samples| {
        let mut record = record();
        record.results.truncate(2);
        measured(&mut record.results[0], samples);
        record
    })
}

fn verdict(base: Vec<f64>, new: Vec<f64>) -> Verdict {
    let [base, new] = with_samples(base, new);
    Comparison::of(&base, &new).rows[0].verdict
}

#[test]
fn a_record_is_the_same_as_itself() {
    let record = record();
    let comparison = Comparison::of(&record, &record);
    let figures = record.results.iter().filter(|row| row.status.has_figures()).count();
    assert_eq!((comparison.count(Verdict::Same), comparison.rows.len()), (figures, figures));
    assert_eq!(comparison.left_out, record.results.len() - figures);
    assert_eq!(comparison.warnings, [""; 0]);
    assert!(comparison.devices.iter().all(|pair| pair.by == Some(MatchedBy::IdAndName)));
    assert_eq!(comparison.regressions(0.0).count(), 0);
}

#[test]
fn ten_percent_within_one_percent_of_noise_is_told() {
    let at = |middle: f64| samples(middle, 0.01, 11);
    assert_eq!(verdict(at(1e-4), at(1.1e-4)), Verdict::Slower);
    assert_eq!(verdict(at(1.1e-4), at(1e-4)), Verdict::Faster);
    // The other half of the sequence: the same middle, other samples.
    assert_eq!(verdict(at(1e-4), samples(1e-4, 0.01, 22)[11..].to_vec()), Verdict::Same);
}

#[test]
fn what_noise_hides_is_unsure() {
    assert_eq!(verdict(samples(1e-4, 0.2, 11), samples(1.1e-4, 0.2, 11)), Verdict::Unsure);
    // At the edge of what is a change at all.
    assert_eq!(verdict(samples(1e-4, 0.01, 11), samples(1.02e-4, 0.01, 11)), Verdict::Unsure);
}

#[test]
fn a_change_too_small_to_be_more_than_the_next_run_is_none() {
    assert_eq!(verdict(samples(1e-4, 0.0005, 11), samples(1.01e-4, 0.0005, 11)), Verdict::Same);
}

#[test]
fn few_samples_tell_nothing() {
    let [base, new] = with_samples(vec![1e-4; 4], vec![2e-4; 4]);
    let comparison = Comparison::of(&base, &new);
    let pair = &comparison.rows[0];
    assert_eq!((pair.verdict, pair.change.unwrap()), (Verdict::Unsure, super::Change { ratio: 0.5, interval: None }));
    assert_eq!(pair.notes, ["too few samples: 4 in base, 4 in new"]);
    assert_eq!(comparison.regressions(0.0).count(), 0);
    assert_eq!(verdict(vec![1e-4; 5], vec![2e-4; 5]), Verdict::Slower);
}

#[test]
fn an_outlier_changes_nothing() {
    let mut new = samples(1e-4, 0.01, 11);
    new[3] *= 50.0;
    assert_eq!(verdict(samples(1e-4, 0.01, 11), new), Verdict::Same);
}

#[test]
fn only_what_lost_more_than_asked_is_a_regression() {
    let [base, new] = with_samples(samples(1e-4, 0.001, 11), samples(1.1e-4, 0.001, 11));
    let comparison = Comparison::of(&base, &new);
    // 1 / 1.1 is 9.09 % less.
    assert_eq!(comparison.regressions(9.0).count(), 1);
    assert_eq!(comparison.regressions(9.2).count(), 0);
}

fn failed(row: &mut Row, status: Status) {
    *row = Row {
        status,
        reason: Some("the GPU is gone".into()),
        samples_s: vec![],
        median_s: None,
        min_s: None,
        spread: None,
        gbps: None,
        percent_of_copy: None,
        percent_of_peak: None,
        timer: None,
        limiter: None,
        verified: false,
        ..row.clone()
    };
}

/// What is said of the first row when it ends so.
fn ended(base: Option<Status>, new: Option<Status>) -> (Option<Verdict>, bool) {
    let [base, new] = [base, new].map(|status| {
        let mut record = record();
        record.results.truncate(2);
        match status {
            Some(Status::Ok) => {}
            Some(Status::Suspect) => {
                record.results[0].status = Status::Suspect;
                record.results[0].reason = Some("101 % of the theoretical peak".into());
            }
            Some(status) => failed(&mut record.results[0], status),
            None => drop(record.results.remove(0)),
        }
        record
    });
    let comparison = Comparison::of(&base, &new);
    let variant = &record().results[0].variant;
    let first = |pair: &&Pair| pair.row().variant == *variant;
    let regressed = comparison.regressions(5.0).any(|pair| first(&pair));
    (comparison.rows.iter().find(first).map(|pair| pair.verdict), regressed)
}

#[test]
fn rows_without_figures_are_told_by_how_they_ended() {
    use Status::{Failed, Ok, Suspect, Unsupported};
    for (base, new, verdict, regressed) in [
        (Some(Ok), Some(Failed), Some(Verdict::Gone), true),
        (Some(Ok), Some(Unsupported), Some(Verdict::Gone), true),
        (Some(Suspect), Some(Failed), Some(Verdict::Gone), true),
        (Some(Ok), None, Some(Verdict::Gone), false),
        (Some(Failed), Some(Ok), Some(Verdict::New), false),
        (Some(Unsupported), Some(Ok), Some(Verdict::New), false),
        (None, Some(Ok), Some(Verdict::New), false),
        (None, Some(Failed), Some(Verdict::New), false),
        (Some(Failed), None, Some(Verdict::Gone), false),
        (Some(Ok), Some(Suspect), Some(Verdict::Unsure), false),
        (Some(Suspect), Some(Suspect), Some(Verdict::Unsure), false),
        (Some(Failed), Some(Failed), Some(Verdict::Unsure), false),
        (Some(Unsupported), Some(Failed), Some(Verdict::Unsure), false),
        (Some(Unsupported), Some(Unsupported), None, false),
        (None, Some(Unsupported), None, false),
    ] {
        assert_eq!(ended(base, new), (verdict, regressed), "{base:?} and {new:?}");
    }
}

#[test]
fn rows_are_matched_by_all_that_makes_them_differ() {
    let base = record();
    let changes: [fn(&mut Row); 7] = [
        |row| row.variant = "another".into(),
        |row| row.element = "u32".into(),
        |row| row.cols += 1,
        |row| row.batch += 1,
        |row| row.bounds_checks = Some(true),
        |row| row.tuned = true,
        |row| {
            let (ld, stride) = (Some(4097), Some(1 << 30));
            (row.source_ld, row.source_stride, row.destination_ld, row.destination_stride) = (ld, stride, ld, stride);
        },
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut new = record();
        change(&mut new.results[0]);
        let comparison = Comparison::of(&base, &new);
        let counts = [Verdict::New, Verdict::Gone].map(|verdict| comparison.count(verdict));
        assert_eq!(counts, [1, 1], "change {i}");
    }
    // In another order, they are still the same rows; what `auto` chose does not part them, but is told.
    let mut new = record();
    new.results.reverse();
    let auto = new.results.iter_mut().find(|row| row.variant == "auto").unwrap();
    auto.chosen = Some("tiled".into());
    let comparison = Comparison::of(&base, &new);
    assert_eq!(comparison.count(Verdict::Same), comparison.rows.len());
    let notes: Vec<&String> = comparison.rows.iter().flat_map(|pair| &pair.notes).collect();
    assert_eq!(notes, ["auto ran vectorized in base, tiled in new"]);
}

#[test]
fn devices_are_matched_by_id_and_name_then_by_name_then_by_id() {
    let mut base = record();
    let vulkan = base.devices.iter().position(|device| device.api == "vulkan").unwrap();
    // Vulkan lists a software device first now, CUDA another card of another name.
    let mut new = record();
    new.devices[vulkan].id = "vulkan:1".into();
    new.results.iter_mut().filter(|row| row.device == "vulkan:0").for_each(|row| row.device = "vulkan:1".into());
    new.devices.push(crate::record::Device {
        id: "vulkan:0".into(),
        name: "llvmpipe".into(),
        ..base.devices[0].clone()
    });
    new.devices.last_mut().unwrap().api = "vulkan".into();
    let cuda = new.devices.iter().position(|device| device.api == "cuda").unwrap();
    new.devices[cuda].name = "NVIDIA A100".into();
    new.devices[cuda].driver = "another".into();
    let comparison = Comparison::of(&base, &new);
    let mut by: Vec<_> = comparison.devices.iter().map(|pair| (pair.device().id.as_str(), pair.by)).collect();
    by.sort_by_key(|(id, _)| *id);
    assert_eq!(by, [("cuda:0", Some(MatchedBy::Id)), ("vulkan:0", None), ("vulkan:1", Some(MatchedBy::Name))]);
    assert_eq!(comparison.count(Verdict::Same), comparison.rows.len());
    let warned = |text: &str| comparison.warnings.iter().any(|warning| warning.contains(text));
    for text in [
        "vulkan:0 in base is vulkan:1 in new, matched by name: NVIDIA H200.",
        "cuda:0: another device, matched by its id alone.",
        "cuda:0: Different name: NVIDIA H200 in base, NVIDIA A100 in new.",
        "cuda:0: Different driver: CUDA 13.0",
    ] {
        assert!(warned(text), "{text} is missing in {:#?}", comparison.warnings);
    }
    // Two of one name cannot be told apart by it.
    base.devices.push(crate::record::Device { id: "vulkan:7".into(), ..base.devices[vulkan].clone() });
    let comparison = Comparison::of(&base, &new);
    assert!(comparison.devices.iter().all(|pair| pair.by != Some(MatchedBy::Name)), "{:#?}", comparison.devices);
}

#[test]
fn what_else_differs_is_told() {
    let base = record();
    let mut new = record();
    new.interrupted = true;
    new.environment.version = "9.9.9".into();
    new.environment.command.extend(["--min-time", "2", "--json", "x"].map(String::from));
    let warnings = Comparison::of(&base, &new).warnings;
    assert_eq!(warnings.len(), 3, "{warnings:#?}");
    assert_eq!(warnings[0], "The new run was interrupted: rows are missing.");
    assert!(warnings[1].ends_with("in base, 9.9.9 in new."), "{}", warnings[1]);
    assert_eq!(warnings[2], "Different settings: none in base, --min-time 2 in new.");
}
