//! The header of a `.npy` file, NumPy's format for one array (NEP 1 and `numpy.lib.format`).

use std::io::Read;

use npyz::{TypeChar, TypeStr};
use py_literal::Value;

use crate::element::Width;

/// The longest header that is read, in bytes; NumPy itself reads 10,000 unless it is told otherwise.
const MOST_BYTES: u32 = 10_000;
/// How deep brackets may lie in one another. No array of numbers has more than a dictionary and a tuple, and each level
/// takes the parser up to three times as long: it takes a bracket for one thing, and if it is none, begins anew.
const MOST_NESTED: usize = 4;
/// Characters of what a header says that a message repeats.
const MOST_SHOWN: usize = 60;
const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// To what the header's end is aligned, in bytes.
const ALIGNMENT: usize = 64;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The type, as NumPy writes it: byte order, kind and bytes, such as `<f4`.
    pub(crate) descr: String,
    /// The bytes of an element.
    pub(crate) width: Width,
    /// The lengths of the axes.
    pub(crate) shape: Vec<u64>,
    /// Whether the first axis varies fastest, not the last one.
    pub(crate) fortran_order: bool,
    /// Where the elements begin, in bytes from the beginning of the file.
    pub(crate) data: u64,
}

/// Why a file is no `.npy` file whose array could be transposed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpyError {
    #[error("{0}")]
    Read(#[from] std::io::Error),
    #[error("is no .npy file: it begins with {0:02x?}, not with \\x93NUMPY")]
    Magic(Vec<u8>),
    #[error("ends within its header: {got} B of {needed} B")]
    Truncated { got: usize, needed: usize },
    #[error("is a .npy file of version {0}.{1}; versions 1, 2 and 3 are read")]
    Version(u8, u8),
    #[error("has a header of {0} B; the most is {MOST_BYTES}")]
    TooLong(u32),
    #[error("has a header that is no Python dictionary of descr, fortran_order and shape: {0}")]
    Syntax(String),
    #[error("has elements of type {0}; {1}")]
    Type(String, &'static str),
    #[error("has the axis {0}; lengths are from 0 to {max}", max = u64::MAX)]
    Length(String),
}

const KINDS: &str = "booleans, integers, floats, complex numbers, dates and times of 1, 2, 4, 8 or 16 B are transposed";

impl Header {
    /// Reads a header, and no byte of what follows.
    pub(crate) fn read(file: &mut dyn Read) -> Result<Header, NpyError> {
        let start = take(file, MAGIC.len() + 2, 0)?;
        let (magic, version) = start.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(NpyError::Magic(magic.to_vec()));
        }
        let length_bytes = match version[0] {
            1 => 2,
            2 | 3 => 4,
            _ => return Err(NpyError::Version(version[0], version[1])),
        };
        let mut length = [0; 4];
        length[..length_bytes].copy_from_slice(&take(file, length_bytes, start.len())?);
        let length = u32::from_le_bytes(length);
        if length > MOST_BYTES {
            return Err(NpyError::TooLong(length));
        }
        let before = start.len() + length_bytes;
        let text = take(file, length as usize, before)?;
        let text = String::from_utf8(text).map_err(|error| NpyError::Syntax(error.to_string()))?;
        Header::parse(&text, before as u64 + u64::from(length))
    }

    fn parse(text: &str, data: u64) -> Result<Header, NpyError> {
        let syntax = |what: &str| NpyError::Syntax(what.into());
        if nested(text) > MOST_NESTED {
            return Err(syntax("brackets lie too deep for an array of numbers"));
        }
        // A line break within brackets is a space to Python, and to the parser an error.
        let parsed: Value =
            text.trim().replace(['\n', '\r'], " ").parse().map_err(|error| NpyError::Syntax(one_line(&error)))?;
        let Value::Dict(entries) = parsed else { return Err(syntax("another value")) };
        let find = |key: &str| {
            let mut found = entries.iter().filter(|(name, _)| matches!(name, Value::String(name) if name == key));
            match (found.next(), found.next()) {
                (Some((_, value)), None) => Ok(value),
                (None, _) => Err(NpyError::Syntax(format!("no {key}"))),
                _ => Err(NpyError::Syntax(format!("{key} twice"))),
            }
        };
        let (descr, width) = element(find("descr")?)?;
        let Value::Boolean(fortran_order) = *find("fortran_order")? else {
            return Err(syntax("fortran_order is neither True nor False"));
        };
        let (Value::Tuple(axes) | Value::List(axes)) = find("shape")? else {
            return Err(syntax("shape is no tuple"));
        };
        let shape = axes.iter().map(length).collect::<Result<_, _>>()?;
        Ok(Header { descr, width, shape, fortran_order, data })
    }

    /// The header of an array of the same type and this shape in C order.
    pub(crate) fn of_shape(descr: &str, shape: &[u64]) -> Vec<u8> {
        let axes: String = shape.iter().map(|length| format!("{length}, ")).collect();
        // As NumPy writes it: a tuple of one has a comma, one of more has none at its end.
        let axes = if shape.len() > 1 { axes.trim_end_matches(", ") } else { axes.trim_end() };
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
        let before = MAGIC.len() + 4;
        // With a line feed at the end.
        let whole = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
        let length = (whole - before) as u16;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(text.into_bytes());
        bytes.resize(whole - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// The next bytes of the file, of which there were `before`.
fn take(file: &mut dyn Read, count: usize, before: usize) -> Result<Vec<u8>, NpyError> {
    let mut bytes = Vec::with_capacity(count);
    file.take(count as u64).read_to_end(&mut bytes)?;
    match bytes.len() == count {
        true => Ok(bytes),
        false => Err(NpyError::Truncated { got: before + bytes.len(), needed: before + count }),
    }
}

/// How deep brackets lie in one another, at the most: the parser goes down as deep.
fn nested(text: &str) -> usize {
    let mut depth = 0usize;
    let depths = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

/// The first line of a parser's error, which draws a picture in several.
fn one_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let meant = text.lines().rfind(|line| line.contains('=')).or(text.lines().next());
    meant.unwrap_or_default().trim_matches([' ', '=', '|', '-', '>']).to_string()
}

/// The type, which is a string unless it is a structure.
fn element(descr: &Value) -> Result<(String, Width), NpyError> {
    let Value::String(text) = descr else {
        return Err(NpyError::Type("a structure".into(), KINDS));
    };
    let name = || format!("'{}'", shown(&text.escape_debug().to_string()));
    let kind: TypeStr = with_plain_unit(text).parse().map_err(|_| NpyError::Type(name(), KINDS))?;
    use TypeChar::{Bool, Complex, DateTime, Float, Int, Object, TimeDelta, Uint};
    match kind.type_char() {
        Bool | Int | Uint | Float | Complex | TimeDelta | DateTime => {}
        Object => {
            return Err(NpyError::Type(name(), "they are Python objects, of which a file has no more than a pickle"));
        }
        _ => return Err(NpyError::Type(name(), KINDS)),
    }
    let width = Width::ALL.into_iter().find(|width| Some(width.bytes()) == kind.num_bytes());
    Ok((text.clone(), width.ok_or_else(|| NpyError::Type(name(), KINDS))?))
}

/// The same type in npyz's words, if it is a date or a time: to npyz it has a unit, and no count before it, where NumPy
/// also has types such as `<m8` and `<M8[25s]`. To a transpose all units are alike.
fn with_plain_unit(descr: &str) -> String {
    let (bytes, unit) = descr.split_once('[').unwrap_or((descr, "s]"));
    match bytes.get(1..2) {
        Some("m" | "M") => format!("{bytes}[{}", unit.trim_start_matches(|digit: char| digit.is_ascii_digit())),
        _ => descr.into(),
    }
}

fn length(value: &Value) -> Result<u64, NpyError> {
    let wrong = |text: String| NpyError::Length(shown(&text));
    let Value::Integer(number) = value else { return Err(wrong(value.to_string())) };
    number.to_string().parse().map_err(|_| wrong(number.to_string()))
}

/// As much of what a header says as a message needs.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of this version, with this text for a header.
    fn file(version: u8, text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let length = (text.len() as u32).to_le_bytes();
        bytes.extend(&length[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(text.as_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Header, String> {
        Header::read(&mut &bytes[..]).map_err(|error| error.to_string())
    }

    #[test]
    fn every_version_and_spelling_is_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }   \n";
        for version in [1, 2, 3] {
            let header = read(&file(version, text)).unwrap();
            assert_eq!((header.descr.as_str(), header.width, header.fortran_order), ("<f4", Width::W4, false));
            assert_eq!(header.shape, [3, 5]);
            assert_eq!(header.data, file(version, text).len() as u64);
        }
        let lines = "{\n'descr': '<f4',\r\n 'fortran_order':\nFalse, 'shape': (3,\n5)\n}\n";
        assert_eq!(read(&file(1, lines)).unwrap().shape, [3, 5]);
        let other = "{\"shape\": (2,), 'fortran_order':True,'descr':'>c16'}";
        let header = read(&file(1, other)).unwrap();
        assert_eq!((header.width, header.fortran_order, header.shape), (Width::W16, true, vec![2]));
    }

    #[test]
    fn every_kind_that_numpy_writes_has_its_width_and_keeps_its_name() {
        let kinds = ["|b1", "|i1", ">u2", "<f2", "<i4", ">f4", "<u8", "<c8", ">c16", "<f16"];
        let dates = ["<m8", ">M8", "<M8[ns]", ">m8[25s]", "<M8[100as]"];
        for descr in kinds.into_iter().chain(dates) {
            let bytes = descr[2..].split('[').next().unwrap().parse().unwrap();
            let header = read(&Header::of_shape(descr, &[3, 5])).unwrap();
            assert_eq!((header.descr.as_str(), header.width.bytes()), (descr, bytes));
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for shape in [&[][..], &[0], &[7], &[3, 5], &[1, 2, u64::MAX]] {
            let bytes = Header::of_shape("|b1", shape);
            assert!(bytes.len().is_multiple_of(ALIGNMENT) && bytes.ends_with(b"\n"));
            let header = read(&bytes).unwrap();
            assert_eq!((header.shape.as_slice(), header.data), (shape, bytes.len() as u64));
            assert_eq!((header.descr.as_str(), header.fortran_order), ("|b1", false));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_numbers() {
        let of = |fields: &str| read(&file(1, fields)).unwrap_err();
        let with =
            |descr: &str, shape: &str| of(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"));
        let whole = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5)}");
        for length in 0..whole.len() {
            let error = read(&whole[..length]).unwrap_err();
            assert!(error.contains(&format!("{length} B of ")), "{length}: {error}");
        }
        let cases = [
            (read(b"PK\x03\x04 is a zip file").unwrap_err(), "is no .npy file: it begins with [50, 4b"),
            (read(&file(4, "")).unwrap_err(), "version 4.0"),
            (read(&file(2, &" ".repeat(10_001))).unwrap_err(), "a header of 10001 B; the most is 10000"),
            (of("{"), "no Python dictionary"),
            (of("(1, 2)"), "another value"),
            (of("{'descr': '<f4', 'shape': (1,)}"), "no fortran_order"),
            (of("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"), "descr twice"),
            (of("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}"), "neither True nor False"),
            (of(&"(".repeat(9_000)), "too deep"),
            (of("{{{{{1}}}}}"), "too deep"),
            (with("[('a', '<f4', (2,))]", "(1, 2)"), "a structure"),
            (with("'<f4'", "7"), "shape is no tuple"),
            (with("'<f4'", "(-3, 5)"), "the axis -3"),
            (with("'<f4'", "(99999999999999999999, 5)"), "the axis 99999999999999999999"),
            (with("'<f4'", "(1.5, 5)"), "the axis 1.5"),
            (with("'<f4'", &format!("({}, 5)", "9".repeat(4_000))), "999…; lengths"),
            (with(&format!("'<f4{}'", "é".repeat(2_000)), "(3, 5)"), "éé…'; booleans"),
            (with("'|O'", "(1, 2)"), "'|O'; they are Python objects"),
            (with("[('a', '<f4'), ('b', '<i4')]", "(1, 2)"), "a structure"),
            (with("'<U3'", "(1, 2)"), "type '<U3'"),
            (with("'<c32'", "(1, 2)"), "type '<c32'"),
            (with("'what'", "(1, 2)"), "type 'what'"),
            (with("'<m8[25]'", "(1, 2)"), "type '<m8[25]'"),
            (with("'<f4[25s]'", "(1, 2)"), "type '<f4[25s]'"),
        ];
        for (error, expected) in cases {
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains('\n') && error.len() < 250, "one line: {error}");
        }
    }
}
