//! The conformance suite: every C program in `conformance/`, in the host home on several numbers of ranks, and on a node.
//!
//! A program checks one group of functions against the MPI standard's text and ends with one line that counts its checks. Where
//! Debian's MPICH is installed, the same source is compiled with its `mpicc`, and must print the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Test;
use crate::needs::Needs;
use crate::scoreboard;
use lwk::cc;
use lwk::failure::{Doing, Outcome};
use lwk::packages::find_command;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program};
use lwk::tree::Tree;
use serde_json::Value;

/// Where the programs are.
const FOLDER: &str = "conformance";
/// Ranks in the host home.
const RANKS: [u32; 6] = [1, 2, 3, 4, 5, 8];
/// Paths for tests, which carry each program's messages as well, in the host home.
const PATHS: [&str; 3] = ["late", "by-size", "halves"];
/// The ways to move a message on a node, which carry all messages of each program, in the host home: its ranks are apart, so that collectives and windows are messages, too.
const FORCED: [Forced; 9] = [
    Forced { transport: "shm-basic", variables: &["MARGAY_SHM_BASIC_BUFFER=4096"], counted: Counted::All },
    Forced { transport: "shm-advanced", variables: &["MARGAY_SHM_SMALL=0"], counted: Counted::All },
    Forced { transport: "limic", variables: &[KERNEL], counted: Counted::BySystem },
    Forced { transport: "limic2", variables: &[KERNEL], counted: Counted::BySystem },
    Forced { transport: "hybrid", variables: &HYBRID, counted: Counted::BySystem },
    Forced { transport: "mcni", variables: &[ENGINE], counted: Counted::BySystem },
    Forced { transport: "mci", variables: &[ENGINE], counted: Counted::BySystem },
    Forced { transport: "sci", variables: &[ENGINE], counted: Counted::BySystem },
    Forced { transport: "loopback", variables: &[], counted: Counted::As("portals") },
];
/// Every byte is the system's, at any distance, and whether the receiver is late or not.
const KERNEL: &str = "MARGAY_SHM_KERNEL_ABOVE=0";
const ENGINE: &str = "MARGAY_SHM_ENGINE_ABOVE=0";
const HYBRID: [&str; 4] = [
    "MARGAY_SHM_HYBRID_CACHE=0",
    "MARGAY_SHM_HYBRID_PACKAGE=0",
    "MARGAY_SHM_HYBRID_NODE=0",
    "MARGAY_SHM_SKEW_ABOVE=0",
];
/// The one that carries each program's messages on a node as well: through shared memory, and by the kernel.
const NODE_PATH: &str = "hybrid";
/// Nodes of a job on several.
const NODES: u32 = 2;
/// What the wires between them do in some rows: one frame in ten is lost.
const LOSS: &str = "loss=0.1";
/// The programs of the everyday test over such wires: messages of every form, what waits for one another, and what is asked for by messages.
const LOSSY: [&str; 5] = ["collectives", "messages", "one_sided", "partitioned", "requests"];
/// Ranks with them.
const PATH_RANKS: u32 = 3;
/// Ranks on a node, and beside MPICH.
const FEW: u32 = 2;
/// Memory of a rank, in MiB.
const MEMORY: u32 = 32;
/// Functions that the suite must call with checked results.
const LEAST: usize = 300;
/// Debian's names: another MPI's `mpicc` may be installed beside it.
const MPICH: [&str; 2] = ["mpicc.mpich", "mpiexec.mpich"];

/// A transport that is to carry every message that it can.
#[derive(Clone, Copy)]
struct Forced {
    transport: &'static str,
    /// What keeps it from sending some of them another way.
    variables: &'static [&'static str],
    counted: Counted,
}

/// What the exit report counts of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Messages of the path of the same name.
    All,
    /// The same of the path of this name.
    As(&'static str),
    /// Those of the path of the same name that the system copies: all that it can.
    BySystem,
}

