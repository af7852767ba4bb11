//! `cargo lwk bench instructions`: how many instructions a short message, one that the system copies, and a put take, counted by valgrind's callgrind in the host home.
//! Counts do not depend on what else the machine does, so they show what a change of a path costs where times cannot.
//!
//! The programs make the calls in functions of their own, from a rank to itself or over `limic2` between two, and say how often. Each function is counted in a run
//! of its own, with all that it calls; its own few instructions are in the figure.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::BenchInstructionsOptions;
use lwk::build::{self, Builder};
use lwk::failure::{Doing, Failure, Outcome};
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::Tree;
use lwk::{cc, image, packages};

/// Source of the C program, relative to the tree; the bundled benchmarks are the others.
pub const SOURCE: &str = "apps/c/bench/instructions.c";
/// Memory of the rank, in MiB, and the time limit of a run, in seconds.
const MEMORY: u32 = 64;
const LIMIT: u64 = PATIENCE;
/// Where the JSON goes if nothing else is said.
const OUT: &str = "target/lwk/bench/instructions.json";

/// What is counted: functions of one program in one way of running it; the figure is their sum.
struct Row {
    what: &'static str,
    face: &'static str,
    /// A bundled program; none is the C program.
    program: Option<&'static str>,
    argument: &'static str,
    /// More than one: over `limic2`; the functions' instructions of all ranks count.
    ranks: u32,
    functions: &'static [&'static str],
    /// The figure must be below: 2 % above what it was when it was measured last (22 November 2026; packing and 8 KiB 28 November), and at least half an instruction.
    bound: f64,
}

const fn c(
    what: &'static str,
    argument: &'static str,
    functions: &'static [&'static str],
    bound: f64,
) -> Row {
    Row { what, face: "C", program: None, argument, ranks: 1, functions, bound }
}

/// Receives are begun after their messages have come, or before (posted).
static ROWS: [Row; 12] = [
    Row {
        what: "send, 8 B, with its receive",
        face: "Rust",
        program: Some("mpi-bench"),
        argument: "instructions",
        ranks: 1,
        functions: &["lwk_counted_send", "lwk_counted_receive"],
        bound: 225.1,
    },
    c("send, 8 B, with its receive", "blocking", &["counted_send", "counted_recv"], 237.4),
    c("isend, 8 B", "arrived", &["counted_isend"], 117.6),
    c("irecv and wait, arrived", "arrived", &["counted_irecv", "counted_waitall"], 271.6),
    c("irecv and wait, posted", "posted", &["counted_irecv", "counted_waitall"], 717.4),
    Row {
        what: "put, 8 B",
        face: "Rust",
        program: Some("shmem-bench"),
        argument: "instructions",
        ranks: 1,
        functions: &["lwk_counted_put"],
        bound: 8.5,
    },
    c("put, 8 B", "put", &["counted_put"], 13.5),
    c("pack, 1024 elements of 8 B", "pack", &["counted_pack"], 3043.7),
    c("unpack, 1024 elements of 8 B", "pack", &["counted_unpack"], 3047.8),
    c("pack, 4 elements of 8 B", "pack-few", &["counted_pack_few"], 442.7),
    c("unpack, 4 elements of 8 B", "pack-few", &["counted_unpack_few"], 446.8),
    Row {
        ranks: 2,
        ..c(
            "send, 8 KiB, with its receive",
            "described",
            &["counted_describe", "counted_fetch", "counted_complete"],
            2399.0,
        )
    },
];

