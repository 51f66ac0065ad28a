//! Figures as SVG, drawn with plotters. Text needs no font at hand: whoever shows the drawing brings one.

mod bars;
mod canvas;
mod lines;
mod palette;
mod scale;

use super::chart::{Drawing, Figure};

pub(super) use palette::{css, pattern_css, patterns};

/// For what a figure is drawn. Text keeps its size: a drawing made for a desk would not be read on a phone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Wide,
    Narrow,
}

impl Format {
    fn width(self) -> i32 {
        match self {
            Format::Wide => 760,
            Format::Narrow => 340,
        }
    }
}

/// A drawing: the content of an `<svg>`, and its size in pixels.
pub(super) struct Sheet {
    pub content: String,
    pub width: i32,
    pub height: i32,
}

/// Draws a figure. Its texts are as they are in the figure, with what is markup in XML escaped.
pub(super) fn draw(figure: &Figure, format: Format) -> Sheet {
    match &figure.drawing {
        Drawing::Bars(bars) => bars::draw(bars, format),
        Drawing::Lines(lines) => lines::draw(lines, format),
    }
}

#[cfg(test)]
mod tests;
