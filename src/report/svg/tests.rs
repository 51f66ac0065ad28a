//! Drawings, as a parser of XML sees them.

use roxmltree::Document;

use super::{Format, draw};
use crate::report::chart::{
    Axis, Bar, Bars, Drawing, Figure, Group, Hue, Key, Limit, Lines, Scale, Series, Stroke, Trace,
};
use crate::report::number;

fn drawn(drawing: Drawing, format: Format) -> String {
    let sheet = draw(&Figure { title: String::new(), caption: String::new(), drawing }, format);
    format!("<svg width=\"{}\" height=\"{}\">{}</svg>", sheet.width, sheet.height, sheet.content)
}

fn bars(names: &[&str], values: &[Option<f64>]) -> Bars {
    let bar = |(name, value): (&&str, &Option<f64>)| Bar {
        label: name.to_string(),
        value: *value,
        text: value.map_or("failed".into(), number::significant),
        hue: Hue::series(0),
    };
    let limit = |label: &str, value, stroke| Limit { label: label.into(), value, stroke };
    Bars {
        axis: "GB/s".into(),
        groups: vec![Group { title: String::new(), bars: names.iter().zip(values).map(bar).collect(), ceiling: None }],
        limits: vec![limit("peak", 1000.0, Stroke::Solid), limit("copy", 900.0, Stroke::Broken)],
        legend: vec![(Key::Bar(Hue::COPY), "copies".into()), (Key::Line(Stroke::Broken), "ceiling".into())],
    }
}

fn lines(scale: Scale, curves: &[&[(f64, f64)]]) -> Lines {
    let series = |(i, points): (usize, &&[(f64, f64)])| Series {
        name: format!("series {i}"),
        points: points.to_vec(),
        hue: Hue::series(i),
        trace: Trace::Curve,
    };
    Lines {
        x: Axis { title: "bytes".into(), scale, show: number::bytes_of },
        y: Axis { title: "ns".into(), scale: Scale::Linear, show: number::plain },
        series: curves.iter().enumerate().map(series).collect(),
        limits: vec![Limit { label: "peak".into(), value: 500.0, stroke: Stroke::Solid }],
        marks: vec![Limit { label: "L2".into(), value: 65536.0, stroke: Stroke::Broken }],
    }
}

fn number(node: &roxmltree::Node, name: &str) -> f64 {
    node.attribute(name).unwrap_or("0").parse().unwrap()
}

/// The rectangles of a colour, and all texts.
fn rectangles(svg: &str, fill: &str) -> Vec<[f64; 4]> {
    let document = Document::parse(svg).unwrap();
    let found = document.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some(fill));
    found.map(|node| ["x", "y", "width", "height"].map(|name| number(&node, name))).collect()
}

fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let found = document.descendants().filter(|node| node.has_tag_name("text"));
    found.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

const BLUE: &str = "#0067B1";

#[test]
fn bars_are_as_long_as_their_values() {
    for format in [Format::Wide, Format::Narrow] {
        let svg = drawn(Drawing::Bars(bars(&["a", "b", "c"], &[Some(800.0), Some(200.0), None])), format);
        let bars = rectangles(&svg, BLUE);
        assert_eq!(bars.len(), 2, "{format:?}");
        assert!((bars[0][2] / bars[1][2] - 4.0).abs() < 0.05, "{bars:?}");
        assert_eq!(bars[0][0], bars[1][0]);
        for text in ["a", "b", "c", "800.0", "200.0", "failed", "peak", "copy", "copies", "ceiling", "GB/s", "0"] {
            assert_eq!(texts(&svg).iter().filter(|found| *found == text).count(), 1, "{format:?} {text}");
        }
    }
}

#[test]
fn every_point_of_a_curve_has_a_mark() {
    let curves: [&[(f64, f64)]; 2] = [&[(1024.0, 1.0), (4096.0, 20.0), (1e9, 400.0)], &[(2048.0, 3.0)]];
    for scale in [Scale::Linear, Scale::Decades, Scale::Octaves] {
        let svg = drawn(Drawing::Lines(lines(scale, &curves)), Format::Wide);
        let document = Document::parse(&svg).unwrap();
        // One more at the name.
        let circles = document.descendants().filter(|node| node.has_tag_name("circle"));
        assert_eq!(circles.count(), 3 + 1, "{scale:?}");
        let squares = document.descendants().filter(|node| node.has_tag_name("polygon"));
        assert_eq!(squares.count(), 1 + 1, "{scale:?}");
        for name in ["series 0", "series 1", "peak 500", "L2", "ns", "bytes"] {
            assert!(texts(&svg).iter().any(|text| text == name), "{name}");
        }
    }
}

fn traced(trace: Trace, points: &[(f64, f64)]) -> Drawing {
    let mut lines = Lines { limits: vec![], marks: vec![], ..lines(Scale::Binary, &[points]) };
    lines.series.iter_mut().for_each(|series| series.trace = trace);
    Drawing::Lines(lines)
}

#[test]
fn models_are_lines_or_columns_and_measurements_are_marks() {
    let points = [(0.0, 1.0), (8.0, 4.0), (16.0, 8.0)];
    for (trace, circles, lines, columns) in
        [(Trace::Curve, 4, 1, 0), (Trace::Marks, 4, 0, 0), (Trace::Line, 0, 2, 0), (Trace::Columns, 0, 0, 4)]
    {
        let svg = drawn(traced(trace, &points), Format::Wide);
        let document = Document::parse(&svg).unwrap();
        let of_colour = |tag, colour| {
            let found = document.descendants().filter(move |node| node.has_tag_name(tag));
            found.filter(|node| node.attribute(colour) == Some(BLUE)).count()
        };
        let found = (of_colour("circle", "fill"), of_colour("polyline", "stroke"), of_colour("rect", "fill"));
        assert_eq!(found, (circles, lines, columns));
    }
}

