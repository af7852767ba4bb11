//! The other MPIs: where they come from, and how each is started at its default and at its best on one node.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::peers::RANKS;
use crate::bench::peers::install::Found;
use crate::bench::peers::samples::Run;
use crate::boot_tests::command::{Lwk, Program};
use crate::child;
use crate::failure::{Doing, Outcome};
use crate::tree::RunFolder;

/// How long a peer may take to clean up after it has been told to end.
const GRACE: Duration = Duration::from_secs(5);

/// Where a peer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Packages of the Python index, laid under `target/`.
    Python(&'static [&'static str]),
    /// Commands of a Debian package that is installed; nothing is installed for the comparison.
    Debian { compiler: &'static str, starter: &'static str },
}

/// Words of a starter and variables for the ranks.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// `default` or `best`.
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub variables: &'static [(&'static str, &'static str)],
}

/// Another MPI.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub name: &'static str,
    pub origin: Origin,
    pub program: Measured,
    /// Ways to start it; all pin rank r to core r, which is not among the differences.
    pub ways: &'static [Way],
}

/// The program by which it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    Mpi,
    /// Compiled by the MPI's command as well, with this library.
    Shmem(&'static str),
}

/// MPICH: its shared memory is the default. Its best: no other network is looked at, and kernel-assisted copies for long messages.
const MPICH: &[Way] = &[
    Way { name: "default", words: &["-bind-to", "user:0,1"], variables: &[] },
    Way {
        name: "best",
        words: &["-bind-to", "user:0,1"],
        variables: &[
            ("MPIR_CVAR_NOLOCAL", "0"),
            ("MPIR_CVAR_CH4_CMA_ENABLE", "1"),
            ("MPIR_CVAR_POLLS_BEFORE_YIELD", "0"),
            ("MPIR_CVAR_PROGRESS_MAX_COLLS", "0"),
            ("UCX_TLS", "sm,self"),
        ],
    },
];
/// Open MPI: its best is its own shared-memory path without the layers for other networks, and kernel-assisted copies.
const OPEN_MPI: &[Way] = &[
    Way {
        name: "default",
        words: &["--allow-run-as-root", "--bind-to", "core", "--map-by", "core"],
        variables: &[],
    },
    Way {
        name: "best",
        words: &["--allow-run-as-root", "--bind-to", "core", "--map-by", "core"],
        variables: &[
            ("OMPI_MCA_pml", "ob1"),
            ("OMPI_MCA_btl", "self,sm"),
            ("OMPI_MCA_smsc", "cma"),
            ("OMPI_MCA_mpi_yield_when_idle", "0"),
        ],
    },
];
/// The same for Debian's older one, whose shared memory has another name.
const OPEN_MPI_4: &[Way] = &[
    OPEN_MPI[0],
    Way {
        name: "best",
        words: OPEN_MPI[0].words,
        variables: &[
            ("OMPI_MCA_pml", "ob1"),
            ("OMPI_MCA_btl", "self,vader"),
            ("OMPI_MCA_btl_vader_single_copy_mechanism", "cma"),
            ("OMPI_MCA_mpi_yield_when_idle", "0"),
        ],
    },
];
/// Its OpenSHMEM.
const OPEN_MPI_SHMEM: &[Way] = &[OPEN_MPI[0]];
/// Intel MPI: its best is shared memory only.
const INTEL: &[Way] = &[
    Way { name: "default", words: &[], variables: &[("I_MPI_PIN_PROCESSOR_LIST", "0,1")] },
    Way {
        name: "best",
        words: &[],
        variables: &[
            ("I_MPI_PIN_PROCESSOR_LIST", "0,1"),
            ("I_MPI_FABRICS", "shm"),
            ("I_MPI_THREAD_YIELD", "0"),
        ],
    },
];

