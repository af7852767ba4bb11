//! Waiting for a peer. The peer changes a word of memory; nothing tells this core, so it polls.
//!
//! How it polls depends on the home, and is chosen here once:
//! * on silicon, one `pause` a poll (measured: 18 ns a line handed over against 54 without it);
//! * in emulation, one `pause` every [`EMULATED_POLLS_PER_PAUSE`] polls: each costs as much as hundreds of instructions there, but
//!   where virtual cores take turns on one host thread, `pause` is what gives the turn away;
//! * where ranks share a core, `sched_yield` every [`POLLS_PER_YIELD`] polls, since the awaited peer may need this very core; after fewer where it takes in
//!   what other nodes send, and who has waited for long sleeps there, for a small part of that time, or until something comes;
//! * in a job of several nodes, a rank that waits for long says so twice a second ([`JOB_WAITS`](lwk_abi::syscall::JOB_WAITS)): its job ends if one of them is lost;
//! * with `--wait mwait`, after [`POLLS_BEFORE_SLEEP`] polls, a sleep of a microsecond each; with `--wait halt`, every 256 polls, one until the network interrupts.

use core::mem::take;

use lwk_abi::job_page::FLAG_WAIT_BY_TPAUSE;
use lwk_abi::syscall::JOB_WAITS_NS;

use crate::{arch, clock, job, syscall};

/// Polls between two `pause` instructions in emulation. Measured as half a round trip of `smap-latency`, with a host thread for each
/// of two virtual cores, and with four virtual cores taking turns: 1 poll 172 and 457 ns, 64 polls 106 to 131 and 595 ns, 1024
/// polls 106 to 143 and 4650 ns.
pub const EMULATED_POLLS_PER_PAUSE: u32 = 64;
/// Polls between two `sched_yield` calls where ranks share cores: as long as a rank on another core takes to answer. A `pause` takes up to 140 cycles.
pub const POLLS_PER_YIELD: u32 = 4;
/// The same where a yield looks for messages of other nodes.
pub const POLLS_PER_LOOK: u32 = 2;

/// Polls before a wait sleeps, where it may: what comes soon is seen as soon as without. Sleeps go by time, since a wait often looks at several words, and a
/// processor watches one line.
pub const POLLS_BEFORE_SLEEP: u32 = 256;

/// Polls between two looks at the clock, powers of two, in a job of several nodes: a small part of the time after which a wait is long. Ranks that share cores take turns meanwhile, and one
/// that may halt its core does so then: a wait looks at some of what it waits for only once in 16 polls, and has done so before.
const POLLS_PER_CLOCK: u32 = 1 << 15;
const POLLS_PER_CLOCK_SHARED: u32 = 1 << 8;

/// Polls until the condition holds. Does not return before; a condition that never comes true is ended by the job's time limit.
#[inline]
pub fn spin_until(mut condition: impl FnMut() -> bool) {
    if condition() {
        return;
    }
    let mut poll = Poll::new();
    while !condition() {
        poll.pause();
    }
}

/// Call where a program may be polling in a loop of its own, after a look that found nothing: where ranks share cores, the awaited peer may
/// need this very core, and nothing takes it away from a rank that does not give it.
#[inline]
pub fn give_way() {
    if job().is_oversubscribed() {
        syscall::sched_yield();
    }
}

/// The same after a look that may have `found` something to do, which is taken back: a wait that this rank is in serves others then, and does not sleep before it is
/// long again.
#[inline]
pub fn give_way_after(found: &mut bool) {
    if job().is_oversubscribed() {
        if take(found) { syscall::yield_after_work() } else { syscall::sched_yield() }
    }
}

/// The pauses of a wait loop that cannot be written as [`spin_until`].
pub struct Poll {
    polls: u32,
    polls_per_pause: u32,
    oversubscribed: bool,
    polls_per_yield: u32,
    sleeps_by: u32,
    /// Ticks of the counter when this wait was first looked at, or has last been said; 0 before.
    said_at: u64,
}

impl Poll {
    /// A wait loop that begins now: how it pauses is what the job page says of the home.
    #[inline]
    pub fn new() -> Poll {
        let job = job();
        let polls_per_pause = if job.is_emulated() { EMULATED_POLLS_PER_PAUSE } else { 1 };
        let polls_per_yield = if syscall::yield_looks() { POLLS_PER_LOOK } else { POLLS_PER_YIELD };
        let (oversubscribed, sleeps_by) = (job.is_oversubscribed(), job.sleeps_by());
        Poll { polls: 0, polls_per_pause, oversubscribed, polls_per_yield, sleeps_by, said_at: 0 }
    }

    /// Call after each poll that found nothing.
    #[inline]
    pub fn pause(&mut self) {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_CLOCK_SHARED) {
            self.now_and_then();
        }
        if self.oversubscribed && self.polls.is_multiple_of(self.polls_per_yield) {
            syscall::yield_in_wait(self.polls);
        } else if self.polls.is_multiple_of(self.polls_per_pause) {
            if self.sleeps_by != 0 && self.polls >= POLLS_BEFORE_SLEEP {
                sleep(self.sleeps_by);
            } else {
                arch::pause();
            }
        }
    }
}

impl Poll {
    /// Halts the core if it may, and says that this rank waits if somebody is to know and it is time to.
    #[cold]
    #[inline(never)]
    fn now_and_then(&mut self) {
        let halts = job().halts();
        if halts {
            syscall::halt();
        }
        let looks = self.oversubscribed || halts || self.polls.is_multiple_of(POLLS_PER_CLOCK);
        if job().page().nodes <= 1 || !looks {
            return;
        }
        let now = clock::ticks().max(1);
        if self.said_at == 0 {
            self.said_at = now;
        } else if now.saturating_sub(self.said_at) >= clock::ns_to_ticks(JOB_WAITS_NS) {
            self.said_at = now;
            syscall::waits();
        }
    }
}

/// Lets this core sleep for about a microsecond, or until it is interrupted: the other hardware thread has all of the core meanwhile.
#[cold]
#[inline(never)]
fn sleep(by: u32) {
    /// One in so many of a second.
    const PART: u64 = 1_000_000;
    let ticks = job().page().tsc_hz / PART;
    if by == FLAG_WAIT_BY_TPAUSE { arch::tpause(arch::ticks() + ticks) } else { arch::mwaitx(ticks as u32) }
}

impl Default for Poll {
    fn default() -> Poll {
        Poll::new()
    }
}
