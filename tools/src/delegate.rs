//! Parts of the command that are programs of their own, so that running a job does not build them: tests and benchmarks.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Doing, Failure, Outcome};
use crate::tree::Tree;

/// The hidden option of subcommands that says: take everything as it was built last.
const BUILT: &str = "--built";

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
    let file = sibling(package)?;
    let mut command = if words.iter().any(|word| word == BUILT) && file.is_file() {
        Command::new(file)
    } else {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["run", "--quiet", "--package", package, "--manifest-path"]);
        cargo.arg(tree.root().join("Cargo.toml")).args(profile(&file)).arg("--");
        cargo
    };
    command.args(part.map(OsStr::new)).args(words);
    let error = command.exec();
    Err(Failure::host(format!("cannot start {}: {error}", command.get_program().display())))
}

/// Cargo's option for the profile that the running command was built with, by the name of its folder.
fn profile(file: &std::path::Path) -> Option<&'static str> {
    file.parent().is_some_and(|folder| folder.ends_with("release")).then_some("--release")
}
