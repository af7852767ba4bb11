//! `cargo lwk test rsmpi`: Rust's crate `mpi`, unchanged, against an installation, and its examples.
//!
//! No part of the everyday test: it fetches a crate with cargo, and its bindings need libclang. An installation is made under `target/`, a copy of the
//! crate's published source is built there with the installed `mpicc`, and each example runs as a job on this machine.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::count::Count;
use lwk::child;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages;
use lwk::progress::Step;
use lwk::subcommand::Lwk;
use lwk::tree::Tree;

/// What asks for it.
pub const COMMAND: &str = "rsmpi";
/// The crate's version. The list below is of this one.
const VERSION: &str = "0.8.2";
/// What examples are built for; named, so that build scripts and macros are built as always.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Ranks of an example, and of those that need more.
const RANKS: u32 = 2;
const MORE_RANKS: [(&str, u32); 1] = [("cartesian_map", 4)];
/// Time limit of an example, and what is left to it to end after that.
const LIMIT: Duration = Duration::from_secs(120);
const GRACE: Duration = Duration::from_secs(5);
/// Examples that do not run, and why.
const EXCEPTIONS: [(&str, &str); 5] = [
    ("spawn", "it spawns processes, which a job of ranks on cores cannot have (MPI_ERR_SPAWN)"),
    ("spawn_multiple", "it spawns processes, which a job of ranks on cores cannot have (MPI_ERR_SPAWN)"),
    ("derive_nonthreaded_panic", "it starts a thread, and a rank has one"),
    (
        "immediate_reduce",
        "its operation is a closure: libffi makes code for it, and no memory is writable and executable",
    ),
    (
        "reduce",
        "its operation is a closure: libffi makes code for it, and no memory is writable and executable",
    ),
];

/// Builds and runs all examples, or those with `row` in their names. Status 0 if all but the exceptions run, and these do not; else 1.
///
/// # Errors
/// Something is missing on this machine, or the crate does not build.
pub fn run(tree: &Tree, row: Option<&str>, verbose: bool) -> Outcome<i32> {
    if !has_libclang() {
        packages::install(&["libclang-dev"], verbose)?;
    }
    let folder = tree.root().join("target/lwk").join(COMMAND);
    fs::create_dir_all(&folder).doing(|| format!("make the folder {}", folder.display()))?;
    let prefix = folder.join("prefix");
    install(tree, &prefix, verbose)?;
    let source = fetched(&folder, verbose)?;
    let examples = build(&folder, &source, &prefix, verbose)?;
    let mut count = Count::default();
    for (name, program) in examples.iter().filter(|(name, _)| row.is_none_or(|row| name.contains(row))) {
        let ended = runs(&prefix, name, program, &folder)?;
        let exception = EXCEPTIONS.iter().find(|(exception, _)| exception == name).map(|(_, why)| *why);
        let failed = match (ended, exception) {
            (Ok(()), None) => {
                show!("ok    {name}");
                count.passed += 1;
                continue;
            }
            (Err(_), Some(why)) => {
                show!("skip  {name}: {why}");
                continue;
            }
            (Ok(()), Some(_)) => "it runs now: take it off the list of exceptions".to_owned(),
            (Err(why), None) => why,
        };
        show!("FAIL  {name}: {failed}");
        count.fail(name, &failed);
    }
    Ok(count.conclude())
}

/// Whether bindgen will find the library it loads.
fn has_libclang() -> bool {
    let of_it = |folder: &Path| {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with("libclang"))
    };
    let versions = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm =
        versions.filter(|path| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("llvm-")));
    std::env::var_os("LIBCLANG_PATH").is_some()
        || llvm
            .map(|path| path.join("lib"))
            .chain(["/usr/lib/x86_64-linux-gnu".into()])
            .any(|path| of_it(&path))
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The crate is built as its users build it, whatever this command was built with.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR"] {
        command.env_remove(variable);
    }
    command
}

