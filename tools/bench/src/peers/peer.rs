//! The other MPIs: where they come from, and how each is started at its default and at its best on one node.

use std::path::PathBuf;

use lwk::failure::{Failure, Outcome};

/// Where a peer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Packages of the Python index, laid under `target/`.
    Python(&'static [&'static str]),
    /// Commands of a Debian package that is installed; nothing is installed for the comparison.
    Debian { compiler: &'static str, starter: &'static str },
    /// A folder of the user's, with `bin/mpicc` and `bin/mpiexec`.
    Prefix(PathBuf),
}

/// Words of a starter and variables for the ranks.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// `default` or `best`.
    pub name: &'static str,
    pub words: &'static [&'static str],
    pub variables: &'static [(&'static str, &'static str)],
}

/// Another MPI, or another's OpenSHMEM.
#[derive(Clone, Debug)]
pub struct Peer {
    pub name: String,
    pub origin: Origin,
    pub program: Measured,
    /// Ways to start it; all pin rank r to core r, which is not among the differences. None: what its starter says of its version tells
    /// which.
    pub ways: Option<&'static [Way]>,
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
/// Its OpenSHMEM. Version 4.1 dies at the end of every program unless one component of MPI's one-sided operations, which OpenSHMEM does not
/// use, is left out. Its best: no other network is looked at.
const OPEN_MPI_SHMEM: &[Way] = &[
    Way { name: "default", words: OPEN_MPI[0].words, variables: &[("OMPI_MCA_osc", "^rdma")] },
    Way {
        name: "best",
        words: OPEN_MPI[0].words,
        variables: &[
            ("OMPI_MCA_osc", "^rdma"),
            ("UCX_TLS", "sm,self"),
            ("OMPI_MCA_mpi_yield_when_idle", "0"),
        ],
    },
];
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

/// A starter of which nothing is known but that it takes `-n`.
const OTHER: &[Way] = &[Way { name: "default", words: &[], variables: &[] }];

/// Ways with more ranks than cores, which all share: each at its default as far as it starts so many, and with ranks that wait giving way.
const MPICH_SHARED: &[Way] = &[
    MPICH[0],
    Way {
        name: "best",
        words: &["-bind-to", "user:0,1"],
        variables: &[
            ("MPIR_CVAR_POLLS_BEFORE_YIELD", "1"),
            ("MPIR_CVAR_CH4_CMA_ENABLE", "1"),
            ("UCX_TLS", "sm,self"),
        ],
    },
];
const SHARED_WORDS: &[&str] = &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"];
const OPEN_MPI_SHARED: &[Way] = &[
    Way { name: "default", words: SHARED_WORDS, variables: &[] },
    Way {
        name: "best",
        words: SHARED_WORDS,
        variables: &[
            ("OMPI_MCA_pml", "ob1"),
            ("OMPI_MCA_btl", "self,sm,vader"),
            ("OMPI_MCA_smsc", "cma"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ],
    },
];
const OPEN_MPI_SHMEM_SHARED: &[Way] = &[
    Way { name: "default", words: SHARED_WORDS, variables: &[("OMPI_MCA_osc", "^rdma")] },
    Way {
        name: "best",
        words: SHARED_WORDS,
        variables: &[
            ("OMPI_MCA_osc", "^rdma"),
            ("UCX_TLS", "sm,self"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ],
    },
];
const INTEL_SHARED: &[Way] = &[
    INTEL[0],
    Way {
        name: "best",
        words: &[],
        variables: &[
            ("I_MPI_PIN_PROCESSOR_LIST", "0,1"),
            ("I_MPI_FABRICS", "shm"),
            ("I_MPI_THREAD_YIELD", "1"),
        ],
    },
];

/// Ways by TCP alone, as between nodes: no memory is shared, by messages, collectives or windows.
const MPICH_TCP: &[Way] = &[Way {
    name: "tcp",
    words: MPICH[0].words,
    variables: &[("MPIR_CVAR_NOLOCAL", "1"), ("FI_PROVIDER", "tcp"), ("UCX_TLS", "tcp,self")],
}];
const OPEN_MPI_TCP: &[Way] = &[Way {
    name: "tcp",
    words: OPEN_MPI[0].words,
    variables: &[
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "self,tcp"),
        ("OMPI_MCA_btl_tcp_if_include", "lo"),
        ("OMPI_MCA_coll", "^sm,xhc,han,acoll"),
        ("OMPI_MCA_osc", "^sm"),
    ],
}];
const OPEN_MPI_4_TCP: &[Way] = &[Way {
    name: "tcp",
    words: OPEN_MPI[0].words,
    variables: &[
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "self,tcp"),
        ("OMPI_MCA_btl_tcp_if_include", "lo"),
        ("OMPI_MCA_coll", "^sm,han"),
        ("OMPI_MCA_osc", "^sm,rdma"),
    ],
}];
const INTEL_TCP: &[Way] = &[Way {
    name: "tcp",
    words: &[],
    variables: &[
        ("I_MPI_PIN_PROCESSOR_LIST", "0,1"),
        ("I_MPI_FABRICS", "ofi"),
        ("I_MPI_OFI_PROVIDER", "tcp"),
        ("FI_PROVIDER", "tcp"),
    ],
}];

/// Ways of a starter that keep it to TCP.
///
/// # Errors
/// It is not known how to do that.
pub fn ways_by_tcp(version: &str) -> Outcome<&'static [Way]> {
    match ways_of(version) {
        ways if std::ptr::eq(ways, MPICH) => Ok(MPICH_TCP),
        ways if std::ptr::eq(ways, OPEN_MPI) => Ok(OPEN_MPI_TCP),
        ways if std::ptr::eq(ways, OPEN_MPI_4) => Ok(OPEN_MPI_4_TCP),
        ways if std::ptr::eq(ways, INTEL) => Ok(INTEL_TCP),
        _ => Err(Failure::host("how to keep it to TCP is not known here")),
    }
}

