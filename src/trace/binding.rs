//! What is bound to a shader's variables: how large it is and what is in it.

use std::sync::Arc;

use half::{bf16, f16};

use crate::element::{Element, Width};
use crate::pattern::Pattern;

/// A buffer bound to a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Its bytes.
    pub bytes: u64,
    /// What is in it at first.
    pub contents: Contents,
}

/// What is in a buffer. All of it follows from the address, so that only what is touched takes memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Zeros.
    Zero,
    /// The test data of the benchmark, for elements of a width.
    Pattern(Pattern, Width),
    /// Pseudo-random elements: floats from 0 to before 1, integers of all values.
    Random(Element),
    /// Element i is the number i.
    Index(Element),
    /// Every element is this one.
    Same(Vec<u8>),
    /// These bytes, and then zeros.
    Bytes(Arc<[u8]>),
}

impl Binding {
    /// A buffer of zeros.
    pub fn zeros(bytes: u64) -> Binding {
        Binding { bytes, contents: Contents::Zero }
    }

    /// A buffer of these bytes.
    pub fn of_bytes(bytes: impl Into<Arc<[u8]>>) -> Binding {
        let bytes = bytes.into();
        Binding { bytes: bytes.len() as u64, contents: Contents::Bytes(bytes) }
    }

    /// Reads `COUNTxTYPE[:FILL]`, `SIZE[:zero|random]` or `TYPE:VALUE,…`, where FILL is `zero`, `random`, `index` or a
    /// value. Values of several types follow one another as `TYPE:VALUE,…;TYPE:VALUE,…`.
    ///
    /// # Errors
    /// A sentence that says what to write instead.
    pub fn parse(text: &str) -> Result<Binding, String> {
        let (head, tail) = match text.split_once(':') {
            Some((head, tail)) => (head, Some(tail)),
            None => (text, None),
        };
        if head.parse::<Element>().is_ok() {
            let bytes: Result<Vec<_>, _> = text.split(';').map(values).collect();
            return Ok(Binding::of_bytes(bytes?.concat()));
        }
        if let Some((count, name)) = head.split_once(['x', 'X', '×']) {
            let element: Element = name.parse().map_err(|error| format!("`{text}`: {error}"))?;
            let count = integer(count).ok_or_else(|| wrong(text))?;
            let bytes = count.checked_mul(element.width().bytes() as u64);
            let bytes = bytes.filter(|bytes| *bytes < 1 << 63);
            let bytes = bytes.ok_or_else(|| format!("`{text}` has more than 2^63 bytes"))?;
            return Ok(Binding { bytes, contents: fill(tail.unwrap_or("zero"), element)? });
        }
        match tail {
            None | Some("zero") => Ok(Binding::zeros(size(head).ok_or_else(|| wrong(text))?)),
            Some("random") => {
                let bytes = size(head).ok_or_else(|| wrong(text))?;
                Ok(Binding { bytes, contents: Contents::Random(Element::U8) })
            }
            Some(_) => Err(wrong(text)),
        }
    }
}

/// The bytes of `TYPE:VALUE,…`.
fn values(text: &str) -> Result<Vec<u8>, String> {
    let no_values = || format!("`{text}` has no values; write TYPE:VALUE,VALUE,… such as u32:4096,1");
    let (name, list) = text.split_once(':').ok_or_else(no_values)?;
    let element: Element = name.trim().parse().map_err(|error| format!("`{text}`: {error}"))?;
    let bytes: Result<Vec<_>, _> = list.split(',').map(|value| encode(value.trim(), element)).collect();
    Ok(bytes?.concat())
}

fn wrong(text: &str) -> String {
    format!(
        "`{text}` is no buffer; write COUNTxTYPE such as 16777216xf32, bytes such as 4096 or 64MiB, values such as \
         u32:4096,1, or @FILE"
    )
}

