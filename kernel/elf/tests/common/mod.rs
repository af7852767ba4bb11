//! Shared by the tests; the fuzz target includes the invariants.

pub mod file;
pub mod invariants;
