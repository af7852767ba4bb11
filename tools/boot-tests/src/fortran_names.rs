//! Whether Fortran has every procedure that the description says it has, under both its names, in its older interfaces and in module `mpi_f08`.

use std::collections::BTreeSet;
use std::path::Path;

use super::Test;
use crate::needs::Needs;
use crate::scoreboard;
use lwk::subcommand::Lwk;
use lwk::{cc, fortran};

/// A program whose making makes the library, too.
const PROGRAM: &str = "conformance/bindings.f90";
/// Procedures at least: a description that cannot be read any more would have none.
const LEAST: usize = 450;

/// The test that no procedure is missing.
pub fn test() -> Test {
    let sources = vec![Path::new(PROGRAM).to_owned()];
    Test {
        name: "conformance-fortran-has-every-function".into(),
        alone: false,
        on_host: true,
        sources,
        needs: Needs::Any,
        run: Box::new(check),
    }
}

fn check(lwk: &Lwk) -> Result<(), String> {
    let wrong = |failure: lwk::failure::Failure| failure.message;
    let library = cc::prefix(lwk.tree()).join("lib/libmpifort.a");
    let there = scoreboard::symbols(&library, "mpi_", "pmpi_").map_err(wrong)?;
    let description = fortran::description(lwk.tree()).map_err(wrong)?;
    let mut wanted = BTreeSet::new();
    for function in description.chapters.iter().flat_map(|it| &it.functions).filter(|it| !it.c) {
        let name = function.name.to_lowercase();
        wanted.insert(format!("{name}_"));
        if !function.older && !function.removed && function.returns.is_none() {
            wanted.extend(
                function.forms().map(|large| format!("{}_f08_", function.form(large).to_lowercase())),
            );
        }
    }
    if wanted.len() < 2 * LEAST {
        return Err(format!("Fortran has {} procedures, not {}", wanted.len(), 2 * LEAST));
    }
    let missing: Vec<_> = wanted.difference(&there).map(String::as_str).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("Fortran lacks {}", missing.join(", "))) }
}
