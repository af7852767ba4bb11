//! The dispatch of all calls: Margay's own are answered here, Linux's by [`crate::linux`]; then the signals are seen to that the call has
//! raised.

use core::str;

use lwk_abi::exit::signal::SIGSEGV;
use lwk_abi::syscall::errno::{EINVAL, ENOSYS};
use lwk_abi::syscall::{
    CORE_COUNTERS, CoreCounters, JOB_ABORT, JOB_END, JOB_HALT, JOB_HOLD, JOB_LEAVE, JOB_WAITS, MARGAY_BASE,
    REPORT, REPORT_BYTES, linux, portals,
};
use lwk_failure::{End, Reason};

use crate::home::Home;
use crate::machine::write_words;
use crate::process::Process;
use crate::signals::Fatal;
use crate::{Answer, Ending, Errno, Outcome, Waiting, limic, raw};

/// A call, with its arguments as what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `exit(2)`, `exit_group(2)`: the low byte of the status is what others see of it.
    Exit { status: u8 },
    /// `sched_yield(2)`
    Yield,
    /// `rt_sigreturn(2)`
    ReturnFromHandler,
    /// [`lwk_abi::syscall::JOB_ABORT`]
    Abort { status: u8 },
    /// [`lwk_abi::syscall::JOB_END`]
    EndJob { status: u8 },
    /// [`lwk_abi::syscall::JOB_HOLD`]
    Hold { on: bool },
    /// [`lwk_abi::syscall::JOB_LEAVE`]: a user address.
    Leave { word: u64 },
    /// [`lwk_abi::syscall::JOB_WAITS`]
    Waits,
    /// [`lwk_abi::syscall::JOB_HALT`]
    Halt,
    /// [`lwk_abi::syscall::CORE_COUNTERS`]: a user address.
    CoreCounters { target: u64 },
    /// [`lwk_abi::syscall::REPORT`]: a user address.
    Report { text: u64, bytes: u64 },
    /// One of [`lwk_abi::syscall::portals`].
    Portals(lwk_portals::Call),
    /// One of [`lwk_abi::limic`] or [`lwk_abi::engine`].
    Limic(limic::Call),
    /// Any other: Linux's, or none.
    Linux { number: u64, arguments: [u64; 6] },
}

impl Call {
    /// The call with a number, and six arguments in registers' order.
    #[must_use]
    pub fn new(number: u64, arguments: [u64; 6]) -> Call {
        match number {
            linux::EXIT | linux::EXIT_GROUP => Call::Exit { status: arguments[0] as u8 },
            linux::SCHED_YIELD => Call::Yield,
            linux::RT_SIGRETURN => Call::ReturnFromHandler,
            ..MARGAY_BASE => Call::Linux { number, arguments },
            _ => Call::own(number, arguments).unwrap_or(Call::Linux { number, arguments }),
        }
    }

    /// One of Margay's own, or none.
    fn own(number: u64, [first, second, third, fourth, ..]: [u64; 6]) -> Option<Call> {
        let status = first as u8;
        Some(match number {
            JOB_ABORT => Call::Abort { status },
            JOB_END => Call::EndJob { status },
            JOB_HOLD => Call::Hold { on: first != 0 },
            JOB_LEAVE => Call::Leave { word: first },
            JOB_WAITS => Call::Waits,
            JOB_HALT => Call::Halt,
            CORE_COUNTERS => Call::CoreCounters { target: first },
            REPORT => Call::Report { text: first, bytes: second },
            number if portals::RANGE.contains(&number) => {
                Call::Portals(lwk_portals::Call::new(number, [first, second, third, fourth])?)
            }
            _ => Call::Limic(limic::Call::new(number, [first, second, third])?),
        })
    }
}

