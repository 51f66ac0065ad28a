//! One piece of hardware through several APIs, or with and without bounds checks, side by side.

use super::chart::{Bar, Bars, Drawing, Figure, Group, Hue, Key};
use super::figures::counted;
use super::layout::{Axes, Grid, Hardware, NOTES, Section, left, right, size};
use super::notes::Footnotes;
use super::number::{NONE, ratio, significant};
use crate::device::DeviceKind;
use crate::record::{Device, Record, Row};

/// What has a column of its own: a device, and a setting where it was run with more than one.
struct Lane<'a> {
    device: &'a Device,
    bounds_checks: Option<bool>,
    label: String,
}

impl Lane<'_> {
    fn holds(&self, row: &Row) -> bool {
        // What has no such setting (the API's own copy) stands beside either.
        row.device == self.device.id && (row.bounds_checks.is_none() || row.bounds_checks == self.bounds_checks)
    }
}

/// The table that sets the ways to one piece of hardware side by side; `None` where there is only one.
pub(super) fn section(hardware: &Hardware, record: &Record, axes: &Axes, footnotes: &mut Footnotes) -> Option<Section> {
    let lanes = lanes(hardware);
    let mut grid = Grid::default();
    let mut groups = Vec::new();
    for rows in matches(hardware) {
        let found: Vec<Option<&Row>> =
            lanes.iter().map(|lane| rows.iter().copied().find(|row| lane.holds(row))).collect();
        let present: Vec<&Row> = found.iter().copied().flatten().collect();
        if present.len() < 2 || present.iter().all(|row| counted(row).is_none()) {
            continue;
        }
        let mut cells = vec![present[0].label(), present[0].element.clone()];
        cells.extend(axes.size_cell(present[0]));
        cells.extend(found.iter().map(|row| row.map_or(NONE.into(), figure_of)));
        cells.extend(found[1..].iter().map(|row| relation(*row, found[0])));
        groups.push(group(present[0], &found, hardware, axes));
        cells.push(footnotes.of(&present, record));
        grid.rows.push(cells);
    }
    let [first, others @ ..] = &lanes[..] else { return None };
    if grid.rows.is_empty() {
        return None;
    }
    grid.columns = vec![left("variant"), left("element")];
    grid.columns.extend(axes.several_sizes().then(|| left("size")));
    grid.columns.extend(lanes.iter().map(|lane| right(&lane.label)));
    grid.columns.extend(others.iter().map(|lane| right(format!("{} / {}", lane.label, first.label))));
    grid.columns.push(left(NOTES));
    grid.drop_empty_last();
    let heading = axes.heading(&format!("{}: GB/s side by side", first.device.name));
    let figures = vec![figure(&lanes, groups)];
    Some(Section { heading, lines: vec![], figures, grid })
}

/// What the table says, as bars: a group for each of its rows, and a bar for each lane.
fn figure(lanes: &[Lane], groups: Vec<Group>) -> Figure {
    let key = |(i, lane): (usize, &Lane)| (Key::Bar(Hue::series(i)), lane.label.clone());
    let labels: Vec<&str> = lanes.iter().map(|lane| lane.label.as_str()).collect();
    let title = format!("Effective bandwidth through {}", labels.join(" and "));
    let legend = lanes.iter().enumerate().map(key).collect();
    let caption = format!("Beside each bar: GB/s and, in brackets, how many times that of {}.", lanes[0].label);
    Figure { title, caption, drawing: Drawing::Bars(Bars { axis: "GB/s".into(), groups, limits: vec![], legend }) }
}

fn group(row: &Row, found: &[Option<&Row>], hardware: &Hardware, axes: &Axes) -> Group {
    let mut title = vec![row.label()];
    title.extend(axes.size_cell(row));
    title.extend(hardware.rows.iter().any(|other| other.element != row.element).then(|| row.element.clone()));
    let bar = |(i, row): (usize, &Option<&Row>)| {
        let figure = row.map_or(NONE.into(), figure_of);
        let text = match relation(*row, found[0]) {
            relation if i > 0 && relation != NONE => format!("{figure} ({relation})"),
            _ => figure,
        };
        Bar { label: String::new(), value: row.and_then(counted), text, hue: Hue::series(i) }
    };
    Group { title: title.join(" "), bars: found.iter().enumerate().map(bar).collect(), ceiling: None }
}

fn lanes<'a>(hardware: &Hardware<'a>) -> Vec<Lane<'a>> {
    let mut lanes = Vec::new();
    for &device in &hardware.devices {
        let has = |setting| hardware.rows.iter().any(|row| row.device == device.id && row.bounds_checks == setting);
        let mut settings: Vec<Option<bool>> = [Some(false), Some(true)].into_iter().filter(|s| has(*s)).collect();
        if settings.is_empty() {
            settings.push(None);
        }
        let software = if device.kind == DeviceKind::Software { " (software)" } else { "" };
        for &bounds_checks in &settings {
            let setting = match bounds_checks {
                Some(true) if settings.len() > 1 => " checked",
                Some(false) if settings.len() > 1 => " unchecked",
                _ => "",
            };
            lanes.push(Lane { device, bounds_checks, label: format!("{}{setting}{software}", device.id) });
        }
    }
    lanes
}

/// The rows that differ in nothing but device and setting.
fn matches<'a>(hardware: &Hardware<'a>) -> Vec<Vec<&'a Row>> {
    let key = |row: &Row| (size(row), row.element.clone(), row.label());
    let mut matches: Vec<Vec<&Row>> = Vec::new();
    for &row in &hardware.rows {
        match matches.iter_mut().find(|rows| key(rows[0]) == key(row)) {
            Some(rows) => rows.push(row),
            None => matches.push(vec![row]),
        }
    }
    matches
}

fn figure_of(row: &Row) -> String {
    match counted(row) {
        Some(gbps) => significant(gbps),
        None => row.status.to_string(),
    }
}

fn relation(row: Option<&Row>, first: Option<&Row>) -> String {
    match (row.and_then(counted), first.and_then(counted)) {
        (Some(gbps), Some(base)) if base > 0.0 => ratio(gbps / base),
        _ => NONE.into(),
    }
}