/// The programs that can be compiled here, by name. Errors: the folder cannot be listed.
fn programs(tree: &Tree) -> Outcome<Vec<String>> {
    let folder = tree.root().join(FOLDER);
    let mut names = Vec::new();
    let what = || format!("list {}", folder.display());
    for entry in fs::read_dir(&folder).doing(what)? {
        let path = entry.doing(what)?.path();
        let wanted = match path.extension().and_then(|end| end.to_str()) {
            Some("c") => true,
            Some("f" | "f90") => cc::has_fortran(),
            _ => false,
        };
        if let (Some(name), true) = (path.file_name(), wanted) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The tests of all programs, and of the page that is made of them. Errors: the folder cannot be listed.
pub fn all(tree: &Tree) -> Outcome<Vec<Test>> {
    let names = programs(tree)?;
    let mut tests: Vec<Test> = names.iter().flat_map(|name| tests_of(name)).collect();
    tests.push(Test {
        name: "conformance-scoreboard".into(),
        alone: false,
        on_host: true,
        // The library is built with the programs.
        sources: names.first().map(|name| source_of(name)).into_iter().collect(),
        needs: Needs::Sources,
        run: Box::new(|lwk| scoreboard::check(lwk.tree(), LEAST)),
    });
    Ok(tests)
}

/// A test of every program on several nodes, over wires that lose frames by `seed`. Errors: the folder cannot be listed.
pub fn over_loss(tree: &Tree, seed: u64) -> Outcome<Vec<Test>> {
    Ok(programs(tree)?.iter().map(|name| across_lossy_nodes(name, PATH_RANKS, seed)).collect())
}

fn has_mpich() -> bool {
    MPICH.iter().all(|command| find_command(command).is_some())
}

/// Lines on what is left out of `tests` because this machine lacks it.
pub fn left_out(tests: &[Test]) -> Vec<&'static str> {
    if !tests.iter().any(|test| test.name.starts_with("conformance-")) {
        return Vec::new();
    }
    let mpich = "skip  conformance beside MPICH: Debian's mpich and libmpich-dev are not installed";
    let fortran = "skip  conformance of Fortran: Debian's gfortran is not installed";
    [(has_mpich(), mpich), (cc::has_fortran(), fortran)]
        .into_iter()
        .filter(|it| !it.0)
        .map(|it| it.1)
        .collect()
}

fn source_of(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A program's name without its extension.
fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

fn tests_of(name: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = RANKS.map(|ranks| test(name, format!("{ranks}"), true, ranks)).into();
    tests.push(test(name, "node".into(), false, FEW));
    tests.extend(PATHS.map(|path| over(name, path, true, PATH_RANKS)));
    tests.extend(FORCED.map(|way| all_over(name, way)));
    tests.push(over(name, NODE_PATH, false, FEW));
    tests.push(across_nodes(name, PATH_RANKS));
    if LOSSY.contains(&stem(name)) {
        tests.push(across_lossy_nodes(name, PATH_RANKS, 1));
    }
    if has_mpich() && name.ends_with(".c") {
        let program = name.to_owned();
        tests.push(Test {
            name: format!("conformance-{}-beside-mpich", stem(name)),
            alone: false,
            on_host: true,
            sources: vec![source_of(name)],
            needs: Needs::Sources,
            run: Box::new(move |lwk| beside_mpich(lwk, &program)),
        });
    }
    tests
}

fn test(name: &str, suffix: String, on_host: bool, ranks: u32) -> Test {
    let program = name.to_owned();
    Test {
        name: format!("conformance-{}-{suffix}", stem(name)),
        alone: false,
        on_host,
        sources: vec![source_of(name)],
        needs: Needs::Sources,
        run: Box::new(move |lwk| {
            let ended = run(lwk, &program, on_host, ranks)?;
            judge(&ended, &program, ranks)
        }),
    }
}

/// The same with all messages by another path.
fn over(name: &str, path: &'static str, on_host: bool, ranks: u32) -> Test {
    let program = name.to_owned();
    Test {
        name: format!("conformance-{}-over-{path}{}", stem(name), if on_host { "" } else { "-on-a-node" }),
        alone: false,
        on_host,
        sources: vec![source_of(name)],
        needs: Needs::Sources,
        run: Box::new(move |lwk| {
            let ended = run_with(lwk, &program, on_host, ranks, &["--path", path])?;
            judge(&ended, &program, ranks)
        }),
    }
}

/// The same with all messages that there can be by one way, which the exit report says.
fn all_over(name: &str, way: Forced) -> Test {
    let program = name.to_owned();
    Test {
        name: format!("conformance-{}-all-over-{}", stem(name), way.transport),
        alone: false,
        on_host: true,
        sources: vec![source_of(name)],
        needs: Needs::Sources,
        run: Box::new(move |lwk| {
            let folder = lwk.folder()?;
            let file = folder.file("report.json");
            let place = file.to_string_lossy();
            let mut options = vec!["--transport", way.transport, "--apart", "--report-json", &place];
            options.extend(way.variables.iter().flat_map(|variable| ["--env", variable]));
            let ended = run_with(lwk, &program, true, PATH_RANKS, &options)?;
            judge(&ended, &program, PATH_RANKS)?;
            let report = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let report = serde_json::from_slice(&report).map_err(|error| format!("the report: {error}"))?;
            went(&report, way)
        }),
    }
}

/// The report says that all messages that could have gone that way.
fn went(report: &Value, way: Forced) -> Result<(), String> {
    let name = if let Counted::As(name) = way.counted { name } else { way.transport };
    let paths = report["paths"].as_array().map_or(&[][..], Vec::as_slice);
    let of_it: Vec<&Value> = paths.iter().filter(|path| path["name"] == name).collect();
    let sum = |key: &str| of_it.iter().filter_map(|path| path[key].as_u64()).sum::<u64>();
    let (messages, by_system, unfit) = (sum("messages"), sum("by_system"), sum("unfit"));
    let good = match way.counted {
        Counted::All | Counted::As(_) => messages > 0,
        Counted::BySystem => by_system > 0 && by_system + unfit == messages,
    };
    let line = format!("{name}: of {messages} messages {by_system} by the system, which cannot copy {unfit}");
    if good { Ok(()) } else { Err(line) }
}

/// The same with its ranks on several nodes.
fn across_nodes(name: &str, ranks: u32) -> Test {
    on_nodes(name, "nodes", ranks, Vec::new())
}

/// The same over wires that lose frames.
fn across_lossy_nodes(name: &str, ranks: u32, seed: u64) -> Test {
    on_nodes(name, "nodes-with-loss", ranks, vec!["--wire".into(), format!("{LOSS},seed={seed}")])
}

fn on_nodes(name: &str, suffix: &str, ranks: u32, wire: Vec<String>) -> Test {
    let program = name.to_owned();
    Test {
        name: format!("conformance-{}-{suffix}", stem(name)),
        alone: false,
        on_host: true,
        sources: vec![source_of(name)],
        needs: Needs::Sources,
        run: Box::new(move |lwk| {
            let nodes = NODES.to_string();
            let mut options = vec!["--nodes", &nodes];
            options.extend(wire.iter().map(String::as_str));
            let ended = run_with(lwk, &program, true, ranks, &options)?;
            judge(&ended, &program, ranks)
        }),
    }
}

fn run(lwk: &Lwk, name: &str, on_host: bool, ranks: u32) -> Result<Ended, String> {
    run_with(lwk, name, on_host, ranks, &[])
}

fn run_with(lwk: &Lwk, name: &str, on_host: bool, ranks: u32, more: &[&str]) -> Result<Ended, String> {
    let mut options = vec!["-n".to_owned(), ranks.to_string(), "--mem".to_owned(), MEMORY.to_string()];
    options.extend(["--timeout".to_owned(), PATIENCE.to_string()]);
    if on_host {
        options.extend(["--host".to_owned(), "--oversubscribe".to_owned()]);
    }
    options.extend(more.iter().map(|word| word.to_string()));
    let program = Program::C(source_of(name));
    lwk.command(&lwk.run_words(&program, &options, &[]), PATIENCE)
}

/// The program ends well and prints its sum and nothing else.
fn judge(ended: &Ended, name: &str, ranks: u32) -> Result<(), String> {
    let start = format!("{}: {ranks} ranks, ", stem(name));
    let good = ended.stdout.strip_prefix(&start).is_some_and(|rest| {
        let mut words = rest.split_whitespace();
        let checks = words.next().and_then(|count| count.parse::<u32>().ok());
        checks.is_some() && words.eq(["checks,", "0", "failures"])
    });
    if good && ended.status == Some(0) && ended.stderr.is_empty() {
        return Ok(());
    }
    Err(format!("status {:?}\n{}{}", ended.status, ended.stdout, ended.stderr))
}

/// The program prints the same under MPICH.
fn beside_mpich(lwk: &Lwk, name: &str) -> Result<(), String> {
    let folder = lwk.folder()?;
    let program = folder.file(name);
    let compiled = Command::new(MPICH[0])
        .args(["-std=c11", "-O1", "-o"])
        .arg(&program)
        .arg(lwk.tree().root().join(source_of(name)))
        .output()
        .map_err(|error| format!("{}: {error}", MPICH[0]))?;
    if !compiled.status.success() {
        return Err(format!("MPICH does not compile it:\n{}", String::from_utf8_lossy(&compiled.stderr)));
    }
    let output = Command::new("timeout")
        .args([&PATIENCE.to_string(), MPICH[1], "-n", &FEW.to_string()])
        .arg(&program)
        .output()
        .map_err(|error| format!("{}: {error}", MPICH[1]))?;
    let theirs = String::from_utf8_lossy(&output.stdout);
    let ours = run(lwk, name, true, FEW)?.stdout;
    if ours == theirs && output.status.success() {
        return Ok(());
    }
    Err(format!(
        "here:\n{ours}MPICH ({}):\n{theirs}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_that_went_another_way_are_told() {
        let path = |name: &str, messages: u32, by_system: u32| json!({ "name": name, "messages": messages, "by_system": by_system, "unfit": 1 });
        let went = |paths: Value, transport: &str| {
            let way = FORCED.into_iter().find(|way| way.transport == transport).unwrap();
            went(&json!({ "paths": paths }), way)
        };
        assert_eq!(went(json!([path("limic", 4, 3), path("limic", 3, 2)]), "limic"), Ok(()));
        assert!(went(json!([path("limic", 4, 3), path("limic", 4, 2)]), "limic").is_err());
        assert!(went(json!([path("limic", 1, 0)]), "limic").is_err());
        assert_eq!(went(json!([path("portals", 1, 0)]), "loopback"), Ok(()));
        assert!(went(json!([path("portals", 0, 0)]), "loopback").is_err());
        assert!(went(json!([path("limic", 4, 3)]), "shm-basic").is_err());
        assert!(went(json!([]), "shm-basic").is_err());
    }
}
