//! Finding and installing peers: packages of the Python index in a folder of their own under `target/`, Debian's where they are there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::peers::peer::{Origin, Peer};
use crate::peers::start;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages;
use lwk::progress::Step;
use lwk::tree::{RunFolder, Tree};

/// Written when an installation is complete.
const COMPLETE: &str = "complete";
/// An installation may take this long, and a starter to tell its version.
const INSTALLATION: Duration = Duration::from_secs(900);
const TELLING: Duration = Duration::from_secs(10);

/// A peer that is there: its commands and what they need.
#[derive(Clone, Debug)]
pub struct Found {
    /// What its starter says of it; empty if it says nothing.
    pub version: String,
    pub compiler: PathBuf,
    pub starter: PathBuf,
    /// Its own folder, if it has one.
    prefix: Option<PathBuf>,
}

impl Found {
    /// Its compiler command (`mpicc`), in the environment that it needs.
    pub fn compiler(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.envs(self.variables());
        command
    }

    /// Variables that its commands need in the environment; none if it has no folder of its own.
    pub fn variables(&self) -> Vec<(String, OsString)> {
        let Some(prefix) = &self.prefix else { return Vec::new() };
        let before = |name: &str, folder: PathBuf| {
            let old = std::env::var_os(name).unwrap_or_default();
            let folders =
                std::iter::once(folder).chain(std::env::split_paths(&old).filter(|path| path.is_absolute()));
            std::env::join_paths(folders).map(|paths| (name.to_owned(), paths)).ok()
        };
        let mut variables: Vec<_> =
            [before("PATH", prefix.join("bin")), before("LD_LIBRARY_PATH", prefix.join("lib"))]
                .into_iter()
                .flatten()
                .collect();
        variables.push(("I_MPI_ROOT".into(), prefix.clone().into()));
        variables
    }
}

/// Finds a peer; one of the Python index is installed first if it is not there, which may take a quarter of an hour.
///
/// # Errors
/// It is not there or cannot be installed; it then takes no part.
pub fn find(tree: &Tree, peer: &Peer, folder: &RunFolder, verbose: bool) -> Outcome<Found> {
    let mut found = match &peer.origin {
        Origin::Debian { compiler, starter } => {
            let command = |name| {
                packages::find_command(name)
                    .ok_or_else(|| Failure::host(format!("{name} is not installed (it is not needed)")))
            };
            let (compiler, starter) = (command(compiler)?, command(starter)?);
            Found { version: String::new(), compiler, starter, prefix: None }
        }
        Origin::Python(wanted) => {
            let prefix = tree.root().join("target/lwk/peers").join(&peer.name);
            install(wanted, &prefix, &peer.name, folder, verbose)?;
            in_prefix(prefix)?
        }
        Origin::Prefix(prefix) => {
            in_prefix(prefix.canonicalize().doing(|| format!("find the folder {}", prefix.display()))?)?
        }
    };
    found.version = version(&found, folder);
    Ok(found)
}

/// The commands in a folder.
fn in_prefix(prefix: PathBuf) -> Outcome<Found> {
    let (compiler, starter) = (prefix.join("bin/mpicc"), prefix.join("bin/mpiexec"));
    if let Some(missing) = [&compiler, &starter].into_iter().find(|file| !file.is_file()) {
        return Err(Failure::host(format!("there is no {}", missing.display())));
    }
    Ok(Found { version: String::new(), compiler, starter, prefix: Some(prefix) })
}

/// The first line of what its starter says of its version, and the first with a number; nothing if it fails.
fn version(found: &Found, folder: &RunFolder) -> String {
    let mut command = Command::new(&found.starter);
    command.arg("--version").envs(found.variables());
    let Ok(ended) = start::to_end(&mut command, folder, TELLING) else { return String::new() };
    if !ended.status.success() {
        return String::new();
    }
    let lines = || ended.stdout.lines().filter(|line| !line.trim().is_empty());
    let first = lines().next().unwrap_or_default();
    let number = lines().find(|line| line.chars().any(|letter| letter.is_ascii_digit()));
    let words = first
        .split_whitespace()
        .chain(number.filter(|line| *line != first).into_iter().flat_map(str::split_whitespace));
    words.collect::<Vec<_>>().join(" ")
}

fn install(wanted: &[&str], prefix: &Path, name: &str, folder: &RunFolder, verbose: bool) -> Outcome<()> {
    let mark = prefix.join(COMPLETE);
    if mark.is_file() {
        return Ok(());
    }
    let _step = Step::begin(format!("installing {name} under target/"), verbose);
    let _ = fs::remove_dir_all(prefix);
    fs::create_dir_all(prefix).doing(|| format!("make the folder {}", prefix.display()))?;
    let python = packages::find_command("python3")
        .ok_or_else(|| Failure::host("there is no python3; install Debian's python3-pip"))?;
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--ignore-installed", "--no-warn-script-location"]);
    command
        .args(["--disable-pip-version-check", "--root-user-action=ignore", "--prefix"])
        .arg(prefix)
        .args(wanted);
    if let Some(why) = start::to_end(&mut command, folder, INSTALLATION)?.complaint() {
        return Err(Failure::host(format!("pip cannot install it: {why}")));
    }
    fs::write(&mark, "").doing(|| format!("write {}", mark.display()))
}
