//! Which rank a core runs: the one it was given, for as long as that lives. Ranks that share a core (`--oversubscribe`)
//! take turns when they yield; nothing is ever preempted.

use crate::arch::trap_frame::TrapFrame;
use crate::arch::{entry, interrupts, paging};
use crate::core_local::Core;
use crate::job::{self, Job};
use crate::memory;
use crate::rank::Rank;

/// Runs the ranks of this core until they have ended, then waits for ever.
pub fn run() -> ! {
    abandon_stack_and_run(Core::current())
}

/// As [`run`], on the core's empty kernel stack: whatever brought the core here is over.
pub fn abandon_stack_and_run(core: &'static Core) -> ! {
    core.set_running(None);
    // SAFETY: the stack is this core's, and with the return to a program or to the idle loop nothing on it is needed.
    unsafe { entry::switch_stack(core.kernel_stack(), run_ranks) }
}

extern "C" fn run_ranks() -> ! {
    let core = Core::current();
    // SAFETY: the kernel root has the kernel half of every rank's root; from here on no rank's memory is used by address.
    unsafe { paging::switch_root(memory::kernel_root()) };
    loop {
        let Some(job) = job::current() else {
            interrupts::wait();
            continue;
        };
        job.load_ranks(core);
        if job.is_stopping() {
            stop_ranks_of_core(core);
        }
        match next_rank(job, core, None) {
            Some(rank) => {
                let frame = enter(core, rank);
                entry::leave(&frame);
            }
            None => interrupts::wait(),
        }
    }
}

/// Makes `rank` the one this core runs, and returns the registers to leave the kernel with.
fn enter(core: &'static Core, rank: &'static Rank) -> TrapFrame {
    core.set_running(Some(rank));
    rank.resume()
}

/// The next rank of this core that has not ended, in turn after `after`.
fn next_rank(job: &'static Job, core: &Core, after: Option<&Rank>) -> Option<&'static Rank> {
    let alive = || job.ranks_of_core(core.index()).filter(|rank| !rank.has_ended());
    let later = after.and_then(|after| alive().find(|rank| rank.number() > after.number()));
    later.or_else(|| alive().next())
}

/// Lets another rank of this core run, if there is one: `frame`, that of the yielding rank's system call, is exchanged
/// for the other's.
pub fn yield_core(core: &'static Core, rank: &'static Rank, frame: &mut TrapFrame) {
    let Some(next) = next_rank(rank.job(), core, Some(rank)) else { return };
    if next.number() != rank.number() {
        rank.pause(frame);
        *frame = enter(core, next);
    }
}

/// Ends the ranks of this core because their job has failed. With the last rank of the job the node ends, and this does not return.
pub fn stop_ranks_of_core(core: &'static Core) {
    if let Some(job) = job::current() {
        job.ranks_of_core(core.index()).filter(|rank| !rank.has_ended()).for_each(Rank::stop);
    }
}
