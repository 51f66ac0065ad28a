//! What was accessed: counted for each place in the source as it happens.

use std::collections::HashMap;

use naga::Span;
use serde::Serialize;

use crate::model;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes, atomically.
    Atomic,
}

/// The memory that an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// A storage buffer, in global memory.
    Storage,
    /// A uniform buffer, through the cache for constants.
    Uniform,
    /// Workgroup memory, which CUDA calls shared.
    Workgroup,
}

impl Kind {
    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic => "atomic",
        }
    }
}

impl Space {
    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Space::Storage => "storage",
            Space::Uniform => "uniform",
            Space::Workgroup => "workgroup",
        }
    }
}

/// A place in the source that accesses a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub span: (usize, usize),
    pub kind: Kind,
    /// The number of the variable's region.
    pub region: usize,
    /// Bytes of an invocation's access.
    pub bytes: u64,
}

impl Site {
    pub fn new(span: Span, kind: Kind, region: usize, bytes: u64) -> Site {
        let span = span.to_range().map_or((0, 0), |range| (range.start, range.end));
        Site { span, kind, region, bytes }
    }
}

/// What was counted of requests: one for each subgroup with an active invocation each time an access is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Accesses of single invocations.
    pub accesses: u64,
    /// Bytes that the accesses asked for, in all.
    pub requested_bytes: u64,
    /// Bytes that requests asked for, each once a request however many invocations asked for it. In storage.
    pub useful_bytes: u64,
    /// Sectors of 32 bytes that requests touched, in storage.
    pub sectors: u64,
    /// Sectors that would hold the useful bytes of each request.
    pub least_sectors: u64,
    /// Lines of 128 bytes that requests touched, in storage.
    pub lines: u64,
    /// Passes over the banks of workgroup memory.
    pub passes: u64,
    /// Passes that would do without conflicts.
    pub least_passes: u64,
    /// The most passes that one phase of a request took: its conflict degree.
    pub worst_degree: u64,
}

impl Counts {
    /// Sectors a request, where there are any.
    pub fn sectors_per_request(&self) -> Option<f64> {
        ratio(self.sectors, self.requests).filter(|_| self.sectors > 0)
    }

    /// Bytes that move: whole sectors.
    pub fn moved_bytes(&self) -> u64 {
        self.sectors.saturating_mul(model::SECTOR_BYTES)
    }

    /// Useful bytes over moved bytes, between 0 and 1; `None` where nothing moves.
    pub fn efficiency(&self) -> Option<f64> {
        ratio(self.useful_bytes, self.moved_bytes())
    }

    /// Passes that bank conflicts cost.
    pub fn extra_passes(&self) -> u64 {
        self.passes.saturating_sub(self.least_passes)
    }

    /// The mean conflict degree, 1 without conflicts; `None` where no banks are touched.
    pub fn mean_degree(&self) -> Option<f64> {
        ratio(self.passes, self.least_passes)
    }

    /// Adds others, so that the worst of both is the worst.
    pub fn add(&mut self, other: &Counts) {
        *self = Counts {
            requests: self.requests.saturating_add(other.requests),
            accesses: self.accesses.saturating_add(other.accesses),
            requested_bytes: self.requested_bytes.saturating_add(other.requested_bytes),
            useful_bytes: self.useful_bytes.saturating_add(other.useful_bytes),
            sectors: self.sectors.saturating_add(other.sectors),
            least_sectors: self.least_sectors.saturating_add(other.least_sectors),
            lines: self.lines.saturating_add(other.lines),
            passes: self.passes.saturating_add(other.passes),
            least_passes: self.least_passes.saturating_add(other.least_passes),
            worst_degree: self.worst_degree.max(other.worst_degree),
        };
    }

    /// These counts of `sampled` workgroups for `all` like them.
    pub(super) fn scaled(&self, all: u64, sampled: u64) -> Counts {
        let scale = |count: u64| match all == sampled {
            true => count,
            false => (u128::from(count) * u128::from(all) / u128::from(sampled.max(1))).min(u64::MAX.into()) as u64,
        };
        Counts {
            requests: scale(self.requests),
            accesses: scale(self.accesses),
            requested_bytes: scale(self.requested_bytes),
            useful_bytes: scale(self.useful_bytes),
            sectors: scale(self.sectors),
            least_sectors: scale(self.least_sectors),
            lines: scale(self.lines),
            passes: scale(self.passes),
            least_passes: scale(self.least_passes),
            worst_degree: self.worst_degree,
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The counts of all sites, apart for each stratum of workgroups.
#[derive(Default)]
pub(super) struct Log {
    pub sites: Vec<Site>,
    numbers: HashMap<Site, usize>,
    /// By site and stratum.
    pub counts: Vec<Vec<Counts>>,
    /// The stratum of the workgroup that runs.
    pub stratum: usize,
}

impl Log {
    /// The number of a site.
    pub fn site(&mut self, site: Site) -> usize {
        *self.numbers.entry(site).or_insert_with(|| {
            self.sites.push(site);
            self.counts.push(Vec::new());
            self.sites.len() - 1
        })
    }

    /// Counts the request of a subgroup, whose invocations access these addresses, those of them that are active.
    pub fn request(&mut self, number: usize, space: Space, addresses: &[Option<u64>]) {
        let Site { kind, bytes, .. } = self.sites[number];
        let accesses = addresses.iter().flatten().count() as u64;
        if accesses == 0 {
            return;
        }
        let mut counts = Counts { requests: 1, accesses, requested_bytes: accesses * bytes, ..Counts::default() };
        match space {
            Space::Storage => {
                let touched = model::touched(addresses.iter().flatten().copied(), bytes);
                counts.useful_bytes = touched.bytes;
                counts.sectors = touched.sectors;
                counts.least_sectors = touched.bytes.div_ceil(model::SECTOR_BYTES);
                counts.lines = touched.lines;
            }
            Space::Workgroup => {
                let passes = model::bank_passes(addresses, bytes, kind == Kind::Atomic);
                counts.passes = passes.taken;
                counts.least_passes = passes.least;
                counts.worst_degree = passes.worst;
            }
            Space::Uniform => {}
        }
        let strata = &mut self.counts[number];
        if strata.len() <= self.stratum {
            strata.resize(self.stratum + 1, Counts::default());
        }
        strata[self.stratum].add(&counts);
    }
}
