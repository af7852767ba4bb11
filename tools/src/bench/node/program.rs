//! The benchmark programs: what they offer, and one run of one test.
//!
//! A program names its tests when asked for `list` (the first word of each line) and the transports that it can run on when
//! asked for `transports` (one a line). If there is more than one, `--transport NAME` chooses.

use std::ffi::OsString;

use super::results::{self, Measurement, Started};
use crate::boot_tests::command::{Ended, Lwk, Program};

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

/// What a benchmark can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub tests: Vec<String>,
    pub transports: Vec<String>,
}

/// Where and how the programs run.
pub struct Place<'a> {
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
    /// Asks the program. The error is what is wrong.
    pub fn offer(&self, place: &Place<'_>) -> Result<Offer, String> {
        let ask = |word: &str| {
            let names = first_words(&place.run(self.name, 1, &[word.into()])?.stdout);
            if names.is_empty() { Err(format!("`{} {word}` names nothing", self.name)) } else { Ok(names) }
        };
        Ok(Offer { tests: ask("list")?, transports: ask("transports")? })
    }

    /// Runs one test. The error is what is wrong.
    pub fn run(
        &self,
        place: &Place<'_>,
        test: &str,
        offer: &Offer,
        transport: &str,
        ranks: u32,
    ) -> Result<Vec<Measurement>, String> {
        let arguments = self.arguments(test, offer, transport, place.quick);
        let ended = place.run(self.name, ranks, &arguments)?;
        let started = Started { program: self.name, transport, ranks };
        results::read(&ended.stdout, &started).map_err(|why| format!("its JSON is not as expected: {why}"))
    }

    /// The command line of a test. The transport is named where there is a choice.
    fn arguments(&self, test: &str, offer: &Offer, transport: &str, quick: bool) -> Vec<String> {
        let mut arguments: Vec<String> = vec![test.into(), "--json".into()];
        if offer.transports.len() > 1 {
            arguments.extend(["--transport".into(), transport.into()]);
        }
        if quick {
            arguments.extend(self.quick.iter().map(|word| (*word).into()));
        }
        arguments
    }
}

impl Place<'_> {
    /// Runs a program to its end; an error unless its status is 0.
    fn run(&self, program: &str, ranks: u32, arguments: &[String]) -> Result<Ended, String> {
        let pairs = [
            ("-n", ranks.to_string()),
            ("--mem", self.mem.to_string()),
            ("--timeout", self.limit.to_string()),
        ];
        let mut options: Vec<String> =
            pairs.into_iter().flat_map(|(name, value)| [name.into(), value]).collect();
        if self.on_host {
            options.push("--host".into());
            if ranks > self.host_cores {
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
        let arguments = |transports: &[&str]| {
            let transports = transports.iter().map(|name| String::from(*name)).collect();
            BENCHMARKS[0].arguments("bw", &Offer { tests: Vec::new(), transports }, "b", false)
        };
        assert_eq!(arguments(&["b"]), ["bw", "--json"]);
        assert_eq!(arguments(&["a", "b"]), ["bw", "--json", "--transport", "b"]);
        let quick =
            BENCHMARKS[1].arguments("barrier", &Offer { tests: vec![], transports: vec![] }, "a", true);
        assert!(quick.len() > 2, "{quick:?}");
    }

    #[test]
    fn a_failure_is_one_line() {
        assert_eq!(failed(Some(3), "\nfirst\nlast\n"), "failed with status 3: first");
        assert_eq!(failed(Some(1), ""), "failed with status 1");
        assert_eq!(failed(None, "x"), "was ended by a signal: x");
    }
}
