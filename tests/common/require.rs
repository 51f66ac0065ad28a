//! What a test run must find.
//!
//! Tests of what is missing here (a GPU, NVRTC, a C compiler) are skipped, which is right on a laptop and wrong where
//! the thing is known to be there: a test that never runs looks like one that passes.

/// Whether `name` is in the comma-separated list of the environment variable `CORNERTURN_REQUIRE`, so that a test
/// which lacks it fails instead of being skipped.
pub fn required(name: &str) -> bool {
    std::env::var("CORNERTURN_REQUIRE").is_ok_and(|list| list.split(',').any(|item| item.trim() == name))
}
