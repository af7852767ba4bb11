//! Tests of `bench peers`: beside Debian's MPICH where it is installed, and beside made-up peers, folders of shell scripts, that do everything
//! wrong or are faster and slower than any machine. No figure is compared with a number: the time that something takes is no test.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Test;
use super::judge::Expected;
use crate::needs::Needs;
use lwk::packages::find_command;
use lwk::subcommand::{Ended, Lwk, PATIENCE, shown};
use lwk::tree::RunFolder;
use lwk_bench::peers::rows::{self, LINE, ROWS};
use lwk_bench::peers::samples::State;

/// Beside MPICH.
const BESIDE: &str = "bench-peers-beside-mpich";
const TYPES_BESIDE: &str = "bench-peers-beside-mpich-of-datatypes";
const CURVES_BESIDE: &str = "bench-peers-beside-mpich-by-curves";
const NODES_BESIDE: &str = "bench-peers-beside-mpich-between-nodes";
/// Debian's commands, and the name of this peer.
const MPICH: [&str; 2] = ["mpicc.mpich", "mpiexec.mpich"];
const MPICH_NAME: &str = "debian-mpich";
/// Time limit of a command here, in seconds: of several jobs.
const LIMIT: u64 = 4 * PATIENCE;
/// Time limit of each run beside peers that hang, in seconds. It is Margay's, too, who takes one, or many on a machine that is not its own.
const HANGS: &str = "30";
/// The one figure that made-up peers are asked for.
const FIGURE: &str = "latency_8_us";
/// Cores without which there is no comparison.
const CORES: usize = 2;

/// What a made-up peer's `mpiexec` does when it is to run the program. The first prints figures of both of the machine's states.
const FIGURES: &str =
    "say() { echo @line_us $1; echo @latency_8_us $2; echo @line_us $1; }; say 0.02 TIME; say 0.3 TIME";
const FAST: &str = "0.000001";
const SLOW: &str = "1000000";
/// Ways to be wrong: the name of the peer, what its `mpicc` and its `mpiexec` do, and what must be said of it.
const WRONG: [(&str, &str, &str, &str); 8] = [
    ("crashes", GOOD_COMPILER, "echo boom >&2; kill -SEGV $$", "crashes default: .*SIGSEGV.*boom"),
    (
        "gives-up",
        GOOD_COMPILER,
        "echo 3 bytes arrived wrong >&2; exit 1",
        "gives-up default: .*exit status: 1: 3 bytes arrived wrong",
    ),
    ("hangs", GOOD_COMPILER, "sleep 1000 & sleep 1000", "hangs default: .*did not end within 30 s"),
    (
        "raves",
        GOOD_COMPILER,
        "echo @latency_8_us fast",
        "raves default: .*\"@latency_8_us fast\", which is no figure",
    ),
    ("is-silent", GOOD_COMPILER, "true", "is-silent default: .*has not printed latency_8_us"),
    (
        "has-no-floor",
        GOOD_COMPILER,
        "echo @latency_8_us 1",
        "has-no-floor default: .*a line before and after latency_8_us",
    ),
    (
        "does-not-compile",
        "echo it is error 7 >&2; exit 1",
        "true",
        "does-not-compile: takes no part: .*it is error 7",
    ),
    (
        "compiles-forever",
        "sleep 1000",
        "true",
        "compiles-forever: takes no part: .*cannot compile .*did not end within 30 s",
    ),
];
/// What `--strict` says then.
const NOTHING_COMPARED: &str = "^lwk: --strict: no figure";
/// Leaves something that can be started.
const GOOD_COMPILER: &str = "while [ $1 != -o ]; do shift; done; echo > $2";

type Check = fn(&Lwk) -> Result<(), String>;

/// The tests of `bench peers`; none on a machine with fewer than two cores, and that beside MPICH only where it is installed.
pub fn all() -> Vec<Test> {
    let checks: [(&str, Check); 7] = [
        (BESIDE, beside_mpich),
        (TYPES_BESIDE, types_beside_mpich),
        (CURVES_BESIDE, curves_beside_mpich),
        (NODES_BESIDE, nodes_beside_mpich),
        ("bench-peers-outlives-wrong-peers", wrong_peers),
        ("bench-peers-strict", strict),
        ("bench-peers-refuses-what-cannot-be", refusals),
    ];
    let checks =
        checks.into_iter().filter(|(name, _)| has_cores() && (!name.starts_with(BESIDE) || has_mpich()));
    let test = |(name, check): (&str, Check)| Test {
        name: name.into(),
        // The ranks of both are pinned to the same two cores.
        alone: true,
        on_host: true,
        sources: ["compare.c", "compare-shmem.c", "compare-types.c", "sweep.c", "sweep-shmem.c"]
            .map(|name| Path::new("apps/c/bench").join(name))
            .into(),
        needs: Needs::Any,
        run: Box::new(check),
    };
    checks.map(test).collect()
}

