//! One boot of a node: from the start of QEMU to the status of the job.
//!
//! Promises: ends within the time limit plus a short grace; QEMU is gone when it returns; a status other than 70 and
//! 124 is only ever the node's own word, confirmed by QEMU's exit status ([`lwk_abi::exit`]).

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use lwk_abi::exit::{DEBUG_EXIT_ENDED, DEBUG_EXIT_PANIC, KERNEL_PANIC, TIMEOUT};
use serde_json::json;

use crate::console::printer::{Heard, Printer};
use crate::console::record::Parser;
use crate::failure::{Doing, Failure, Outcome};
use crate::qemu::Node;
use crate::{files, screen};

/// How long firmware and kernel may take, on a busy host, until the ranks start; the job's own limit if that is longer.
pub(crate) const BOOT_LIMIT: Duration = Duration::from_secs(180);
/// After the time limit: how long the kernel may take to tell where each rank is and to end the job. It takes milliseconds; this is for a
/// machine that stands still meanwhile.
pub const GRACE: Duration = Duration::from_secs(60);
/// How long QEMU may take from closing the serial line to its end.
pub const EXIT_LIMIT: Duration = Duration::from_secs(60);

/// What to do besides listening, and for how long.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Time limit of the job, counted from its start; none for a debugger.
    pub limit: Option<Duration>,
    /// Take the screen at the job's end: a scratch file for QEMU, and the PNG file to write. The job must have been
    /// told to wait at its end.
    pub screen: Option<(PathBuf, PathBuf)>,
    /// Fetch the files at the job's end, by the same rule: a scratch file for QEMU, and the folders that come back.
    pub back: Option<(PathBuf, Vec<files::Back>)>,
}

/// Where the session stands with the time limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// The ranks have not started.
    Booting,
    Running,
    /// The kernel has been asked where its ranks are.
    Asked,
    /// QEMU has been killed.
    Killed,
}

/// Listens to the node until it ends and gives the status of the command. What the node says goes to `printer`;
/// what must be said about the node itself comes back as the [`Failure`]'s line.
pub fn supervise(node: &mut Node, printer: &mut Printer<'_>, plan: &Plan) -> Outcome<i32> {
    let mut parser = Parser::default();
    let mut clock = Clock::Booting;
    let mut deadline = plan.limit.map(|limit| Instant::now() + limit.max(BOOT_LIMIT));
    let mut looked_at = false;
    let started_ns = files::now_ns().saturating_sub(files::CLOCKS_DIFFER_NS);
    let mut brought_back =
        plan.back.as_ref().map(|_| Err(files::lost("the node has ended before the job had")));
    let mut bytes = [0u8; 16 << 10];
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            if clock == Clock::Asked || node.monitor.command("inject-nmi", json!({})).is_err() {
                clock = Clock::Killed;
                node.kill();
                break;
            }
            clock = Clock::Asked;
            printer.time_is_up();
            deadline = Some(Instant::now() + GRACE);
            continue;
        }
        node.serial.set_read_timeout(left).doing(|| "wait for the node".into())?;
        let length = match node.serial.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if is_time_out(error.kind()) => continue,
            // QEMU ended with bytes unread on its side.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error).doing(|| "read the node's serial line".into()),
        };
        let mut printed = Ok(());
        parser.feed(&bytes[..length], |record| {
            if printed.is_ok() {
                printed = printer.record(&record);
            }
        });
        printed.doing(|| "write the job's output".into())?;
        if clock == Clock::Booting && printer.heard().started {
            clock = Clock::Running;
            deadline = plan.limit.map(|limit| Instant::now() + limit);
        }
        let waits = plan.screen.is_some() || plan.back.is_some();
        if waits && printer.heard().end.is_some() && !looked_at {
            looked_at = true;
            if let Some((scratch, folders)) = &plan.back {
                brought_back = Some(files::fetch(
                    &mut node.monitor,
                    &printer.heard().files,
                    scratch,
                    folders,
                    started_ns,
                ));
            }
            if let Some((scratch, png)) = &plan.screen {
                screen::dump(&mut node.monitor, scratch, png)?;
            }
            node.serial.write_all(b"\n").doing(|| "tell the node to end".into())?;
        }
    }
    printer.finish().doing(|| "write the job's output".into())?;
    let ended = conclude(node, printer, plan, &parser, clock);
    files::conclude(ended, brought_back.unwrap_or(Ok(())))
}

