//! `bench tune` and `run --tuning`: what the one writes, the other takes; a file that is none is refused in one line.

use std::ffi::OsString;
use std::fs;

use super::Test;
use super::judge::Expected;
use crate::needs::Needs;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program};
use lwk_abi::runtime::{LOOPBACK, NEED_WORKERS, TAKE_TUNING, TEST_TRANSPORTS, TRANSPORT, TRANSPORTS};
use lwk_bench::cli::{Decide, PlaceOptions, TuneOptions};

/// A file that says the same for every distance.
const OBEYED: &str = "[hybrid]\nshared-cache = 8192\npackage = 8192\nnode = 8192\n";

pub fn all() -> Vec<Test> {
    let test = |name: &str, run: fn(&Lwk) -> Result<(), String>| Test {
        name: name.into(),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(run),
    };
    let tests = vec![
        test("tuning-that-was-measured-is-taken", measured),
        test("tuning-says-where-hybrid-switches", obeyed),
        test("tuning-that-is-none-is-refused", refused),
        test("tuning-goes-by-the-transport-of-the-environment", by_environment),
    ];
    let without = TRANSPORTS.into_iter().chain(TEST_TRANSPORTS).filter(|name| !TAKE_TUNING.contains(name));
    let of_path = |name: &'static str| Test {
        name: format!("tuning-is-not-for-{name}"),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(move |lwk| without_thresholds(lwk, name)),
    };
    tests.into_iter().chain(without.map(of_path)).collect()
}

/// Every command that makes a job refuses a file of switch points for a transport that has none, before anything is built or started.
const FORMS: [&[&str]; 3] = [&["run", "--host"], &["run"], &["image", "-o", "target/never.img"]];
/// Those of several nodes, on which some transports are refused as such.
const FORMS_OF_NODES: [&[&str]; 2] = [&["run", "--host", "--nodes", "2"], &["run", "--nodes", "2"]];

fn without_thresholds(lwk: &Lwk, transport: &str) -> Result<(), String> {
    let (forced, by_environment) = (["--transport", transport], format!("{TRANSPORT}={transport}"));
    let mut ways: Vec<Vec<&str>> = vec![forced.into(), vec!["--env", &by_environment]];
    if transport == TRANSPORTS[0] {
        ways.push(Vec::new());
    }
    let is_of_one_node = transport == LOOPBACK || NEED_WORKERS.contains(&transport);
    let of_nodes = if is_of_one_node { &[][..] } else { &FORMS_OF_NODES };
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    fs::write(&file, "[hybrid]\nnode = 8192\n").map_err(|error| format!("{}: {error}", file.display()))?;
    let line = format!(
        "^lwk: --tuning .*/tuning.toml: messages go by {transport}, which has no switch points; give --transport hybrid, or leave out --tuning$"
    );
    let forms = FORMS.iter().chain(of_nodes);
    for (form, way) in forms.flat_map(|form| ways.iter().map(move |way| (form, way))) {
        let more = ["-n", "2", "--oversubscribe", "smap-ring", "--tuning"];
        let mut words: Vec<OsString> = form.iter().chain(way).chain(&more).map(OsString::from).collect();
        words.push(file.clone().into());
        let expected = Expected {
            status: 2,
            stderr: vec![line.clone()],
            stderr_lines: Some(1),
            stdout_lines: Some(0),
            ..Expected::default()
        };
        expected.judge(&lwk.command(&words, PATIENCE)?)?;
    }
    Ok(())
}

/// The transport may be named by the environment, of which `--transport` has more to say.
fn by_environment(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    fs::write(&file, OBEYED).map_err(|error| format!("{path}: {error}"))?;
    let named = format!("{TRANSPORT}=hybrid");
    let stdout = vec!["^to rank 1: up to 8192 bytes at once$".into()];
    Expected { stdout, ..Expected::default() }.judge(&eager(lwk, &["--env", &named, "--tuning", path])?)?;
    let stderr = vec!["^lwk: --tuning .*: messages go by limic, ".into()];
    let refused = Expected { status: 2, stderr, stderr_lines: Some(1), ..Expected::default() };
    refused.judge(&eager(lwk, &["--env", &named, "--transport", "limic", "--tuning", path])?)
}

fn measured(lwk: &Lwk) -> Result<(), String> {
    [Decide::Latency, Decide::Overlap].into_iter().try_for_each(|decide| measured_by(lwk, decide))
}

fn measured_by(lwk: &Lwk, decide: Decide) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    let options = TuneOptions {
        ranks: 2,
        decide,
        rounds: 1,
        out: None,
        place: PlaceOptions { host: true, quick: true, timeout: PATIENCE, built: true, verbose: false },
    };
    let found = lwk_bench::tune::measure(lwk, &options).map_err(|failure| failure.message)?;
    fs::write(&file, &found.file).map_err(|error| format!("{path}: {error}"))?;
    if !found.file.contains("\n[hybrid]\n") || found.table.len() < 2 {
        return Err(format!("{}\n{:?}", found.file, found.table));
    }
    Expected::default().judge(&hybrid(lwk, path)?)
}

fn obeyed(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    fs::write(&file, OBEYED).map_err(|error| format!("{path}: {error}"))?;
    let stdout = vec!["^to rank 1: up to 8192 bytes at once$".into()];
    Expected { stdout, ..Expected::default() }.judge(&hybrid(lwk, path)?)
}

fn refused(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("tuning.toml");
    let path = file.to_str().ok_or("the tree's path is not UTF-8")?;
    for (text, why) in [("[hybrid]\nshared = 1\n", "line 2: unknown field `shared`"), ("\0", "line 1: ")] {
        fs::write(&file, text).map_err(|error| format!("{path}: {error}"))?;
        let stderr = vec![format!("^lwk: --tuning .*{why}.*; `cargo lwk bench tune` writes such a file$")];
        Expected { status: 2, stderr, stderr_lines: Some(1), ..Expected::default() }
            .judge(&hybrid(lwk, path)?)?;
    }
    Ok(())
}

/// A job of two ranks over `hybrid` with that file.
fn hybrid(lwk: &Lwk, tuning: &str) -> Result<Ended, String> {
    eager(lwk, &["--transport", "hybrid", "--tuning", tuning])
}

/// A job of two ranks that says how much goes at once.
fn eager(lwk: &Lwk, more: &[&str]) -> Result<Ended, String> {
    let options = ["--host", "--oversubscribe", "-n", "2", "--mem", "64"];
    let options: Vec<String> = options.iter().chain(more).map(|word| String::from(*word)).collect();
    lwk.command(&lwk.run_words(&Program::Test("mpi-p2p".into()), &options, &["eager".into()]), PATIENCE)
}
