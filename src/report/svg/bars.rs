//! Bars from left to right, in groups from top to bottom.

use plotters::prelude::*;

use super::canvas::{self, AXIS, Canvas, Drawn, LINE, Side, shortened, text_width, uprights};
use super::palette::{FAINT_TEXT, GRID, TEXT};
use super::scale::Ruler;
use super::{Format, Sheet};
use crate::report::chart::{Bar, Bars, Group, Key, Scale, Stroke};
use crate::report::number;

/// The widest column of labels beside the bars; longer ones stand above them.
const WIDEST: i32 = 190;
/// Pixels between groups.
const GAP: i32 = 12;

/// Where the names of bars and groups are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    /// Beside each bar; the group's title above the group.
    Beside,
    /// Above each bar, and so is its text; the group's title above the group.
    Above,
    /// Bars have none. The group's title is beside it.
    TitleBeside,
    /// Bars have none. The group's title is above it.
    TitleAbove,
}

impl Labels {
    /// Pixels of a bar, from it to the next, and above it for its label.
    fn bar(self) -> [i32; 3] {
        match self {
            Labels::Beside => [16, 6, 0],
            Labels::Above => [12, 6, LINE],
            Labels::TitleBeside | Labels::TitleAbove => [13, 3, 0],
        }
    }
}

/// Where everything goes.
struct Plan {
    width: i32,
    labels: Labels,
    /// The columns of labels and of texts.
    left: i32,
    right: i32,
    /// Of the legend and of the plot.
    heights: [i32; 2],
    groups: Vec<Placed>,
}

/// A group below the top of the plot.
struct Placed {
    top: i32,
    /// The tops of its bars.
    bars: Vec<i32>,
    bottom: i32,
}

pub(super) fn draw(bars: &Bars, format: Format) -> Sheet {
    let plan = Plan::of(bars, format);
    let references = bars.limits.iter().map(|limit| limit.value);
    let ceilings = bars.groups.iter().filter_map(|group| group.ceiling);
    let values = bars.groups.iter().flat_map(|group| &group.bars).filter_map(|bar| bar.value);
    let span = plan.width - plan.left - plan.right;
    let ruler = Ruler::new(Scale::Linear, values.chain(references).chain(ceilings), (span / 75).max(3) as usize);
    let x = |value| ruler.pixel(value, [plan.left, plan.left + span]);
    let (names, above) = uprights(&bars.limits, x, plan.width);
    let [legend_height, height] = plan.heights;
    let top = legend_height + above + 4;
    canvas::sheet(plan.width, top + height + AXIS, |canvas| {
        axis(canvas, [plan.left, top, plan.right], &ruler, height, &bars.axis)?;
        legend(canvas, &bars.legend, plan.width)?;
        for (group, placed) in bars.groups.iter().zip(&plan.groups) {
            plan.group(canvas, group, placed, top, &x)?;
        }
        canvas.uprights(&names, legend_height, &plan.free_of_text(top))
    })
}

