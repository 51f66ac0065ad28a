//! A layout as text for a terminal.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, Table, Width, presets};

use super::layout::{Align, Column, Grid, Layout};
use super::text::escape;

/// Cells longer than this are wrapped, so that a long limiter does not push the table past the screen. In columns of
/// the terminal.
const WIDEST: u16 = 40;

/// The text, with a newline at the end.
pub(super) fn render(layout: &Layout) -> String {
    let mut blocks = vec![lines(&layout.facts, "")];
    blocks.push(lines(&layout.warnings, "Warning: "));
    for section in &layout.sections {
        blocks.push(lines([&section.heading], "") + &lines(&section.lines, "  "));
        blocks.push(grid(&section.grid));
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

fn grid(grid: &Grid) -> String {
    if grid.rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    // The text is the same whether or not it goes to a terminal.
    table.force_no_tty().load_style(presets::ASCII_MARKDOWN);
    table.set_header(grid.columns.iter().map(|column| cell(&column.title, column)));
    table.set_constraints(grid.columns.iter().map(|_| ColumnConstraint::UpperBoundary(Width::Fixed(WIDEST))));
    for (i, row) in grid.rows.iter().enumerate() {
        if grid.breaks.contains(&i) {
            table.add_row(vec![""; grid.columns.len()]);
        }
        table.add_row(row.iter().zip(&grid.columns).map(|(text, column)| cell(text, column)));
    }
    format!("{table}\n")
}

fn cell(text: &str, column: &Column) -> Cell {
    Cell::new(escape(text)).set_alignment(match column.align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    })
}
