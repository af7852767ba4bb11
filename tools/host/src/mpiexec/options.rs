//! The options of `mpiexec` and its kin: those of other MPIs, and what each is for here.

use std::fmt::Write;

/// What an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Ranks,
    /// A variable and its value, in two words.
    Set,
    /// A variable with its value, or the caller's.
    Pass,
    /// Only these of the caller's variables, joined by commas.
    Only,
    /// None of the caller's variables.
    Nothing,
    Folder,
    Oversubscribe,
    /// Ranks may not share cores.
    Strict,
    Node,
    /// An option of `margay run`, with the same value if it has one.
    Run(&'static str),
    /// True anyway.
    Accepted,
    /// Without effect, and said to be.
    Ignored,
    Help,
    Version,
}

use Meaning::*;

/// An option: its names, which one dash or two stand before, how many words it takes, and what it is for.
pub type Known = (&'static [&'static str], usize, Meaning);

/// Every option, in the order of the help text.
pub const OPTIONS: &[Known] = &[
    (&["n", "np", "c"], 1, Ranks),
    (&["env", "genv"], 2, Set),
    (&["x"], 1, Pass),
    (&["envlist", "genvlist"], 1, Only),
    (&["envnone", "genvnone"], 0, Nothing),
    (&["wdir", "wd", "cwd"], 1, Folder),
    (&["oversubscribe"], 0, Oversubscribe),
    (&["nooversubscribe"], 0, Strict),
    (&["timeout"], 1, Run("--timeout")),
    (&["l", "prepend-rank", "tag-output", "tag"], 0, Run("--tag")),
    (&["node"], 0, Node),
    (&["mem"], 1, Run("--mem")),
    (&["node-mem"], 1, Run("--node-mem")),
    (&["cores"], 1, Run("--cores")),
    (&["file"], 1, Run("--file")),
    (&["file-space"], 1, Run("--file-space")),
    (&["out"], 1, Run("--out")),
    (&["accel"], 1, Run("--accel")),
    (&["transport"], 1, Run("--transport")),
    (&["tuning"], 1, Run("--tuning")),
    (&["report"], 0, Run("--report")),
    (&["report-json"], 1, Run("--report-json")),
    (&["profile"], 0, Run("--profile")),
    (&["valgrind"], 0, Run("--valgrind")),
    (&["h", "help"], 0, Help),
    (&["V", "version", "info"], 0, Version),
    (&["envall", "genvall", "allow-run-as-root", "q", "quiet", "v", "verbose"], 0, Accepted),
    (
        &["bind-to", "map-by", "rank-by", "membind", "cpu-set", "cpu-list", "cpus-per-proc", "cpus-per-rank"],
        1,
        Ignored,
    ),
    (&["ppn", "perhost", "rr", "N", "npernode", "npersocket", "grr"], 1, Ignored),
    (
        &[
            "host",
            "hosts",
            "H",
            "hostfile",
            "f",
            "machinefile",
            "machine",
            "iface",
            "prefix",
            "path",
            "nodelist",
        ],
        1,
        Ignored,
    ),
    (
        &[
            "launcher",
            "launcher-exec",
            "bootstrap",
            "bootstrap-exec",
            "rmk",
            "usize",
            "s",
            "stdin",
            "tune",
            "am",
        ],
        1,
        Ignored,
    ),
    (&["mca", "gmca", "omca", "gomca", "prtemca", "pmixmca"], 2, Ignored),
    (
        &[
            "bind-to-core",
            "bind-to-socket",
            "bind-to-none",
            "bycore",
            "bysocket",
            "bynode",
            "byslot",
            "pernode",
        ],
        0,
        Ignored,
    ),
    (&["display-map", "display-allocation", "report-bindings", "nolocal", "use-hwthread-cpus"], 0, Ignored),
    (&["exitinfo", "disable-auto-cleanup", "localonly", "print-all-exitcodes"], 0, Ignored),
];

/// What the help text says about those that have an effect, by [`OPTIONS`]'s first names.
const HELP: &[(&str, &str)] = &[
    ("-n N, -np N", "ranks (1); more than cores share them, taking turns"),
    ("-env K V, -genv K V, -x K[=V]", "set a variable; the caller's are there anyway"),
    ("-envlist K,K, -envnone", "of the caller's variables only these, or none"),
    ("-wdir DIR, --cwd DIR", "the program's current folder; of its copy on a node, what changed comes back"),
    ("--oversubscribe, --nooversubscribe", "say nothing about ranks that share cores, or refuse them"),
    ("--timeout S", "time limit in seconds; else there is none"),
    ("-l, --tag-output", "prefix each line with its rank"),
    (
        "--node",
        "boot a node in QEMU and run there; files come and go by --cwd DIR, --file, --out and --file-space (margay-run(1))",
    ),
    ("--mem MIB, --node-mem MIB, --cores N", "memory of each rank; of the node with --node; cores to use"),
    (
        "--transport NAME, --tuning FILE, --profile, --report, --report-json FILE, --valgrind, --accel HOW",
        "as for `margay run`",
    ),
];

/// What `--help` prints.
pub fn help(name: &str) -> String {
    let mut text = format!(
        "Usage: {name} [OPTION …] PROGRAM [ARG …]\n\nStarts a program in C, C++, Fortran or Rust that is linked for Margay, on this machine. It has the caller's environment and \
         current folder, and rank 0 has standard input. The status is the job's.\n\nOptions, with one dash or two:\n"
    );
    for (option, what) in HELP {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {option}\n        {what}");
    }
    let ignored = OPTIONS.iter().filter(|(_, _, meaning)| *meaning == Ignored).flat_map(|(names, ..)| *names);
    let ignored: Vec<_> = ignored.map(|name| format!("-{name}")).collect();
    let _ = writeln!(text, "\nWithout effect, and said to be in a line: {}.", ignored.join(", "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_one_meaning() {
        let mut names: Vec<_> = OPTIONS.iter().flat_map(|(names, ..)| *names).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
