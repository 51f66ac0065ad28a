//! What `auto` runs where it is measured, on a scripted device whose durations are exact, and the file of winners.

#[path = "common/scripted.rs"]
mod scripted;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cornerturn::backend::{BackendError, RunOptions, TransposeBackend};
use cornerturn::device::DeviceKind;
use cornerturn::element::Element;
use cornerturn::harness::{self, Observer, Plan, targets};
use cornerturn::problem::{Layout, Problem};
use cornerturn::record::{Row, Status};
use cornerturn::tune::{Key, ReadError, Winners};
use cornerturn::variant::{Moves, Variant};
use scripted::{Act, Scripted};

/// `auto` on 64 × 64 f32, with the copies.
fn plan() -> Plan {
    Plan {
        sizes: Some(vec![(64, 64)]),
        variants: vec![Variant::Auto],
        min_time: Duration::from_millis(3),
        rounds: 3,
        ..Plan::default()
    }
}

/// Raises a flag at the first step whose text holds a word, as Ctrl-C would.
struct StopAt<'a>(&'static str, &'a AtomicBool, Vec<(u64, u64, String)>);

impl Observer for StopAt<'_> {
    fn step(&mut self, done: u64, total: u64, what: &str) {
        self.2.push((done, total, what.into()));
        if what.contains(self.0) {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

fn tune_until(
    device: &Scripted,
    plan: &Plan,
    winners: &mut Winners,
    stop_at: &'static str,
) -> (Vec<Row>, Vec<(u64, u64, String)>) {
    let backend: &dyn TransposeBackend = device;
    let stop = AtomicBool::new(false);
    let mut observer = StopAt(stop_at, &stop, Vec::new());
    let rows = harness::run_tuned(&targets([backend], |_| None), plan, winners, &stop, &mut observer).unwrap();
    (rows, observer.2)
}

fn tune(device: &Scripted, plan: &Plan, winners: &mut Winners) -> Vec<Row> {
    tune_until(device, plan, winners, "nothing says this").0
}

fn auto(rows: &[Row]) -> &Row {
    rows.iter().find(|row| row.variant == "auto").unwrap()
}

/// The name of what `auto` runs, and whether that was measured.
fn chosen(rows: &[Row]) -> (&str, bool) {
    (auto(rows).chosen.as_deref().unwrap(), auto(rows).tuned)
}

fn problem() -> Problem {
    Problem::new(64, 64, 1, Element::F32).unwrap()
}

/// A device with so small a cache that a few sets are enough.
fn gpu(act: impl Fn(Variant, RunOptions) -> Act + Send + Sync + 'static) -> Scripted {
    let mut device = Scripted::new("cuda:0", DeviceKind::Gpu, act);
    device.info_mut().cache_bytes = Some(16 << 10);
    device
}

/// A GPU on which `fastest` takes half as long as everything else.
fn gpu_with(fastest: Variant) -> Scripted {
    gpu(move |variant, _| Act::takes(if variant == fastest { 2000 } else { 4000 }))
}

/// The variants that were run since the last time, each once, in the order of the table.
fn ran(device: &Scripted) -> Vec<Variant> {
    let log = std::mem::take(&mut *device.log.lock().unwrap());
    let ran = |variant: &Variant| log.iter().any(|line| line.split(' ').next() == Some(variant.name()));
    Variant::ALL.iter().copied().filter(ran).collect()
}

const COPIES: [Variant; 2] = [Variant::Memcpy, Variant::Copy];

#[test]
fn the_fastest_kernel_of_ours_runs_for_auto() {
    for fastest in [Variant::Naive, Variant::Swizzled, Variant::Vectorized] {
        let device = gpu_with(fastest);
        let mut winners = Winners::default();
        let rows = tune(&device, &plan(), &mut winners);
        assert_eq!(chosen(&rows), (fastest.name(), true));
        assert_eq!((auto(&rows).status, auto(&rows).verified), (Status::Ok, true));
        assert!((auto(&rows).median_s.unwrap() - 2e-6).abs() < 1e-12);
        assert_eq!(auto(&rows).label(), format!("auto ({fastest}, tuned)"));
        assert_eq!(winners.find(&Key::new(device.device(), &problem(), None)), Some(fastest));
        assert_eq!((winners.measured(), winners.taken()), (1, 0));
        // From a source to a destination, which what works in place does not do.
        let ours = |variant: &&Variant| {
            variant.spec().moves == Moves::Transpose && variant.spec().kernel.is_some() && !variant.is_in_place()
        };
        let candidates = Variant::ALL.iter().filter(ours).copied();
        assert_eq!(ran(&device), COPIES.into_iter().chain(candidates).collect::<Vec<_>>(), "and no other's");
    }
}

#[test]
fn of_equals_the_first_of_the_table_wins() {
    let device = gpu(|_, _| Act::takes(4000));
    assert_eq!(chosen(&tune(&device, &plan(), &mut Winners::default())), ("naive", true));
}

#[test]
fn what_others_have_written_and_what_copies_is_no_candidate() {
    let device = gpu(|variant, _| match variant {
        Variant::Geam | Variant::Copy => Act::takes(100),
        Variant::Tiled => Act::takes(2000),
        _ => Act::takes(4000),
    });
    assert_eq!(chosen(&tune(&device, &plan(), &mut Winners::default())), ("tiled", true));
    // A copy is the transpose of a single row, and what runs for it without measuring.
    let row = Plan { sizes: Some(vec![(1, 64)]), ..plan() };
    assert_eq!(chosen(&tune(&device, &row, &mut Winners::default())), ("copy", true));
}

#[test]
fn what_is_wrong_or_fails_is_left_out() {
    let lost = BackendError::Call { call: "launch", reason: "no".into() };
    let device = gpu(move |variant, _| match variant {
        Variant::Naive => Act { wrong_from: Some(0), ..Act::takes(1000) },
        // Right at first, wrong after it was timed.
        Variant::Tiled => Act { wrong_from: Some(5), ..Act::takes(1100) },
        Variant::Padded => Act { fails_at: Some((0, lost.clone())), ..Act::takes(1200) },
        Variant::Swizzled => Act { fails_at: Some((14, lost.clone())), ..Act::takes(1300) },
        Variant::Vectorized => Act { unsupported: Some("no".into()), ..Act::takes(1400) },
        Variant::Compact => Act::takes(3000),
        _ => Act::takes(4000),
    });
    assert_eq!(chosen(&tune(&device, &plan(), &mut Winners::default())), ("compact", true));
}

#[test]
fn where_nothing_is_right_the_planner_stands_and_nothing_is_kept() {
    let device = gpu(|variant, _| match variant.spec().moves {
        Moves::Copy => Act::takes(1000),
        Moves::Transpose => Act { wrong_from: Some(0), ..Act::takes(1000) },
    });
    let mut winners = Winners::default();
    let rows = tune(&device, &plan(), &mut winners);
    assert_eq!((chosen(&rows).1, auto(&rows).status), (false, Status::Failed));
    assert_eq!(winners, Winners::default());
}

#[test]
fn a_winner_that_is_known_is_not_measured_again() {
    let mut winners = Winners::default();
    tune(&gpu_with(Variant::Tiled), &plan(), &mut winners);
    let mut read = Winners::from_json(&winners.to_json(), "x").unwrap();
    // It would be another one now.
    let device = gpu_with(Variant::Padded);
    assert_eq!(chosen(&tune(&device, &plan(), &mut read)), ("tiled", true));
    assert_eq!(ran(&device), [Variant::Memcpy, Variant::Copy, Variant::Tiled]);
    assert_eq!((read.measured(), read.taken()), (0, 1));
}

#[test]
fn without_tuning_what_is_known_is_not_used() {
    let device = gpu_with(Variant::Naive);
    let backend: &dyn TransposeBackend = &device;
    let stop = AtomicBool::new(false);
    let mut observer = StopAt("nothing says this", &stop, Vec::new());
    let rows = harness::run(&targets([backend], |_| None), &plan(), &stop, &mut observer).unwrap();
    assert_eq!(chosen(&rows), (device.choose(Variant::Auto, &problem()).name(), false));
    assert_eq!(auto(&rows).label(), format!("auto ({})", chosen(&rows).0));
}

#[test]
fn another_driver_device_or_problem_is_measured_anew() {
    let mut winners = Winners::default();
    tune(&gpu_with(Variant::Tiled), &plan(), &mut winners);
    let changes: [fn(&mut Scripted, &mut Plan); 7] = [
        |device, _| device.info_mut().driver = "1.1".into(),
        |device, _| device.info_mut().name = "another".into(),
        |device, _| device.info_mut().id = "vulkan:0".parse().unwrap(),
        |_, plan| plan.elements = vec![Element::F64],
        |_, plan| plan.sizes = Some(vec![(64, 65)]),
        |_, plan| plan.batch = 2,
        |_, plan| plan.pad = [0, 1],
    ];
    for (i, change) in changes.iter().enumerate() {
        let (mut device, mut plan) = (gpu_with(Variant::Padded), plan());
        change(&mut device, &mut plan);
        assert_eq!(chosen(&tune(&device, &plan, &mut winners)), ("padded", true), "change {i}");
        assert_eq!((winners.measured(), winners.taken()), (2 + i, 0));
    }
    // The number of the device and the name of the element are no part of it.
    let mut second = gpu_with(Variant::Padded);
    second.info_mut().id = "cuda:1".parse().unwrap();
    let plan = Plan { elements: vec![Element::U32], ..plan() };
    assert_eq!(chosen(&tune(&second, &plan, &mut winners)), ("tiled", true));
}

#[test]
fn elements_of_one_width_are_measured_once() {
    let mut winners = Winners::default();
    let plan = Plan { elements: vec![Element::F32, Element::U32], ..plan() };
    let rows = tune(&gpu_with(Variant::Tiled), &plan, &mut winners);
    let autos: Vec<bool> = rows.iter().filter(|row| row.variant == "auto").map(|row| row.tuned).collect();
    assert_eq!((autos, winners.measured(), winners.taken()), (vec![true, true], 1, 0));
}

#[test]
fn with_and_without_bounds_checks_are_two_questions() {
    let mut device = gpu(|variant, options| {
        let fastest = if options.bounds_checks { Variant::Tiled } else { Variant::Padded };
        Act::takes(if variant == fastest { 2000 } else { 4000 })
    });
    device.info_mut().has_bounds_checks = true;
    let mut winners = Winners::default();
    let rows = tune(&device, &Plan { bounds_checks: vec![false, true], ..plan() }, &mut winners);
    let autos: Vec<_> = rows.iter().filter(|row| row.variant == "auto").collect();
    let chosen: Vec<_> = autos.iter().map(|row| (row.bounds_checks, row.chosen.as_deref())).collect();
    assert_eq!(chosen, [(Some(false), Some("padded")), (Some(true), Some("tiled"))]);
    assert_eq!(winners.find(&Key::new(device.device(), &problem(), Some(true))), Some(Variant::Tiled));
}

#[test]
fn where_there_is_nothing_to_choose_from_nothing_is_measured() {
    let only = |variant: Variant| matches!(variant, Variant::Memcpy | Variant::Copy | Variant::Naive | Variant::Auto);
    let device = gpu(move |variant, _| match only(variant) {
        true => Act::takes(4000),
        false => Act { unsupported: Some("no".into()), ..Act::takes(1) },
    });
    let mut winners = Winners::default();
    let rows = tune(&device, &plan(), &mut winners);
    assert_eq!((chosen(&rows), auto(&rows).status), (("naive", false), Status::Ok));
    assert_eq!(winners, Winners::default());
    let empty = Plan { sizes: Some(vec![(0, 5)]), ..plan() };
    let device = gpu_with(Variant::Tiled);
    let rows = tune(&device, &empty, &mut winners);
    assert_eq!((auto(&rows).status, auto(&rows).tuned), (Status::Unsupported, false));
    assert_eq!((winners, ran(&device)), (Winners::default(), vec![]));
}

#[test]
fn an_interrupt_keeps_whole_answers_only() {
    let plan = Plan { sizes: Some(vec![(64, 64), (96, 96)]), ..plan() };
    let key = |n| Key::new(gpu_with(Variant::Tiled).device(), &Problem::new(n, n, 1, Element::F32).unwrap(), None);
    let mut winners = Winners::default();
    let (rows, steps) = tune_until(&gpu_with(Variant::Tiled), &plan, &mut winners, "96×96 f32: tuning: auto (padded)");
    assert_eq!((winners.find(&key(64)), winners.find(&key(96))), (Some(Variant::Tiled), None));
    assert!(rows.iter().all(|row| row.rows == 64), "{rows:#?}");
    assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "progress grows");
    let mut none = Winners::default();
    assert_eq!(tune_until(&gpu_with(Variant::Tiled), &plan, &mut none, "filling").0, []);
    assert_eq!(none, Winners::default());
}

#[test]
fn progress_counts_what_is_to_be_measured() {
    let device = gpu_with(Variant::Tiled);
    let mut winners = Winners::default();
    let total = |winners: &mut Winners| {
        let (_, steps) = tune_until(&device, &plan(), winners, "nothing says this");
        let (done, total, _) = steps.last().unwrap();
        assert!(done < total);
        *total
    };
    let (first, second) = (total(&mut winners), total(&mut winners));
    // 1 step fills, and 3 cells have 3 rounds, one step before them and one after.
    assert!(first > second && second == 1 + 3 * 5, "{first}, then {second}");
}

#[test]
fn a_winner_that_cannot_run_any_more_is_measured_anew() {
    let device = gpu_with(Variant::Padded);
    let mut winners = Winners::default();
    tune(&device, &plan(), &mut winners);
    let json = winners.to_json();
    for name in ["of-a-later-version", "geam", "memcpy", "auto", "tall"] {
        let text = json.replace("\"padded\"", &format!("\"{name}\""));
        assert_ne!(text, json);
        let mut winners = Winners::from_json(&text, "x").unwrap();
        assert_eq!(winners.to_json(), text, "what is not known is kept");
        let device = gpu(|variant, _| match variant {
            Variant::Tall => Act { unsupported: Some("the sides are long".into()), ..Act::takes(1) },
            Variant::Tiled => Act::takes(1000),
            _ => Act::takes(4000),
        });
        assert_eq!(chosen(&tune(&device, &plan(), &mut winners)), ("tiled", true), "{name}");
        assert_eq!((winners.measured(), winners.taken()), (1, 0));
        assert!(!winners.to_json().contains(name), "{name}");
    }
}

fn key(rows: u64) -> Key {
    Key::new(gpu_with(Variant::Tiled).device(), &Problem::new(rows, 7, 3, Element::C64).unwrap(), Some(false))
}

#[test]
fn the_file_is_plain_json_and_comes_back_as_it_went() {
    let spread = Problem::new(5, 7, 3, Element::C64).unwrap();
    let spread =
        spread.with_layouts(Layout { first: 0, ld: 9, stride: 50 }, Layout { first: 0, ld: 5, stride: 36 }).unwrap();
    let mut winners = Winners::default();
    winners.insert(Key::new(gpu_with(Variant::Tiled).device(), &spread, Some(true)), Variant::Tall);
    let json = winners.to_json();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        r#"{{
  "schema": "cornerturn-tuning/1",
  "winners": [
    {{
      "api": "cuda",
      "device": "scripted",
      "driver": "1.0",
      "version": "{version}",
      "width": 8,
      "rows": 5,
      "cols": 7,
      "batch": 3,
      "source_ld": 9,
      "source_stride": 50,
      "destination_ld": 5,
      "destination_stride": 36,
      "bounds_checks": true,
      "variant": "tall"
    }}
  ]
}}
"#
    );
    assert_eq!(json, expected);
    assert_eq!(Winners::from_json(&json, "x").unwrap().to_json(), json);
}

