//! What the host tool and the runtime of a program agree on, beyond the kernel's reach: the runtime's environment variables, and
//! what it adds to the exit report ([`crate::syscall::REPORT`]).

/// Environment variable: the transport of messages on the node, one of [`TRANSPORTS`].
pub const TRANSPORT: &str = "MARGAY_TRANSPORT";
/// The transports, the default first.
pub const TRANSPORTS: [&str; 10] =
    ["smartmap", "shm-basic", "shm-advanced", "limic", "limic2", "hybrid", "mcni", "mci", "sci", LOOPBACK];
/// That of them by which messages leave the node and come back ([`crate::job_page::FLAG_LOOPBACK`]).
pub const LOOPBACK: &str = "loopback";
/// Those of them that need a core without ranks, which copies or is the model of a copy engine ([`crate::engine`]).
pub const NEED_WORKERS: [&str; 3] = ["mcni", "mci", "sci"];
/// Those of them that have switch points, which a file of `run --tuning` may set ([`HYBRID_ABOVE`]).
pub const TAKE_TUNING: [&str; 1] = ["hybrid"];
/// Environment variables: the most bytes of a message that `hybrid` copies through shared memory, for peers at each distance from the second of [`DISTANCES`] on.
pub const HYBRID_ABOVE: [&str; 3] =
    ["MARGAY_SHM_HYBRID_CACHE", "MARGAY_SHM_HYBRID_PACKAGE", "MARGAY_SHM_HYBRID_NODE"];
/// The most that one of them may say.
pub const HYBRID_MOST: u64 = 256 << 20;
/// More names for [`TRANSPORT`], for tests: everything late and in pieces; short messages by `smartmap` and longer ones by `shm-basic`; half of
/// the ranks as if they were on another node; messages by the path between nodes, on one node, too.
pub const TEST_TRANSPORTS: [&str; 4] = ["late", "by-size", "halves", "portals"];

/// Environment variable: set if every rank counts as a node of its own, so that collectives, windows and files go by messages, over [`TRANSPORT`].
pub const APART: &str = "MARGAY_APART";

/// Environment variable: the communicator whose error handler gets errors that belong to none, `self` (the default) or `world`.
pub const ERRORS_ON: &str = "MARGAY_ERRORS_ON";

/// Environment variable: set if the runtime shall add its memory to the exit report, as records
/// `transport rank=… name=… fixed=… per_peer=… peers=… dynamic=… total=…`, in bytes, and the messages that it has sent by each path but `smartmap`, as records
/// `path rank=… name=… messages=… by_system=… unfit=…`: all, those whose content the system copies, and those with which it cannot.
pub const REPORT: &str = "MARGAY_REPORT";
/// Environment variable: set if it shall count messages, and add them as records
/// `profile rank=… distance=… size=… messages=… bytes=…`, by [`PROFILE_DISTANCES`] and [`SIZES`].
pub const PROFILE: &str = "MARGAY_PROFILE";

/// Environment variable: the folder of an installation, whose `bin/margay` runs a program that is started by its file.
pub const HOME: &str = "MARGAY_HOME";
/// First argument of the host's command when such a program has executed it; then come the program's file and its arguments, the first of
/// them its name.
pub const ALONE: &str = "--margay-alone";
/// In front of the place in a program, or in a library, where the path of the host's command is recorded: [`LOADER_BYTES`] bytes that end
/// in a NUL, all NUL until it is installed.
pub const LOADER_MARK: [u8; 24] = *b"\x1eMARGAY-LOADER-IS-AT\x1e\x1e\x1e\x1e";
/// Bytes of that place.
pub const LOADER_BYTES: usize = 1000;

/// How far apart two ranks' cores are, the nearest first: the same core, cores with a last-level cache in common, cores of one
/// package, cores of one node.
pub const DISTANCES: [&str; 4] = ["self", "shared-cache", "package", "node"];
/// The same and, behind them, ranks of different nodes.
pub const PROFILE_DISTANCES: [&str; DISTANCES.len() + 1] =
    [DISTANCES[0], DISTANCES[1], DISTANCES[2], DISTANCES[3], "other-node"];
/// Classes of message sizes: of them the columns of the dissertation's tables 4.2, 5.3 and 6.1 are made.
pub const SIZES: [&str; 11] = [
    "<256", "256-1K", "1K-4K", "4K-8K", "8K-32K", "32K-64K", "64K-256K", "256K-1M", "1M-4M", "4M-16M", ">16M",
];
/// Bytes from which on a message belongs to the next class of [`SIZES`].
pub const SIZE_LIMITS: [usize; 10] =
    [256, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20];
