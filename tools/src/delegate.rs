//! Parts of the command that are programs of their own, so that a boot in QEMU does not build them: jobs on this machine, tests and benchmarks.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Doing, Failure, Outcome};
use crate::tree::Tree;

/// The program of jobs on this machine, that of tests and checks, and that of benchmarks.
pub const HOST: &str = "lwk-host";
pub const CHECK: &str = "lwk-check";
pub const BENCH: &str = "lwk-bench";

/// [`HOST`]'s name in an installation, which has neither of the others.
pub const INSTALLED_HOST: &str = "margay-host";

/// What [`HOST`] is told first if the command was called by another name, which follows.
pub const CALLED: &str = "--margay-called";

/// The hidden option of subcommands that says: take everything as it was built last.
const BUILT: &str = "--built";
/// The variable that says so to the commands that tests and benchmarks start.
const ALL_BUILT: &str = "MARGAY_BUILT";

/// The file of the program `name` of these tools: beside the one that runs. Errors: that one cannot be found.
pub fn sibling(name: &str) -> Outcome<PathBuf> {
    let own = std::env::current_exe().doing(|| "find this command's own file".into())?;
    Ok(own.with_file_name(name))
}

/// Becomes the program `package`, which cargo builds if it has changed, with the word `part` (if any) and `words`. Returns only if it cannot
/// be started.
pub fn become_program(
    tree: &Tree,
    package: &str,
    part: Option<&str>,
    words: &[OsString],
) -> Outcome<Infallible> {
    let mut own = words.iter().take_while(|word| *word != "--");
    let mut command = if own.any(|word| word == BUILT) || std::env::var_os(ALL_BUILT).is_some() {
        built(tree, package)?
    } else {
        fresh(tree, package)?
    };
    command.args(part.map(OsStr::new)).args(words);
    replace_by(command)
}

/// As [`become_program`], for what must work without cargo: as it was built last, if it was.
pub fn become_built(tree: &Tree, package: &str, words: &[OsString]) -> Outcome<Infallible> {
    let mut command = built(tree, package)?;
    command.args(words);
    replace_by(command)
}

/// As [`become_program`], for a program that starts this command many times: builds what that becomes, once.
pub fn become_user(
    tree: &Tree,
    package: &str,
    part: Option<&str>,
    words: &[OsString],
) -> Outcome<Infallible> {
    let mut command = if words.iter().any(|word| word == BUILT) {
        built(tree, package)?
    } else {
        build(tree, HOST)?;
        fresh(tree, package)?
    };
    command.env(ALL_BUILT, "1").args(part.map(OsStr::new)).args(words);
    replace_by(command)
}

/// Builds a program of these tools, if it has changed, and the user has not said that all is built.
///
/// # Errors
/// It does not build.
pub fn build(tree: &Tree, package: &str) -> Outcome<()> {
    if std::env::var_os(ALL_BUILT).is_some() {
        return Ok(());
    }
    let mut command = cargo(tree, "build", package)?;
    let status = command.status().doing(|| "start cargo".into())?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::host(format!("{package} does not build; the compiler's messages are above")))
}

/// A program's file, as it was built last or installed; cargo's, if there is none.
fn built(tree: &Tree, package: &str) -> Outcome<Command> {
    if tree.is_installed() {
        let file = sibling(INSTALLED_HOST)?;
        let missing = || Failure::host(format!("{} is missing; install again", file.display()));
        return file.is_file().then(|| Command::new(&file)).ok_or_else(missing);
    }
    let file = sibling(package)?;
    if file.is_file() { Ok(Command::new(file)) } else { fresh(tree, package) }
}

/// A program, built by cargo if it has changed.
fn fresh(tree: &Tree, package: &str) -> Outcome<Command> {
    if tree.is_installed() {
        return built(tree, package);
    }
    let mut command = cargo(tree, "run", package)?;
    command.arg("--");
    Ok(command)
}

/// Cargo, for a package of these tools, in the profile that the running command was built with.
fn cargo(tree: &Tree, what: &str, package: &str) -> Outcome<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([what, "--quiet", "--package", package, "--manifest-path"]);
    command.arg(tree.root().join("Cargo.toml")).args(profile(&sibling(package)?));
    Ok(command)
}

fn replace_by(mut command: Command) -> Outcome<Infallible> {
    let error = command.exec();
    Err(Failure::host(format!("cannot start {}: {error}", command.get_program().display())))
}

/// Cargo's option for the profile that the running command was built with, by the name of its folder.
fn profile(file: &Path) -> Option<&'static str> {
    file.parent().is_some_and(|folder| folder.ends_with("release")).then_some("--release")
}