/// Counts, prints, and writes the JSON file. Status 0 if all counts are below their bounds, else 1.
pub fn run(tree: &Tree, options: &BenchInstructionsOptions) -> Outcome<i32> {
    packages::find_valgrind(options.verbose)?;
    let builder = Builder::new(tree, options.built, options.verbose)?;
    let source = PathBuf::from(SOURCE);
    if builder.builds() {
        builder.programs(&[build::MPI_APPS])?;
        cc::build_programs(tree, &builder, &BTreeSet::from([&source]))?;
    }
    let lwk = Lwk::new(tree)?;
    show!("{:<32}{:>6}{:>14}{:>10}", "# instructions", "face", "count", "bound");
    let mut all_below = true;
    let mut rows: Vec<Value> = Vec::new();
    for row in &ROWS {
        let count = row.count(&lwk, tree, &source)?;
        let verdict = if count < row.bound { "" } else { "  ABOVE" };
        all_below &= count < row.bound;
        show!("{:<32}{:>6}{count:>14.1}{:>10.1}{verdict}", row.what, row.face, row.bound);
        rows.push(json!({ "what": row.what, "face": row.face, "count": count, "bound": row.bound }));
    }
    let out = options.out.clone().unwrap_or_else(|| tree.root().join(OUT));
    if let Some(folder) = out.parent() {
        fs::create_dir_all(folder)
            .doing(|| format!("make the folder {}; choose another by --out", folder.display()))?;
    }
    image::write_file(&out, format!("{:#}\n", json!({ "instructions": rows })).as_bytes())?;
    Ok(if all_below { 0 } else { 1 })
}

/// Where valgrind is: counts that are above their bounds.
pub fn check(lwk: &Lwk) -> Result<(), String> {
    let mut above = Vec::new();
    for row in &ROWS {
        let count = row.count(lwk, lwk.tree(), Path::new(SOURCE)).map_err(|failure| failure.to_string())?;
        if count >= row.bound {
            above
                .push(format!("{} in {}: {count:.1}, and the bound is {:.1}", row.what, row.face, row.bound));
        }
    }
    if above.is_empty() { Ok(()) } else { Err(above.join("\n")) }
}

impl Row {
    /// Instructions of one call of each of the functions together.
    fn count(&self, lwk: &Lwk, tree: &Tree, source: &Path) -> Outcome<f64> {
        let program = match self.program {
            Some(name) => Program::Bundled(name.into()),
            None => Program::File(cc::program(tree, source)),
        };
        let mut sum = 0.0;
        for function in self.functions {
            let valgrind =
                format!("--tool=callgrind --toggle-collect={function} --callgrind-out-file=/dev/null");
            let mut options = vec![
                "--host".into(),
                "-n".into(),
                self.ranks.to_string(),
                "--mem".into(),
                MEMORY.to_string(),
                "--timeout".into(),
                LIMIT.to_string(),
                format!("--valgrind={valgrind}"),
            ];
            if self.ranks > 1 {
                options.extend(["--transport".into(), "limic2".into()]);
            }
            let words = lwk.run_words(&program, &options, &[self.argument.into()]);
            let ended = lwk.command(&words, LIMIT).map_err(Failure::host)?;
            let wrong = |what: &str| {
                let said = ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
                Failure::host(format!("{}: {what}: {said}", ended.command))
            };
            if ended.status != Some(0) {
                return Err(wrong("did not end well"));
            }
            let calls = numbers_after(&ended.stdout, "counted").next();
            let calls = calls.ok_or_else(|| wrong("does not say its calls"))?;
            // Each rank has its line.
            let counted: u64 = numbers_after(&ended.stderr, "Collected :").sum();
            if counted == 0 || calls == 0 {
                return Err(wrong("the function was not called"));
            }
            sum += counted as f64 / calls as f64;
        }
        Ok(sum)
    }
}

/// The numbers that follow a word.
fn numbers_after<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = u64> + 't {
    text.split(word).skip(1).filter_map(|rest| rest.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_after_their_words() {
        let said = "==7== \n==7== Collected : 861775\n==8== Collected : 0\n";
        assert!(numbers_after(said, "Collected :").eq([861_775, 0]));
        assert!(numbers_after("counted 1000\n", "counted").eq([1000]));
        for bad in ["", "counted", "counted x", "Collected 5"] {
            assert_eq!(numbers_after(bad, "counted").next(), None, "{bad}");
        }
    }
}
