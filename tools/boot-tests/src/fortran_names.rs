//! Whether Fortran has every function of `mpi.h` that it shall have, under both its names.
//!
//! What it shall have is what the header declares, but for functions that the standard gives to C or to the module `mpi_f08` alone, and those
//! that are left out here by name.

use std::path::Path;

use super::Test;
use crate::scoreboard;
use lwk::cc;
use lwk::subcommand::Lwk;

/// A program whose making makes the library, too.
const PROGRAM: &str = "conformance/bindings.f90";
/// Functions that Fortran's older interfaces lack by the standard: large counts are the module `mpi_f08`'s, the tool interface and the
/// conversions of handles are C's.
const ENDS: [&str; 5] = ["_c", "_c2f", "_f2c", "_fromint", "_toint"];
const STARTS: [&str; 1] = ["T_"];
/// The same, by name: conversions to and from the module's statuses.
const NAMES: [&str; 4] = ["Status_c2f08", "Status_f082c", "Status_f082f", "Status_f2f08"];
/// Functions at least: a header that cannot be read any more would have none.
const LEAST: usize = 400;

/// The test that no function is missing.
pub fn test() -> Test {
    let sources = vec![Path::new(PROGRAM).to_owned()];
    Test {
        name: "conformance-fortran-has-every-function".into(),
        alone: false,
        on_host: true,
        sources,
        run: Box::new(check),
    }
}

fn check(lwk: &Lwk) -> Result<(), String> {
    let wrong = |failure: lwk::failure::Failure| failure.message;
    let library = cc::prefix(lwk.tree()).join("lib/libmpifort.a");
    let there = scoreboard::symbols(&library, "mpi_", "pmpi_").map_err(wrong)?;
    let functions = scoreboard::functions(lwk.tree()).map_err(wrong)?;
    let wanted: Vec<_> = functions.iter().filter(|name| is_for_fortran(name)).collect();
    if wanted.len() < LEAST {
        return Err(format!("mpi.h has {} functions for Fortran, not {LEAST}", wanted.len()));
    }
    let missing: Vec<_> = wanted
        .into_iter()
        .filter(|name| !there.contains(&format!("{}_", name.to_lowercase())))
        .map(String::as_str)
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("Fortran lacks {}", missing.join(", "))) }
}

fn is_for_fortran(name: &str) -> bool {
    let not = ENDS.iter().any(|end| name.ends_with(end))
        || STARTS.iter().any(|start| name.starts_with(start))
        || NAMES.contains(&name);
    !not
}
