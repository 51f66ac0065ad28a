//! What `auto` is to run where that was measured: the fastest transpose of a problem on a device, and the text of the
//! file that such winners are kept in.
//!
//! [`harness::run_tuned`](crate::harness::run_tuned) takes winners from here and measures those that are missing.
//! Nothing else heeds them: elsewhere `auto` is what the [planner](crate::planner) says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;
use crate::problem::Problem;
use crate::variant::Variant;

/// The version of the file's format. A reader accepts no other.
pub const SCHEMA: &str = "cornerturn-tuning/1";

/// What a winner holds for: where anything of it is different, another transpose may be the fastest.
///
/// Lengths are in elements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The API, such as `cuda`.
    pub api: String,
    /// The name that the driver gives the device.
    pub device: String,
    /// Driver name and version.
    pub driver: String,
    /// Version of cornerturn, and so of the kernels.
    pub version: String,
    /// Bytes of an element.
    pub width: u64,
    /// Rows of one source matrix.
    pub rows: u64,
    /// Columns of one source matrix.
    pub cols: u64,
    /// Number of matrices.
    pub batch: u64,
    /// Leading dimension of the source.
    pub source_ld: u64,
    /// Batch stride of the source.
    pub source_stride: u64,
    /// Leading dimension of the destination.
    pub destination_ld: u64,
    /// Batch stride of the destination.
    pub destination_stride: u64,
    /// Whether shaders are compiled with bounds checks, on devices that have such a setting.
    pub bounds_checks: Option<bool>,
}

impl Key {
    /// The key of a problem on a device, with a setting of the shaders' bounds checks where it has one.
    pub fn new(device: &DeviceInfo, problem: &Problem, bounds_checks: Option<bool>) -> Key {
        let (source, destination) = (problem.source(), problem.destination());
        Key {
            api: device.id.api.name().into(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            width: problem.width().bytes() as u64,
            rows: problem.rows(),
            cols: problem.cols(),
            batch: problem.batch(),
            source_ld: source.ld,
            source_stride: source.stride,
            destination_ld: destination.ld,
            destination_stride: destination.stride,
            bounds_checks,
        }
    }
}

/// The winners that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Winners {
    /// By name, so that those of another version of the program outlive this one.
    known: BTreeMap<Key, String>,
    measured: BTreeSet<Key>,
    taken: BTreeSet<Key>,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    winners: Vec<Winner>,
}

/// One entry of the file.
#[derive(Serialize, Deserialize)]
struct Winner {
    #[serde(flatten)]
    key: Key,
    variant: String,
}

impl Winners {
    /// Reads winners from a file; there are none where there is no file.
    ///
    /// # Errors
    /// [`ReadError::File`] if the file is there and cannot be read, and the errors of [`Winners::from_json`].
    pub fn read(path: impl AsRef<Path>) -> Result<Winners, ReadError> {
        let path = path.as_ref();
        match fs::read_to_string(path) {
            Ok(text) => Winners::from_json(&text, &path.display().to_string()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Winners::default()),
            Err(cause) => Err(ReadError::File { path: path.into(), cause }),
        }
    }

    /// Reads winners from JSON. `origin` is what errors call the text: the name of its file.
    ///
    /// Names that no variant has are kept: another version of the program may know them.
    ///
    /// # Errors
    /// [`ReadError`] if the text is no JSON, not that of such a file, or of another version of the format.
    pub fn from_json(text: &str, origin: &str) -> Result<Winners, ReadError> {
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        let failed = |cause| ReadError::Json { origin: origin.into(), cause };
        // The version first: the fields of another one would only give an error that hides the reason.
        let version: Version = serde_json::from_str(text).map_err(failed)?;
        if version.schema != SCHEMA {
            // As much as a message needs, and nothing that a terminal would obey.
            let found = version.schema.escape_debug().take(40).collect();
            return Err(ReadError::Version { origin: origin.into(), found });
        }
        let file: File = serde_json::from_str(text).map_err(failed)?;
        let known = file.winners.into_iter().map(|winner| (winner.key, winner.variant)).collect();
        Ok(Winners { known, ..Winners::default() })
    }

    /// The winners as indented JSON in the order of their keys, with a newline at the end.
    pub fn to_json(&self) -> String {
        let winner = |(key, variant): (&Key, &String)| Winner { key: key.clone(), variant: variant.clone() };
        let file = File { schema: SCHEMA.into(), winners: self.known.iter().map(winner).collect() };
        let mut json = serde_json::to_string_pretty(&file).expect("every key of every map in it is a string");
        json.push('\n');
        json
    }

    /// The winner for a key, if there is one that this version of the program knows.
    pub fn find(&self, key: &Key) -> Option<Variant> {
        self.known.get(key)?.parse().ok()
    }

    /// Keeps a winner that was measured, in place of what was known for the key.
    pub fn insert(&mut self, key: Key, winner: Variant) {
        self.known.insert(key.clone(), winner.name().into());
        self.measured.insert(key);
    }

    /// Takes over what `other` has measured: it is the later of the two.
    pub fn update(&mut self, other: &Winners) {
        for key in &other.measured {
            self.known.insert(key.clone(), other.known[key].clone());
            self.measured.insert(key.clone());
        }
    }

    /// Notes that a winner was used as it was read.
    pub(crate) fn note_taken(&mut self, key: &Key) {
        if !self.measured.contains(key) {
            self.taken.insert(key.clone());
        }
    }

    /// How many winners were [inserted](Winners::insert) since they were read.
    pub fn measured(&self) -> usize {
        self.measured.len()
    }

    /// How many winners a run has used as they were read.
    pub fn taken(&self) -> usize {
        self.taken.len()
    }
}

/// A file of winners that cannot be read. The message names the file and the place in it.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or is not UTF-8.
    #[error("cannot read {}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// It is no JSON, or not that of winners. `cause` holds line and column.
    #[error("{origin}: not a file of winners: {cause}")]
    Json {
        /// The file.
        origin: String,
        /// What is wrong, and where.
        cause: serde_json::Error,
    },
    /// It is of another version of the format.
    #[error("{origin} is a file of format `{found}`; only `{SCHEMA}` can be read")]
    Version {
        /// The file.
        origin: String,
        /// The version that it names.
        found: String,
    },
}
