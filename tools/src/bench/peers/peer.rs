//! The libraries that are compared: how each is found, compiles a benchmark, and runs it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::RANKS;
use super::rows::Row;
use crate::boot_tests::command::{Lwk, Program};
use crate::build::Builder;
use crate::cc;
use crate::failure::Outcome;
use crate::packages::find_command;
use crate::tree::Tree;

/// Time limit of one run, in seconds. A run takes well under one.
const LIMIT: u64 = 30;
/// Memory of a rank on Margay, in MiB.
const MEMORY: u32 = 256;

/// A library with its compiled benchmarks.
pub struct Library {
    pub name: &'static str,
    how: How,
}

enum How {
    Margay,
    Peer {
        programs: PathBuf,
        mpiexec: PathBuf,
        options: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
    },
}

/// Where a peer comes from.
enum Source {
    /// Debian's, under these names.
    Debian { mpicc: &'static str, mpiexec: &'static str },
    /// Packages of the Python index, in a folder of their own.
    Python { packages: &'static [&'static str] },
}

struct Peer {
    name: &'static str,
    source: Source,
    /// Options of mpiexec for two pinned cores and the best way on one node.
    options: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const OPEN_MPI: &[&str] = &["--allow-run-as-root", "--bind-to", "core", "--mca", "pml", "ob1"];
const HYDRA: &[&str] = &["-bind-to", "core"];

const PEERS: [Peer; 5] = [
    Peer {
        name: "MPICH (Debian)",
        source: Source::Debian { mpicc: "mpicc.mpich", mpiexec: "mpiexec.mpich" },
        options: HYDRA,
        environment: &[],
    },
    Peer {
        name: "Open MPI (Debian)",
        source: Source::Debian { mpicc: "mpicc.openmpi", mpiexec: "mpiexec.openmpi" },
        options: OPEN_MPI,
        environment: &[],
    },
    Peer { name: "MPICH", source: Source::Python { packages: &["mpich"] }, options: HYDRA, environment: &[] },
    Peer {
        name: "Open MPI",
        source: Source::Python { packages: &["openmpi"] },
        options: OPEN_MPI,
        environment: &[],
    },
    Peer {
        name: "Intel MPI",
        source: Source::Python { packages: &["impi-rt", "impi-devel"] },
        options: &[],
        environment: &[("I_MPI_FABRICS", "shm"), ("I_MPI_PIN", "1")],
    },
];

/// Margay and the peers that are here, with the rows' programs compiled; and a line for each peer that is not.
pub fn find(
    tree: &Tree,
    builder: &Builder,
    rows: &[&Row],
    verbose: bool,
) -> Outcome<(Vec<Library>, Vec<String>)> {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.program).collect();
    let sources: Vec<PathBuf> = names.iter().map(|name| source_of(name)).collect();
    cc::build_programs(tree, builder, &sources.iter().collect())?;
    let mut found = vec![Library { name: "Margay", how: How::Margay }];
    let mut absent = Vec::new();
    for peer in &PEERS {
        let _step = crate::progress::Step::begin(format!("setting up {}", peer.name), verbose);
        match set_up(tree, peer, &sources) {
            Ok(how) => found.push(Library { name: peer.name, how }),
            Err(why) => absent.push(format!("{}: {why}", peer.name)),
        }
    }
    Ok((found, absent))
}

fn source_of(program: &str) -> PathBuf {
    Path::new("apps/c/bench").join(program).with_extension("c")
}

/// Finds or installs a peer and compiles the programs. The error is one line.
fn set_up(tree: &Tree, peer: &Peer, sources: &[PathBuf]) -> Result<How, String> {
    let folder = tree.root().join("target/peers").join(peer.name.replace([' ', '(', ')'], ""));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (mpicc, mpiexec) = match &peer.source {
        Source::Debian { mpicc, mpiexec } => {
            let find = |name: &str| find_command(name).ok_or_else(|| format!("there is no {name}"));
            (find(mpicc)?, find(mpiexec)?)
        }
        Source::Python { packages } => installed(&folder, packages)?,
    };
    for source in sources {
        let Some(name) = source.file_stem() else { continue };
        let mut command = Command::new(&mpicc);
        command.args(["-O2", "-w", "-o"]).arg(folder.join(name)).arg(tree.root().join(source)).arg("-lm");
        // Intel's wrapper finds its headers by this.
        output(command.env("I_MPI_ROOT", folder.join("env")))?;
    }
    Ok(How::Peer { programs: folder, mpiexec, options: peer.options, environment: peer.environment })
}

/// Installs packages of the Python index in a folder, unless they are there.
fn installed(folder: &Path, packages: &[&str]) -> Result<(PathBuf, PathBuf), String> {
    let bin = folder.join("env/bin");
    let (mpicc, mpiexec) = (bin.join("mpicc"), bin.join("mpiexec"));
    if !mpicc.exists() || !mpiexec.exists() {
        output(Command::new("python3").args(["-m", "venv"]).arg(folder.join("env")))?;
        output(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(packages))?;
    }
    if mpicc.exists() && mpiexec.exists() {
        Ok((mpicc, mpiexec))
    } else {
        Err(format!("{} brought no mpicc and mpiexec", packages.join(", ")))
    }
}

/// What a command prints, within the limit; the error is one line.
fn output(command: &mut Command) -> Result<String, String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = |wanted: &str| errors.lines().find(|line| !line.trim().is_empty() && line.contains(wanted));
    let first = said("error").or_else(|| said("")).unwrap_or("it says nothing").trim();
    let what = output.status.code().map_or("was killed".into(), |code| format!("status {code}"));
    Err(format!("{name}: {what}: {first}"))
}

impl Library {
    /// Runs one row once. The error is one line.
    pub fn measure(&self, lwk: &Lwk, row: &Row, iterations: u32) -> Result<f64, String> {
        let arguments = row.arguments(iterations);
        match &self.how {
            How::Margay => {
                let options = ["-n", &RANKS.to_string(), "--mem", &MEMORY.to_string(), "--host"];
                let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
                let words: Vec<OsString> =
                    lwk.run_words(&Program::C(source_of(row.program)), &options, &arguments);
                let ended = lwk.command(&words, LIMIT)?;
                if ended.status != Some(0) {
                    return Err(format!(
                        "status {:?}: {}",
                        ended.status,
                        ended.stderr.lines().next().unwrap_or("")
                    ));
                }
                row.read(&ended.stdout)
            }
            How::Peer { programs, mpiexec, options, environment } => {
                // `timeout` ends mpiexec, which ends its ranks.
                let mut command = Command::new("timeout");
                command.args(["--kill-after=5", &LIMIT.to_string()]).arg(mpiexec);
                command.args(*options).args(["-n", &RANKS.to_string()]).arg(programs.join(row.program));
                command.env("I_MPI_ROOT", programs.join("env")).envs(environment.iter().copied());
                row.read(&output(command.args(&arguments))?)
            }
        }
    }
}
