//! Memory bandwidth: the four STREAM kernels on every rank at once
//!
//! STREAM (McCalpin 1995): copy, scale, add and triad over three arrays of doubles, each kernel timed ten times, the first not
//! counted, the best reported. Every rank has its own arrays of `--size` elements (default 1,000,000) in its own memory; ranks
//! enter each kernel together and a kernel's time is that of the slowest, so the first table is what the node's memory gives
//! to all, the second what each rank got. To measure memory and not caches, the arrays together should be four times the
//! largest cache (STREAM's own rule). Rates count the bytes that STREAM counts, in MB/s of 1,000,000 bytes. Results are verified
//! as STREAM does, against the same recurrence on one element.
#![no_std]
#![no_main]

use lwk_apps::cli::{Argument, Cli, fail};
use lwk_apps::{json, stream};
use lwk_user::Env;
use lwk_user::abi::exit::USAGE as USAGE_STATUS;
use lwk_user::smartmap::Peer;

const USAGE: &str = "stream [--size ELEMENTS] [--json]";

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let (elements, json) = parse(env);
    let Some(measured) = stream::measure_all(elements) else {
        // All ranks have the same memory and come to the same end.
        let mib = (elements * 3 * size_of::<f64>()).div_ceil(1 << 20);
        fail(
            USAGE_STATUS,
            &format_args!("stream: three arrays take {mib} MiB a rank: more memory (--mem) or less --size"),
        );
    };
    if Peer::me() != Peer::root() {
        return 0;
    }
    if json {
        json::print(&measured);
    } else {
        stream::print(&measured);
    }
    if measured.wrong { 1 } else { 0 }
}

fn parse(env: &Env) -> (usize, bool) {
    let mut cli = Cli::new(env, USAGE);
    let (mut elements, mut json) = (1_000_000, false);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => json = true,
            Argument::Option("size") => elements = cli.number("size", 1..=1 << 34),
            other => cli.unknown(other),
        }
    }
    (elements, json)
}
