//! A layout as GitHub Markdown.

use super::layout::{Align, Grid, Layout};
use super::text::markdown;

/// The Markdown, with a newline at the end.
pub(super) fn render(layout: &Layout) -> String {
    let mut blocks = vec![list(&layout.facts, |_| "- ".into())];
    blocks.extend(layout.warnings.iter().map(|warning| format!("**{}**\n", markdown(warning))));
    for section in &layout.sections {
        blocks.push(format!("### {}\n", markdown(&section.heading)));
        blocks.push(list(&section.lines, |_| "- ".into()));
        blocks.push(grid(&section.grid));
    }
    blocks.push(list(&layout.notes, |_| "- ".into()));
    if !layout.footnotes.is_empty() {
        blocks.push("Notes:\n".into());
    }
    blocks.push(list(&layout.footnotes, |i| format!("{}. ", i + 1)));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn list(texts: &[String], mark: fn(usize) -> String) -> String {
    texts.iter().enumerate().map(|(i, text)| format!("{}{}\n", mark(i), markdown(text))).collect()
}

fn grid(grid: &Grid) -> String {
    if grid.rows.is_empty() {
        return String::new();
    }
    let rule = grid.columns.iter().map(|column| match column.align {
        Align::Left => "---".into(),
        Align::Right => "---:".into(),
    });
    let head = grid.columns.iter().map(|column| markdown(&column.title));
    let rows = grid.rows.iter().map(|cells| line(cells.iter().map(|cell| markdown(cell))));
    line(head) + &line(rule) + &rows.collect::<String>()
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}