#[test]
fn what_is_no_file_of_winners_is_refused_with_its_place() {
    let error = |text: &str| Winners::from_json(text, "a/tuning.json").unwrap_err();
    let mut winners = Winners::default();
    winners.insert(key(5), Variant::Tiled);
    let json = winners.to_json();
    for text in ["", "[]", "{", &json[..json.len() / 2], &json.replace("\"rows\": 5", "\"rows\": -5")] {
        let error = error(text);
        assert!(matches!(error, ReadError::Json { .. }), "{text}: {error}");
        assert!(error.to_string().starts_with("a/tuning.json: not a file of winners: "), "{error}");
        assert!(error.to_string().contains(" at line "), "{error}");
    }
    let other = error(&json.replace("tuning/1", "tuning/2")).to_string();
    assert_eq!(
        other,
        "a/tuning.json is a file of format `cornerturn-tuning/2`; only `cornerturn-tuning/1` can be read"
    );
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Winners::read(folder.path().join("none.json")).unwrap(), Winners::default());
    assert!(matches!(Winners::read(folder.path()), Err(ReadError::File { .. })));
    fs::write(folder.path().join("some.json"), &json).unwrap();
    assert_eq!(Winners::read(folder.path().join("some.json")).unwrap().find(&key(5)), Some(Variant::Tiled));
}

#[test]
fn what_was_measured_replaces_what_is_there_and_leaves_the_rest() {
    let winners = |entries: &[(u64, Variant)]| {
        let mut winners = Winners::default();
        entries.iter().for_each(|(rows, variant)| winners.insert(key(*rows), *variant));
        winners
    };
    let mut stored = Winners::from_json(&winners(&[(1, Variant::Naive), (2, Variant::Naive)]).to_json(), "x").unwrap();
    let mut ours = stored.clone();
    ours.insert(key(2), Variant::Tiled);
    ours.insert(key(3), Variant::Padded);
    // Meanwhile, another run has stored more.
    stored.insert(key(1), Variant::Tall);
    stored.insert(key(4), Variant::Compact);
    stored.update(&ours);
    let found = [1, 2, 3, 4].map(|rows| stored.find(&key(rows)).unwrap());
    assert_eq!(found, [Variant::Tall, Variant::Tiled, Variant::Padded, Variant::Compact]);
}
