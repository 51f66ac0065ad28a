//! Reading records from JSON and writing them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{InvalidRecord, Record, SCHEMA};

/// Bytes of a file beyond which it is not read: room for more than 50,000 rows, where a run has a few hundred.
pub const MAX_BYTES: u64 = 64 << 20;

/// A record that cannot be read. The message names the file and the place in it.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// It is larger than any record.
    #[error("{origin} has more than {MAX_BYTES} B ({} MiB), the most that a record may have", MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        origin: String,
    },
    /// It is no text.
    #[error("{origin}:{line}: not a record: this line is not UTF-8")]
    NotText {
        /// The file.
        origin: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// It is JSON of something else.
    #[error("{origin}: not a record of cornerturn: it has no `schema`")]
    NoSchema {
        /// The file.
        origin: String,
    },
    /// There is nothing in it.
    #[error("{origin} is empty; a record was expected")]
    Empty {
        /// The file.
        origin: String,
    },
    /// It ends in the middle.
    #[error("{origin}:{line}:{column}: the record ends here, before it is complete; it was cut off")]
    Truncated {
        /// The file.
        origin: String,
        /// Line of the end, counted from 1.
        line: usize,
        /// Column of the end, in bytes.
        column: usize,
    },
    /// It is no JSON, or not the JSON of a record. `cause` holds line and column.
    #[error("{origin}: not a record: {cause}")]
    Json {
        /// The file.
        origin: String,
        /// What is wrong, and where.
        cause: serde_json::Error,
    },
    /// It is a record of another version of the format.
    #[error("{origin} is a record of format `{found}`; only `{expected}` can be read")]
    Version {
        /// The file.
        origin: String,
        /// The version it names.
        found: String,
        /// The version that can be read.
        expected: &'static str,
    },
    /// It is a record of another kind, or of another tool.
    #[error("{origin} is a record of format `{found}`; only {known} can be read")]
    Kind {
        /// The file.
        origin: String,
        /// The format it names.
        found: String,
        /// The formats that can be read.
        known: String,
    },
    /// A value in it cannot be.
    #[error("{origin}: {invalid}")]
    Invalid {
        /// The file.
        origin: String,
        /// The value, and its place.
        invalid: InvalidRecord,
    },
}

impl Record {
    /// Reads a record from a file.
    ///
    /// # Errors
    /// [`ReadError::File`] if the file cannot be read, [`ReadError::TooLarge`] if it has more than [`MAX_BYTES`],
    /// [`ReadError::NotText`] if it is not UTF-8, and the errors of [`Record::from_json`].
    pub fn read(path: impl AsRef<Path>) -> Result<Record, ReadError> {
        read(path.as_ref(), Record::from_json)
    }

    /// Reads a record from JSON. Fields it does not know are passed over. `origin` is what errors call the text: the
    /// name of its file.
    ///
    /// # Errors
    /// [`ReadError`] if the text is empty, cut off, no JSON or not a record's, names another version of the format, or
    /// breaks a rule of [`Record::check`].
    pub fn from_json(text: &str, origin: &str) -> Result<Record, ReadError> {
        let record: Record = of_version(text, origin, SCHEMA)?;
        match record.check() {
            Ok(()) => Ok(record),
            Err(invalid) => Err(ReadError::Invalid { origin: origin.into(), invalid }),
        }
    }

    /// The record as indented JSON, fields in the order of their declaration, with a newline at the end.
    ///
    /// # Errors
    /// [`InvalidRecord`] if the record breaks a rule of [`Record::check`]. JSON has no NaN and no infinity, and a
    /// serializer makes `null` of them without a word; here they are refused.
    pub fn to_json(&self) -> Result<String, InvalidRecord> {
        self.check()?;
        Ok(json(self))
    }
}

/// Reads a record of whatever kind from a file, with the errors of [`Record::read`]; `from_json` is given the text and what
/// errors call it.
pub(super) fn read<T>(path: &Path, from_json: fn(&str, &str) -> Result<T, ReadError>) -> Result<T, ReadError> {
    let origin = path.display().to_string();
    let bytes = head(path).map_err(|cause| ReadError::File { path: path.into(), cause })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ReadError::TooLarge { origin });
    }
    let Some(chunk) = bytes.utf8_chunks().next() else { return Err(ReadError::Empty { origin }) };
    let text = chunk.valid();
    // What was cut off in the middle of a character was cut off; anything else that is no character is no text.
    let cut_off = text.len() + chunk.invalid().len() == bytes.len();
    match from_json(text, &origin) {
        read if chunk.invalid().is_empty() => read,
        Err(error @ ReadError::Truncated { .. }) if cut_off => Err(error),
        _ => Err(ReadError::NotText { origin, line: 1 + text.matches('\n').count() }),
    }
}

/// The bytes of a file, but of one that is too large, or has no end, only as many as tell so.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Any record as indented JSON, with a newline at the end.
pub(crate) fn json(record: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(record).expect("a record has no map whose keys are not strings");
    json.push('\n');
    json
}

/// Reads a record of whatever kind that has to name this version of its format.
pub(crate) fn of_version<T: DeserializeOwned>(
    text: &str,
    origin: &str,
    expected: &'static str,
) -> Result<T, ReadError> {
    // The version first: the fields of another version would only give an error that hides the reason.
    let schema = schema(text, origin)?;
    if schema != expected {
        return Err(ReadError::Version { origin: origin.into(), found: shown(&schema), expected });
    }
    parse(text, origin)
}

/// The version of the format that a record of whatever kind names.
pub(super) fn schema(text: &str, origin: &str) -> Result<String, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        schema: Option<String>,
    }
    if text.trim().is_empty() {
        return Err(ReadError::Empty { origin: origin.into() });
    }
    let version: Version = parse(text, origin)?;
    version.schema.ok_or_else(|| ReadError::NoSchema { origin: origin.into() })
}

/// As much of a version as a message needs, and nothing that a terminal would obey.
pub(super) fn shown(schema: &str) -> String {
    schema.escape_debug().take(40).collect()
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str, origin: &str) -> Result<T, ReadError> {
    serde_json::from_str(text).map_err(|cause| {
        let origin = origin.to_owned();
        if cause.is_eof() {
            ReadError::Truncated { origin, line: cause.line(), column: cause.column() }
        } else {
            ReadError::Json { origin, cause }
        }
    })
}
