//! Failure reports: which rank, on which core, died of what, with registers and a back trace; then its job ends. The words
//! are those of `lwk_failure`, which the host home says too.

use core::fmt;

use lwk_abi::console::{FAILURE, FRAME};
use lwk_abi::exit::SIGNAL_BASE;
use lwk_failure::{Death, Fault, Reason};
use lwk_mm::Access;

use crate::arch::trap_frame::TrapFrame;
use crate::console;
use crate::core_local::Core;
use crate::job;
use crate::rank::Rank;
use crate::scheduler;
use crate::user_memory::UserSlice;

/// Ends the rank whose program this core runs, and with it its job, with status 128 plus the number of the fault's signal.
pub fn rank_faulted(core: &'static Core, frame: &TrapFrame, fault: Fault) -> ! {
    let rank = core.running().expect("an exception in user mode comes from the rank that runs on the core");
    let reason = fault.reason(rank.layout(), rank.job().size() as u32);
    end_job(core, rank, Some(frame), SIGNAL_BASE + fault.signal(), reason)
}

/// Ends the rank that runs on this core by a signal that it has raised itself, and its job with status 128 plus the signal's number.
pub fn rank_signalled(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, signal: i32) -> ! {
    end_job(core, rank, Some(frame), SIGNAL_BASE + signal, Reason::Raised(signal))
}

/// Ends the rank that runs on this core, and its job, because its program asked for it with a status other than 0 (1 to 255).
pub fn rank_exited(core: &'static Core, rank: &'static Rank, status: i32) -> ! {
    end_job(core, rank, None, status, Reason::Exit(status))
}

/// Ends the job, with status 1, of a rank that exits while its peers count on it ([`lwk_abi::syscall::JOB_HOLD`]).
pub fn rank_deserted(core: &'static Core, rank: &'static Rank, frame: &TrapFrame) -> ! {
    end_job(core, rank, Some(frame), 1, Reason::Desertion)
}

/// Ends the whole job with `status`, 1 to 255, because a program asked for it ([`lwk_abi::syscall::JOB_ABORT`]).
pub fn rank_aborted(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, status: i32) -> ! {
    end_job(core, rank, Some(frame), status, Reason::Abort(status))
}

/// The same without a back trace, because a program has said so on purpose ([`lwk_abi::syscall::JOB_END`]).
pub fn rank_ended_job(core: &'static Core, rank: &'static Rank, status: i32) -> ! {
    end_job(core, rank, None, status, Reason::Abort(status))
}

fn end_job(
    core: &'static Core,
    rank: &'static Rank,
    frame: Option<&TrapFrame>,
    status: i32,
    reason: Reason,
) -> ! {
    let job = rank.job();
    // Only the first failure is reported: the others are often its consequences.
    if job.end_with(status) {
        rank.flush_lines();
        say_death(core, rank, reason);
        if let Some(frame) = frame {
            frame.registers().lines().iter().for_each(|line| say(rank, format_args!("{line}")));
            trace(rank, frame);
        }
        job.stop_everywhere(core);
    }
    rank.end(status);
    scheduler::abandon_stack_and_run(core)
}

fn say(rank: &Rank, text: fmt::Arguments<'_>) {
    console::record_urgently(FAILURE, rank.number(), text);
}

fn say_death(core: &Core, rank: &Rank, reason: Reason) {
    let death = Death { rank: rank.number() as u32, core: core.index() as u32, reason };
    say(rank, format_args!("{death}"));
}

/// Says where a program was when the time limit interrupted it at `frame`.
pub fn trace_at_time_limit(core: &Core, rank: &Rank, frame: &TrapFrame) {
    say_death(core, rank, Reason::Timeout);
    trace(rank, frame);
}

/// Prints the back trace of a program interrupted at `frame`.
fn trace(rank: &Rank, frame: &TrapFrame) {
    let read = |address: u64| {
        let mut word = [0; 8];
        UserSlice::new(address, 8).readable(rank).ok()?.copy_to(&mut word);
        Some(u64::from_le_bytes(word))
    };
    let is_code = |address: u64| rank.layout().check(address, 1, Access::RX).is_ok();
    lwk_failure::back_trace(frame.position(), is_code, read, |address| {
        console::record_urgently(FRAME, rank.number(), format_args!("{address:#x}"));
    });
}

/// Prints the back traces of ranks that share this core and wait for their turn. For the time limit's report: a rank whose
/// state is being changed at this moment is left out.
pub fn trace_waiting_ranks(core: &Core) {
    let Some(job) = job::current() else { return };
    let running = core.running().map(Rank::number);
    for rank in
        job.ranks_of_core(core.index()).filter(|rank| Some(rank.number()) != running && !rank.has_ended())
    {
        if let Some(frame) = rank.waiting_frame() {
            trace_at_time_limit(core, rank, &frame);
        }
    }
}
