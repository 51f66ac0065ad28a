//! What a report shows, before it is text of any kind: lines, and tables of cells. Cells and lines hold the record's
//! strings as they are; whoever renders them escapes them.

use super::about::{About, Subject};
use super::chart::Figure;
use super::notes::{self, Footnotes};
use super::number::{self, NONE, or_none};
use super::{Report, compare, figures, method};
use crate::device::DeviceKind;
use crate::problem;
use crate::record::{Device, Record, Row, Status};

/// A report.
pub(super) struct Layout {
    /// Where the record comes from.
    pub facts: Vec<String>,
    /// What must be known before a figure is read.
    pub warnings: Vec<String>,
    /// The tables.
    pub sections: Vec<Section>,
    /// What the figures mean, and what is missing.
    pub notes: Vec<String>,
    /// The notes that rows refer to, by their number from 1.
    pub footnotes: Vec<String>,
}

/// A table under a heading, and figures of what is in it.
#[derive(Default)]
pub(super) struct Section {
    pub heading: String,
    pub lines: Vec<String>,
    pub figures: Vec<Figure>,
    pub grid: Grid,
}

/// A table of cells.
#[derive(Default)]
pub(super) struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// Indices of the rows, but the first, that begin a group.
    pub breaks: Vec<usize>,
    /// A bar for each row, which a terminal may show.
    pub bars: Option<Meter>,
}

/// Bars for the rows of a grid.
pub(super) struct Meter {
    /// What the whole length stands for.
    pub title: String,
    /// The column that they stand before.
    pub before: usize,
    /// For each row the part of the length, and the part of the copy ceiling that it reaches.
    pub parts: Vec<Option<[f64; 2]>>,
}

/// The title of the column of the numbers of footnotes.
pub(super) const NOTES: &str = "notes";

/// The head of a column.
pub(super) struct Column {
    pub title: String,
    pub align: Align,
}

/// The side a column keeps to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// One piece of hardware, with everything that reached it.
pub(super) struct Hardware<'a> {
    pub devices: Vec<&'a Device>,
    /// Grouped by problem and setting; in a group device by device.
    pub rows: Vec<&'a Row>,
}

impl Hardware<'_> {
    fn name(&self) -> &str {
        self.devices.first().map_or("devices that are not listed", |device| &device.name)
    }
}

/// What the rows of a record differ in.
pub(super) struct Axes {
    /// The sizes, in the order measured.
    sizes: Vec<Size>,
    /// Whether shaders were run with and without bounds checks.
    pub bounds: bool,
}

/// Rows, columns and matrices, and how source and destination lie in memory where they are not packed.
type Size = ([u64; 3], Option<[problem::Layout; 2]>);

pub(super) fn size(row: &Row) -> Size {
    ([row.rows, row.cols, row.batch], row.layouts())
}

impl Axes {
    fn of(record: &Record) -> Axes {
        let mut sizes = Vec::new();
        for row in &record.results {
            if !sizes.contains(&size(row)) {
                sizes.push(size(row));
            }
        }
        let has = |on| record.results.iter().any(|row| row.bounds_checks == Some(on));
        Axes { sizes, bounds: has(true) && has(false) }
    }

    /// Heading of a section: the size is in it where all rows have the same.
    pub(super) fn heading(&self, name: &str) -> String {
        match self.sizes[..] {
            [size] => format!("{name}, {}", shape(size)),
            _ => name.into(),
        }
    }

    /// The cell of the size, where sizes differ.
    pub(super) fn size_cell(&self, row: &Row) -> Option<String> {
        self.several_sizes().then(|| shape(size(row)))
    }

    pub(super) fn several_sizes(&self) -> bool {
        self.sizes.len() > 1
    }
}

pub(super) fn shape(([rows, cols, batch], layouts): Size) -> String {
    let shape = if batch == 1 { format!("{rows}×{cols}") } else { format!("{batch} × {rows}×{cols}") };
    layouts.map_or(shape.clone(), |layouts| format!("{shape}, {}", problem::told(layouts, batch)))
}

/// What records of `cornerturn bench` have in common.
const BENCH: Subject = Subject { name: "Matrix transpose", meaning: &notes::MEANING, method: &method::METHOD };

/// The report of a record of `cornerturn bench`.
pub(super) fn of(record: &Record) -> Report {
    let axes = Axes::of(record);
    let mut footnotes = Footnotes::default();
    let mut sections = Vec::new();
    for hardware in hardware(record) {
        sections.push(results(&hardware, record, &axes, &mut footnotes));
        sections.extend(compare::section(&hardware, record, &axes, &mut footnotes));
    }
    let gaps = axes.sizes.iter().any(|(_, layouts)| layouts.is_some());
    let about = About {
        subject: &BENCH,
        environment: record.environment.clone(),
        devices: record.devices.clone(),
        absent: record.absent.clone(),
        meaning: gaps.then_some(notes::LAYOUTS).into_iter().collect(),
        told: method::of(record),
        empty: record.results.is_empty(),
        interrupted: record.interrupted,
    };
    about.report(sections, footnotes)
}

