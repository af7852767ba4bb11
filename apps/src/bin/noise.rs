//! Interruptions of a loop that does nothing (selfish detour), and what the kernel has counted meanwhile
//!
//! Every rank reads the clock in a loop for `--seconds` (default 1) and notes each gap longer than a threshold: something else
//! had the core for that long (Beckman, Iskra, Yoshii, Coghlan 2006). The threshold is nine times the shortest gap seen in a
//! first pass, or `--threshold` nanoseconds. A gap's detour is its length less the shortest. For each rank the output has how
//! many detours there were, the longest, the part of the time they took, and a histogram by powers of two; and the kernel's own
//! count of interrupts, faults and system calls on its core during the loop, where the home counts them (`-` where not).
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::time::Duration;
use lwk_apps::cli::{Argument, Cli};
use lwk_apps::json;
use lwk_apps::noise::{self, Row};
use lwk_user::Env;
use lwk_user::smartmap::Peer;

const USAGE: &str = "noise [--seconds S] [--threshold NS] [--json]";

struct Document {
    program: &'static str,
    ranks: Vec<Row>,
}
lwk_apps::json_object!(Document { program, ranks });

lwk_user::entry!(main);

fn main(env: &Env) {
    let mut cli = Cli::new(env, USAGE);
    let (mut time, mut threshold_ns, mut json) = (Duration::from_secs(1), None, false);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => json = true,
            Argument::Option("seconds") => time = Duration::from_secs(cli.number("seconds", 1..=3600)),
            Argument::Option("threshold") => {
                threshold_ns = Some(cli.number("threshold", 1..=1_000_000_000u64));
            }
            other => cli.unknown(other),
        }
    }
    let ranks = noise::measure_all(time, threshold_ns);
    match Peer::me() == Peer::root() {
        true if json => json::print(&Document { program: "noise", ranks }),
        true => noise::print(&ranks),
        false => {}
    }
}
