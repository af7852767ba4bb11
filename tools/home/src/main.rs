//! `lwk-home`: runs a job in the host home and shows the node's console as it comes, records and all. For tests of this
//! crate and for a look at the raw console; `cargo lwk run --host` is the command for people.
#![allow(clippy::disallowed_types, reason = "processes of the host home share its board, ranks do not")]

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lwk_home::{Home, Surroundings, Tools, Volume};

/// Pages that the job's files may take.
const FILE_PAGES: u32 = 128;

fn main() -> ExitCode {
    if let Some(code) = lwk_home::become_node() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, records @ ..] = &arguments[..] else {
        eprintln!(
            "usage: lwk-home PROGRAM KEY=VALUE...   (records of a job file: ranks=2 mem=67108864 arg=NAME ...)"
        );
        return ExitCode::from(2);
    };
    let job: Vec<u8> = records.iter().flat_map(|record| record.bytes().chain([0])).collect();
    match run(program, &job) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lwk-home: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(program: &str, job: &[u8]) -> io::Result<()> {
    let files = Volume::new(FILE_PAGES)?;
    let mut home = Home::start(Path::new(program), job, &Tools::default(), &files, &Surroundings::default())?;
    io::copy(home.console(), &mut io::stdout())?;
    home.stop()
}
