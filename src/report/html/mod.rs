//! A page: one file with everything in it, for any browser, with or without a network.
//!
//! It is put together from a few blocks that know nothing of records: [`page`](page::page), [`figure`](figure::figure),
//! [`table`](table::table), and the lists here. The layout says what goes into them.

mod figure;
mod page;
mod record;
mod table;
#[cfg(test)]
mod tests;

use maud::{Markup, html};

use super::Report;
use super::layout::Section;

/// A record to show on a page.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// What readers know it by, such as the name of its file.
    pub name: Option<&'a str>,
    /// Its report.
    pub report: &'a Report,
}

/// Records of any kinds as one HTML page, each in a section of its own, in the order given: figures; the same tables as
/// elsewhere, which a reader can sort; how it was measured, and on what.
///
/// The page needs nothing but itself. All texts of the records are shown literally, with control characters spelled
/// out.
pub fn html(sources: &[Source]) -> String {
    let sections: Vec<Markup> =
        sources.iter().enumerate().map(|(i, source)| record::section(i, source, sources)).collect();
    let body = html! {
        @if sources.len() > 1 { (record::contents(sources)) }
        @for section in &sections { (section) }
        (record::method(sources))
    };
    page::page(&record::title(sources), &body)
}

/// With more figures than this in a section, the rest are folded up until a reader wants to see them.
const SHOWN: usize = 6;

/// A section of a report: what is to be said, its figures and its table. `id` is one that nothing else on the page has,
/// and `notes` the beginning of the ids of the footnotes that its table refers to.
fn section(section: &Section, id: &str, notes: &str) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h3 id=(id) { (section.heading) }
            (list(&section.lines))
            @for (i, figure) in section.figures.iter().enumerate() {
                (figure::figure(figure, &format!("{id}-figure-{i}"), i >= SHOWN))
            }
            (table::table(&section.grid, &section.heading, &format!("{id}-table"), notes))
        }
    }
}

/// A list of sentences; nothing where there are none.
fn list(texts: &[impl AsRef<str>]) -> Markup {
    html! {
        @if !texts.is_empty() {
            ul { @for text in texts { li { (text.as_ref()) } } }
        }
    }
}

/// Numbered notes, which the tables refer to.
fn footnotes(texts: &[String], id: &str) -> Markup {
    html! {
        @if !texts.is_empty() {
            h3 { "Notes" }
            ol { @for (i, text) in texts.iter().enumerate() { li id={ (id) (i + 1) } { (text) } } }
        }
    }
}
