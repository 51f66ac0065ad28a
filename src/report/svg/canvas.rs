//! What both kinds of figure are made of: text, lines and marks at pixels.

use std::borrow::Cow;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Sheet;
use super::palette::{Colour, FAINT_TEXT};
use crate::report::chart::Limit;

/// A step of drawing. Nothing can fail: all is written to memory.
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The size of text in pixels; plotters makes 1/1.24 of what it is given.
pub(super) const TEXT_SIZE: f64 = 13.0;
/// The height of a line of text.
pub(super) const LINE: i32 = 17;
/// The height of an axis: the ticks' names, and its title.
pub(super) const AXIS: i32 = 42;

/// Where text is, against the point it is drawn at.
pub(super) type Side = HPos;

/// A sheet that is being drawn on.
pub(super) struct Canvas<'a>(pub(super) DrawingArea<SVGBackend<'a>, Shift>);

/// Draws a sheet of a size.
pub(super) fn sheet(width: i32, height: i32, fill: impl FnOnce(&Canvas) -> Drawn) -> Sheet {
    let mut svg = String::new();
    let size = (width.unsigned_abs(), height.unsigned_abs());
    let canvas = Canvas(SVGBackend::with_string(&mut svg, size).into_drawing_area());
    fill(&canvas).and_then(|()| canvas.0.present()).expect("a string can be written to");
    drop(canvas);
    // Without the `<svg>` around it, which whoever places it makes.
    let content = svg.split_once('>').and_then(|(_, rest)| rest.trim_end().strip_suffix("</svg>"));
    Sheet { content: content.unwrap_or_default().into(), width, height }
}

/// About how wide a text is, in pixels: as in a wide font, since nobody knows which one there will be.
pub(super) fn text_width(text: &str) -> i32 {
    (text.chars().count() as f64 * TEXT_SIZE * 0.62).ceil() as i32 + 8
}

/// The text, or as much of its beginning as fits into so many pixels. All of it is in the figure's description.
pub(super) fn shortened(text: &str, pixels: i32) -> Cow<'_, str> {
    if text_width(text) <= pixels {
        return text.into();
    }
    let mut short: String = text.into();
    while text_width(&short) >= pixels && short.pop().is_some() {}
    short.push('…');
    short.into()
}

pub(super) fn style(colour: Colour) -> TextStyle<'static> {
    let plain = TextStyle::from(("sans-serif", TEXT_SIZE * 1.24).into_font());
    TextStyle { color: colour.rgb().to_backend_color(), ..plain }
}

impl Canvas<'_> {
    /// A text whose middle is at the height `y`.
    pub(super) fn text(&self, text: &str, (x, y): (i32, i32), side: Side, colour: Colour) -> Drawn {
        let style = style(colour).pos(Pos::new(side, VPos::Center));
        self.0.draw(&Text::new(text, (x, y), style))
    }

    pub(super) fn line(&self, from: (i32, i32), to: (i32, i32), colour: Colour, width: u32) -> Drawn {
        self.0.draw(&PathElement::new([from, to], colour.rgb().stroke_width(width)))
    }

    pub(super) fn rectangle(&self, corner: (i32, i32), (width, height): (i32, i32), colour: Colour) -> Drawn {
        let (x, y) = corner;
        self.0.draw(&Rectangle::new([corner, (x + width, y + height)], colour.rgb().filled()))
    }

    /// A mark where there are many close together, of any series.
    pub(super) fn dot(&self, (x, y): (i32, i32), colour: Colour) -> Drawn {
        self.0.draw(&Circle::new((x, y), 2, colour.rgb().filled()))
    }

    /// The mark of a series, of a shape that the next ones do not have.
    pub(super) fn mark(&self, series: usize, (x, y): (i32, i32), colour: Colour) -> Drawn {
        let shape: &[(i32, i32)] = match series % 7 {
            0 => return self.0.draw(&Circle::new((x, y), 4, colour.rgb().filled())),
            1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
            2 => &[(0, -5), (5, 4), (-5, 4)],
            3 => &[(0, -6), (5, 0), (0, 6), (-5, 0)],
            4 => &[(-5, -4), (5, -4), (0, 5)],
            5 => &[
                (-2, -5),
                (2, -5),
                (2, -2),
                (5, -2),
                (5, 2),
                (2, 2),
                (2, 5),
                (-2, 5),
                (-2, 2),
                (-5, 2),
                (-5, -2),
                (-2, -2),
            ],
            _ => &[(-5, -4), (0, -1), (5, -4), (1, 0), (5, 4), (0, 1), (-5, 4), (-1, 0)],
        };
        let points: Vec<(i32, i32)> = shape.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        self.0.draw(&Polygon::new(points, colour.rgb().filled()))
    }

    /// Upright lines at these heights, with their names above them, from `top`.
    pub(super) fn uprights(&self, uprights: &[Upright], top: i32, heights: &[[i32; 2]]) -> Drawn {
        let names = uprights.iter().map(|upright| upright.row + 1).max().unwrap_or(0) * LINE;
        for upright in uprights {
            let y = top + upright.row * LINE;
            let above = [y + LINE / 2, top + names];
            for [from, to] in heights.iter().chain([&above]) {
                self.line((upright.x, *from), (upright.x, *to), upright.colour, 2)?;
            }
            self.text(&upright.label, (upright.text, y + LINE / 2 - 2), upright.side, FAINT_TEXT)?;
        }
        Ok(())
    }
}

/// An upright line with its name.
pub(super) struct Upright {
    x: i32,
    label: String,
    text: i32,
    side: Side,
    row: i32,
    colour: Colour,
}

/// Puts the names of upright lines above these, in as many rows as keep them apart, and so that no line goes through
/// the name of another; `x` says where a line is. Also the height of the rows.
pub(super) fn uprights(limits: &[Limit], x: impl Fn(f64) -> Option<i32>, width: i32) -> (Vec<Upright>, i32) {
    let mut placed: Vec<(i32, &Limit)> = limits.iter().filter_map(|limit| Some((x(limit.value)?, limit))).collect();
    // Names lean towards the middle. The outermost lines come first: they are the longest, and below their names there
    // is room for the next.
    placed.sort_by_key(|(x, _)| (*x).min(width - *x));
    let mut rows: Vec<Vec<[i32; 2]>> = Vec::new();
    let uprights = placed.into_iter().map(|(x, limit)| {
        let long = text_width(&limit.label) + 8;
        let rightwards = x < width / 2;
        let span = if rightwards { [x, x + long] } else { [x - long, x] };
        let free = |row: &Vec<[i32; 2]>| row.iter().all(|other| span[1] <= other[0] || other[1] <= span[0]);
        let row = rows.iter().position(free).unwrap_or(rows.len());
        if row == rows.len() {
            rows.push(vec![]);
        }
        rows[row].push(span);
        let (text, side) = if rightwards { (x + 5, Side::Left) } else { (x - 5, Side::Right) };
        Upright { x, label: limit.label.clone(), text, side, row: row as i32, colour: limit.stroke.colour() }
    });
    let uprights: Vec<Upright> = uprights.collect();
    (uprights, rows.len() as i32 * LINE)
}