#[test]
fn columns_are_as_high_as_their_values() {
    for format in [Format::Wide, Format::Narrow] {
        let svg = drawn(traced(Trace::Columns, &[(0.0, 8.0), (1.0, 32.0), (33.0, 16.0)]), format);
        let mut columns = rectangles(&svg, BLUE);
        columns.remove(0);
        let [low, high, middle] = [0, 1, 2].map(|i: usize| columns[i][3]);
        assert!((high / low - 4.0).abs() < 0.1 && (high / middle - 2.0).abs() < 0.05, "{columns:?}");
        assert!(columns.iter().all(|column| column[1] + column[3] == columns[0][1] + columns[0][3]), "{columns:?}");
    }
}

#[test]
fn marks_close_together_are_small() {
    let points: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i), 1.0)).collect();
    let svg = drawn(traced(Trace::Curve, &points), Format::Wide);
    let document = Document::parse(&svg).unwrap();
    let circles = document.descendants().filter(|node| node.has_tag_name("circle"));
    assert_eq!(circles.filter(|node| node.attribute("r") == Some("2")).count(), 200);
}

#[test]
fn a_logarithmic_axis_gives_octaves_the_same_room() {
    let points: Vec<(f64, f64)> = (0..9).map(|i| (1024.0 * f64::from(1 << i), 1.0)).collect();
    let svg = drawn(Drawing::Lines(lines(Scale::Octaves, &[&points])), Format::Wide);
    let document = Document::parse(&svg).unwrap();
    let circles = document.descendants().filter(|node| node.has_tag_name("circle"));
    // The one at the name comes first.
    let x: Vec<f64> = circles.map(|node| number(&node, "cx")).skip(1).collect();
    assert_eq!(x.len(), 9);
    let steps: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| *step > 0.0 && (step - steps[0]).abs() <= 1.0), "{steps:?}");
}

/// Whether a text is between the edges, in a narrow font.
fn fits(node: &roxmltree::Node, width: f64) -> bool {
    let long = node.text().unwrap_or_default().trim().chars().count() as f64 * 6.0;
    let begin = match node.attribute("text-anchor") {
        Some("start") => number(node, "x"),
        Some("middle") => number(node, "x") - long / 2.0,
        Some("end") => number(node, "x") - long,
        _ => return true,
    };
    begin >= 0.0 && begin + long <= width
}

#[test]
fn everything_is_on_the_sheet() {
    let long = ["a rather long name of a variant (vectorized, tuned)"; 3];
    let many: Vec<Vec<(f64, f64)>> = (0..24).map(|i| vec![(f64::from(i) + 1.0, 5.0), (1e6, 5.0)]).collect();
    let many: Vec<&[(f64, f64)]> = many.iter().map(Vec::as_slice).collect();
    for format in [Format::Wide, Format::Narrow] {
        for drawing in [
            Drawing::Bars(bars(&long, &[Some(1.0), Some(1e12), None])),
            Drawing::Bars(bars(&[""; 3], &[Some(0.0), Some(1e-9), Some(0.5)])),
            Drawing::Bars(bars(&[], &[])),
            Drawing::Bars(bars(&["a", "b"], &[Some(f64::MAX), Some(5e-324)])),
            Drawing::Bars(bars(&["", ""], &[Some(f64::MAX), Some(5e-324)])),
            Drawing::Lines(lines(Scale::Octaves, &many)),
            traced(Trace::Columns, &[(0.0, 1.0), (33.0, f64::MAX)]),
            traced(Trace::Columns, &[(0.0, 5e-324)]),
            traced(Trace::Marks, &[(0.0, 0.0), (f64::MAX, 1.0)]),
            traced(Trace::Line, &[(f64::NAN, 1.0)]),
            Drawing::Lines(lines(Scale::Decades, &[&[(0.0, 1.0), (f64::NAN, 2.0), (3.0, f64::INFINITY)]])),
            Drawing::Lines(lines(Scale::Linear, &[])),
            Drawing::Lines(lines(Scale::Linear, &[&[(0.0, 0.0), (f64::MAX, f64::MAX)]])),
            Drawing::Lines(lines(Scale::Octaves, &[&[(5e-324, 5e-324), (f64::MAX, f64::MAX)]])),
        ] {
            let svg = drawn(drawing, format);
            let document = Document::parse(&svg).unwrap();
            let [width, height] = ["width", "height"].map(|name| number(&document.root_element(), name));
            for node in document.descendants() {
                assert!(fits(&node, width), "{format:?}: {node:?} {:?}", node.text());
                for (names, most) in [(["x", "x1", "x2", "cx"], width), (["y", "y1", "y2", "cy"], height)] {
                    for name in names {
                        let value = number(&node, name);
                        assert!((0.0..=most).contains(&value), "{format:?}: {name} of {node:?} is {value}");
                    }
                }
            }
        }
    }
}

#[test]
fn names_are_no_markup() {
    let name = "<b>&\"'</text>";
    let svg = drawn(Drawing::Bars(bars(&[name], &[Some(1.0)])), Format::Wide);
    assert!(texts(&svg).iter().any(|text| text == name));
}