fn integer(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Bytes, with or without a unit.
fn size(text: &str) -> Option<u64> {
    let units = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let unit = units.into_iter().find_map(|(name, bytes)| Some((text.strip_suffix(name)?, bytes)));
    let (digits, unit) = unit.unwrap_or((text, 1));
    integer(digits.trim_end())?.checked_mul(unit).filter(|bytes| *bytes < 1 << 63)
}

fn fill(text: &str, element: Element) -> Result<Contents, String> {
    Ok(match text {
        "zero" => Contents::Zero,
        "random" => Contents::Random(element),
        "index" => Contents::Index(element),
        value => Contents::Same(encode(value, element)?),
    })
}

/// The bytes of a number.
fn encode(text: &str, element: Element) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{text}` is no {element}");
    fn bytes<T: std::str::FromStr>(text: &str, bytes: impl Fn(T) -> Vec<u8>) -> Option<Vec<u8>> {
        text.parse().ok().map(bytes)
    }
    // What rounds to infinity is a slip of the pen; what says that it is infinite is not.
    let named = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_alphabetic());
    let float = |text: &str| {
        let value = text.parse::<f64>().ok()?;
        let is_finite = match element {
            Element::F16 => f16::from_f64(value).is_finite(),
            Element::Bf16 => bf16::from_f64(value).is_finite(),
            _ => value.is_finite(),
        };
        (named || is_finite).then(|| number(value, element))
    };
    macro_rules! parse {
        ($ty:ty) => {
            bytes::<$ty>(text, |value| value.to_le_bytes().to_vec())
        };
    }
    match element {
        Element::U8 => parse!(u8),
        Element::I8 => parse!(i8),
        Element::U16 => parse!(u16),
        Element::I16 => parse!(i16),
        Element::U32 => parse!(u32),
        Element::I32 => parse!(i32),
        Element::U64 => parse!(u64),
        Element::I64 => parse!(i64),
        Element::F32 => parse!(f32).filter(|_| named || text.parse().is_ok_and(f32::is_finite)),
        Element::F16 | Element::Bf16 | Element::F64 => float(text),
        Element::C64 | Element::C128 => None,
    }
    .ok_or_else(wrong)
}

/// A number as an element.
fn number(value: f64, element: Element) -> Vec<u8> {
    match element {
        Element::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
        Element::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        Element::F32 | Element::C64 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

fn is_float(element: Element) -> bool {
    use Element::{Bf16, C64, C128, F16, F32, F64};
    matches!(element, F16 | Bf16 | F32 | F64 | C64 | C128)
}

impl Contents {
    /// Writes what a buffer has from byte `first` on.
    pub(super) fn fill(&self, first: u64, bytes: &mut [u8]) {
        let each = |width: usize, bytes: &mut [u8], element: &dyn Fn(u64) -> Vec<u8>| {
            // A page begins with an element: both are powers of two.
            for (index, piece) in (first / width as u64..).zip(bytes.chunks_mut(width)) {
                piece.copy_from_slice(&element(index)[..piece.len()]);
            }
        };
        match self {
            Contents::Zero => bytes.fill(0),
            Contents::Pattern(pattern, width) => {
                each(width.bytes(), bytes, &|index| pattern.element(index).to_vec());
            }
            Contents::Random(element) => {
                // Complex numbers are pairs of floats.
                let width = scalar_bytes(*element);
                each(width, bytes, &|index| {
                    let random = Pattern { seed: 1 }.element(index);
                    let fraction = f64::from(u32::from_le_bytes([random[0], random[1], random[2], 0])) / 16_777_216.0;
                    if is_float(*element) { number(fraction, *element) } else { random.to_vec() }
                });
            }
            Contents::Index(element) => each(scalar_bytes(*element), bytes, &|index| match is_float(*element) {
                true => number(index as f64, *element),
                false => index.to_le_bytes().to_vec(),
            }),
            Contents::Same(element) => each(element.len(), bytes, &|_| element.clone()),
            Contents::Bytes(all) => {
                bytes.fill(0);
                let rest = all.get(first as usize..).unwrap_or_default();
                let count = rest.len().min(bytes.len());
                bytes[..count].copy_from_slice(&rest[..count]);
            }
        }
    }
}

fn scalar_bytes(element: Element) -> usize {
    match element {
        Element::C64 => 4,
        Element::C128 => 8,
        element => element.width().bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_read_from_text() {
        assert_eq!(Binding::parse("16777216xf32"), Ok(Binding::zeros(1 << 26)));
        assert_eq!(Binding::parse("64MiB"), Ok(Binding::zeros(1 << 26)));
        assert_eq!(Binding::parse("64"), Ok(Binding::zeros(64)));
        assert_eq!(Binding::parse("2xu8:7").unwrap().contents, Contents::Same(vec![7]));
        assert_eq!(Binding::parse("u32:1,2"), Ok(Binding::of_bytes(vec![1, 0, 0, 0, 2, 0, 0, 0])));
        assert_eq!(Binding::parse("u8:1;f32:1"), Ok(Binding::of_bytes(vec![1, 0, 0, 0x80, 0x3f])));
        assert_eq!(Binding::parse("f16:1"), Ok(Binding::of_bytes(vec![0, 0x3c])));
        assert_eq!(Binding::parse("f16:-inf"), Ok(Binding::of_bytes(vec![0, 0xfc])));
        assert_eq!(Binding::parse("f32:0.1"), Ok(Binding::of_bytes(0.1f32.to_le_bytes().to_vec())));
        assert_eq!(Binding::parse("100TiB"), Ok(Binding::zeros(100 << 40)));
        for text in [
            "",
            "x",
            "4x",
            "xf32",
            "4xf31",
            "4xf32:",
            "4xf32:q",
            "u32",
            "u32:",
            "u32:-1",
            "u32:1;",
            "u32:1;4xf32",
            "f32:1e39",
            "f16:65520",
            "f64:-1e999",
            "-4",
            "4 4",
            "1EiB",
            "3:7",
        ] {
            assert!(Binding::parse(text).is_err(), "{text}");
        }
        assert!(Binding::parse("4611686018427387904xf64").unwrap_err().contains("2^63"));
    }

    #[test]
    fn contents_follow_from_the_address() {
        let read = |contents: &Contents, first| {
            let mut bytes = [0; 8];
            contents.fill(first, &mut bytes);
            bytes
        };
        assert_eq!(read(&Contents::Index(Element::U32), 8), [2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(read(&Contents::Bytes(vec![1, 2, 3].into()), 2), [3, 0, 0, 0, 0, 0, 0, 0]);
        let float = read(&Contents::Random(Element::F64), 64);
        assert!((0.0..1.0).contains(&f64::from_le_bytes(float)));
        let pattern = Pattern { seed: 3 };
        assert_eq!(read(&Contents::Pattern(pattern, Width::W8), 16), pattern.element(2)[..8]);
    }
}
