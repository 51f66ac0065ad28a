//! Parsers of the command line's own notations, with errors that say what to write instead.

use std::time::Duration;

use crate::device::DeviceId;

/// `ROWSxCOLS`, such as `4096x4096`.
pub fn size(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is no size; write ROWSxCOLS, such as 4096x4096");
    let (rows, cols) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let number = |digits: &str| -> Result<u64, String> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        digits.parse().map_err(|_| format!("{digits} in `{text}` is more than {}, the most rows or columns", u64::MAX))
    };
    Ok((number(rows)?, number(cols)?))
}

/// `SOURCE,DESTINATION`, such as `96,0`: a number of elements for either side.
pub fn sides(text: &str) -> Result<[u64; 2], String> {
    let wrong = || format!("`{text}` is no pair of gaps; write SOURCE,DESTINATION in elements, such as 96,0");
    let number = |digits: &str| -> Result<u64, String> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        digits.parse().map_err(|_| format!("{digits} in `{text}` is more than {}, the most elements", u64::MAX))
    };
    let (source, destination) = text.split_once(',').ok_or_else(wrong)?;
    Ok([number(source)?, number(destination)?])
}

/// `X[,Y[,Z]]`, such as `64,64`; what is left out is 1 for a count.
pub fn grid(text: &str) -> Result<[u32; 3], String> {
    let wrong = || format!("`{text}` is no grid; write X, X,Y or X,Y,Z with numbers up to {}", u32::MAX);
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match numbers.map_err(|_| wrong())?[..] {
        [x] => Ok([x, 1, 1]),
        [x, y] => Ok([x, y, 1]),
        [x, y, z] => Ok([x, y, z]),
        _ => Err(wrong()),
    }
}

/// `NAME=VALUE`, such as `RADIUS=3`; `true` and `false` are 1 and 0.
pub fn setting(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("`{text}` sets nothing; write NAME=VALUE with a number, such as RADIUS=3");
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    let value = match value {
        "true" => 1.0,
        "false" => 0.0,
        number => number.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong)?,
    };
    Ok((name.to_owned(), value))
}

/// Seconds, such as `0.25`.
pub fn seconds(text: &str) -> Result<Duration, String> {
    const LEAST: f64 = 1e-4;
    const MOST: f64 = 3600.0;
    match text.parse::<f64>() {
        Ok(seconds) if (LEAST..=MOST).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("`{text}` is no time; write seconds from {LEAST} to {MOST}, such as 0.25")),
    }
}

/// A part in percent, such as `5`.
pub fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}` is no part; write percent from 0 to below 100, such as 5")),
    }
}

/// A number of bytes, such as `64MiB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 64 << 10;
    const MOST: u64 = 1 << 40;
    let wrong = || format!("`{text}` is no size; write bytes from 64KiB to 1TiB, such as 1000000, 64MiB or 2GiB");
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit: u64 = match unit.trim_start() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|bytes| (LEAST..=MOST).contains(bytes)).ok_or_else(wrong)
}

/// A theoretical peak for one device or for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeakArg {
    /// The device; `None` for all.
    pub device: Option<DeviceId>,
    /// GB/s.
    pub gbps: f64,
}

/// `GBPS` or `DEVICE=GBPS`, such as `cuda:0=4814`.
pub fn peak(text: &str) -> Result<PeakArg, String> {
    const LEAST: f64 = 0.001;
    const MOST: f64 = 1e6;
    let (device, number) = match text.split_once('=') {
        Some((id, number)) => (Some(id.parse::<DeviceId>().map_err(|error| error.to_string())?), number),
        None => (None, text),
    };
    match number.parse::<f64>() {
        Ok(gbps) if (LEAST..=MOST).contains(&gbps) => Ok(PeakArg { device, gbps }),
        _ => Err(format!("`{number}` is no bandwidth; write GB/s from {LEAST} to {MOST}, such as 4814 or cuda:0=4814")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("4096x17"), Ok((4096, 17)));
        assert_eq!(size("0×5"), Ok((0, 5)));
        for text in ["", "x", "4096", "4096x", "x4", "-1x4", "+1x4", "1.5x2", "4x4x4", "4 x 4"] {
            assert!(size(text).unwrap_err().contains("ROWSxCOLS"), "{text}");
        }
        assert!(size("18446744073709551616x1").unwrap_err().contains("more than 18446744073709551615"));
    }

    #[test]
    fn gaps() {
        assert_eq!(sides("96,0"), Ok([96, 0]));
        for text in ["", ",", "3", "3,", ",3", "3,-1", "3, 4", "1,2,3", "1.5,2", "a,b"] {
            assert!(sides(text).unwrap_err().contains("SOURCE,DESTINATION"), "{text}");
        }
        assert!(sides("0,18446744073709551616").unwrap_err().contains("more than 18446744073709551615"));
    }

    #[test]
    fn grids_and_settings() {
        assert_eq!(grid("5"), Ok([5, 1, 1]));
        assert_eq!(grid("5,6,0"), Ok([5, 6, 0]));
        for text in ["", ",", "1,", "1,2,3,4", "-1", "4294967296", "1x2"] {
            assert!(grid(text).unwrap_err().contains("X,Y,Z"), "{text}");
        }
        assert_eq!(setting("A=-1.5"), Ok(("A".into(), -1.5)));
        assert_eq!(setting("A=true"), Ok(("A".into(), 1.0)));
        for text in ["", "A", "=1", "A=", "A=x", "A=nan", "A=inf"] {
            assert!(setting(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_of_bytes() {
        for (text, expected) in [("65536", 1 << 16), ("64KiB", 1 << 16), ("64 MiB", 1 << 26), ("2GiB", 1 << 31)] {
            assert_eq!(bytes(text), Ok(expected));
        }
        for text in ["", "1", "1KiB", "MiB", "-1MiB", "1.5GiB", "64MB", "2048GiB", "99999999999999999999GiB"] {
            assert!(bytes(text).unwrap_err().contains("from 64KiB to 1TiB"), "{text}");
        }
    }

    #[test]
    fn times_and_peaks() {
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        for text in ["0", "-1", "nan", "inf", "1e9", "", "1s"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(percent("2.5"), Ok(2.5));
        for text in ["", "-1", "100", "nan", "5%"] {
            assert!(percent(text).unwrap_err().contains("from 0 to below 100"), "{text}");
        }
        assert_eq!(peak("2039"), Ok(PeakArg { device: None, gbps: 2039.0 }));
        assert_eq!(peak("cuda:1=4814.5").unwrap().device, Some("cuda:1".parse().unwrap()));
        for text in ["", "0", "-3", "nan", "inf", "cuda=3", "cuda:0=", "=5"] {
            assert!(peak(text).is_err(), "{text}");
        }
    }
}
