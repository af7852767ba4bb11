//! `bench tune` and `run --tuning`: what the one writes, the other takes; a file that is none is refused in one line.

use std::fs;

use super::Test;
use super::judge::Expected;
use crate::needs::Needs;
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk_bench::cli::{Decide, TuneOptions};

pub fn all() -> Vec<Test> {
    let test = |name: &str, run: fn(&Lwk) -> Result<(), String>| Test {
        name: name.into(),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(run),
    };
    vec![
        test("tuning-that-was-measured-is-taken", measured),
        test("tuning-says-where-hybrid-switches", obeyed),
        test("tuning-that-is-none-is-refused", refused),
    ]
}

fn measured(lwk: &Lwk) -> Result<(), String> {
    [Decide::Latency, Decide::Overlap].into_iter().try_for_each(|decide| measured_by(lwk, decide))
}

fn measured_by(lwk: &Lwk, decide: Decide) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    let options = TuneOptions {
        host: true,
        ranks: 2,
        decide,
        rounds: 1,
        quick: true,
        out: None,
        timeout: PATIENCE,
        built: true,
        verbose: false,
    };
    let found = lwk_bench::tune::measure(lwk, &options).map_err(|failure| failure.message)?;
    fs::write(&file, &found.file).map_err(|error| format!("{path}: {error}"))?;
    if !found.file.contains("\n[hybrid]\n") || found.table.len() < 2 {
        return Err(format!("{}\n{:?}", found.file, found.table));
    }
    Expected::default().judge(&eager(lwk, path)?)
}

fn obeyed(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    fs::write(&file, "[hybrid]\nshared-cache = 8192\npackage = 8192\nnode = 8192\n")
        .map_err(|error| format!("{path}: {error}"))?;
    let stdout = vec!["^to rank 1: up to 8192 bytes at once$".into()];
    Expected { stdout, ..Expected::default() }.judge(&eager(lwk, path)?)
}

fn refused(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    for (text, why) in [("[hybrid]\nshared = 1\n", "line 2: unknown field `shared`"), ("\0", "line 1: ")] {
        fs::write(&file, text).map_err(|error| format!("{path}: {error}"))?;
        let stderr = vec![format!("^lwk: --tuning .*{why}.*; `cargo lwk bench tune` writes such a file$")];
        Expected { status: 2, stderr, stderr_lines: Some(1), ..Expected::default() }
            .judge(&eager(lwk, path)?)?;
    }
    Ok(())
}

/// A job of two ranks with that file.
fn eager(lwk: &Lwk, tuning: &str) -> Result<lwk::subcommand::Ended, String> {
    let options =
        ["--host", "--oversubscribe", "-n", "2", "--mem", "64", "--transport", "hybrid", "--tuning", tuning];
    let program = Program::Test("mpi-p2p".into());
    lwk.command(&lwk.run_words(&program, &options.map(String::from), &["eager".into()]), PATIENCE)
}
