//! OpenSHMEM's routines, each checked on any number of PEs: `shmem-test all`, or some of the names below
#![no_std]
#![no_main]

extern crate alloc;

#[path = "shmem-test/atomics.rs"]
mod atomics;
#[path = "shmem-test/check.rs"]
mod check;
#[path = "shmem-test/collectives.rs"]
mod collectives;
#[path = "shmem-test/heap.rs"]
mod heap;
#[path = "shmem-test/locks.rs"]
mod locks;
#[path = "shmem-test/rma.rs"]
mod rma;
#[path = "shmem-test/rust_face.rs"]
mod rust_face;
#[path = "shmem-test/stress.rs"]
mod stress;
#[path = "shmem-test/teams.rs"]
mod teams;
#[path = "shmem-test/waiting.rs"]
mod waiting;

use alloc::boxed::Box;
use alloc::vec::Vec;
use check::Check;
use lwk_apps::cli::{Argument, Cli};
use lwk_shmem::{Shmem, engine};
use lwk_user::{Env, println};

const USAGE: &str = "shmem-test all | AREA…";

/// What is tested together: a name and its checks.
type Area = (&'static str, fn(&Shmem, &mut Check));

const AREAS: &[Area] = &[
    ("rma", rma::run),
    ("atomics", atomics::run),
    ("waiting", waiting::run),
    ("heap", heap::run),
    ("locks", locks::run),
    ("teams", teams::run),
    ("collectives", collectives::run),
    ("stress", stress::run),
    ("rust-face", rust_face::run),
];

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32, Box<dyn core::error::Error>> {
    let mut areas = Vec::new();
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Word("all") => areas.extend(AREAS),
            Argument::Word(word) => match AREAS.iter().find(|(name, _)| *name == word) {
                Some(area) => areas.push(area),
                None => cli.refuse(&format_args!("there is no area `{word}`")),
            },
            other => cli.unknown(other),
        }
    }
    let shmem = lwk_shmem::init(env)?;
    let mut failed = 0;
    for (name, run) in areas {
        let mut check = Check::new(name);
        run(&shmem, &mut check);
        failed += check.finish(&shmem);
    }
    if engine::my_pe() == 0 {
        println!("shmem-test: {} PEs, {failed} checks failed", engine::n_pes());
    }
    Ok(if failed == 0 { 0 } else { 1 })
}
