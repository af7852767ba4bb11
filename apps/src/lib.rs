//! The bundled programs, and what they share: the command line, JSON output, statistics, and measurements that `check` makes as well.
//!
//! Conventions of all programs: data goes to standard output, printed by rank 0, as columns under a `# ` header or, with
//! `--json`, as one JSON document; results are verified, and wrong data is exit status 1; a wrong argument is one line on
//! standard error and exit status 2.
#![no_std]

extern crate alloc;

pub mod arch;
pub mod check;
pub mod cli;
pub mod json;
pub mod noise;
pub mod statistics;
pub mod stream;
