//! Figures as people read them.

/// What stands where there is no figure.
pub(super) const NONE: &str = "-";

/// A value that may be missing.
pub(super) fn or_none(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.filter(|value| value.is_finite()).map_or(NONE.into(), show)
}

/// The decimal exponent of a value rounded to four significant digits.
fn exponent(value: f64) -> i32 {
    let scientific = format!("{value:.3e}");
    scientific.rsplit('e').next().and_then(|exponent| exponent.parse().ok()).unwrap_or(0)
}

/// Four significant digits, and all digits before the point.
pub(super) fn significant(value: f64) -> String {
    let decimals = usize::try_from(3 - exponent(value)).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// The value that [`significant`] shows.
pub(super) fn rounded(value: f64) -> f64 {
    significant(value).parse().unwrap_or(value)
}

/// A round value with the digits it needs.
pub(super) fn plain(value: f64) -> String {
    // A multiple of a tenth may be off in its last digit.
    let value: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    if value == 0.0 || (1e-5..1e7).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// A percentage, without the sign.
pub(super) fn percent(value: f64) -> String {
    format!("{value:.1}")
}

/// A fraction as a percentage, with the sign.
pub(super) fn fraction(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

/// How many times another figure something is.
pub(super) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// Seconds in the unit that leaves one to three digits before the point.
pub(super) fn time(seconds: f64) -> String {
    let (scale, unit) = match exponent(seconds) {
        0.. => TIMES[0],
        -3.. => TIMES[1],
        -6.. => TIMES[2],
        _ => TIMES[3],
    };
    format!("{} {unit}", significant(seconds * scale))
}

/// Units of time, and how many of them are a second.
const TIMES: [(f64, &str); 4] = [(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")];

/// Binary units, and how many bytes they are.
const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// The value that one of these functions wrote, for cells to be put in order: a time in seconds, a size in bytes, and of
/// so many times a size all of it. `None` where there is no figure.
pub(super) fn value(text: &str) -> Option<f64> {
    let (figure, unit) = text.split_once(' ').unwrap_or((text, ""));
    let figure = finite(figure)?;
    if let Some((scale, _)) = TIMES.iter().find(|(_, name)| *name == unit) {
        return Some(figure / scale);
    }
    match unit.split_once(' ') {
        Some(("×", each)) => Some(figure * size(each)?),
        _ if matches!(unit, "" | "%") => Some(figure),
        _ => size(text),
    }
}

/// A number, but not what Rust also takes for one.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|figure: &f64| figure.is_finite())
}

/// What [`bytes`] wrote, whatever stands behind it.
fn size(text: &str) -> Option<f64> {
    let mut words = text.split(' ');
    let figure = finite(words.next()?)?;
    let unit = words.next()?;
    let bytes = UNITS.iter().find(|(_, name)| *name == unit).map(|(bytes, _)| *bytes as f64);
    Some(figure * bytes.or((unit == "B").then_some(1.0))?)
}

/// A number of bytes in binary units, such as `60 MiB`: exact where it is round, else to four significant digits.
pub fn bytes(bytes: u64) -> String {
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{} {name}", significant(bytes as f64 / unit as f64)),
        None => format!("{bytes} B"),
    }
}

/// A position on an axis of bytes.
pub(super) fn bytes_of(value: f64) -> String {
    bytes(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_significant() {
        for (value, text) in [
            (3567.4, "3567"),
            (35_674.0, "35674"),
            (539.16, "539.2"),
            (12.341, "12.34"),
            (0.012_345_6, "0.01235"),
            (999.96, "1000"),
            (0.0, "0.000"),
        ] {
            assert_eq!(significant(value), text);
        }
        assert_eq!(or_none(None, significant), "-");
        assert_eq!(or_none(Some(f64::NAN), significant), "-");
    }

    #[test]
    fn times_choose_their_unit_after_rounding() {
        for (seconds, text) in [
            (12.5, "12.50 s"),
            (0.999_99, "1.000 s"),
            (1.5e-3, "1.500 ms"),
            (37.634_5e-6, "37.63 µs"),
            (999.96e-6, "1.000 ms"),
            (812.3e-9, "812.3 ns"),
        ] {
            assert_eq!(time(seconds), text);
        }
    }

    #[test]
    fn round_values_have_no_more_digits_than_they_need() {
        for (value, text) in [(0.1 * 3.0, "0.3"), (1000.0, "1000"), (0.0, "0"), (2.5e7, "2.5e7"), (2e-6, "2e-6")] {
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn figures_are_read_back() {
        for seconds in [12.5, 1.5e-3, 37.63e-6, 812.3e-9] {
            assert!((value(&time(seconds)).unwrap() / seconds - 1.0).abs() < 1e-12, "{seconds}");
        }
        assert_eq!(value(&fraction(0.004)), Some(0.4));
        assert_eq!(value(&significant(3567.4)), Some(3567.0));
        assert_eq!(value(&percent(96.82)), Some(96.8));
        for size in [0, 512, 60 << 20, 150_754_820_096, 132 << 40] {
            assert!((value(&bytes(size)).unwrap() - size as f64).abs() <= size as f64 * 1e-3, "{size}");
        }
        assert_eq!(value(&format!("132 × {}", bytes(256 << 10))), Some(132.0 * 262_144.0));
        assert_eq!(value(&format!("{} a block", bytes(48 << 10))), Some(49_152.0));
        for text in [NONE, "suspect", "failed", "", "inf", "nan", "3 × 4", "3 × inf B", "NaN KiB", "4 KB"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn bytes_are_exact_where_they_are_round() {
        assert_eq!(bytes(60 << 20), "60 MiB");
        assert_eq!(bytes(150_754_820_096), "140.4 GiB");
        assert_eq!(bytes(512), "512 B");
    }
}
