//! A figure on a page.

use maud::{Markup, PreEscaped, html};

use crate::report::chart::Figure;
use crate::report::svg::{self, Format};

/// With more bars than these, a figure is folded up until a reader wants to see it.
const MANY: usize = 60;

/// The figure with its title above and its caption below, drawn for wide and for narrow screens, of which the style
/// sheet shows one; `folded` up, or where it is very long. `id` is one that nothing else on the page has.
pub(super) fn figure(figure: &Figure, id: &str, folded: bool) -> Markup {
    let drawn = html! {
        figure {
            figcaption { strong { (figure.title) } " " span { (figure.caption) } }
            (drawing(figure, Format::Wide, "wide", &format!("{id}-wide")))
            (drawing(figure, Format::Narrow, "narrow", &format!("{id}-narrow")))
        }
    };
    html! {
        @if folded || figure.bars() > MANY { details { summary { "Figure: " (figure.title) } (drawn) } }
        @else { (drawn) }
    }
}

fn drawing(figure: &Figure, format: Format, class: &str, id: &str) -> Markup {
    let sheet = svg::draw(figure, format);
    let view = format!("0 0 {} {}", sheet.width, sheet.height);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(class) viewBox=(view) width=(sheet.width) height=(sheet.height)
            role="img" aria-labelledby={ (id) "-title" } aria-describedby={ (id) "-text" }
        {
            title id={ (id) "-title" } { (figure.title) }
            desc id={ (id) "-text" } { (figure.description()) }
            (PreEscaped(sheet.content))
        }
    }
}
