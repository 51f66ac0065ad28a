//! Matrices in files: what a file holds, and how its transpose is made and written.

mod band;
pub(crate) mod npy;
pub(crate) mod stream;
pub(crate) mod turn;
