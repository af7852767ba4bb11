//! The benchmark programs: what they offer, and one run of one test.
//!
//! A program names its tests when asked for `list` (the first word of each line) and the transports that it can run on when
//! asked for `transports` (one a line). If there is more than one, `--transport NAME` of `run` chooses.

use std::ffi::OsString;

use super::results::{self, Measurement, Started};
use crate::cli::PlaceOptions;
use lwk::build::MPI_APPS;
use lwk::run::host_cores;
use lwk::subcommand::{Ended, Lwk, Program};
use lwk::tree::Tree;
use lwk_abi::runtime::NEED_WORKERS;

/// A bundled benchmark.
pub struct Benchmark {
    pub name: &'static str,
    /// Arguments for the shortest run that still does everything.
    quick: &'static [&'static str],
}

/// The bundled benchmarks.
pub const BENCHMARKS: [Benchmark; 2] = [
    Benchmark { name: "mpi-bench", quick: &["--sizes", "8:64", "--iterations", "10", "--repetitions", "1"] },
    Benchmark { name: "shmem-bench", quick: &["--min-size", "8", "--max-size", "64", "--rounds", "1"] },
];

/// What a benchmark can do: names of its tests, and of the transports that it can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub tests: Vec<String>,
    pub transports: Vec<String>,
}

/// Where and how the programs run.
pub struct Setting<'a> {
    pub lwk: &'a Lwk,
    pub on_host: bool,
    /// Cores of this machine.
    pub host_cores: u32,
    pub quick: bool,
    /// Memory of each rank, in MiB.
    pub mem: u64,
    /// Time limit of a run, in seconds.
    pub limit: u64,
}

impl Benchmark {
    /// Whether the program can have a test of this name: it stands in its source, as a text. So a name that is none is refused before
    /// everything has been built; the program itself has the last word.
    pub fn may_have(&self, tree: &Tree, name: &str) -> bool {
        let source = tree.root().join(MPI_APPS.folder).join("src/bin").join(self.name).with_extension("rs");
        std::fs::read_to_string(source).is_ok_and(|text| text.contains(&format!("{name:?}")))
    }

    /// Asks the program what it offers, in a job of one rank. The error says in one line what is wrong.
    pub fn offer(&self, place: &Setting<'_>) -> Result<Offer, String> {
        let ask = |word: &str| {
            let names = first_words(&place.run(self.name, 1, None, &[word.into()])?.stdout);
            if names.is_empty() { Err(format!("`{} {word}` names nothing", self.name)) } else { Ok(names) }
        };
        Ok(Offer { tests: ask("list")?, transports: ask("transports")? })
    }

    /// Runs one test as a job of its own and reads its JSON. The error says in one line what is wrong.
    pub fn run(
        &self,
        place: &Setting<'_>,
        test: &str,
        offer: &Offer,
        transport: &str,
        ranks: u32,
    ) -> Result<Vec<Measurement>, String> {
        self.run_with(place, test, choice(offer, transport), &[], transport, ranks)
    }

    /// The same on a transport by name, or the default, with more options of the command; what is measured has the name `label` in place of the transport's.
    pub fn run_with(
        &self,
        place: &Setting<'_>,
        test: &str,
        transport: Option<&str>,
        more: &[&str],
        label: &str,
        ranks: u32,
    ) -> Result<Vec<Measurement>, String> {
        let arguments = self.arguments(test, place.quick);
        let ended = place.run_with(self.name, ranks, transport, more, &arguments)?;
        let started = Started { program: self.name, transport: label, ranks };
        results::read(&ended.stdout, &started).map_err(|why| format!("its JSON is not as expected: {why}"))
    }

    /// The command line of a test.
    fn arguments(&self, test: &str, quick: bool) -> Vec<String> {
        let mut arguments: Vec<String> = vec![test.into(), "--json".into()];
        if quick {
            arguments.extend(self.quick.iter().map(|word| (*word).into()));
        }
        arguments
    }
}

/// The transport, where there is a choice.
fn choice<'t>(offer: &Offer, transport: &'t str) -> Option<&'t str> {
    (offer.transports.len() > 1).then_some(transport)
}

impl<'a> Setting<'a> {
    /// As the options say, with so much memory for each rank.
    pub fn new(lwk: &'a Lwk, place: &PlaceOptions, mem: u64) -> Setting<'a> {
        let (quick, limit) = (place.quick, place.timeout);
        Setting { lwk, on_host: place.host, host_cores: host_cores(), quick, mem, limit }
    }

    /// Runs a program to its end; an error unless its status is 0.
    fn run(
        &self,
        program: &str,
        ranks: u32,
        transport: Option<&str>,
        arguments: &[String],
    ) -> Result<Ended, String> {
        self.run_with(program, ranks, transport, &[], arguments)
    }

    /// The same with more options of the command.
    pub fn run_with(
        &self,
        program: &str,
        ranks: u32,
        transport: Option<&str>,
        more: &[&str],
        arguments: &[String],
    ) -> Result<Ended, String> {
        let pairs = [
            ("-n", ranks.to_string()),
            ("--mem", self.mem.to_string()),
            ("--timeout", self.limit.to_string()),
        ];
        let mut options: Vec<String> =
            pairs.into_iter().flat_map(|(name, value)| [name.into(), value]).collect();
        options.extend(more.iter().map(|word| String::from(*word)));
        if let Some(transport) = transport {
            options.extend(["--transport".into(), transport.into()]);
        }
        if self.on_host {
            options.push("--host".into());
            let workers = u32::from(transport.is_some_and(|name| NEED_WORKERS.contains(&name)));
            if ranks + workers > self.host_cores {
                options.push("--oversubscribe".into());
            }
        }
        let words: Vec<OsString> = self.lwk.run_words(&Program::named(program), &options, arguments);
        let ended = self.lwk.command(&words, self.limit)?;
        match ended.status {
            Some(0) => Ok(ended),
            status => Err(failed(status, &ended.stderr)),
        }
    }
}

/// One line: the status, and the first thing said: what follows is the kernel's account of the same.
fn failed(status: Option<i32>, stderr: &str) -> String {
    let status =
        status.map_or("was ended by a signal".into(), |status| format!("failed with status {status}"));
    match stderr.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{status}: {}", line.trim()),
        None => status,
    }
}

/// The first word of each line.
fn first_words(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_first_words() {
        assert_eq!(first_words("latency  2 ranks\n\nbw\n"), ["latency", "bw"]);
    }

    #[test]
    fn the_transport_is_named_where_there_is_a_choice() {
        let chosen = |transports: &[&str]| {
            let transports = transports.iter().map(|name| String::from(*name)).collect();
            choice(&Offer { tests: Vec::new(), transports }, "b").map(String::from)
        };
        assert_eq!(chosen(&["b"]), None);
        assert_eq!(chosen(&["a", "b"]), Some("b".into()));
        assert_eq!(BENCHMARKS[0].arguments("bw", false), ["bw", "--json"]);
        let quick = BENCHMARKS[1].arguments("barrier", true);
        assert!(quick.len() > 2, "{quick:?}");
    }

    #[test]
    fn a_failure_is_one_line() {
        assert_eq!(failed(Some(3), "\nfirst\nlast\n"), "failed with status 3: first");
        assert_eq!(failed(Some(1), ""), "failed with status 1");
        assert_eq!(failed(None, "x"), "was ended by a signal: x");
    }
}