/// The status of the job, when QEMU has ended or says no more.
fn conclude(
    node: &mut Node,
    printer: &Printer<'_>,
    plan: &Plan,
    parser: &Parser,
    clock: Clock,
) -> Outcome<i32> {
    let limit = plan.limit.unwrap_or_default().as_secs();
    if clock == Clock::Killed {
        return Err(timed_out(limit, printer.heard(), parser));
    }
    let status = node.end_within(EXIT_LIMIT)?;
    let verdict = judge(printer.heard(), status);
    match verdict {
        _ if clock == Clock::Asked => Err(timed_out(limit, printer.heard(), parser)),
        Err(mut failure) => {
            failure.message.push_str(&explanation(node, parser));
            Err(failure)
        }
        ended => ended,
    }
}

fn timed_out(limit: u64, heard: &Heard, parser: &Parser) -> Failure {
    let message = if heard.started {
        format!("the job ran into its time limit of {limit} s and was ended")
    } else {
        let limit = limit.max(BOOT_LIMIT.as_secs());
        format!("the node did not start its job within {limit} s and was ended{}", last_noise(parser))
    };
    Failure { message, status: TIMEOUT }
}

/// The status that the node's word and QEMU's exit status agree on, or how they do not. `status` is `None` if QEMU
/// had to be killed.
fn judge(heard: &Heard, status: Option<ExitStatus>) -> Outcome<i32> {
    let died = |message: String| Err(Failure { message, status: KERNEL_PANIC });
    let Some(status) = status else { return died("the node fell silent and had to be killed".into()) };
    let code = status.code().and_then(|code| u32::try_from(code).ok());
    let wrote = |value: u32| code == Some(value * 2 + 1);
    if heard.panicked || wrote(DEBUG_EXIT_PANIC) {
        return died("the kernel panicked".into());
    }
    match (heard.end, status.signal()) {
        (Some(end), None) if wrote(DEBUG_EXIT_ENDED) => Ok(i32::try_from(end).unwrap_or(KERNEL_PANIC)),
        (_, Some(signal)) => died(format!("QEMU was killed by signal {signal}")),
        (None, _) if code == Some(0) => {
            died("the node reset itself before the job had ended (a triple fault?)".into())
        }
        (None, _) => died(format!("QEMU ended with {status} before the job had ended")),
        (Some(end), _) => died(format!("the job ended with status {end}, but QEMU with {status}")),
    }
}

/// What QEMU or the firmware said last, if anything, as the end of a sentence.
fn explanation(node: &Node, parser: &Parser) -> String {
    match node.last_message() {
        Some(message) => format!("; QEMU says: {message}"),
        None => last_noise(parser),
    }
}

fn last_noise(parser: &Parser) -> String {
    let noise = parser.noise();
    let noise = noise.trim();
    if noise.is_empty() { String::new() } else { format!("; last heard: {noise}") }
}

/// Whether a read with a time limit has failed by that, or may be tried again.
pub fn is_time_out(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(end: Option<u32>, panicked: bool, wait: i32) -> i32 {
        let heard = Heard { end, panicked, ..Heard::default() };
        judge(&heard, Some(ExitStatus::from_raw(wait))).unwrap_or_else(|failure| failure.status)
    }

    const ENDED: i32 = 33 << 8;
    const PANICKED: i32 = 35 << 8;

    #[test]
    fn the_nodes_word_counts_only_if_qemu_agrees() {
        assert_eq!(status(Some(0), false, ENDED), 0);
        assert_eq!(status(Some(139), false, ENDED), 139);
        assert_eq!(status(Some(0), false, 0), 70);
        assert_eq!(status(Some(0), false, 9), 70, "killed by a signal");
        assert_eq!(status(None, false, ENDED), 70);
        assert_eq!(status(None, false, 0), 70);
        assert_eq!(status(None, false, 1 << 8), 70);
    }

    #[test]
    fn a_panic_is_a_panic_whatever_else_was_said() {
        assert_eq!(status(Some(0), true, ENDED), 70);
        assert_eq!(status(Some(0), false, PANICKED), 70);
        assert_eq!(status(None, true, PANICKED), 70);
    }

    #[test]
    fn a_qemu_that_had_to_be_killed_is_no_success() {
        let heard = Heard { end: Some(0), ..Heard::default() };
        assert_eq!(judge(&heard, None).unwrap_err().status, 70);
    }
}
