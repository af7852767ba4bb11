//! Output that nobody reads, or that has no room: the command ends with its own status, and what is lost is told if anybody listens.

use std::fs::{File, OpenOptions};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Test;
use super::judge::Expected;
use crate::needs::Needs;
use lwk::child;
use lwk::subcommand::{Ended, Lwk, PATIENCE, Program};

/// Where a stream leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Kept,
    /// A pipe whose reader has gone: `… | head`.
    Unread,
    /// A disk without room.
    Full,
}

/// What is run, where its standard output and its standard error lead, and what must come of it.
type Case = (&'static [&'static str], Stream, Stream, i32, &'static str, &'static str);

/// One rank, which prints a line to standard output.
const HELLO: &[&str] = &["run", "--built", "--host", "--oversubscribe", "-n", "1", "--mem", "16", "--report"];
const NO_PROGRAM: &[&str] = &["run", "no-such-program"];
const LIST: &[&str] = &["list"];

const CASES: [Case; 8] = [
    (NO_PROGRAM, Stream::Kept, Stream::Unread, 2, "", ""),
    (NO_PROGRAM, Stream::Unread, Stream::Unread, 2, "", ""),
    (NO_PROGRAM, Stream::Kept, Stream::Full, 2, "", ""),
    (LIST, Stream::Unread, Stream::Kept, 0, "", ""),
    (LIST, Stream::Full, Stream::Kept, 69, "", "^lwk: cannot write to standard output: No space left"),
    // What is not the job's may get lost, and the status is the job's.
    (HELLO, Stream::Kept, Stream::Unread, 0, "^hello from rank 0 of 1", ""),
    (HELLO, Stream::Unread, Stream::Kept, 69, "", "^lwk: cannot write the job's output: Broken pipe"),
    (HELLO, Stream::Unread, Stream::Unread, 69, "", ""),
];

/// One test of all cases.
pub fn test() -> Test {
    Test {
        name: "output-that-nobody-reads-or-has-no-room".into(),
        alone: false,
        on_host: true,
        sources: Vec::new(),
        needs: Needs::Any,
        run: Box::new(|lwk| CASES.iter().try_for_each(|case| check(lwk, case))),
    }
}

fn check(lwk: &Lwk, &(words, out, err, status, stdout, stderr): &Case) -> Result<(), String> {
    let folder = lwk.folder()?;
    let kept = ["stdout", "stderr"].map(|name| folder.file(name));
    let failed = |error: std::io::Error| error.to_string();
    let leading = |stream, file| {
        Ok(match stream {
            Stream::Kept => Stdio::from(File::create(file)?),
            Stream::Unread => Stdio::from(std::io::pipe()?.1),
            Stream::Full => Stdio::from(OpenOptions::new().write(true).open("/dev/full")?),
        })
    };
    let mut command = Command::new(lwk.binary());
    command.args(words).current_dir(lwk.tree().root()).stdin(Stdio::null());
    if words == HELLO {
        command.args(["--timeout", &PATIENCE.to_string()]).arg(lwk.program(&Program::named("hello")));
    }
    command.stdout(leading(out, &kept[0]).map_err(failed)?).stderr(leading(err, &kept[1]).map_err(failed)?);
    let mut running = child::spawn_bound(&mut command).map_err(failed)?;
    // It would hold the pipes.
    drop(command);
    let ended = child::wait_within(&mut running, Duration::from_secs(2 * PATIENCE)).map_err(failed)?;
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let ended = Ended {
        command: words.join(" "),
        status: ended.and_then(|status| status.code()),
        stdout: read(&kept[0]),
        stderr: read(&kept[1]),
    };
    Expected { status, stdout: vec![stdout.into()], stderr: vec![stderr.into()], ..Expected::default() }
        .judge(&ended)
}