/// Ways of a starter for so many ranks on two cores.
pub fn ways_of_ranks(version: &str, ranks: u32) -> &'static [Way] {
    match ways_of(version) {
        ways if ranks <= crate::peers::RANKS => ways,
        ways if std::ptr::eq(ways, MPICH) => MPICH_SHARED,
        ways if std::ptr::eq(ways, OPEN_MPI) || std::ptr::eq(ways, OPEN_MPI_4) => OPEN_MPI_SHARED,
        ways if std::ptr::eq(ways, INTEL) => INTEL_SHARED,
        ways => ways,
    }
}

/// Ways of Open MPI's OpenSHMEM for so many ranks on two cores.
pub fn shmem_ways_of_ranks(ranks: u32) -> &'static [Way] {
    if ranks <= crate::peers::RANKS { OPEN_MPI_SHMEM } else { OPEN_MPI_SHMEM_SHARED }
}

/// Ways of a starter that says this of its version; of an unknown one, only `-n`.
pub fn ways_of(version: &str) -> &'static [Way] {
    let by_word = [
        ("Intel", INTEL),
        ("HYDRA", MPICH),
        ("OpenRTE", OPEN_MPI_4),
        ("(Open MPI) 4", OPEN_MPI_4),
        ("Open MPI", OPEN_MPI),
    ];
    by_word.into_iter().find(|(word, _)| version.contains(word)).map_or(OTHER, |(_, ways)| ways)
}

/// Those that are known.
fn all() -> Vec<Peer> {
    let mpi = |name: &str, origin, ways| Peer {
        name: name.into(),
        origin,
        program: Measured::Mpi,
        ways: Some(ways),
    };
    let open_mpi = Origin::Debian { compiler: "mpicc.openmpi", starter: "mpiexec.openmpi" };
    vec![
        mpi("mpich", Origin::Python(&["mpich"]), MPICH),
        mpi("openmpi", Origin::Python(&["openmpi"]), OPEN_MPI),
        mpi("impi", Origin::Python(&["impi-rt", "impi-devel"]), INTEL),
        mpi("debian-mpich", Origin::Debian { compiler: "mpicc.mpich", starter: "mpiexec.mpich" }, MPICH),
        mpi("debian-openmpi", open_mpi.clone(), OPEN_MPI_4),
        Peer {
            program: Measured::Shmem("-loshmem"),
            ..mpi("debian-openmpi-shmem", open_mpi, OPEN_MPI_SHMEM)
        },
    ]
}

/// Those that take part: the known ones and the user's, `NAME=PREFIX` each, or only those of them that are named.
pub fn chosen(users: &[String], only: &[String]) -> Outcome<Vec<Peer>> {
    let mut peers = all();
    for user in users {
        let wrong = |why: &str| Failure::usage(format!("--peer {user}: {why}"));
        let (name, prefix) = user.split_once('=').ok_or_else(|| wrong("give it as NAME=PREFIX"))?;
        let usual = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || !name.chars().all(usual) {
            return Err(wrong("a name has letters, digits, and any of - _ ."));
        }
        if peers.iter().any(|peer| peer.name == name) || name == "margay" {
            return Err(wrong("this name is taken"));
        }
        let origin = Origin::Prefix(prefix.into());
        peers.push(Peer { name: name.into(), origin, program: Measured::Mpi, ways: None });
    }
    let names = || peers.iter().map(|peer| peer.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = only.iter().find(|name| !peers.iter().any(|peer| peer.name == **name)) {
        return Err(Failure::usage(format!("there is no peer {unknown}; there are {}", names())));
    }
    peers.retain(|peer| only.is_empty() || only.contains(&peer.name));
    Ok(peers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn users_peers_join_the_known_ones() {
        let names = |users: &[&str], only: &[&str]| {
            let peers = chosen(&strings(users), &strings(only))?;
            Ok::<_, Failure>(peers.into_iter().map(|peer| peer.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["mine=/opt/x"], &["mine", "impi"]).unwrap(), ["impi", "mine"]);
        assert_eq!(names(&["mine=/opt/x"], &[]).unwrap().len(), 7);
        for wrong in ["mine", "=x", "a b=x", "impi=x", "margay=x", "../a=x"] {
            assert!(names(&[wrong], &[]).unwrap_err().message.contains(wrong), "{wrong}");
        }
        assert!(names(&[], &["lam"]).unwrap_err().message.contains("no peer lam"));
    }

    #[test]
    fn a_starter_tells_its_ways_by_its_version() {
        for (version, ways) in [
            ("HYDRA build details: Version: 4.0.2", MPICH),
            ("mpiexec.openmpi (OpenRTE) 4.1.4", OPEN_MPI_4),
            ("mpirun (Open MPI) 4.1.4", OPEN_MPI_4),
            ("mpiexec (Open MPI) 5.0.8", OPEN_MPI),
            ("Intel(R) MPI Library for Linux* OS, Version 2021.17", INTEL),
            ("something", OTHER),
        ] {
            assert_eq!(format!("{:?}", ways_of(version)), format!("{ways:?}"), "{version}");
        }
    }
}
