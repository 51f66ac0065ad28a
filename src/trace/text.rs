//! Reports as text.
