//! Curves, each with its name at its end.

use plotters::prelude::*;

use super::canvas::{self, AXIS, Canvas, Drawn, LINE, Side, shortened, text_width, uprights};
use super::palette::{Colour, FAINT_TEXT, GRID, TEXT};
use super::scale::Ruler;
use super::{Format, Sheet};
use crate::report::chart::{Axis, Limit, Lines, Series, Trace};
use crate::report::number;

/// The plot's height, where the names at the curves' ends need no more.
const HEIGHT: i32 = 280;
/// The height of a name at a curve's end.
const NAME: i32 = 15;
/// The widest column of such names, beside which there must be room for the curves.
const WIDEST: i32 = 220;
/// Marks closer than this would be one thick line.
const CLOSE: i32 = 10;

impl Sign {
    fn of(trace: Trace, series: usize) -> Sign {
        match trace {
            Trace::Curve | Trace::Marks => Sign::Mark(series),
            Trace::Line => Sign::Line,
            Trace::Columns => Sign::Column,
        }
    }
}

/// Where everything goes.
struct Plan {
    left: i32,
    top: i32,
    right: i32,
    width: i32,
    height: i32,
}

/// The name at the end of a line.
struct Name<'a> {
    text: &'a str,
    /// The end of the line.
    end: (i32, i32),
    colour: Colour,
    /// What stands before it.
    sign: Sign,
}

/// The sign of a line: the line itself, the column, or the mark of a series of this number.
#[derive(Clone, Copy)]
enum Sign {
    Line,
    Column,
    Mark(usize),
}

pub(super) fn draw(lines: &Lines, format: Format) -> Sheet {
    let width = format.width();
    let points = || lines.series.iter().flat_map(|series| &series.points);
    let y_values = points().map(|(_, y)| *y).chain(lines.limits.iter().map(|limit| limit.value));
    let y = Ruler::new(lines.y.scale, y_values, if lines.y.scale.begins_at_zero() { 6 } else { 8 });
    // With their values where there is room.
    let level = |limit: &Limit| match format {
        Format::Wide => format!("{} {}", limit.label, (lines.y.show)(number::rounded(limit.value))),
        Format::Narrow => limit.label.clone(),
    };
    let levels: Vec<String> = lines.limits.iter().map(level).collect();
    let names = lines.series.iter().map(|series| &series.name).chain(&levels);
    let widest = names.map(|name| text_width(name)).max().unwrap_or(0);
    let ticks = y.ticks.iter().map(|tick| text_width(&(lines.y.show)(*tick))).max().unwrap_or(0);
    let (left, right) = ((ticks + 14).min(width / 4), widest.min(WIDEST).min(width / 2) + 30);
    let span = width - left - right;
    let x_values = points().map(|(x, _)| *x).chain(lines.marks.iter().map(|mark| mark.value));
    let x = Ruler::new(lines.x.scale, x_values, (span / 62).max(2) as usize);
    let across = |value| x.pixel(value, [left, left + span]);
    let (marks, above) = uprights(&lines.marks, across, width - right);
    // The title of the upright axis is above it: nobody likes to tilt their head.
    let top = LINE + 4 + above;
    let height = HEIGHT.max((lines.series.len() + lines.limits.len()) as i32 * NAME);
    let plan = Plan { left, top, right, width, height };
    canvas::sheet(width, top + height + AXIS, |canvas| {
        canvas.text(&lines.y.title, (0, LINE / 2), Side::Left, FAINT_TEXT)?;
        plan.axes(canvas, [&x, &y], [&lines.x, &lines.y])?;
        canvas.uprights(&marks, LINE + 4, &[[top, top + height]])?;
        let down = |value| y.pixel(value, [top + height, top]);
        plan.curves(canvas, lines, &levels, &across, &down)
    })
}

impl Plan {
    fn axes(&self, canvas: &Canvas, [x, y]: [&Ruler; 2], [x_axis, y_axis]: [&Axis; 2]) -> Drawn {
        let mut chart = ChartBuilder::on(&canvas.0)
            .margin_top(self.top)
            .margin_right(self.right)
            .x_label_area_size(AXIS)
            .y_label_area_size(self.left)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .bold_line_style(GRID.rgb())
            .axis_style(GRID.rgb())
            .x_label_formatter(&|tick| (x_axis.show)(*tick))
            .y_label_formatter(&|tick| (y_axis.show)(*tick))
            .x_desc(&x_axis.title)
            .label_style(canvas::style(FAINT_TEXT))
            .axis_desc_style(canvas::style(FAINT_TEXT))
            .draw()
    }