/// Answers a call of the rank that `process` is about, at `home`.
pub fn answer<H: Home>(process: &mut Process, home: &H, call: Call) -> Outcome {
    let answer = match call {
        Call::Exit { status } => return Outcome::End(exit(process, home, status)),
        Call::Yield => return Outcome::Yield,
        Call::Halt => return Outcome::Halt,
        Call::ReturnFromHandler => return return_from_handler(process, home),
        Call::Abort { status } => return Outcome::End(Ending::Failure(End::by_abort(status))),
        Call::EndJob { status: 0 } => return Outcome::End(Ending::Job),
        Call::EndJob { status } => return Outcome::End(Ending::Failure(End::by_request(status.into()))),
        Call::Hold { on } => {
            process.hold_job(on);
            Ok(0)
        }
        Call::Leave { word } => process.leave(home, word),
        Call::Waits => match home.lost_node() {
            Some(lost) => return Outcome::End(Ending::Failure(End::by_lost_node(lost))),
            None => Ok(0),
        },
        Call::CoreCounters { target } => core_counters(home, target),
        Call::Report { text, bytes } => report(home, text, bytes),
        Call::Portals(call) => home.portals(call).unwrap_or(Err(Errno(ENOSYS))),
        Call::Limic(call) => limic::call(home, call),
        Call::Linux { number, arguments } => match home.files_elsewhere(process, number, arguments) {
            Some(answer) => answer,
            None => match crate::linux::call(process, home, number, arguments) {
                Waiting::Done(answer) => answer,
                Waiting::Again => return Outcome::Again,
            },
        },
    };
    if !process.has_pending_signal() {
        return Outcome::Done(answer);
    }
    let mut registers = home.registers();
    registers.rax = raw(answer);
    take_signals(process, home, registers)
}

/// The program goes on with `registers`, or as the signals that wait want it.
fn take_signals<H: Home>(process: &mut Process, home: &H, mut registers: crate::Registers) -> Outcome {
    match process.take_signals(home, &mut registers) {
        Ok(()) => Outcome::Resume(registers),
        Err(Fatal(signal)) => Outcome::End(Ending::Failure(End::by_signal(signal, Reason::Raised(signal)))),
    }
}

fn return_from_handler<H: Home>(process: &mut Process, home: &H) -> Outcome {
    let mut registers = home.registers();
    match process.return_from_handler(home, &mut registers) {
        // A set of signals that it has unblocked may have some that wait.
        Ok(()) => take_signals(process, home, registers),
        Err(Fatal(signal)) => {
            debug_assert_eq!(signal, SIGSEGV, "a frame that is none is a bad access");
            Outcome::End(Ending::Failure(End::by_signal(signal, Reason::Raised(signal))))
        }
    }
}

fn exit<H: Home>(process: &mut Process, home: &H, status: u8) -> Ending {
    match status {
        0 if process.holds_job() => Ending::Failure(End::by_desertion()),
        0 => {
            process.exited(home);
            Ending::Rank
        }
        status => Ending::Failure(End::by_exit(status.into())),
    }
}

/// Writes what has disturbed the rank's core to `target`. Errors: `EFAULT`; `ENOSYS` where nobody counts.
fn core_counters<H: Home>(home: &H, target: u64) -> Answer {
    let CoreCounters { interrupts, faults, syscalls, smis } = home.core_counters().ok_or(Errno(ENOSYS))?;
    write_words(home, target, [interrupts, faults, syscalls, smis])?;
    Ok(0)
}

/// Adds the record of `bytes` bytes at `text` to the exit report; an empty one is none. Errors: `EINVAL` for more than [`REPORT_BYTES`] or for anything
/// but printable ASCII, `EFAULT`.
fn report<H: Home>(home: &H, text: u64, bytes: u64) -> Answer {
    let mut buffer = [0; REPORT_BYTES];
    let buffer =
        usize::try_from(bytes).ok().and_then(|bytes| buffer.get_mut(..bytes)).ok_or(Errno(EINVAL))?;
    home.read(text, buffer)?;
    // Copied first: what the program may still change has been checked and is not looked at again.
    let text = str::from_utf8(buffer).map_err(|_| Errno(EINVAL))?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(Errno(EINVAL));
    }
    // A runtime asks with an empty text whether there is this call.
    if !text.is_empty() {
        home.report(text);
    }
    Ok(0)
}
