//! Whether the conformance programs call every routine that `shmem.h` declares, and the library has each under its profiling name as well.
//!
//! What is declared is read from the preprocessed header. What is called is read from the programs' symbol tables: the linker leaves out
//! functions that nothing calls, and each routine of the library is a section of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use super::Test;
use crate::needs::Needs;
use lwk::cc;
use lwk::subcommand::Lwk;

/// The folder of the programs, relative to the tree.
const FOLDER: &str = "conformance/shmem";
/// The programs; `profile` is left out, since it defines routines itself.
const PROGRAMS: [&str; 8] =
    ["atomics.c", "collectives.c", "exits.c", "generics.c", "old.c", "remote.c", "setup.c", "waits.c"];
/// Names of the standard's routines, the old ones without the prefix included.
const ROUTINE: &str = r"\b(shmem_\w+|start_pes|_my_pe|_num_pes|shmalloc|shfree|shrealloc|shmemalign)\b";
/// OpenSHMEM 1.5 with all types of its tables. A header that lost a table would still be covered, so the number is checked, too.
const ROUTINES: usize = 1640;

/// The test that no name is missing.
pub fn test() -> Test {
    let sources = PROGRAMS.iter().map(|program| Path::new(FOLDER).join(program)).collect();
    let name = "conformance-shmem-calls-every-routine".into();
    Test { name, alone: false, on_host: true, sources, needs: Needs::Sources, run: Box::new(check) }
}

fn check(lwk: &Lwk) -> Result<(), String> {
    let routine = Regex::new(ROUTINE).map_err(|error| error.to_string())?;
    let declared = declared(lwk, &routine)?;
    if declared.len() != ROUTINES {
        return Err(format!("shmem.h declares {} routines; the standard has {ROUTINES}", declared.len()));
    }
    let library = output(
        Command::new("nm").args(["-g", "--defined-only"]).arg(cc::prefix(lwk.tree()).join("lib/libmpi.a")),
    )?;
    let there: BTreeSet<_> = library.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let unnamed: Vec<_> = declared
        .iter()
        .filter(|name| name.starts_with("shmem_") && !there.contains(format!("p{name}").as_str()))
        .map(String::as_str)
        .collect();
    if !unnamed.is_empty() {
        return Err(format!("no profiling name for {}", unnamed.join(", ")));
    }
    let mut called = BTreeSet::new();
    for program in PROGRAMS {
        let file = cc::program(lwk.tree(), &Path::new(FOLDER).join(program));
        let symbols = output(Command::new("nm").arg("--defined-only").arg(&file))?;
        called.extend(symbols.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned));
    }
    let missing: Vec<_> = declared.difference(&called).map(String::as_str).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("nothing calls {}", missing.join(", "))) }
}

/// The routines that the header declares.
fn declared(lwk: &Lwk, routine: &Regex) -> Result<BTreeSet<String>, String> {
    let prefix = cc::prefix(lwk.tree());
    let header: PathBuf = prefix.join("include/shmem.h");
    let text = output(Command::new(prefix.join("bin/margay-cc")).args(["-E", "-P"]).arg(&header))?;
    let call = |found: &regex::Match<'_>| text[found.end()..].trim_start().starts_with('(');
    Ok(routine.find_iter(&text).filter(call).map(|found| found.as_str().to_owned()).collect())
}

/// What a command prints.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", command.get_program().display(), why.trim_end()));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
