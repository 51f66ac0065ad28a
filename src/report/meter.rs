//! Bars made of characters.

use comfy_table::{Cell, Color};

use super::table::Screen;

/// The longest bar that is of use, and the shortest; in columns of the terminal.
pub(super) const LONGEST: usize = 40;
pub(super) const SHORTEST: usize = 10;

/// From one eighth of a column to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// From this part of the copy ceiling on a bar is green, and yellow from the next.
const FAST: f64 = 0.95;
const MIDDLING: f64 = 0.5;

/// The bar of a row: its part of the whole length, coloured by its part of the copy ceiling.
pub(super) fn bar(parts: Option<[f64; 2]>, long: usize, screen: Screen) -> Cell {
    let Some([part, of_ceiling]) = parts else { return Cell::new("") };
    let text = if screen.unicode { blocks(part, long) } else { hashes(part, long) };
    let colour = match of_ceiling {
        FAST.. => Color::DarkGreen,
        MIDDLING.. => Color::DarkYellow,
        _ => Color::DarkRed,
    };
    if screen.colour { Cell::new(text).fg(colour) } else { Cell::new(text) }
}

/// In eighths of a column, and at least one.
fn blocks(part: f64, long: usize) -> String {
    let eighths = ((part.clamp(0.0, 1.0) * long as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).and_then(|rest| EIGHTHS.get(rest)));
    bar
}

/// In whole columns, and at least one.
fn hashes(part: f64, long: usize) -> String {
    "#".repeat(((part.clamp(0.0, 1.0) * long as f64).round() as usize).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_part() {
        for (part, unicode, ascii) in [
            (1.0, "██████████", "##########"),
            (0.5, "█████", "#####"),
            (0.52, "█████▎", "#####"),
            (0.0, "▏", "#"),
            (0.19, "█▉", "##"),
            (7.0, "██████████", "##########"),
        ] {
            assert_eq!((blocks(part, 10).as_str(), hashes(part, 10).as_str()), (unicode, ascii), "{part}");
        }
    }
}
