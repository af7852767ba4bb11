//! The bundled programs, and what they share: the command line, JSON output, statistics.
//!
//! Conventions of all programs: data goes to standard output, printed by rank 0, as columns under a `# ` header or, with
//! `--json`, as one JSON document; results are verified, and wrong data is exit status 1; a wrong argument is one line on
//! standard error and exit status 2.
#![no_std]

extern crate alloc;

pub mod arch;
pub mod cli;
pub mod json;
pub mod statistics;
