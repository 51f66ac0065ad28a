//! Findings as a report has them.

use std::fmt;

use serde::Serialize;

use super::error::Location;
use super::findings::{Counted, Found};
use super::machine::Machine;
use super::record::{Kind, Site, Space};
use super::sample::Sample;

/// An access of an invocation, in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Party {
    /// Where in the source; nothing where naga does not tell.
    pub location: Option<Location>,
    /// What it does.
    pub kind: Kind,
    /// Its workgroup.
    pub workgroup: [u32; 3],
    /// Where it is in its workgroup; nothing where that is not kept.
    pub invocation: Option<[u32; 3]>,
}

/// Something that is wrong, or may be: the first example, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// Two invocations of a workgroup touch the same byte, one of them writes it, and no barrier puts them in order.
    DataRace {
        /// The variable.
        variable: String,
        /// Its memory.
        space: Space,
        /// The byte of it.
        byte: u64,
        /// The two, the one that came first here first.
        accesses: [Party; 2],
        /// Whether both write, and the same bytes each time.
        same_value: bool,
        /// Whether a barrier comes in between that is none for this memory, such as `workgroupBarrier` for storage.
        other_barrier: bool,
        /// How often.
        count: u64,
    },
    /// Two workgroups do, which no barrier can order.
    WorkgroupConflict {
        /// The variable.
        variable: String,
        /// The byte of it.
        byte: u64,
        /// The two.
        accesses: [Party; 2],
        /// Whether both write, and the same bytes each time.
        same_value: bool,
        /// How often.
        count: u64,
    },
    /// An index beyond the elements there are: what is loaded so is zero here, and what is stored is dropped.
    OutOfBounds {
        /// The variable.
        variable: String,
        /// The access.
        access: String,
        /// Where.
        location: Option<Location>,
        /// The workgroup.
        workgroup: [u32; 3],
        /// The invocation.
        invocation: [u32; 3],
        /// The index; of what begins within and ends beyond, the byte.
        index: i64,
        /// How many elements there are.
        length: u64,
        /// How often.
        count: u64,
    },
    /// A barrier that only some invocations of a workgroup reach.
    DivergentBarrier {
        /// Where.
        location: Option<Location>,
        /// The workgroup.
        workgroup: [u32; 3],
        /// Invocations that reach it.
        reached: usize,
        /// One that does not.
        missing: [u32; 3],
        /// How often.
        count: u64,
    },
    /// A `workgroupUniformLoad` from several places.
    NotUniform {
        /// Where.
        location: Option<Location>,
        /// The workgroup.
        workgroup: [u32; 3],
        /// An invocation that loads from elsewhere than the first one.
        invocation: [u32; 3],
        /// How often.
        count: u64,
    },
}

/// Makes findings that can be read by themselves.
pub(super) struct Maker<'a> {
    pub machine: &'a Machine<'a>,
    pub sample: &'a Sample,
}

