//! Tests that need what a machine may not have.

use libtest_mimic::{Completion, Failed};

#[path = "require.rs"]
mod require;

/// Runs `case` if `tool` is there; otherwise skips it, or fails where `CORNERTURN_REQUIRE` names the tool.
pub fn unless_missing(
    tool: &str,
    usable: &Result<(), String>,
    case: impl FnOnce() -> Result<(), Failed>,
) -> Result<Completion, Failed> {
    match usable {
        Ok(()) => case().map(|()| Completion::Completed),
        Err(reason) if require::required(tool) => Err(format!("CORNERTURN_REQUIRE names {tool}, but {reason}").into()),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    }
}
