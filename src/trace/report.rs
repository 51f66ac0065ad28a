//! What a trace says: the format `cornerturn-trace/1`, which `docs/TRACE.md` describes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::{Finding, Maker};
use super::machine::Machine;
use super::record::{Counts, Kind, Space};
use super::run::Dispatch;
use super::sample::{STRATA, Sample, Selection, stratum_of, stratum_size};
use super::shader::Shader;

/// The name of the format and its version.
pub const SCHEMA: &str = "cornerturn-trace/1";

/// Workgroups that a report names.
const NAMED: usize = 64;

/// What was seen of a dispatch.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of cornerturn.
    pub version: String,
    /// What the shader is called.
    pub shader: String,
    /// The entry point.
    pub entry: String,
    /// Invocations of a workgroup along x, y and z.
    pub workgroup_size: [u32; 3],
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Invocations of a subgroup.
    pub subgroup: u32,
    /// Workgroups of the grid.
    pub workgroups: u128,
    /// How many of them were traced.
    pub traced: usize,
    /// Which ones, the first 64 of them.
    pub traced_workgroups: Vec<[u32; 3]>,
    /// Whether counts stand for more workgroups than were traced.
    pub scaled: bool,
    /// The buffers.
    pub bindings: Vec<Bound>,
    /// Counts by memory and kind of access.
    pub totals: Vec<Total>,
    /// Counts by line of the source.
    pub lines: Vec<Line>,
    /// What is wrong, or may be.
    pub findings: Vec<Finding>,
    /// Findings of yet other places, beyond the first 200.
    pub findings_beyond: u64,
    /// The source.
    #[serde(skip)]
    pub source: String,
}

/// A buffer.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// The group.
    pub group: u32,
    /// The binding in it.
    pub binding: u32,
    /// The variable.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its memory.
    pub space: Space,
    /// Bytes of the buffer.
    pub bytes: u64,
}

/// Counts, and what follows from them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// Bytes of the sectors.
    pub moved_bytes: u64,
    /// Sectors a request, in storage.
    pub sectors_per_request: Option<f64>,
    /// Useful bytes over moved bytes, from 0 to 1, in storage.
    pub efficiency: Option<f64>,
    /// Passes over the banks that conflicts cost.
    pub extra_passes: u64,
    /// The mean conflict degree, in workgroup memory: 1 is conflict-free.
    pub mean_degree: Option<f64>,
}

impl From<Counts> for Figures {
    fn from(counts: Counts) -> Figures {
        Figures {
            counts,
            moved_bytes: counts.moved_bytes(),
            sectors_per_request: counts.sectors_per_request(),
            efficiency: counts.efficiency(),
            extra_passes: counts.extra_passes(),
            mean_degree: counts.mean_degree(),
        }
    }
}

/// The counts of a kind of access to a memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Total {
    /// The memory.
    pub space: Space,
    /// The kind.
    pub kind: Kind,
    /// The counts.
    #[serde(flatten)]
    pub figures: Figures,
}

/// A line that accesses memory.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its number, from 1 on.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// Its accesses.
    pub accesses: Vec<Access>,
}

/// The accesses of a line to a variable, of one kind and size.
#[derive(Clone, Debug, Serialize)]
pub struct Access {
    /// The memory.
    pub space: Space,
    /// The kind.
    pub kind: Kind,
    /// The variable.
    pub variable: String,
    /// Bytes of one invocation's access.
    pub bytes: u64,
    /// The counts.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Report {
    /// The counts of all accesses of a kind to a memory.
    pub fn total(&self, space: Space, kind: Kind) -> Counts {
        let found = self.totals.iter().find(|total| total.space == space && total.kind == kind);
        found.map_or_else(Counts::default, |total| total.figures.counts)
    }

    pub(super) fn new(
        shader: &Shader,
        dispatch: &Dispatch,
        sample: &Sample,
        machine: &Machine,
        bound: &[Bound],
    ) -> Report {
        let lines = &machine.lines;
        let counts = scaled(dispatch, sample, machine);
        let sites = || machine.log.sites.iter().zip(&counts);
        let mut totals = BTreeMap::<_, Counts>::new();
        let mut accesses = BTreeMap::<_, Counts>::new();
        for (site, counts) in sites() {
            let region = &machine.regions[site.region];
            totals.entry((region.space, site.kind)).or_default().add(counts);
            let line = lines.of(site.span).map_or(0, |location| location.line);
            accesses.entry((line, site.region, site.kind, site.bytes)).or_default().add(counts);
        }
        let mut by_line = BTreeMap::<u32, Vec<Access>>::new();
        for ((line, region, kind, bytes), counts) in accesses {
            let region = &machine.regions[region];
            let (space, variable) = (region.space, region.name.clone());
            by_line.entry(line).or_default().push(Access { space, kind, variable, bytes, figures: counts.into() });
        }
        let total = |((space, kind), counts): (_, Counts)| Total { space, kind, figures: counts.into() };
        let line = |(line, accesses)| Line { line, text: lines.text(line).into(), accesses };
        let findings = Maker { machine, sample };
        let mut bindings = bound.to_vec();
        bindings.sort_by_key(|bound| (bound.group, bound.binding));
        Report {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            shader: shader.path.clone(),
            entry: shader.entry_name().into(),
            workgroup_size: shader.workgroup_size(),
            grid: dispatch.grid,
            subgroup: dispatch.subgroup,
            workgroups: sample.total,
            traced: sample.workgroups.len(),
            traced_workgroups: sample.workgroups.iter().take(NAMED).copied().collect(),
            scaled: !is_single(dispatch) && sample.total > sample.workgroups.len() as u128,
            bindings,
            totals: totals.into_iter().map(total).collect(),
            lines: by_line.into_iter().map(line).collect(),
            findings: machine.findings.list.iter().map(|counted| findings.of(counted)).collect(),
            findings_beyond: machine.findings.beyond,
            source: shader.source().into(),
        }
    }
}

/// Whether one workgroup was asked for: what it says is said of it alone.
fn is_single(dispatch: &Dispatch) -> bool {
    matches!(dispatch.workgroups, Selection::One(_))
}

/// The counts of each site for the whole grid.
fn scaled(dispatch: &Dispatch, sample: &Sample, machine: &Machine) -> Vec<Counts> {
    let mut sampled = [0; STRATA];
    sample.workgroups.iter().for_each(|at| sampled[stratum_of(dispatch.grid, *at)] += 1);
    let size = |stratum| match is_single(dispatch) {
        true => sampled[stratum],
        false => u64::try_from(stratum_size(dispatch.grid, stratum)).unwrap_or(u64::MAX),
    };
    let of_site = |strata: &Vec<Counts>| {
        strata.iter().enumerate().fold(Counts::default(), |mut sum, (stratum, counts)| {
            sum.add(&counts.scaled(size(stratum), sampled[stratum]));
            sum
        })
    };
    machine.log.counts.iter().map(of_site).collect()
}
