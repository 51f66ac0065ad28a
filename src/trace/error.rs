//! Why a shader could not be explained.

use std::fmt;

use serde::Serialize;

/// A place in the source, both numbers from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Location {
    /// The line.
    pub line: u32,
    /// The column, in bytes.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Where something is, or nothing where that is not known.
pub(super) fn at(location: &Option<Location>) -> String {
    location.map_or(String::new(), |location| format!(" at {location}"))
}

/// Why a shader could not be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// naga does not accept the source. The text is its own diagnostic, of several lines.
    #[error("{0}")]
    Invalid(String),
    /// There is no compute entry point.
    #[error("{path} has no compute entry point{others}")]
    NoEntryPoint {
        /// The shader.
        path: String,
        /// The entry points of other stages, if there are any.
        others: String,
    },
    /// There are several compute entry points and none was named.
    #[error("{path} has several compute entry points; name one with --entry: {names}")]
    SeveralEntryPoints {
        /// The shader.
        path: String,
        /// Their names.
        names: String,
    },
    /// There is no compute entry point of that name.
    #[error("{path} has no compute entry point `{name}`, but {names}")]
    UnknownEntryPoint {
        /// The shader.
        path: String,
        /// The name.
        name: String,
        /// Those that it has.
        names: String,
    },
    /// An override is not there, has no value, or cannot take it.
    #[error("overrides: {0}")]
    Override(String),
    /// Variables that the entry point uses have no buffer.
    #[error("{0}")]
    Unbound(String),
    /// A buffer is none that its variable can have.
    #[error("{0}")]
    Binding(String),
    /// A workgroup was asked for that the grid has not.
    #[error("{0}")]
    Grid(String),
    /// Something is larger than the tracer takes.
    #[error("{what} {needed}; the most is {most}")]
    TooLarge {
        /// What.
        what: String,
        /// How much of it.
        needed: u128,
        /// How much there may be.
        most: u64,
    },
    /// The shader does something that the tracer cannot run.
    #[error("not supported: {what}{}", at(.location))]
    Unsupported {
        /// What.
        what: String,
        /// Where.
        location: Option<Location>,
    },
    /// A workgroup took more steps than it may.
    #[error("workgroup {workgroup:?} took more than {limit} steps{}: an endless loop, or --max-steps is too low", at(.location))]
    Steps {
        /// The workgroup.
        workgroup: [u32; 3],
        /// The limit.
        limit: u64,
        /// Where it was then.
        location: Option<Location>,
    },
    /// The parser or the tracer itself failed, which is a fault of theirs and not of the shader.
    #[error("internal error: {message}")]
    Failed {
        /// What it said.
        message: String,
    },
}

impl TraceError {
    /// Whether the input is to blame, and not what came of running it.
    pub fn is_input(&self) -> bool {
        !matches!(self, TraceError::Unsupported { .. } | TraceError::Steps { .. } | TraceError::Failed { .. })
    }
}