/// All peers.
pub fn all() -> [Peer; 6] {
    [
        Peer { name: "mpich", origin: Origin::Python(&["mpich"]), program: Measured::Mpi, ways: MPICH },
        Peer {
            name: "openmpi",
            origin: Origin::Python(&["openmpi"]),
            program: Measured::Mpi,
            ways: OPEN_MPI,
        },
        Peer {
            name: "impi",
            origin: Origin::Python(&["impi-rt", "impi-devel"]),
            program: Measured::Mpi,
            ways: INTEL,
        },
        Peer {
            name: "debian-mpich",
            origin: Origin::Debian { compiler: "mpicc.mpich", starter: "mpiexec.mpich" },
            program: Measured::Mpi,
            ways: MPICH,
        },
        Peer {
            name: "debian-openmpi",
            origin: Origin::Debian { compiler: "mpicc.openmpi", starter: "mpiexec.openmpi" },
            program: Measured::Mpi,
            ways: OPEN_MPI_4,
        },
        Peer {
            name: "debian-openmpi-shmem",
            origin: Origin::Debian { compiler: "mpicc.openmpi", starter: "mpiexec.openmpi" },
            program: Measured::Shmem("-loshmem"),
            // Its OpenSHMEM has one way only on a node.
            ways: OPEN_MPI_SHMEM,
        },
    ]
}

impl Peer {
    /// What to start for each of its ways.
    pub fn settings(&self, found: &Found, program: &Path) -> Vec<Setting> {
        self.ways.iter().map(|way| Setting::peer(self.name, way, found, program)).collect()
    }
}

/// One MPI in one of its ways: what to start, one after the other, for all its figures.
#[derive(Clone, Debug)]
pub struct Setting {
    /// `mpich best`; Margay's has no second word.
    pub name: String,
    starts: Vec<Start>,
}

/// A command to which the program's arguments are added.
#[derive(Clone, Debug)]
struct Start {
    command: PathBuf,
    words: Vec<OsString>,
    variables: Vec<(String, OsString)>,
}

impl Setting {
    /// Margay in the host home, which pins rank r to core r by itself: MPI's program, then OpenSHMEM's.
    pub fn margay(lwk: &Lwk, programs: &[PathBuf], limit: u64) -> Self {
        let options =
            ["--host", "-n", &RANKS.to_string(), "--timeout", &limit.to_string()].map(str::to_owned);
        let start = |program: &PathBuf| Start {
            command: lwk.binary().into(),
            words: lwk.run_words(&Program::File(program.into()), &options, &[]),
            variables: Vec::new(),
        };
        Self { name: "margay".into(), starts: programs.iter().map(start).collect() }
    }

    fn peer(name: &str, way: &Way, found: &Found, program: &Path) -> Self {
        let mut words: Vec<OsString> = way.words.iter().map(OsString::from).collect();
        words.extend(["-n".into(), RANKS.to_string().into(), program.into()]);
        let mut variables = found.variables();
        variables.extend(way.variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())));
        let start = Start { command: found.starter.clone(), words, variables };
        Self { name: format!("{name} {}", way.name), starts: vec![start] }
    }

    /// Runs everything once. The error is that not even a file for the output could be made.
    pub fn run(&self, folder: &RunFolder, arguments: &[String], limit: Duration) -> Outcome<Run> {
        let runs = self.starts.iter().map(|start| start.run(folder, arguments, limit));
        let runs = runs.collect::<Outcome<Vec<_>>>()?;
        Ok(runs.into_iter().reduce(Run::and).unwrap_or(Run::Straddled))
    }
}

impl Start {
    fn run(&self, folder: &RunFolder, arguments: &[String], limit: Duration) -> Outcome<Run> {
        let what = || "keep the output of a run".to_owned();
        let (stdout, stderr) = (folder.file("peer-stdout"), folder.file("peer-stderr"));
        let mut command = Command::new(&self.command);
        command.args(&self.words).args(arguments).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdout(std::fs::File::create(&stdout).doing(what)?);
        command.stderr(std::fs::File::create(&stderr).doing(what)?);
        let mut child = match child::spawn_bound(&mut command) {
            Ok(child) => child,
            Err(error) => return Ok(Run::Failed(format!("it does not start: {error}"))),
        };
        let ended =
            child::wait_or_ask(&mut child, limit, GRACE).doing(|| "wait for the end of a run".into())?;
        let read =
            |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        Ok(match ended {
            None => Run::Failed(format!("it did not end within {} s", limit.as_secs())),
            Some(status) if status.success() => Run::of(&read(&stdout)),
            Some(status) => {
                let text = read(&stderr);
                let why = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
                Run::Failed(format!("{status}: {}", why.trim()))
            }
        })
    }
}
