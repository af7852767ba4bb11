//! Finding and installing peers: packages of the Python index in a folder of their own under `target/`, Debian's where they are there.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::peers::peer::{Origin, Peer};
use crate::failure::{Doing, Failure, Outcome};
use crate::packages;
use crate::progress::Step;
use crate::tree::Tree;

/// Written when an installation is complete.
const COMPLETE: &str = "complete";

/// A peer that is there.
#[derive(Clone, Debug)]
pub struct Found {
    pub compiler: PathBuf,
    pub starter: PathBuf,
    /// Its own folder, if it has one.
    prefix: Option<PathBuf>,
}

impl Found {
    /// Its compiler command.
    pub fn compiler(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.envs(self.variables());
        command
    }

    /// What its commands need in the environment.
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

/// Finds a peer; one of the Python index is installed first if it is not there.
pub fn find(tree: &Tree, peer: &Peer, verbose: bool) -> Outcome<Found> {
    match peer.origin {
        Origin::Debian { compiler, starter } => {
            let command = |name| {
                packages::find_command(name)
                    .ok_or_else(|| Failure::host(format!("{name} is not installed (it is not needed)")))
            };
            Ok(Found { compiler: command(compiler)?, starter: command(starter)?, prefix: None })
        }
        Origin::Python(wanted) => {
            let prefix = tree.root().join("target/lwk/peers").join(peer.name);
            install(wanted, &prefix, peer.name, verbose)?;
            let bin = prefix.join("bin");
            Ok(Found { compiler: bin.join("mpicc"), starter: bin.join("mpiexec"), prefix: Some(prefix) })
        }
    }
}

fn install(wanted: &[&str], prefix: &Path, name: &str, verbose: bool) -> Outcome<()> {
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
    let output = command.stdin(Stdio::null()).output().doing(|| "run pip".into())?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let lines = || text.lines().filter(|line| !line.trim().is_empty());
        let why = lines().rev().find(|line| line.contains("ERROR")).or_else(|| lines().next_back());
        return Err(Failure::host(format!(
            "pip cannot install it: {}",
            why.unwrap_or("no reason given").trim()
        )));
    }
    fs::write(&mark, "").doing(|| format!("write {}", mark.display()))
}
