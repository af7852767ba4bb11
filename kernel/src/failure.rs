//! Failure reports: which rank, on which core, died of what, with registers and a back trace. The words are those of `lwk_failure`, which the
//! host home says too.

use core::fmt;

use lwk_abi::console::{FAILURE, FRAME};
use lwk_failure::{Death, End, Reason};
use lwk_mm::Access;

use crate::arch::trap_frame::TrapFrame;
use crate::console;
use crate::core_local::Core;
use crate::job::Job;
use crate::rank::Rank;
use crate::scheduler::Running;
use crate::user_slice::UserSlice;

/// Says how a rank, whose program has entered the kernel with `frame`, ends its job.
pub fn report(running: &Running, frame: &TrapFrame, end: &End) {
    let Running { core, job, rank } = *running;
    say_death(job, core, rank, end.reason);
    if end.traced {
        frame.registers().lines().iter().for_each(|line| say(rank, format_args!("{line}")));
        trace(job, rank, frame);
    }
}

fn say(rank: &Rank, text: fmt::Arguments<'_>) {
    console::record_urgently(FAILURE, rank.number(), text);
}

fn say_death(job: &Job, core: &Core, rank: &Rank, reason: Reason) {
    let death = Death { rank: job.first_rank() + rank.number() as u32, core: core.index() as u32, reason };
    say(rank, format_args!("{death}"));
}

/// Says where a program was when the time limit interrupted it at `frame`.
pub fn trace_at_time_limit(job: &Job, core: &Core, rank: &Rank, frame: &TrapFrame) {
    say_death(job, core, rank, Reason::Timeout);
    trace(job, rank, frame);
}

/// Prints the back trace of a program interrupted at `frame`.
fn trace(job: &Job, rank: &Rank, frame: &TrapFrame) {
    let read = |address: u64| {
        let mut word = [0; 8];
        UserSlice::new(address, 8).readable(job, rank).ok()?.copy_to(&mut word);
        Some(u64::from_le_bytes(word))
    };
    let is_code = |address: u64| rank.layout().check(address, 1, Access::RX).is_ok();
    lwk_failure::back_trace(frame.position(), is_code, read, |address| {
        console::record_urgently(FRAME, rank.number(), format_args!("{address:#x}"));
    });
}

/// Prints the back traces of ranks that share this core and wait for their turn. For the time limit's report: a rank whose
/// state is being changed at this moment is left out.
pub fn trace_waiting_ranks(job: &Job, core: &Core) {
    let running = core.running().map(Rank::number);
    let waiting = job.living_ranks_of_core(core.index()).filter(|rank| Some(rank.number()) != running);
    for rank in waiting {
        if let Some(frame) = rank.waiting_frame() {
            trace_at_time_limit(job, core, rank, &frame);
        }
    }
}
