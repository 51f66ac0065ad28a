//! Matrix transpose at the speed of a copy, on any GPU.

#[path = "../backends/mod.rs"]
pub mod backends;

pub mod backend;
pub mod device;
pub mod element;
pub mod kernel;
pub mod pattern;
pub mod problem;
pub mod record;
pub mod source;
pub mod timing;
pub mod variant;
