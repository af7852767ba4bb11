//! Which rank a core runs: the one it was given, for as long as that lives. Ranks that share a core (`--oversubscribe`)
//! take turns when they yield; nothing is ever preempted.

use crate::arch::trap_frame::TrapFrame;
use crate::core_local::Core;
use crate::job::Job;
use crate::rank::Rank;

/// A rank at work: on this core, for this job.
#[derive(Clone, Copy)]
pub struct Running {
    pub core: &'static Core,
    pub job: &'static Job,
    pub rank: &'static Rank,
}

/// Makes the first rank of this core that has not ended the one it runs, if there is one, and returns the registers to leave the kernel with.
pub fn first_turn(job: &'static Job, core: &'static Core) -> Option<TrapFrame> {
    next_rank(job, core, None).map(|rank| enter(core, rank))
}

/// Lets another rank of this core run, if there is one: `frame`, that of the yielding rank's system call, is exchanged
/// for the other's.
pub fn yield_core(running: &Running, frame: &mut TrapFrame) {
    let Running { core, job, rank } = *running;
    let Some(next) = next_rank(job, core, Some(rank)) else { return };
    if next.number() != rank.number() {
        rank.pause(frame);
        *frame = enter(core, next);
    }
}

/// Makes `rank` the one this core runs, and returns the registers to leave the kernel with.
fn enter(core: &'static Core, rank: &'static Rank) -> TrapFrame {
    core.set_running(Some(rank));
    rank.resume()
}

/// The next rank of this core that has not ended, in turn after `after`.
fn next_rank(job: &'static Job, core: &Core, after: Option<&Rank>) -> Option<&'static Rank> {
    let alive = || job.living_ranks_of_core(core.index());
    let later = after.and_then(|after| alive().find(|rank| rank.number() > after.number()));
    later.or_else(|| alive().next())
}