fn has_cores() -> bool {
    lwk_home::usable_cores().is_ok_and(|cores| cores.len() >= CORES)
}

fn has_mpich() -> bool {
    MPICH.iter().all(|command| find_command(command).is_some())
}

/// A line on what is left out because this machine lacks it.
pub fn left_out(tests: &[Test]) -> Option<String> {
    if !has_cores() {
        return Some(format!("skip  bench-peers: it needs {CORES} cores of this machine"));
    }
    let some = tests.iter().any(|test| test.name.starts_with("bench-peers-"));
    (some && !has_mpich())
        .then(|| format!("skip  {BESIDE}: Debian's mpich and libmpich-dev are not installed"))
}

/// Words of a quick `bench peers` into `out`.
fn words(out: &Path, more: &[&str]) -> Vec<OsString> {
    let mut words: Vec<OsString> = ["bench", "peers", "--built", "--quick", "--out"].map(Into::into).into();
    words.push(out.into());
    // What a run takes on a busy machine is no test.
    if !more.contains(&"--timeout") {
        words.extend(["--timeout".into(), PATIENCE.to_string().into()]);
    }
    words.extend(more.iter().map(Into::into));
    words
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// One round of everything: each setting has every one of its figures, and what it says in table, JSON and page is well-formed.
fn beside_mpich(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let ended = lwk.command(&words(&out, &["--rounds", "1", "--only", MPICH_NAME]), LIMIT)?;
    Expected { stdout: vec!["^# figures dropped .*: [0-9]+ of [0-9]+$".into()], ..Expected::default() }
        .judge(&ended)?;
    let document: Value =
        serde_json::from_str(&read(&out.join("peers.json"))?).map_err(|error| error.to_string())?;
    let complain = |what: String| Err(format!("{what}\n{}", shown(&ended)));
    if document["schema"] != "margay-bench-peers-1" || document["failed"] != Value::Array(Vec::new()) {
        return complain(format!("schema {}, failures {}", document["schema"], document["failed"]));
    }
    if !document["versions"][0]["version"].as_str().is_some_and(|version| version.contains("HYDRA")) {
        return complain(format!("versions {}", document["versions"]));
    }
    let settings = [("margay", true), ("debian-mpich default", false), ("debian-mpich best", false)];
    for (number, (name, with_shmem)) in settings.into_iter().enumerate() {
        let setting = &document["runs"][number];
        let figures = setting["runs"][0]["figures"].as_array().map_or(&[][..], Vec::as_slice);
        let positive = |name: &str| {
            let of_it = figures.iter().filter(|figure| figure["name"] == name);
            of_it.filter(|figure| figure["value"].as_f64().is_some_and(|value| value > 0.0)).count()
        };
        let rows = ROWS.iter().filter(|row| with_shmem || !row.is_shmem());
        let missing: Vec<&str> = rows.map(|row| row.name).filter(|name| positive(name) != 1).collect();
        if setting["name"] != name || !missing.is_empty() || positive(LINE) < figures.len() / 2 {
            return complain(format!("{} lacks {missing:?} of {figures:?}", setting["name"]));
        }
    }
    // States in which there is something of Margay's are in table, JSON and page alike.
    for state in [State::Near, State::Far] {
        let rows = document["states"][state.name()].as_array().map_or(0, Vec::len);
        let head = format!("# {};", state.title());
        if (rows > 0) != ended.stdout.contains(&head) {
            return complain(format!("{rows} rows of the state {state:?} in the JSON"));
        }
    }
    let page = read(&out.join("peers.html"))?;
    let plots = ended.stdout.matches("# cores ").count();
    is_self_contained(&page, plots).or_else(complain)
}

/// Datatypes are measured if they are asked for, and their figures are of all settings.
fn types_beside_mpich(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let more = ["types_unpack_vector", "--rounds", "1", "--only", MPICH_NAME];
    let ended = lwk.command(&words(&out, &more), LIMIT)?;
    Expected { stdout: vec!["^# figures dropped .*: [0-9]+ of [0-9]+$".into()], ..Expected::default() }
        .judge(&ended)?;
    let document: Value =
        serde_json::from_str(&read(&out.join("peers.json"))?).map_err(|error| error.to_string())?;
    for number in 0..3 {
        let figures =
            document["runs"][number]["runs"][0]["figures"].as_array().map_or(&[][..], Vec::as_slice);
        let wanted = || rows::all().filter(|row| row.name.starts_with(more[0]));
        let missing: Vec<&str> = wanted()
            .map(|row| row.name)
            .filter(|name| !figures.iter().any(|figure| figure["name"] == *name))
            .collect();
        if wanted().next().is_none() || !missing.is_empty() || figures.iter().any(|it| it["name"] == FIGURE) {
            return Err(format!("setting {number} lacks {missing:?}\n{}", shown(&ended)));
        }
    }
    Ok(())
}

/// Between nodes there are MPI's own figures, of both, and no floors; others are refused.
fn nodes_beside_mpich(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let all = ["--nodes", "2", "--rounds", "1", "--only", MPICH_NAME];
    let ended = lwk.command(&words(&out, &all), LIMIT)?;
    let head = format!("^# {};", State::Nodes.title());
    Expected { stdout: vec![head, "^# page: ".into()], ..Expected::default() }.judge(&ended)?;
    let complain = |what: String| Err(format!("{what}\n{}", shown(&ended)));
    let document: Value =
        serde_json::from_str(&read(&out.join("peers.json"))?).map_err(|error| error.to_string())?;
    let measured: Vec<&str> = ROWS.iter().filter(|row| !row.is_shmem()).map(|row| row.name).collect();
    for (number, name) in ["margay", "debian-mpich tcp"].into_iter().enumerate() {
        let setting = &document["runs"][number];
        let figures = setting["runs"][0]["figures"].as_array().map_or(&[][..], Vec::as_slice);
        let names: Vec<&str> = figures.iter().filter_map(|figure| figure["name"].as_str()).collect();
        if setting["name"] != name || names != measured {
            return complain(format!("{} has {names:?}", setting["name"]));
        }
    }
    let rows = document["states"][State::Nodes.name()].as_array().map_or(&[][..], Vec::as_slice);
    if rows.len() != measured.len()
        || rows.iter().any(|row| row["ratio"].is_null() || !row["floor"].is_null())
    {
        return complain(format!("rows {rows:?}"));
    }
    is_self_contained(&read(&out.join("peers.html"))?, 1).or_else(complain)?;
    let refused = lwk.command(&words(&out, &["--nodes", "2", "shmem_p"]), LIMIT)?;
    let stderr = vec!["^lwk: shmem_p is not measured between nodes: leave out --nodes$".into()];
    Expected { status: 2, stderr, stderr_lines: Some(1), stdout_lines: Some(0), ..Expected::default() }
        .judge(&refused)
}

/// A sweep has the points of the operations that are asked for, in JSON and page, and refuses others.
fn curves_beside_mpich(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let operations = ["put_flush", "barrier", "pack_nested", "iscan", "start_end", "shmem_fetch_add"];
    let all = ["--sweep", "--ranks", "2", "--rounds", "1", "--only", MPICH_NAME];
    let all: Vec<&str> = all.into_iter().chain(operations).collect();
    let ended = lwk.command(&words(&out, &all), LIMIT)?;
    Expected { stdout: vec!["^# page: ".into()], ..Expected::default() }.judge(&ended)?;
    let complain = |what: String| Err(format!("{what}\n{}", shown(&ended)));
    let document: Value =
        serde_json::from_str(&read(&out.join("sweep.json"))?).map_err(|error| error.to_string())?;
    for number in 0..3 {
        let figures = document["sections"][0]["runs"][number]["runs"][0]["figures"].as_array();
        let names: Vec<&str> =
            figures.map_or(&[][..], Vec::as_slice).iter().filter_map(|it| it["name"].as_str()).collect();
        let wanted = [
            "put_flush.1",
            "put_flush.4096",
            "barrier.0",
            "pack_nested.1024",
            "iscan_overlap.8",
            "start_end.0",
        ];
        if !wanted.iter().all(|name| names.contains(name)) || names.contains(&"latency.0") {
            return complain(format!("setting {number} has {names:?}"));
        }
        // MPICH has no OpenSHMEM.
        if names.contains(&"shmem_fetch_add.8") != (number == 0) {
            return complain(format!("setting {number} has {names:?}"));
        }
    }
    // Where the machine changed its state under both operations there is no point.
    let sections = document["sections"][0]["states"].as_array().map_or(0, Vec::len);
    let page = read(&out.join("sweep.html"))?;
    if page.matches("class=\"heat\"").count() != sections {
        return complain(format!("{sections} sections in the JSON and others in the page"));
    }
    is_self_contained(&page, page.matches("<svg").count()).or_else(complain)?;
    let shared = ["--sweep", "--ranks", "4", "--rounds", "1", "--only", MPICH_NAME, "barrier"];
    let ended = lwk.command(&words(&out, &shared), LIMIT)?;
    Expected { stdout: vec!["^# 2 points: geometric mean ".into()], ..Expected::default() }.judge(&ended)?;
    let refused = lwk.command(&words(&out, &["--sweep", "no-such-operation"]), LIMIT)?;
    let stderr = vec!["^lwk: no operation begins with no-such-operation; there are latency, ".into()];
    Expected { status: 2, stderr, stderr_lines: Some(1), stdout_lines: Some(0), ..Expected::default() }
        .judge(&refused)
}

/// A page that fetches nothing, with so many plots that are well-formed.
pub fn is_self_contained(page: &str, plots: usize) -> Result<(), String> {
    for fetched in [" src=", "<link", "<script", "@import", "url(", "xlink:href"] {
        if page.contains(fetched) {
            return Err(format!("the page has {fetched:?}"));
        }
    }
    // The one address is the name of SVG's name space, which is not fetched.
    let addresses =
        page.matches("://").count() - page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    if addresses > 0 {
        return Err(format!("the page has {addresses} addresses"));
    }
    let mut found = 0;
    for part in page.split("<svg").skip(1) {
        let svg = part.split_once("</svg>").ok_or("a plot does not end")?.0;
        let svg = format!("<svg{svg}</svg>");
        roxmltree::Document::parse(&svg).map_err(|error| format!("a plot is no SVG: {error}\n{svg}"))?;
        found += 1;
    }
    if found == plots { Ok(()) } else { Err(format!("the page has {found} plots, not {plots}")) }
}

/// Makes a peer of two scripts, and gives the words that add it.
fn fake(folder: &RunFolder, name: &str, compiler: &str, starter: &str) -> Result<[String; 4], String> {
    let prefix = folder.file(name);
    let bin = prefix.join("bin");
    let failed = |error: std::io::Error| format!("{}: {error}", bin.display());
    fs::create_dir_all(&bin).map_err(failed)?;
    for (command, script) in [("mpicc", compiler), ("mpiexec", starter)] {
        let file = bin.join(command);
        let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n{script}\n");
        fs::write(&file, text).map_err(failed)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(["--peer".into(), format!("{name}={}", prefix.display()), "--only".into(), name.into()])
}

/// Peers that do everything wrong are named with the reason, a good one beside them is measured, and nothing is left of an earlier run.
fn wrong_peers(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("out");
    let failed = |error: std::io::Error| error.to_string();
    fs::create_dir_all(&out).map_err(failed)?;
    for file in ["peers.json", "peers.html"] {
        fs::write(out.join(file), "yesterday's").map_err(failed)?;
    }
    // Wrong use removes nothing; what begins to measure does.
    lwk.command(&words(&out, &["no-such-figure"]), LIMIT)?;
    if read(&out.join("peers.json"))? != "yesterday's" {
        return Err("a refused command has removed the results".into());
    }
    let mut more: Vec<String> =
        vec![FIGURE.into(), "--rounds".into(), "1".into(), "--timeout".into(), HANGS.into()];
    for (name, compiler, starter, _) in WRONG {
        more.extend(fake(&folder, name, compiler, starter)?);
    }
    more.extend(fake(&folder, "good", GOOD_COMPILER, &FIGURES.replace("TIME", SLOW))?);
    more.extend(["--peer".into(), "absent=/no/such/folder".into(), "--only".into(), "absent".into()]);
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let ended = lwk.command(&words(&out, &more), LIMIT)?;
    // What happens before the first round is said at once, everything below the table.
    let stdout = WRONG.iter().map(|(.., said)| format!("^# {said}")).collect();
    let stderr =
        vec!["^lwk: compiles-forever takes".into(), "^lwk: absent takes no part: .*/no/such/folder".into()];
    Expected { stderr, stdout, ..Expected::default() }.judge(&ended)?;
    let (json, page) = (read(&out.join("peers.json"))?, read(&out.join("peers.html"))?);
    if json.contains("yesterday") || page.contains("yesterday") || page.contains("NaN") {
        return Err("results of an earlier run are still there".into());
    }
    let document: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let failed = document["failed"].as_array().map_or(0, Vec::len);
    let absent = document["absent"].as_array().map_or(0, Vec::len);
    let good = document["runs"].as_array().into_iter().flatten().find(|run| run["name"] == "good default");
    let measured = good.and_then(|good| good["runs"][0]["figures"].as_array()).map_or(0, Vec::len);
    if (failed, absent, measured) != (6, 3, 6) {
        return Err(format!(
            "{failed} failed, {absent} absent, {measured} figures of the good one\n{}",
            shown(&ended)
        ));
    }
    Ok(())
}

/// `--strict` fails beside a peer that is faster, whose row is red on the page, and passes beside one that is slower. Without a peer it
/// fails, since nothing was compared; so it does if this machine changed its state under each of Margay's figures, which is not ours to say.
fn strict(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    for (name, time, status, red) in [("fast", FAST, 1, true), ("slow", SLOW, 0, false)] {
        let peer = fake(&folder, name, GOOD_COMPILER, &FIGURES.replace("TIME", time))?;
        let out = folder.file(&format!("out-{name}"));
        let mut more = vec![FIGURE, "--rounds", "3", "--strict"];
        more.extend(peer.iter().map(String::as_str));
        let ended = lwk.command(&words(&out, &more), LIMIT)?;
        let document: Value =
            serde_json::from_str(&read(&out.join("peers.json"))?).map_err(|error| error.to_string())?;
        let compared = document["states"].as_object().is_some_and(|states| !states.is_empty());
        let (status, red) = if compared { (status, red) } else { (1, false) };
        let stderr = if compared { Vec::new() } else { vec![NOTHING_COMPARED.into()] };
        Expected { status, stderr, ..Expected::default() }.judge(&ended)?;
        let page = read(&out.join("peers.html"))?;
        if page.contains("<tr class=\"behind\">") != red || ended.stdout.contains("BEHIND") != red {
            return Err(format!("red beside {name}: {red} is wrong\n{}", shown(&ended)));
        }
    }
    let out = folder.file("out-alone");
    let alone = ["--peer", "none=/no/such/folder", "--only", "none", FIGURE, "--rounds", "1", "--strict"];
    let ended = lwk.command(&words(&out, &alone), LIMIT)?;
    Expected { status: 1, stderr: vec![NOTHING_COMPARED.into()], ..Expected::default() }.judge(&ended)
}

/// What cannot be is refused in one line, before anything is built: names that are not there, no rounds, one core.
fn refusals(lwk: &Lwk) -> Result<(), String> {
    let usable = lwk_home::usable_cores().map_err(|error| error.to_string())?;
    let [one, two, ..] = usable[..] else { return Err("this machine has one core".into()) };
    let (one, both) = (&one.to_string(), &format!("{one},{two}"));
    let refused = [
        (both, "no-such-figure", "no figure begins with no-such-figure; there are latency_0_us, "),
        (both, "--only=lam", "there is no peer lam; there are mpich, "),
        (both, "--peer=lam", "--peer lam: give it as NAME=PREFIX$"),
        (both, "--peer=impi=/x", "--peer impi=/x: this name is taken$"),
        (both, "--rounds=0", "invalid value '0' for '--rounds <N>'"),
        (both, "--timeout=0", "invalid value '0' for '--timeout <SECONDS>'"),
        (one, "--quick", "the comparison needs 2 cores of this machine, and it may use 1$"),
    ];
    for (cores, word, why) in refused {
        let output = Command::new("taskset")
            .args(["-c", cores])
            .arg(lwk.binary())
            .args(["bench", "peers", word])
            .current_dir(lwk.tree().root())
            .output()
            .map_err(|error| format!("taskset: {error}"))?;
        let ended = Ended {
            command: format!("taskset -c {cores} cargo lwk bench peers {word}"),
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        let stderr = vec![format!("^lwk: {why}")];
        Expected { status: 2, stderr, stderr_lines: Some(1), stdout_lines: Some(0), ..Expected::default() }
            .judge(&ended)?;
    }
    Ok(())
}