/// The axis below the bars and its grid.
fn axis(canvas: &Canvas, [left, top, right]: [i32; 3], ruler: &Ruler, height: i32, title: &str) -> Drawn {
    let mut chart = ChartBuilder::on(&canvas.0)
        .margin_left(left)
        .margin_top(top)
        .margin_right(right)
        .x_label_area_size(AXIS)
        .build_cartesian_2d(ruler.clone(), f64::from(height)..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(GRID.rgb())
        .axis_style(GRID.rgb())
        .x_label_formatter(&|tick| number::plain(*tick))
        .x_desc(title)
        .label_style(canvas::style(FAINT_TEXT))
        .axis_desc_style(canvas::style(FAINT_TEXT))
        .draw()
}

impl Plan {
    fn of(bars: &Bars, format: Format) -> Plan {
        let width = format.width();
        let all = || bars.groups.iter().flat_map(|group| &group.bars);
        let labelled = all().any(|bar| !bar.label.is_empty());
        let titles = bars.groups.iter().map(|group| &group.title).filter(|_| !labelled);
        let widest = all().map(|bar| &bar.label).chain(titles).map(|name| text_width(name)).max().unwrap_or(0);
        let labels = match (labelled, format == Format::Wide && widest <= WIDEST) {
            (true, true) => Labels::Beside,
            (true, false) => Labels::Above,
            (false, true) => Labels::TitleBeside,
            (false, false) => Labels::TitleAbove,
        };
        let texts = (all().map(|bar| text_width(&bar.text)).max().unwrap_or(0) + 10).min(width / 2);
        let left = if matches!(labels, Labels::Beside | Labels::TitleBeside) { widest } else { 8 };
        let right = if labels == Labels::Above { 16 } else { texts };
        let legend = legend_rows(&bars.legend, width).len() as i32 * (LINE + 2);
        let mut y = 4;
        let mut groups = Vec::new();
        for group in &bars.groups {
            let placed = Placed::of(group, labels, y);
            y = placed.bottom + GAP;
            groups.push(placed);
        }
        Plan { width, labels, left, right, heights: [legend, y - GAP + 4], groups }
    }

    /// Where a line across the bars may go without going through text.
    fn free_of_text(&self, top: i32) -> Vec<[i32; 2]> {
        if self.labels != Labels::Above {
            return vec![[top - 4, top + self.heights[1]]];
        }
        let bars = self.groups.iter().flat_map(|placed| &placed.bars);
        bars.map(|y| [top + y - 2, top + y + self.labels.bar()[0] + 2]).collect()
    }

    fn group(
        &self,
        canvas: &Canvas,
        group: &Group,
        placed: &Placed,
        top: i32,
        x: &impl Fn(f64) -> Option<i32>,
    ) -> Drawn {
        if self.labels == Labels::TitleBeside {
            let middle = top + (placed.top + placed.bottom) / 2;
            canvas.text(&group.title, (self.left - 8, middle), Side::Right, TEXT)?;
        } else if !group.title.is_empty() {
            let title = shortened(&group.title, self.width);
            canvas.text(&title, (0, top + placed.top + LINE / 2), Side::Left, FAINT_TEXT)?;
        }
        let ceiling = group.ceiling.and_then(x);
        let [thick, _, _] = self.labels.bar();
        for (bar, y) in group.bars.iter().zip(&placed.bars) {
            self.bar(canvas, bar, top + y, x)?;
            if let (Labels::Above, Some(x)) = (self.labels, ceiling) {
                canvas.line((x, top + y - 2), (x, top + y + thick + 2), Stroke::Broken.colour(), 2)?;
            }
        }
        match (self.labels, ceiling, placed.bars.first()) {
            (Labels::Above, ..) | (_, None, _) | (_, _, None) => Ok(()),
            (_, Some(x), Some(first)) => {
                let (from, to) = ((x, top + first - 2), (x, top + placed.bottom + 2));
                canvas.line(from, to, Stroke::Broken.colour(), 2)
            }
        }
    }

    fn bar(&self, canvas: &Canvas, bar: &Bar, y: i32, x: &impl Fn(f64) -> Option<i32>) -> Drawn {
        let [thick, _, above] = self.labels.bar();
        if let Some(end) = bar.value.and_then(x) {
            canvas.rectangle((self.left, y), ((end - self.left).max(1), thick), bar.hue.colour())?;
        }
        let edge = self.width - self.right;
        let (label, text) = match self.labels {
            Labels::Above => ((self.left, Side::Left), (edge, Side::Right)),
            _ => ((self.left - 8, Side::Right), (edge + 8, Side::Left)),
        };
        let height = if self.labels == Labels::Above { y - above / 2 } else { y + thick / 2 };
        if !bar.label.is_empty() {
            let room = if self.labels == Labels::Above {
                (edge - self.left - text_width(&bar.text)).max(edge / 3)
            } else {
                WIDEST
            };
            canvas.text(&shortened(&bar.label, room), (label.0, height), label.1, TEXT)?;
        }
        let room = if self.labels == Labels::Above { (edge - self.left) * 2 / 3 } else { self.right - 8 };
        canvas.text(&shortened(&bar.text, room), (text.0, height), text.1, TEXT)
    }
}

impl Placed {
    fn of(group: &Group, labels: Labels, top: i32) -> Placed {
        let titled = !group.title.is_empty() && labels != Labels::TitleBeside;
        let [thick, gap, above] = labels.bar();
        let first = top + if titled { LINE + 3 } else { 0 };
        let bars: Vec<i32> = (0..group.bars.len() as i32).map(|i| first + above + i * (above + thick + gap)).collect();
        let bottom = bars.last().map_or(first, |y| y + thick);
        Placed { top, bars, bottom }
    }
}

/// Which entries of the legend stand in a row.
fn legend_rows(legend: &[(Key, String)], width: i32) -> Vec<Vec<&(Key, String)>> {
    let mut rows: Vec<Vec<&(Key, String)>> = Vec::new();
    let mut x = width;
    for entry in legend {
        let long = entry_width(entry);
        if x + long > width {
            rows.push(vec![]);
            x = 0;
        }
        x += long;
        rows.last_mut().into_iter().for_each(|row| row.push(entry));
    }
    rows
}

fn entry_width((_, name): &(Key, String)) -> i32 {
    text_width(name) + 40
}

fn legend(canvas: &Canvas, legend: &[(Key, String)], width: i32) -> Drawn {
    for (i, row) in legend_rows(legend, width).into_iter().enumerate() {
        let (mut x, y) = (0, i as i32 * (LINE + 2) + LINE / 2);
        for entry in row {
            match entry.0 {
                Key::Bar(hue) => canvas.rectangle((x, y - 6), (18, 12), hue.colour())?,
                Key::Line(stroke) => canvas.line((x, y), (x + 18, y), stroke.colour(), 2)?,
            }
            canvas.text(&shortened(&entry.1, width - x - 24), (x + 24, y), Side::Left, TEXT)?;
            x += entry_width(entry);
        }
    }
    Ok(())
}
