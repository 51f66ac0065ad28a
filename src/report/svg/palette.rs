//! Colours. A drawing carries those for white paper; on a page, the style sheet puts the reader's in their place.

use std::fmt::Write;

use plotters::style::RGBColor;

use crate::report::chart::{Hue, Stroke};

/// A colour on white paper, by which the style sheet knows it, and that on a dark screen.
#[derive(Clone, Copy)]
pub(super) struct Colour {
    light: u32,
    dark: u32,
}

const fn colour(light: u32, dark: u32) -> Colour {
    Colour { light, dark }
}

/// Names of bars and curves.
pub(super) const TEXT: Colour = colour(0x1B1F24, 0xE6E9EC);
/// Names of ticks and axes.
pub(super) const FAINT_TEXT: Colour = colour(0x57606A, 0x9DA7B1);
/// The lines of the grid.
pub(super) const GRID: Colour = colour(0xDDE1E6, 0x363D45);
/// The line of what cannot be passed.
const PEAK: Colour = colour(0x3C444D, 0xC3CAD1);
/// The line of what was measured.
const CEILING: Colour = colour(0x9A4B00, 0xFFB866);

/// Grey, then colours that differ in lightness as well, for those who see no difference between red and green.
const HUES: [Colour; 9] = [
    colour(0x88909A, 0x8C959F),
    colour(0x0067B1, 0x58A9F0),
    colour(0xC8501A, 0xFF9A62),
    colour(0x007D5C, 0x37C79B),
    colour(0x8E3B8C, 0xE08FDD),
    colour(0x7D6608, 0xDDC44D),
    colour(0x23818F, 0x74D3E2),
    colour(0xB0304F, 0xFF8BA3),
    colour(0x4A3AA8, 0xA99DFF),
];

/// The pages that a drawing is looked at on, light and dark; those of `style.css`.
#[cfg(test)]
const PAPER: [u32; 2] = [0xFFFFFF, 0x14171B];

impl Colour {
    pub(super) fn rgb(self) -> RGBColor {
        let [_, red, green, blue] = self.light.to_be_bytes();
        RGBColor(red, green, blue)
    }
}

impl Hue {
    /// Which of the colours.
    fn index(self) -> usize {
        if self.0 == 0 { 0 } else { (self.0 - 1) % (HUES.len() - 1) + 1 }
    }

    pub(super) fn colour(self) -> Colour {
        HUES[self.index()]
    }
}

impl Stroke {
    pub(super) fn colour(self) -> Colour {
        match self {
            Stroke::Solid => PEAK,
            Stroke::Broken => CEILING,
        }
    }
}

fn all() -> impl Iterator<Item = Colour> {
    [TEXT, FAINT_TEXT, GRID, PEAK, CEILING].into_iter().chain(HUES)
}

/// The part of a style sheet that gives drawings the reader's colours: dark ones on a dark screen, and patterns on
/// paper, which may be printed without colours.
pub(in crate::report) fn css() -> String {
    let (mut light, mut dark, mut rules) = (String::new(), String::new(), String::new());
    let done = all().enumerate().try_for_each(|(i, colour)| {
        let Colour { light: hex, dark: on_dark } = colour;
        write!(light, "--ink-{i}:#{hex:06X};")?;
        write!(dark, "--ink-{i}:#{on_dark:06X};")?;
        writeln!(rules, "svg [fill=\"#{hex:06X}\"]{{fill:var(--ink-{i})}}")?;
        writeln!(rules, "svg [stroke=\"#{hex:06X}\"]{{stroke:var(--ink-{i})}}")
    });
    let printed = HUES.iter().enumerate().try_for_each(|(i, hue)| {
        write!(rules, "@media print,(monochrome){{svg rect[fill=\"#{:06X}\"]", hue.light)?;
        writeln!(rules, "{{fill:url(#pattern-{i});stroke:var(--ink-{})}}}}", first_hue() + i)
    });
    done.and(printed).expect("a string can be written to");
    let broken = CEILING.light;
    format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{rules}\
         svg [stroke=\"#{broken:06X}\"]{{stroke-dasharray:6 4}}\n"
    )
}

fn first_hue() -> usize {
    all().count() - HUES.len()
}

/// The patterns that [`css`] refers to, as the content of an `<svg>`: tilted lines, of another distance and angle for
/// each colour.
pub(in crate::report) fn patterns() -> String {
    let pattern = |i: usize| {
        let (angle, distance) = ([45, 135, 0, 90][i % 4], [4, 7, 10][i / 4]);
        let ink = first_hue() + i;
        format!(
            "<pattern id=\"pattern-{i}\" width=\"{distance}\" height=\"{distance}\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate({angle})\"><path d=\"M0 0V{distance}\" class=\"ink-{ink}\"/></pattern>"
        )
    };
    // Grey is plain.
    let plain = "<pattern id=\"pattern-0\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
         <path d=\"M0 4H8\" class=\"plain\"/></pattern>";
    format!("<defs>{plain}{}</defs>", (1..HUES.len()).map(pattern).collect::<String>())
}

/// The classes of the patterns' lines.
pub(in crate::report) fn pattern_css() -> String {
    let line = |i: usize| {
        let ink = first_hue() + i;
        format!(".ink-{ink}{{stroke:var(--ink-{ink});stroke-width:5}}\n")
    };
    let plain = first_hue();
    format!(".plain{{stroke:var(--ink-{plain});stroke-width:8}}\n{}", (1..HUES.len()).map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: u32) -> f64 {
        let [_, rgb @ ..] = colour.to_be_bytes();
        let [red, green, blue] = rgb.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: u32, other: u32) -> f64 {
        let [one, other] = [one, other].map(luminance);
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn colours_stand_out_from_the_page() {
        let enough = |colour: Colour, least: f64| {
            let found = [contrast(colour.light, PAPER[0]), contrast(colour.dark, PAPER[1])];
            assert!(found.iter().all(|contrast| *contrast >= least), "#{:06X}: {found:?}", colour.light);
        };
        [TEXT, FAINT_TEXT, PEAK, CEILING].into_iter().for_each(|colour| enough(colour, 4.5));
        HUES.into_iter().for_each(|colour| enough(colour, 3.0));
    }

    #[test]
    fn the_pages_are_those_of_the_style_sheet() {
        let style = include_str!("../html/style.css");
        for paper in PAPER {
            assert!(style.contains(&format!("--paper: #{paper:06x};")), "{paper:06x}");
        }
    }

    #[test]
    fn the_style_sheet_knows_each_colour_by_its_own_value() {
        let mut values: Vec<u32> = all().map(|colour| colour.light).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), all().count());
    }

    #[test]
    fn colours_repeat_but_grey_does_not() {
        assert_eq!(Hue::COPY.index(), 0);
        assert!((0..40).all(|number| Hue::series(number).index() != 0));
        assert_eq!(Hue::series(8).index(), Hue::series(0).index());
    }
}