/// Runs a command whose output is shown only if it fails; gives its standard output.
fn quietly(command: &mut Command, what: &str) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().doing(|| format!("start {what}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    lwk::tell::result(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
    Err(Failure::host(format!("{what} fails; what it says is above")))
}

fn install(tree: &Tree, prefix: &Path, verbose: bool) -> Outcome<()> {
    let _step = Step::begin("installing under target/", verbose);
    let lwk = Lwk::new(tree)?;
    let mut command = Command::new(lwk.binary());
    quietly(command.arg("install").arg(prefix).current_dir(tree.root()), "cargo lwk install").map(drop)
}

/// A copy of the crate's published source that is a workspace of its own.
fn fetched(folder: &Path, verbose: bool) -> Outcome<PathBuf> {
    let copy = folder.join(format!("mpi-{VERSION}"));
    if copy.join("Cargo.toml").is_file() {
        return Ok(copy);
    }
    let _step = Step::begin("fetching the crate mpi", verbose);
    let user = folder.join("fetch");
    let write =
        |file: PathBuf, text: &str| fs::write(&file, text).doing(|| format!("write {}", file.display()));
    fs::create_dir_all(user.join("src")).doing(|| format!("make the folder {}", user.display()))?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\n\n[dependencies]\nmpi = \"={VERSION}\"\n\n[workspace]\n"
    );
    write(user.join("Cargo.toml"), &manifest)?;
    write(user.join("src/lib.rs"), "")?;
    let text =
        quietly(cargo().args(["metadata", "--format-version", "1"]).current_dir(&user), "cargo metadata")?;
    let metadata: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::host(format!("cargo metadata prints no JSON: {error}")))?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let manifest = packages.iter().find(|it| it["name"] == "mpi").and_then(|it| it["manifest_path"].as_str());
    let source = manifest.and_then(|file| Path::new(file).parent());
    let source = source.ok_or_else(|| Failure::host("cargo metadata does not say where the crate mpi is"))?;
    let half = folder.join("copy");
    let _ = fs::remove_dir_all(&half);
    quietly(Command::new("cp").arg("-r").arg(source).arg(&half), "cp")?;
    let manifest = half.join("Cargo.toml");
    let append = || fs::OpenOptions::new().append(true).open(&manifest)?.write_all(b"\n[workspace]\n");
    append().doing(|| format!("write {}", manifest.display()))?;
    fs::rename(&half, &copy).doing(|| format!("make {}", copy.display()))?;
    Ok(copy)
}

/// Builds the crate with the installed compiler command, and its examples; names and programs, in the order of names.
fn build(folder: &Path, source: &Path, prefix: &Path, verbose: bool) -> Outcome<Vec<(String, PathBuf)>> {
    let _step = Step::begin("building the crate mpi and its examples", verbose);
    let target = folder.join("target");
    let mut command = cargo();
    command.args(["build", "--quiet", "--examples", "--all-features", "--target", TARGET, "--target-dir"]);
    command.arg(&target).current_dir(source);
    command.env("MPICC", prefix.join("bin/mpicc")).env("RUSTFLAGS", "-C target-feature=+crt-static");
    quietly(&mut command, "cargo build")?;
    let examples = source.join("examples");
    let listed = fs::read_dir(&examples).doing(|| format!("list {}", examples.display()))?;
    let mut names: Vec<String> = listed
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    names.sort_unstable();
    let built = target.join(TARGET).join("debug/examples");
    Ok(names.into_iter().map(|name| (name.clone(), built.join(name))).collect())
}

/// Runs an example; what is wrong with it, in a line.
fn runs(prefix: &Path, name: &str, program: &Path, folder: &Path) -> Outcome<Result<(), String>> {
    let ranks = MORE_RANKS.iter().find(|(its, _)| *its == name).map_or(RANKS, |(_, ranks)| *ranks);
    let output = folder.join("output");
    let file = || File::create(&output).doing(|| format!("write {}", output.display()));
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    command.args(["--oversubscribe", "-n", &ranks.to_string()]).arg(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file()?).process_group(0);
    let mut child = child::spawn_bound(&mut command).doing(|| "start mpiexec".into())?;
    let status = child::wait_for_group(&mut child, LIMIT, GRACE).doing(|| "wait for mpiexec".into())?;
    let said = String::from_utf8_lossy(&fs::read(&output).unwrap_or_default()).into_owned();
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned();
    Ok(match status {
        None => Err(format!("it did not end within {} s", LIMIT.as_secs())),
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{status}: {first}")),
    })
}