impl Maker<'_> {
    fn party(&self, site: usize, workgroup: usize, lane: Option<usize>) -> Party {
        let Site { span, kind, .. } = self.machine.log.sites[site];
        Party {
            location: self.machine.lines.of(span),
            kind,
            workgroup: self.sample.workgroups[workgroup],
            invocation: lane.map(|lane| self.machine.local_id(lane)),
        }
    }

    /// The finding for what was counted.
    pub fn of(&self, counted: &Counted) -> Finding {
        let (count, number) = (counted.count, counted.workgroup);
        let workgroup = self.sample.workgroups[number];
        let region = |region: usize| &self.machine.regions[region];
        match counted.found.clone() {
            Found::Race { region: of, sites, lanes, byte, same_value, other_barrier } => Finding::DataRace {
                variable: region(of).name.clone(),
                space: region(of).space,
                byte,
                accesses: [0, 1].map(|which| self.party(sites[which], number, Some(lanes[which]))),
                same_value,
                other_barrier,
                count,
            },
            Found::Shared { region: of, sites, workgroups, lane, byte, same_value } => Finding::WorkgroupConflict {
                variable: region(of).name.clone(),
                byte,
                accesses: [0, 1].map(|which| self.party(sites[which], workgroups[which], (which == 1).then_some(lane))),
                same_value,
                count,
            },
            Found::Outside { variable, place, what, lane, outside } => Finding::OutOfBounds {
                variable,
                access: what.into(),
                location: self.machine.lines.of(place),
                workgroup,
                invocation: self.machine.local_id(lane),
                index: outside.index,
                length: outside.length,
                count,
            },
            Found::Barrier { place, missing, lanes } => Finding::DivergentBarrier {
                location: self.machine.lines.of(place),
                workgroup,
                reached: lanes,
                missing: self.machine.local_id(missing),
                count,
            },
            Found::NotUniform { place, lane } => Finding::NotUniform {
                location: self.machine.lines.of(place),
                workgroup,
                invocation: self.machine.local_id(lane),
                count,
            },
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        if let Some(location) = self.location {
            write!(f, " at {}:{}", location.line, location.column)?;
        }
        match self.invocation {
            Some(invocation) => write!(f, " by invocation {invocation:?} of workgroup {:?}", self.workgroup),
            None => write!(f, " by workgroup {:?}", self.workgroup),
        }
    }
}

impl Finding {
    /// Where it is in the source, each line once.
    pub fn locations(&self) -> Vec<Location> {
        let of = |accesses: &[Party; 2]| accesses.iter().filter_map(|party| party.location).collect();
        let mut locations: Vec<Location> = match self {
            Finding::DataRace { accesses, .. } | Finding::WorkgroupConflict { accesses, .. } => of(accesses),
            Finding::OutOfBounds { location, .. }
            | Finding::DivergentBarrier { location, .. }
            | Finding::NotUniform { location, .. } => location.iter().copied().collect(),
        };
        locations.sort();
        locations.dedup_by_key(|location| location.line);
        locations
    }
}

/// How often, where it is more than once.
fn times(count: u64) -> String {
    if count > 1 { format!("; {count} times in what was traced") } else { String::new() }
}

fn place(location: &Option<Location>) -> String {
    location.map_or(String::new(), |location| format!(" at {}:{}", location.line, location.column))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let same = |same: bool| if same { " (both write the same)" } else { "" };
        match self {
            Finding::DataRace { variable, space: of, byte, accesses: [a, b], same_value, other_barrier, count } => {
                let memory = of.name();
                write!(f, "data race on byte {byte} of {variable} ({memory}): {a}, then {b}{}", same(*same_value))?;
                if *other_barrier {
                    let needed = if *of == Space::Workgroup { "workgroupBarrier" } else { "storageBarrier" };
                    write!(f, "; the barrier in between does not order {memory} memory, {needed} does")?;
                }
                write!(f, "{}", times(*count))
            }
            Finding::WorkgroupConflict { variable, byte, accesses: [a, b], same_value, count } => write!(
                f,
                "conflict between workgroups on byte {byte} of {variable}: {a}, and {b}{}{}",
                same(*same_value),
                times(*count)
            ),
            Finding::OutOfBounds { variable, access, location, workgroup, invocation, index, length, count } => write!(
                f,
                "out of bounds: {access}{} of index {index} of {variable}, which has {length}, by invocation \
                 {invocation:?} of workgroup {workgroup:?}{}",
                place(location),
                times(*count)
            ),
            Finding::DivergentBarrier { location, workgroup, reached, missing, count } => write!(
                f,
                "barrier in control flow that is not uniform{}: {reached} invocations of workgroup {workgroup:?} reach \
                 it, {missing:?} does not{}",
                place(location),
                times(*count)
            ),
            Finding::NotUniform { location, workgroup, invocation, count } => write!(
                f,
                "workgroupUniformLoad{} by invocation {invocation:?} of workgroup {workgroup:?} from elsewhere than the \
                 first one{}",
                place(location),
                times(*count)
            ),
        }
    }
}
