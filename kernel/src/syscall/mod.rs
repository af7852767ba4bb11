//! System calls: Linux's numbers and meaning for those it has (crate `lwk-linux`), Margay's own from `0x1000`. An unknown one is
//! answered `ENOSYS` and counted.

mod counters;
mod machine;
mod report;
pub mod signals;
pub mod unsupported;

use lwk_abi::syscall::{CORE_COUNTERS, JOB_ABORT, JOB_END, JOB_HOLD, JOB_LEAVE, REPORT, linux};
use lwk_failure::{End, Reason};
use lwk_linux::{Answer, Fatal, Outcome};

pub use lwk_linux::Errno;

use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::node;
use crate::scheduler::{self, Running};
use machine::NodeMachine;

/// Answers the call that `frame` holds and leaves there what the program goes on with. Called on the core's kernel stack.
pub fn enter(frame: &mut TrapFrame) {
    let core = Core::current();
    let running = node::running(core).expect("a system call comes from the rank that runs on the core");
    core.counters.count_syscall();
    match call(&running, frame) {
        Some(Outcome::Done(answer)) => {
            frame.set_answer(raw(answer));
            end_call(&running, frame);
        }
        // The program makes the call again, from user mode, where it can be stopped; it counts once, when it is done.
        Some(Outcome::Again) => {
            core.counters.uncount_syscall();
            frame.repeat_call();
            scheduler::yield_core(&running, frame);
        }
        None => {}
    }
}

/// The outcome of a call; none if `frame` is already what the program goes on with.
fn call(running: &Running, frame: &mut TrapFrame) -> Option<Outcome> {
    let (rank, machine) = (running.rank, NodeMachine::of(running, frame));
    let (number, arguments) = frame.syscall();
    // The low byte of a status is what others see of it, as on Linux.
    let status = arguments[0] as u8;
    Some(match number {
        linux::SCHED_YIELD => {
            frame.set_answer(0);
            scheduler::yield_core(running, frame);
            return None;
        }
        linux::EXIT | linux::EXIT_GROUP => exit(running, frame, status),
        linux::RT_SIGRETURN => {
            if let Err(Fatal(signal)) = signals::return_from_handler(running, frame) {
                end_by_signal(running, frame, signal);
            }
            // A set of signals that it has unblocked may have some that wait.
            end_call(running, frame);
            return None;
        }
        JOB_ABORT => node::end_job(running, frame, &End::by_abort(status)),
        JOB_END if status == 0 => node::end_job_well(running),
        JOB_END => node::end_job(running, frame, &End::by_request(status.into())),
        JOB_HOLD => {
            rank.hold_job(arguments[0] != 0);
            Outcome::Done(Ok(0))
        }
        JOB_LEAVE => {
            let left = rank.with_process(|process| process.leave(&machine, arguments[0]));
            Outcome::Done(left.inspect(|_| rank.hold_job(false)))
        }
        CORE_COUNTERS => Outcome::Done(counters::core_counters(running, arguments[0])),
        REPORT => Outcome::Done(report::report(running, arguments[0], arguments[1])),
        _ => rank.with_process(|process| lwk_linux::call(process, &machine, number, arguments)),
    })
}

/// Sees to the signals that a call has raised.
fn end_call(running: &Running, frame: &mut TrapFrame) {
    if let Err(Fatal(signal)) = signals::take_signals(running, frame) {
        end_by_signal(running, frame, signal);
    }
}

fn end_by_signal(running: &Running, frame: &TrapFrame, signal: i32) -> ! {
    node::end_job(running, frame, &End::by_signal(signal, Reason::Raised(signal)))
}

/// An answer as it stands in the register for it.
fn raw(answer: Answer) -> u64 {
    match answer {
        Ok(value) => value,
        Err(Errno(number)) => number.wrapping_neg() as u64,
    }
}

fn exit(running: &Running, frame: &TrapFrame, status: u8) -> ! {
    match status {
        0 if running.rank.holds_job() => node::end_job(running, frame, &End::by_desertion()),
        0 => {
            let machine = NodeMachine::of(running, frame);
            running.rank.with_process(|process| process.exited(&machine));
            node::end_rank(running)
        }
        status => node::end_job(running, frame, &End::by_exit(status.into())),
    }
}