fn hardware(record: &Record) -> Vec<Hardware<'_>> {
    let mut order: Vec<usize> = Vec::new();
    for device in &record.devices {
        if !order.contains(&device.physical) {
            order.push(device.physical);
        }
    }
    let of = |physical: Option<usize>| {
        let devices = record.devices.iter().filter(|device| Some(device.physical) == physical).collect();
        let here = |row: &&Row| record.device(&row.device).map(|device| device.physical) == physical;
        Hardware { devices, rows: sorted(record.results.iter().filter(here).collect(), record) }
    };
    // Rows whose device is not listed come last rather than not at all.
    let unlisted = Some(of(None)).filter(|hardware| !hardware.rows.is_empty());
    order.into_iter().map(|physical| of(Some(physical))).chain(unlisted).collect()
}

fn sorted<'a>(mut rows: Vec<&'a Row>, record: &Record) -> Vec<&'a Row> {
    let mut problems = Vec::new();
    for row in &record.results {
        if !problems.contains(&(size(row), &row.element)) {
            problems.push((size(row), &row.element));
        }
    }
    rows.sort_by_key(|row| {
        let problem = problems.iter().position(|problem| *problem == (size(row), &row.element));
        let device = record.devices.iter().position(|device| device.id == row.device);
        (problem, row.bounds_checks == Some(true), device)
    });
    rows
}

/// Whether two neighbouring rows are of different groups. Where an API has no bounds checks its rows stand with those
/// that are compiled without.
pub(super) fn parts(axes: &Axes, one: &Row, next: &Row) -> bool {
    let checked = |row: &Row| axes.bounds && row.bounds_checks == Some(true);
    (size(one), &one.element, checked(one)) != (size(next), &next.element, checked(next))
}

fn results(hardware: &Hardware, record: &Record, axes: &Axes, footnotes: &mut Footnotes) -> Section {
    let mut grid = Grid::default();
    for (i, row) in hardware.rows.iter().enumerate() {
        if i > 0 && parts(axes, hardware.rows[i - 1], row) {
            grid.breaks.push(i);
        }
        grid.rows.push(cells(row, record, axes, footnotes));
    }
    if !grid.rows.is_empty() {
        grid.columns = columns(axes);
        grid.bars = figures::meter(hardware, grid.columns.iter().position(|column| column.title == "time"));
    }
    grid.drop_empty_last();
    let lines = hardware.devices.iter().map(|device| notes::device(device, &hardware.rows)).collect();
    let mut figures = figures::ladders(hardware, axes);
    figures.extend(figures::sizes(hardware, axes));
    Section { heading: axes.heading(hardware.name()), lines, figures, grid }
}

fn columns(axes: &Axes) -> Vec<Column> {
    let mut columns = vec![left("device"), left("API"), left("variant"), left("element")];
    columns.extend(axes.several_sizes().then(|| left("size")));
    columns.extend(axes.bounds.then(|| left("bounds checks")));
    columns.extend(["GB/s", "% of copy", "% of peak", "time", "spread"].map(right));
    columns.extend([left("limiter"), left(NOTES)]);
    columns
}

fn cells(row: &Row, record: &Record, axes: &Axes, footnotes: &mut Footnotes) -> Vec<String> {
    let device = record.device(&row.device);
    let api = device.map_or(NONE, |device| &device.api);
    let mut cells = vec![row.device.clone(), api.into(), row.label(), row.element.clone()];
    cells.extend(axes.size_cell(row));
    cells.extend(axes.bounds.then(|| setting(row.bounds_checks).into()));
    if row.status == Status::Ok {
        let software = device.is_some_and(|device| device.kind == DeviceKind::Software);
        // Whatever the record says, a software device has neither a peak nor a limiter that a GPU would have.
        let peak = row.percent_of_peak.filter(|_| !software);
        let limiter = row.limiter.clone().filter(|_| !software);
        cells.extend([
            or_none(row.gbps, number::significant),
            or_none(row.percent_of_copy, number::percent),
            or_none(peak, number::percent),
            or_none(row.median_s, number::time),
            or_none(row.spread, number::fraction),
            limiter.unwrap_or(NONE.into()),
        ]);
    } else {
        cells.push(row.status.to_string());
        cells.extend([NONE; 5].map(String::from));
    }
    cells.push(footnotes.of(&[row], record));
    cells
}

pub(super) fn setting(bounds_checks: Option<bool>) -> &'static str {
    match bounds_checks {
        Some(true) => "on",
        Some(false) => "off",
        None => NONE,
    }
}

/// The head of a column of names.
pub(super) fn left(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Left }
}

/// The head of a column of figures.
pub(super) fn right(title: impl Into<String>) -> Column {
    Column { title: title.into(), align: Align::Right }
}

impl Grid {
    /// Takes the last column, the notes, away where no row has any.
    pub(super) fn drop_empty_last(&mut self) {
        if self.rows.iter().all(|row| row.last().is_none_or(String::is_empty)) {
            self.columns.pop();
            self.rows.iter_mut().for_each(|row| drop(row.pop()));
        }
    }
}
