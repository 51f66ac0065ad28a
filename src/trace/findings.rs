//! What is wrong, or may be: each kind of it once for the places where it is, with the first example and how often.

use std::collections::HashMap;
use std::hash::Hash;

use naga::Span;

use super::pointer::Outside;

/// Most findings of different places; what is beyond is counted only.
const MOST: usize = 200;

/// A place in the source, as bytes of it.
pub(super) type Place = (usize, usize);

/// Something that was found.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// Two invocations of a workgroup, with no barrier in between.
    Race { region: usize, sites: [usize; 2], lanes: [usize; 2], byte: u64, same_value: bool, other_barrier: bool },
    /// Two workgroups.
    Shared { region: usize, sites: [usize; 2], workgroups: [usize; 2], lane: usize, byte: u64, same_value: bool },
    /// An index that chose nothing.
    Outside { variable: String, place: Place, what: &'static str, lane: usize, outside: Outside },
    /// A barrier that not all invocations reach.
    Barrier { place: Place, missing: usize, lanes: usize },
    /// A pointer, or another value that has to be the same for all invocations, and is not.
    NotUniform { place: Place, lane: usize },
}

/// By what findings are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Race([usize; 2]),
    Shared([usize; 2]),
    Outside(Place, String),
    Barrier(Place),
    NotUniform(Place),
}

/// A finding with its number of times.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub found: Found,
    /// The workgroup of the example, by its number among those traced.
    pub workgroup: usize,
    pub count: u64,
}

#[derive(Default)]
pub(super) struct Findings {
    numbers: HashMap<Key, usize>,
    pub list: Vec<Counted>,
    /// How many findings of yet other places there were.
    pub beyond: u64,
}

impl Findings {
    /// Notes one.
    pub fn add(&mut self, found: Found, workgroup: usize) {
        let key = match &found {
            Found::Race { sites, .. } => Key::Race(*sites),
            Found::Shared { sites, .. } => Key::Shared(*sites),
            Found::Outside { place, variable, .. } => Key::Outside(*place, variable.clone()),
            Found::Barrier { place, .. } => Key::Barrier(*place),
            Found::NotUniform { place, .. } => Key::NotUniform(*place),
        };
        if let Some(number) = self.numbers.get(&key) {
            let known = &mut self.list[*number];
            known.count += 1;
            if let (
                Found::Race { same_value, .. } | Found::Shared { same_value, .. },
                Found::Race { same_value: same, .. } | Found::Shared { same_value: same, .. },
            ) = (&mut known.found, found)
            {
                *same_value &= same;
            }
        } else if self.list.len() < MOST {
            self.numbers.insert(key, self.list.len());
            self.list.push(Counted { found, workgroup, count: 1 });
        } else {
            self.beyond += 1;
        }
    }
}

/// The bytes of a span.
pub(super) fn place(span: Span) -> Place {
    span.to_range().map_or((0, 0), |range| (range.start, range.end))
}
