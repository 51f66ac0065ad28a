//! The figure of `cornerturn banks`: passes as predicted and as measured, stride by stride.

use super::super::super::chart::{Axis, Drawing, Figure, Hue, Lines, Scale, Series, Trace};
use super::super::super::number;
use super::super::name;
use super::caption;
use crate::record::{BanksRow, Device, Series as Samples};

/// The figure, if anything was measured.
pub(in super::super) fn figure(device: &Device, rows: &[&BanksRow]) -> Option<Figure> {
    let cycles = rows.iter().any(|row| row.request_cycles.is_some());
    let measured = |row: &BanksRow| if cycles { median(&row.request_cycles) } else { row.ratio };
    let points = |value: &dyn Fn(&BanksRow) -> Option<f64>| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((row.stride as f64, value(row)?))).collect()
    };
    let predicted = points(&|row| row.degree.map(|degree| degree as f64));
    let measured = points(&measured);
    if measured.is_empty() {
        return None;
    }
    let unit = rows.iter().find(|row| row.stride == 1).and_then(|row| median(&row.request_s));
    let unit = unit.map(|seconds| format!("A request with stride 1 takes {}.", number::time(seconds)));
    let (title, told) = match cycles {
        true => ("passes, or cycles of a request", "marks: cycles of a request, measured."),
        false => ("passes, or times the time of stride 1", "marks: time of a request against stride 1, measured."),
    };
    let model =
        (!predicted.is_empty()).then(|| "Columns: passes that the access model predicts for 32 lanes;".to_owned());
    let model = model.map_or_else(|| capitalised(told), |model| format!("{model} {told}"));
    let series = |name: &str, points, hue, trace| Series { name: name.into(), points, hue, trace };
    let mut all = vec![series("measured", measured, Hue::series(0), Trace::Marks)];
    if !predicted.is_empty() {
        all.insert(0, series("predicted", predicted, Hue::COPY, Trace::Columns));
    }
    let axis = |title: &str| Axis { title: title.into(), scale: Scale::Binary, show: number::plain };
    let x = axis("stride between lanes, in words of 4 bytes");
    Some(Figure {
        title: format!("What bank conflicts cost, by stride: {}", name(device)),
        caption: caption(device, [model].into_iter().chain(unit)),
        drawing: Drawing::Lines(Lines { x, y: axis(title), series: all, limits: Vec::new(), marks: Vec::new() }),
    })
}

fn median(series: &Option<Samples>) -> Option<f64> {
    series.as_ref().map(|series| series.median)
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
