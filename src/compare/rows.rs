//! Which row of one record is which of the other, and what has become of it.

use std::collections::{HashMap, VecDeque};

use super::interval::{self, Change};
use super::{DevicePair, Pair, Verdict};
use crate::problem::Layout;
use crate::record::{Device, Record, Row, Status};

/// What rows that belong together have in common. What `auto` chose is not part of it: choosing better is progress.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    device: usize,
    variant: &'a str,
    tuned: bool,
    shape: [u64; 3],
    layouts: Option<[Layout; 2]>,
    element: &'a str,
    bounds_checks: Option<bool>,
}

/// The pairs, and how many more have figures in neither record and did not fail.
pub(super) fn pairs<'a>(base: &'a Record, new: &'a Record, devices: &[DevicePair]) -> (Vec<Pair<'a>>, usize) {
    let base_devices = numbers(devices, |pair| pair.base);
    let new_devices = numbers(devices, |pair| pair.new);
    // Rows of one key, should there be several, belong together in their order.
    let mut waiting: HashMap<Key, VecDeque<usize>> = HashMap::new();
    let mut matched: Vec<(usize, Option<&Row>, Option<&Row>)> = Vec::new();
    for row in &base.results {
        let Some(&device) = base_devices.get(row.device.as_str()) else { continue };
        waiting.entry(key(device, row)).or_default().push_back(matched.len());
        matched.push((device, Some(row), None));
    }
    for row in &new.results {
        let Some(&device) = new_devices.get(row.device.as_str()) else { continue };
        match waiting.get_mut(&key(device, row)).and_then(VecDeque::pop_front) {
            Some(found) => matched[found].2 = Some(row),
            None => matched.push((device, None, Some(row))),
        }
    }
    let all = matched.len();
    matched.retain(|(_, base, new)| [base, new].into_iter().copied().flatten().any(says_something));
    let left_out = all - matched.len();
    (matched.into_iter().map(|(device, base, new)| judged(device, base, new)).collect(), left_out)
}

/// The number of each device in the list, by its id on one side.
fn numbers<'a>(devices: &[DevicePair<'a>], side: fn(&DevicePair<'a>) -> Option<&'a Device>) -> HashMap<&'a str, usize> {
    let number = |(i, pair)| Some((side(pair)?.id.as_str(), i));
    devices.iter().enumerate().filter_map(number).collect()
}

fn key(device: usize, row: &Row) -> Key<'_> {
    Key {
        device,
        variant: &row.variant,
        tuned: row.tuned,
        shape: [row.rows, row.cols, row.batch],
        layouts: row.layouts(),
        element: &row.element,
        bounds_checks: row.bounds_checks,
    }
}

fn says_something(row: &Row) -> bool {
    row.status.has_figures() || row.status == Status::Failed
}

fn judged<'a>(device: usize, base: Option<&'a Row>, new: Option<&'a Row>) -> Pair<'a> {
    let mut notes = Vec::new();
    for (side, row) in [("base", base), ("new", new)] {
        notes.extend(row.into_iter().flat_map(|row| on_one(side, row)));
    }
    let change = base.zip(new).and_then(|(base, new)| {
        notes.extend(on_both(base, new));
        let measured = base.status.has_figures() && new.status.has_figures();
        measured.then(|| interval::change(&base.samples_s, &new.samples_s)).flatten()
    });
    let verdict = verdict(base, new, change.as_ref());
    if let Some(Change { interval: None, .. }) = change {
        let count = |row: Option<&Row>| row.map_or(0, |row| row.samples_s.len());
        notes.push(format!("too few samples: {} in base, {} in new", count(base), count(new)));
    }
    Pair { device, base, new, change, verdict, notes }
}

fn verdict(base: Option<&Row>, new: Option<&Row>, change: Option<&Change>) -> Verdict {
    let has_figures = |row: Option<&Row>| row.is_some_and(|row| row.status.has_figures());
    let is_ok = |row: Option<&Row>| row.is_some_and(|row| row.status == Status::Ok);
    match change {
        // Where a figure cannot be, neither can its change.
        Some(change) if is_ok(base) && is_ok(new) => Verdict::of(change),
        Some(_) => Verdict::Unsure,
        None if has_figures(base) || new.is_none() => Verdict::Gone,
        None if has_figures(new) || base.is_none() => Verdict::New,
        None => Verdict::Unsure,
    }
}

/// What is to be known about a row of one side.
fn on_one(side: &str, row: &Row) -> impl Iterator<Item = String> {
    let reason = row.reason.as_deref().unwrap_or("no reason is given");
    let ended = (row.status != Status::Ok).then(|| format!("{} in {side}: {reason}", row.status));
    let throttled = row.throttled.as_ref().filter(|reasons| !reasons.is_empty());
    ended.into_iter().chain(throttled.map(|reasons| format!("throttled in {side}: {}", reasons.join(", "))))
}

/// What two rows differ in that their change may come from.
fn on_both(base: &Row, new: &Row) -> Vec<String> {
    let mut notes = Vec::new();
    if base.chosen != new.chosen {
        let chosen = |row: &Row| row.chosen.clone().unwrap_or_else(|| "nothing".into());
        notes.push(format!("{} ran {} in base, {} in new", new.variant, chosen(base), chosen(new)));
    }
    if let (Some(one), Some(other)) = (base.timer, new.timer)
        && one != other
    {
        notes.push(format!("timed by the {one}'s clock in base, the {other}'s in new"));
    }
    if let (Some(one), Some(other)) = (base.cache_resident, new.cache_resident)
        && one != other
    {
        let place = |resident| if resident { "possibly in the cache" } else { "not in the cache" };
        notes.push(format!("{} in base, {} in new", place(one), place(other)));
    }
    notes
}
