//! Elements and the widths the kernels are written for.
//!
//! A transpose moves bits, so a kernel only needs to know how wide an element is. The named elements are names for
//! widths, as a user of NumPy or of a GPU API spells them.

use std::fmt;
use std::str::FromStr;

/// The size of one element in bytes: what a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 1 byte.
    W1,
    /// 2 bytes.
    W2,
    /// 4 bytes.
    W4,
    /// 8 bytes.
    W8,
    /// 16 bytes.
    W16,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Width; 5] = [Width::W1, Width::W2, Width::W4, Width::W8, Width::W16];

    /// The width in bytes: 1, 2, 4, 8 or 16.
    pub const fn bytes(self) -> usize {
        1 << self as usize
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.bytes())
    }
}

macro_rules! elements {
    ($($(#[$doc:meta])* $variant:ident $name:literal $width:ident;)*) => {
        /// A named element type. Only its [width](Element::width) matters to a kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Element { $($(#[$doc])* $variant,)* }

        impl Element {
            /// Every element, in the order of the documentation.
            pub const ALL: &[Element] = &[$(Element::$variant,)*];

            /// The name on the command line and in records, such as `f32`.
            pub const fn name(self) -> &'static str {
                match self { $(Element::$variant => $name,)* }
            }

            /// How wide the element is.
            pub const fn width(self) -> Width {
                match self { $(Element::$variant => Width::$width,)* }
            }
        }
    };
}

elements! {
    /// Unsigned 8-bit integer.
    U8 "u8" W1;
    /// Signed 8-bit integer.
    I8 "i8" W1;
    /// Unsigned 16-bit integer.
    U16 "u16" W2;
    /// Signed 16-bit integer.
    I16 "i16" W2;
    /// IEEE half precision.
    F16 "f16" W2;
    /// The upper half of an IEEE single, as machine learning uses it.
    Bf16 "bf16" W2;
    /// Unsigned 32-bit integer.
    U32 "u32" W4;
    /// Signed 32-bit integer.
    I32 "i32" W4;
    /// IEEE single precision.
    F32 "f32" W4;
    /// Unsigned 64-bit integer.
    U64 "u64" W8;
    /// Signed 64-bit integer.
    I64 "i64" W8;
    /// IEEE double precision.
    F64 "f64" W8;
    /// Complex number of two IEEE singles.
    C64 "c64" W8;
    /// Complex number of two IEEE doubles.
    C128 "c128" W16;
}

impl Element {
    /// The element that stands for a width where none is named: `u8`, `f16`, `f32`, `f64` or `c128`.
    pub const fn of_width(width: Width) -> Element {
        match width {
            Width::W1 => Element::U8,
            Width::W2 => Element::F16,
            Width::W4 => Element::F32,
            Width::W8 => Element::F64,
            Width::W16 => Element::C128,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no element has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown element `{name}`; the elements are {}", names())]
pub struct UnknownElement {
    /// What was asked for.
    pub name: String,
}

fn names() -> String {
    Element::ALL.iter().map(|element| element.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(name: &str) -> Result<Self, UnknownElement> {
        let found = Element::ALL.iter().find(|element| element.name() == name);
        found.copied().ok_or_else(|| UnknownElement { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_powers_of_two_in_order() {
        assert_eq!(Width::ALL.map(Width::bytes), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn every_name_parses_back_and_every_width_has_a_stand_in() {
        for &element in Element::ALL {
            assert_eq!(element.name().parse(), Ok(element));
        }
        for width in Width::ALL {
            assert_eq!(Element::of_width(width).width(), width);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let message = "f33".parse::<Element>().unwrap_err().to_string();
        assert!(message.contains("`f33`") && message.contains("u8, i8") && message.ends_with("c128"), "{message}");
    }
}
