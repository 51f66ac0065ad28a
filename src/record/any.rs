//! Records of all kinds, for whoever takes any of them.

use std::path::Path;

use super::{BanksRow, CoalescingRow, HierarchyRow, ProbeRecord, ProbeResult, ReadError, Record, SCHEMA, file};
#[cfg(feature = "cli")]
use crate::profile::{self, Profile};

/// A record of one of the kinds there are.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyRecord {
    /// Of `cornerturn bench`.
    Bench(Record),
    /// Of `cornerturn hierarchy`.
    Hierarchy(ProbeRecord<HierarchyRow>),
    /// Of `cornerturn coalescing`.
    Coalescing(ProbeRecord<CoalescingRow>),
    /// Of `cornerturn banks`.
    Banks(ProbeRecord<BanksRow>),
    /// Of `cornerturn profile`.
    #[cfg(feature = "cli")]
    Profile(Profile),
}

/// Reads a record of one kind.
type Reader = fn(&str, &str) -> Result<AnyRecord, ReadError>;

/// The formats, and what reads them.
const KINDS: &[(&str, Reader)] = &[
    (SCHEMA, |text, origin| Record::from_json(text, origin).map(AnyRecord::Bench)),
    (HierarchyRow::SCHEMA, |text, origin| ProbeRecord::from_json(text, origin).map(AnyRecord::Hierarchy)),
    (CoalescingRow::SCHEMA, |text, origin| ProbeRecord::from_json(text, origin).map(AnyRecord::Coalescing)),
    (BanksRow::SCHEMA, |text, origin| ProbeRecord::from_json(text, origin).map(AnyRecord::Banks)),
    #[cfg(feature = "cli")]
    (profile::SCHEMA, |text, origin| Profile::from_json(text, origin).map(AnyRecord::Profile)),
];

impl AnyRecord {
    /// Reads a record from a file.
    ///
    /// # Errors
    /// [`ReadError`] as [`Record::read`], and [`ReadError::Kind`] for a record of a kind that is none of these.
    pub fn read(path: impl AsRef<Path>) -> Result<AnyRecord, ReadError> {
        file::read(path.as_ref(), AnyRecord::from_json)
    }

    /// Reads a record from JSON. `origin` is what errors call the text.
    ///
    /// # Errors
    /// [`ReadError`] as [`Record::from_json`], and [`ReadError::Kind`] as [`AnyRecord::read`].
    pub fn from_json(text: &str, origin: &str) -> Result<AnyRecord, ReadError> {
        let schema = file::schema(text, origin)?;
        // Of a kind that is known, its own reader says which version it takes.
        match KINDS.iter().find(|(known, _)| kind(known) == kind(&schema)) {
            Some((_, read)) => read(text, origin),
            None => {
                let known: Vec<String> = KINDS.iter().map(|(known, _)| format!("`{known}`")).collect();
                Err(ReadError::Kind { origin: origin.into(), found: file::shown(&schema), known: known.join(", ") })
            }
        }
    }
}

/// A format without its version.
fn kind(schema: &str) -> &str {
    schema.split_once('/').map_or(schema, |(kind, _)| kind)
}