    fn curves(
        &self,
        canvas: &Canvas,
        lines: &Lines,
        levels: &[String],
        across: &impl Fn(f64) -> Option<i32>,
        down: &impl Fn(f64) -> Option<i32>,
    ) -> Drawn {
        let edge = self.width - self.right;
        let mut names = Vec::new();
        for (limit, text) in lines.limits.iter().zip(levels) {
            let Some(y) = down(limit.value) else { continue };
            let colour = limit.stroke.colour();
            canvas.line((self.left, y), (edge, y), colour, 2)?;
            names.push(Name { text, end: (edge, y), colour, sign: Sign::Line });
        }
        let pixels = |(x, y): &(f64, f64)| Some((across(*x)?, down(*y)?));
        let curves = lines.series.iter().enumerate().map(|(i, series)| {
            let points: Vec<(i32, i32)> = series.points.iter().filter_map(pixels).collect();
            (series, Sign::of(series.trace, i), points)
        });
        let curves: Vec<_> = curves.collect();
        names.extend(curves.iter().filter_map(|(series, sign, points)| {
            let (end, colour) = (*points.last()?, series.hue.colour());
            Some(Name { text: &series.name, end, colour, sign: *sign })
        }));
        // Below the curves: what leads to a name is no part of one.
        self.names(canvas, names)?;
        curves.iter().try_for_each(|(series, sign, points)| self.curve(canvas, series, *sign, points))
    }

    fn curve(&self, canvas: &Canvas, series: &Series, sign: Sign, points: &[(i32, i32)]) -> Drawn {
        let colour = series.hue.colour();
        if matches!(series.trace, Trace::Curve | Trace::Line) {
            canvas.0.draw(&PathElement::new(points, colour.rgb().stroke_width(2)))?;
        }
        match sign {
            Sign::Line => Ok(()),
            Sign::Column => self.columns(canvas, points, colour),
            Sign::Mark(_) if distance(points) < CLOSE => points.iter().try_for_each(|at| canvas.dot(*at, colour)),
            Sign::Mark(i) => points.iter().try_for_each(|at| canvas.mark(i, *at, colour)),
        }
    }

    /// Columns from the bottom of the plot to these points.
    fn columns(&self, canvas: &Canvas, points: &[(i32, i32)], colour: Colour) -> Drawn {
        let (bottom, width) = (self.top + self.height, (distance(points) / 3 * 2).clamp(2, 12));
        points.iter().try_for_each(|(x, y)| canvas.rectangle((x - width / 2, *y), (width, bottom - y), colour))
    }

    /// The names at the right, in the order of the ends and none over another.
    fn names(&self, canvas: &Canvas, mut names: Vec<Name>) -> Drawn {
        names.sort_by_key(|name| name.end.1);
        let heights = apart(names.iter().map(|name| name.end.1).collect(), [self.top, self.top + self.height]);
        let x = self.width - self.right + 12;
        for (name, y) in names.iter().zip(heights) {
            canvas.line(name.end, (x, y), GRID, 1)?;
            match name.sign {
                Sign::Mark(series) => canvas.mark(series, (x + 6, y), name.colour)?,
                Sign::Line => canvas.line((x, y), (x + 12, y), name.colour, 2)?,
                Sign::Column => canvas.rectangle((x + 2, y - 5), (8, 10), name.colour)?,
            }
            canvas.text(&shortened(name.text, self.right - 28), (x + 16, y), Side::Left, TEXT)?;
        }
        Ok(())
    }
}

/// Pixels from a point to the next, on average.
fn distance(points: &[(i32, i32)]) -> i32 {
    match points {
        [first, .., last] => (last.0 - first.0) / (points.len() as i32 - 1),
        _ => i32::MAX,
    }
}

/// Moves sorted heights as far apart as names need, and keeps them between top and bottom if that can be.
fn apart(mut heights: Vec<i32>, [top, bottom]: [i32; 2]) -> Vec<i32> {
    let mut least = top;
    for height in &mut heights {
        *height = (*height).max(least);
        least = *height + NAME;
    }
    let mut most = bottom;
    for height in heights.iter_mut().rev() {
        *height = (*height).min(most);
        most = *height - NAME;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_apart_and_on_the_sheet() {
        assert_eq!(apart(vec![10, 100, 200], [0, 300]), [10, 100, 200]);
        assert_eq!(apart(vec![100, 101, 102], [0, 300]), [100, 115, 130]);
        assert_eq!(apart(vec![295, 296, 300], [0, 300]), [270, 285, 300]);
        assert_eq!(apart(vec![], [0, 300]), [0; 0]);
    }
}
