//! System calls: Linux's numbers and meaning for those it has (crate `lwk-linux`), Margay's own from `0x1000`. An unknown one is
//! answered `ENOSYS` and counted.

mod counters;
mod machine;
mod report;
pub mod signals;
pub mod unsupported;

use lwk_abi::syscall::{CORE_COUNTERS, JOB_ABORT, JOB_END, JOB_HOLD, JOB_LEAVE, REPORT, linux};
use lwk_linux::{Answer, Fatal, Outcome};

pub use lwk_linux::Errno;

use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::failure;
use crate::rank::Rank;
use crate::scheduler;
use machine::NodeMachine;

/// Bytes of the `syscall` instruction.
const SYSCALL_BYTES: u64 = 2;

/// Answers the call that `frame` holds and leaves there what the program goes on with. Called by the entry code, on the core's kernel stack.
pub extern "C" fn syscall_entered(frame: &mut TrapFrame) {
    let core = Core::current();
    let rank = core.running().expect("a system call comes from the rank that runs on the core");
    let (number, arguments) = frame.syscall();
    core.counters.count_syscall();
    let stack = frame.rsp;
    let outcome = match number {
        linux::SCHED_YIELD => {
            frame.rax = 0;
            return scheduler::yield_core(core, rank, frame);
        }
        linux::EXIT | linux::EXIT_GROUP => exit(core, rank, frame, arguments[0]),
        linux::RT_SIGRETURN => {
            if let Err(Fatal(signal)) = signals::return_from_handler(core, rank, frame) {
                failure::rank_signalled(core, rank, frame, signal);
            }
            // A set of signals that it has unblocked may have some that wait.
            return end_call(core, rank, frame);
        }
        JOB_ABORT => abort(core, rank, frame, arguments[0]),
        JOB_END => end_job(core, rank, (arguments[0] & 0xff) as i32),
        JOB_HOLD => {
            rank.hold_job(arguments[0] != 0);
            Outcome::Done(Ok(0))
        }
        JOB_LEAVE => {
            let machine = NodeMachine { core, rank, stack };
            let left = rank.with_process(|process| process.leave(&machine, arguments[0]));
            Outcome::Done(left.inspect(|_| rank.hold_job(false)))
        }
        CORE_COUNTERS => Outcome::Done(counters::core_counters(core, rank, arguments[0])),
        REPORT => Outcome::Done(report::report(rank, arguments[0], arguments[1])),
        _ => rank.with_process(|process| {
            lwk_linux::call(process, &NodeMachine { core, rank, stack }, number, arguments)
        }),
    };
    match outcome {
        Outcome::Done(answer) => {
            frame.rax = raw(answer);
            end_call(core, rank, frame);
        }
        // The program makes the call again, from user mode, where it can be stopped; it counts once, when it is done.
        Outcome::Again => {
            core.counters.uncount_syscall();
            frame.rip -= SYSCALL_BYTES;
            scheduler::yield_core(core, rank, frame);
        }
    }
}

/// Sees to the signals that a call has raised.
fn end_call(core: &'static Core, rank: &'static Rank, frame: &mut TrapFrame) {
    if let Err(Fatal(signal)) = signals::take_signals(core, rank, frame) {
        failure::rank_signalled(core, rank, frame, signal);
    }
}

/// An answer as it stands in `rax`.
fn raw(answer: Answer) -> u64 {
    match answer {
        Ok(value) => value,
        Err(Errno(number)) => number.wrapping_neg() as u64,
    }
}

/// The low byte of a status is what others see of it, as on Linux.
fn exit(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, status: u64) -> ! {
    match (status & 0xff) as i32 {
        0 if rank.holds_job() => failure::rank_deserted(core, rank, frame),
        0 => {
            let machine = NodeMachine { core, rank, stack: frame.rsp };
            rank.with_process(|process| process.exited(&machine));
            rank.end(0);
            scheduler::abandon_stack_and_run(core)
        }
        status => failure::rank_exited(core, rank, status),
    }
}

fn end_job(core: &'static Core, rank: &'static Rank, status: i32) -> ! {
    if status != 0 {
        failure::rank_ended_job(core, rank, status)
    }
    let job = rank.job();
    if job.end_with(0) {
        rank.flush_lines();
        job.stop_everywhere(core);
    }
    rank.end(0);
    scheduler::abandon_stack_and_run(core)
}

fn abort(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, status: u64) -> ! {
    let status = match (status & 0xff) as i32 {
        0 => 1,
        status => status,
    };
    failure::rank_aborted(core, rank, frame, status)
}
