//! A layout as text for a terminal.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, Width, presets};

use super::layout::{Align, Column, Grid, Layout, Meter};
use super::meter;
use super::text::escape;

/// Cells longer than this are wrapped, so that a long limiter does not push the table past the screen. In columns of
/// the terminal.
const WIDEST: u16 = 40;
/// The same where only that makes room for bars.
const NARROWEST: u16 = 24;

/// A terminal, for what goes to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its columns.
    pub columns: usize,
    /// Whether colours are wanted.
    pub colour: bool,
    /// Whether it shows the block elements of Unicode.
    pub unicode: bool,
}

/// The text, with a newline at the end; on a screen that is wide enough, with bars beside the figures.
pub(super) fn render(layout: &Layout, screen: Option<Screen>) -> String {
    let mut blocks = vec![lines(&layout.facts, "")];
    blocks.push(lines(&layout.warnings, "Warning: "));
    for section in &layout.sections {
        blocks.push(lines([&section.heading], "") + &lines(&section.lines, "  "));
        let with_bars = screen.and_then(|screen| with_bars(&section.grid, screen));
        blocks.push(with_bars.unwrap_or_else(|| grid(&section.grid, WIDEST)));
    }
    blocks.push(lines(&layout.notes, ""));
    let numbered = layout.footnotes.iter().enumerate().map(|(i, note)| format!("{}. {note}", i + 1));
    blocks.push(lines(numbered, ""));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn lines(texts: impl IntoIterator<Item = impl AsRef<str>>, prefix: &str) -> String {
    texts.into_iter().map(|text| format!("{prefix}{}\n", escape(text.as_ref()))).collect()
}

fn grid(grid: &Grid, widest: u16) -> String {
    if grid.rows.is_empty() { String::new() } else { format!("{}\n", table(grid, widest, None)) }
}

/// The grid with a column of bars, if there is room for it.
fn with_bars(grid: &Grid, screen: Screen) -> Option<String> {
    let meter = grid.bars.as_ref()?;
    let columns = |text: String| text.lines().map(console::measure_text_width).max().unwrap_or(0);
    [WIDEST, NARROWEST].into_iter().find_map(|widest| {
        // What the column takes besides: a rule and a blank on either side.
        let room = screen.columns.checked_sub(columns(self::grid(grid, widest)) + 3)?;
        let long = room.min(meter::LONGEST);
        let bars = Bars { meter, long, screen };
        (long >= meter::SHORTEST).then(|| format!("{}\n", table(grid, widest, Some(bars))))
    })
}

/// A column of bars that are to be so long.
struct Bars<'a> {
    meter: &'a Meter,
    long: usize,
    screen: Screen,
}

fn table(grid: &Grid, widest: u16, bars: Option<Bars>) -> Table {
    let mut table = Table::new();
    // The text is the same whether or not it goes to a terminal.
    table.force_no_tty().load_style(presets::ASCII_MARKDOWN);
    let mut head: Vec<Cell> = grid.columns.iter().map(|column| cell(&column.title, column)).collect();
    let mut constraints = vec![ColumnConstraint::UpperBoundary(Width::Fixed(widest)); head.len()];
    if let Some(Bars { meter, long, screen }) = &bars {
        head.insert(meter.before, Cell::new(escape(&meter.title)));
        constraints.insert(meter.before, ColumnConstraint::Absolute(Width::Fixed(*long as u16 + 2)));
        if screen.colour {
            table.enforce_styling();
        }
    }
    table.set_header(head);
    table.set_constraints(constraints);
    for (i, row) in grid.rows.iter().enumerate() {
        if grid.breaks.contains(&i) {
            table.add_row(vec![""; grid.columns.len() + usize::from(bars.is_some())]);
        }
        let mut cells: Vec<Cell> = row.iter().zip(&grid.columns).map(|(text, column)| cell(text, column)).collect();
        if let Some(Bars { meter, long, screen }) = &bars {
            cells.insert(meter.before, meter::bar(meter.parts.get(i).copied().flatten(), *long, *screen));
        }
        table.add_row(cells);
    }
    table
}

fn cell(text: &str, column: &Column) -> Cell {
    Cell::new(escape(text)).set_alignment(match column.align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    })
}
