//! A table on a page.

use maud::{Markup, html};

use crate::report::layout::{Align, Grid, NOTES};
use crate::report::number;

/// Texts of more characters than this may be broken into lines.
const LONG: usize = 24;

/// The grid as a table that scrolls by itself where it is wider than the page, and that a reader can sort where scripts
/// run. `id` is one that nothing else on the page has; the numbers in the column of notes link to the ids that begin
/// with `notes`.
pub(super) fn table(grid: &Grid, caption: &str, id: &str, notes: &str) -> Markup {
    html! {
        @if !grid.rows.is_empty() {
            div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                table {
                    caption id=(id) { (caption) " (" (grid.rows.len()) " rows)" }
                    thead { tr { @for column in &grid.columns { th scope="col" class=[side(column.align)] { (column.title) } } } }
                    tbody {
                        @for (i, row) in grid.rows.iter().enumerate() {
                            tr class=[grid.breaks.contains(&i).then_some("break")] {
                                @for (cell, column) in row.iter().zip(&grid.columns) {
                                    @if column.title == NOTES { td { (references(cell, notes)) } }
                                    @else { (data(cell, column.align)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn side(align: Align) -> Option<&'static str> {
    (align == Align::Right).then_some("figure")
}

/// A cell. A figure has its value beside it, by which it is sorted.
fn data(cell: &str, align: Align) -> Markup {
    let value = (align == Align::Right).then(|| number::value(cell)).flatten();
    let class = side(align).or((cell.chars().count() > LONG).then_some("long"));
    html! { td class=[class] data-value=[value] { (cell) } }
}

/// The numbers of footnotes, each a link to its note.
fn references(cell: &str, notes: &str) -> Markup {
    html! {
        @for (i, number) in cell.split(", ").filter(|number| !number.is_empty()).enumerate() {
            @if i > 0 { ", " }
            a href={ "#" (notes) (number) } { (number) }
        }
    }
}
