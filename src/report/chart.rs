//! What a figure shows, before it is drawn: bars or lines, their axes, and the lines they are held against. Texts are
//! the record's as they are.

use super::number;

/// A drawing with a title and what is to be said of it.
pub(super) struct Figure {
    pub title: String,
    pub caption: String,
    pub drawing: Drawing,
}

/// What is drawn.
pub(super) enum Drawing {
    Bars(Bars),
    Lines(Lines),
}

/// A colour by its number: [`Hue::COPY`], or that of a series, counted from 0. They repeat after the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hue(pub usize);

impl Hue {
    /// Grey: what others are held against.
    pub(super) const COPY: Hue = Hue(0);

    /// The colour of a series.
    pub(super) fn series(number: usize) -> Hue {
        Hue(number + 1)
    }
}

/// Horizontal bars from zero, in groups.
pub(super) struct Bars {
    /// What the bars measure, with its unit.
    pub axis: String,
    pub groups: Vec<Group>,
    /// Lines across all groups, named above them.
    pub limits: Vec<Limit>,
    /// What colours and broken lines stand for, where the bars' labels do not say it.
    pub legend: Vec<(Key, String)>,
}

/// Bars that belong together.
#[derive(Default)]
pub(super) struct Group {
    /// Above the group; at its side where its bars have no labels.
    pub title: String,
    pub bars: Vec<Bar>,
    /// A broken line across the bars of this group alone.
    pub ceiling: Option<f64>,
}

/// One bar.
pub(super) struct Bar {
    pub label: String,
    /// Its length; `None` where there is only the text.
    pub value: Option<f64>,
    /// What stands at its end.
    pub text: String,
    pub hue: Hue,
}

/// A line that values are held against.
pub(super) struct Limit {
    pub label: String,
    pub value: f64,
    pub stroke: Stroke,
}

/// How such a line is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stroke {
    /// What cannot be passed.
    Solid,
    /// What was measured.
    Broken,
}

/// What a legend explains.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Bar(Hue),
    Line(Stroke),
}

/// Curves.
pub(super) struct Lines {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Horizontal lines, named at their end, with their value where there is room.
    pub limits: Vec<Limit>,
    /// Vertical lines, named above.
    pub marks: Vec<Limit>,
}

/// A curve.
pub(super) struct Series {
    pub name: String,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    pub hue: Hue,
    pub trace: Trace,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trace {
    /// What was measured: marks, joined by lines.
    Curve,
    /// What was measured: marks alone, where nothing lies between them.
    Marks,
    /// What a model says: a line without marks.
    Line,
    /// What a model says: columns from the axis.
    Columns,
}

/// An axis.
pub(super) struct Axis {
    /// What is measured along it, with its unit.
    pub title: String,
    pub scale: Scale,
    /// A value as it stands at the axis.
    pub show: fn(f64) -> String,
}

/// How values are spread along an axis. The logarithmic ones take values above zero and leave out others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scale {
    /// From zero, with ticks at multiples of ten and its halves and fifths.
    Linear,
    /// From zero, with ticks at multiples of a power of two.
    Binary,
    /// Logarithmic, with ticks at powers of ten.
    Decades,
    /// Logarithmic, with ticks at powers of two.
    Octaves,
}

impl Figure {
    /// The figure in words, for those who do not see it.
    pub(super) fn description(&self) -> String {
        match &self.drawing {
            Drawing::Bars(bars) => bars.description(),
            Drawing::Lines(lines) => lines.description(),
        }
    }

    /// How many bars it has.
    pub(super) fn bars(&self) -> usize {
        match &self.drawing {
            Drawing::Bars(bars) => bars.groups.iter().map(|group| group.bars.len()).sum(),
            Drawing::Lines(_) => 0,
        }
    }
}

impl Bars {
    fn description(&self) -> String {
        let bar = |bar: &Bar| [bar.label.as_str(), bar.text.as_str()].join(" ").trim().to_owned();
        let group = |group: &Group| {
            let bars = group.bars.iter().map(bar).collect::<Vec<_>>().join("; ");
            if group.title.is_empty() { bars } else { format!("{}: {bars}", group.title) }
        };
        let groups = self.groups.iter().map(group).chain(limits(&self.limits, number::significant));
        format!("Bars of {}. {}.", self.axis, groups.collect::<Vec<_>>().join(". "))
    }
}

impl Lines {
    fn description(&self) -> String {
        let value = |y: f64| (self.y.show)(number::rounded(y));
        let series = self.series.iter().map(|series| {
            let points = series.points.iter().map(|(x, y)| format!("{} at {}", value(*y), (self.x.show)(*x)));
            format!("{}: {}", series.name, points.collect::<Vec<_>>().join(", "))
        });
        let lines = series.chain(limits(&self.limits, value)).chain(limits(&self.marks, self.x.show));
        format!("{} against {}. {}.", self.y.title, self.x.title, lines.collect::<Vec<_>>().join(". "))
    }
}

/// Each with its value, where that is not in its label.
fn limits(limits: &[Limit], show: impl Fn(f64) -> String) -> impl Iterator<Item = String> {
    limits.iter().map(move |limit| match show(limit.value) {
        value if limit.label.contains(&value) => limit.label.clone(),
        value => format!("{}: {value}", limit.label),
    })
}
