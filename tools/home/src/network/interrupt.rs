//! Who takes frames in: the interrupt, which is a thread of the node's process, and ranks that wait.
//!
//! To wake a thread costs several times as much as a message, and to set a timer as much again (a virtual machine traps). So a rank that waits looks at
//! the wires itself before it gives way ([`Network::look`]), and does what is due. As long as ranks look, the interrupt stays away from the wires and no timer is
//! set: a frame then wakes nobody. A rank that computes does not look, so the interrupt comes back to see whether somebody still does: the longer
//! somebody always has, the later ([`AWAY_US`]). What is due meanwhile is late by as much at most.
//!
//! No frame can be missed between the two: what nobody has taken stays in the socket, and the interrupt sleeps there by poll(2), which returns
//! as long as there is one.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;

use lwk_abi::syscall::{YIELD_AFTER_WORK, YIELD_OUTSIDE_WAIT};
use lwk_portals::Node;

use super::card::Home;
use super::{BATCH, Network};
use crate::arch::Gate;

/// How long the interrupt stays away before it sees whether ranks still look, in microseconds: at first, and at most.
const AWAY_US: [u64; 2] = [100, 800];
/// Ranks that look at least this often leave nothing to the interrupt, in microseconds. More than the turn of another at a core that does little.
const ABSENT_US: u64 = 100;
/// Looks in vain of a rank before it makes way: a look takes a third of the time.
const LOOKS_PER_YIELD: u32 = 4;
/// A rank's since it has made way.
static IN_VAIN: AtomicU32 = AtomicU32::new(0);
/// A rank that has waited for less makes way and is ready again at once, in microseconds.
const LONG_US: u64 = 1_000;
/// Of what it has waited, a rank sleeps this part at a time, and so long at most, in microseconds: what comes without a frame is late by as much.
const SLEEP_PART: u64 = 16;
const SLEEP_MAX_US: u64 = 10_000;
/// Polls of a wait up to its first look.
const FIRST_POLLS: u64 = 2;
const _: () = assert!(YIELD_AFTER_WORK < FIRST_POLLS);
/// When a rank's wait was first seen to make way, in microseconds; 0 if it has not been yet.
static WAITS_SINCE: AtomicU64 = AtomicU64::new(0);
/// The last look of a rank has found a frame, and it has called nothing since.
static IN_STREAM: AtomicBool = AtomicBool::new(false);
/// How often an interrupt with a core of its own looks for frames before it sleeps.
const LOOKS: u32 = 200;

/// Cores for a node's interrupt, by Linux's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cores {
    /// Nobody else uses it.
    Own(usize),
    /// Others use them, too.
    Shared(Vec<usize>),
}

impl Cores {
    /// Has this thread run there.
    pub fn settle(&self) {
        let mut set = CpuSet::new();
        let cores = match self {
            Cores::Own(core) => std::slice::from_ref(core),
            Cores::Shared(cores) => cores,
        };
        let named = cores.iter().try_for_each(|core| set.set(*core));
        // Without a place of its own the interrupt is slower, and no less right; so it is if Linux rounds times up.
        let _ = named.and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
        let _ = prctl::set_timerslack(1);
    }
}

impl Network {
    /// The interrupt of a job of several nodes: takes frames in and looks after time until the process ends.
    pub fn interrupts(&self, cores: &Cores) {
        let Some(receives) = self.receives else { return };
        cores.settle();
        let own = matches!(cores, Cores::Own(_));
        let mut woken = Woken::default();
        loop {
            let more = self.with(|node, home| {
                let shared = self.shared();
                if woken.struck {
                    // Relaxed: used under the lock only.
                    shared.strikes_at.store(u64::MAX, Ordering::Relaxed);
                }
                let taken = self.take_frames(node, home, BATCH);
                home.counts.interrupts += u64::from(taken > 0 && woken.slept);
                home.counts.timer += u64::from(woken.struck);
                self.finish(node, home);
                taken == BATCH
            });
            let more = more || (own && (0..LOOKS).any(|_| poll(&mut [entry(receives)], Some(0))));
            woken = if more { Woken::default() } else { self.sleep(receives) };
        }
    }

    /// A rank calls: what comes next may be the answer.
    pub(super) fn ends_stream() {
        // Relaxed: of this process's one thread.
        IN_STREAM.store(false, Ordering::Relaxed);
    }

    /// Sleeps until a frame comes that no rank looks for, or the timer strikes.
    fn sleep(&self, receives: RawFd) -> Woken {
        let mut away = 0;
        loop {
            away = self.with(|node, home| self.next_away(away, node, home));
            if away == 0 {
                break;
            }
            let time = libc::timespec { tv_sec: 0, tv_nsec: (away * 1000) as i64 };
            // SAFETY: the call reads the time. If it is cut short, the interrupt only sees sooner who looks.
            unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, std::ptr::null_mut()) };
        }
        poll(&mut [entry(receives), entry(self.timer)], None);
        Woken { struck: self.has_struck(), slept: true }
    }

    /// For how long the interrupt stays away now, in microseconds, if it has been away for `before`; 0 if no rank looks, and then the timer is set. The caller
    /// has the lock.
    fn next_away(&self, before: u64, node: &mut Node, home: &mut Home<'_>) -> u64 {
        let (shared, now) = (self.shared(), self.now());
        // Relaxed, all of them: used under the lock only.
        let since = now - shared.looked_at.load(Ordering::Relaxed);
        let away = away_after(before, since, shared.absent.swap(0, Ordering::Relaxed));
        shared.away.store(away, Ordering::Relaxed);
        if away == 0 {
            self.finish(node, home);
        }
        away
    }

    /// Whether the timer has struck since it was asked.
    fn has_struck(&self) -> bool {
        let mut count = 0u64;
        // SAFETY: the call writes into this variable, and does not wait.
        unsafe { libc::read(self.timer, (&raw mut count).cast(), size_of::<u64>()) > 0 }
    }

    /// What a rank of the node does while it waits, instead of making way at once: takes frames in that have come, unless somebody is at it. Makes way if there
    /// is none, in a long wait asleep: else those that have much to do, as at the start of many ranks, share their cores with all that wait. `polls` is how far
    /// the wait is, [`YIELD_OUTSIDE_WAIT`] if that is not known, and [`YIELD_AFTER_WORK`] if this rank has found something to do, be it for others: then who needs it next
    /// is not to find it asleep. From a program's call ([`crate::calls::on_call`]).
    pub fn look(&self, polls: u64) {
        if polls <= FIRST_POLLS {
            // Relaxed: of this process's one thread.
            WAITS_SINCE.store(0, Ordering::Relaxed);
        }
        // A frame that answers what this rank has just sent is alone, and to see that costs as much as a third of taking it in.
        // Relaxed: of this process's one thread.
        let most = if IN_STREAM.load(Ordering::Relaxed) { BATCH } else { 1 };
        let taken = self.receives.and_then(|_| {
            self.try_with(|node, home| {
                let (shared, now) = (self.shared(), self.now());
                // Relaxed, all of them: used under the lock only.
                let absent = now - shared.looked_at.swap(now, Ordering::Relaxed);
                shared.absent.fetch_max(absent, Ordering::Relaxed);
                let taken = self.take_frames(node, home, most);
                if taken > 0 || node.is_blocked() || shared.due.load(Ordering::Relaxed) <= now {
                    self.finish(node, home);
                }
                taken
            })
        });
        // Relaxed: of this process's one thread.
        IN_STREAM.store(taken.is_some_and(|taken| taken > 0), Ordering::Relaxed);
        let in_vain = if taken == Some(0) { IN_VAIN.load(Ordering::Relaxed) + 1 } else { 0 };
        IN_VAIN.store(in_vain % LOOKS_PER_YIELD, Ordering::Relaxed);
        if taken.is_none() || in_vain == LOOKS_PER_YIELD {
            self.make_way(polls != YIELD_OUTSIDE_WAIT);
        }
    }

    /// Lets others have the core: as long as there are any; or, in a wait, until a frame comes, but for no more than a part of what this rank has waited.
    fn make_way(&self, waits: bool) {
        if !waits {
            return yields();
        }
        let now = self.ticked();
        // Relaxed: of this process's one thread.
        let since = match WAITS_SINCE.load(Ordering::Relaxed) {
            0 => now,
            since => since,
        };
        WAITS_SINCE.store(since, Ordering::Relaxed);
        // Relaxed: whoever changes it meanwhile looks after what is due.
        let until_due = self.shared().due.load(Ordering::Relaxed).saturating_sub(now);
        match (sleep_after(now.saturating_sub(since)).min(until_due), self.receives) {
            (1.., None) | (0, _) => yields(),
            (sleep, Some(receives)) => {
                let mut polled = entry(receives);
                let time = libc::timespec { tv_sec: 0, tv_nsec: (sleep * 1000) as i64 };
                let [polled, time] =
                    [(&raw mut polled).expose_provenance(), (&raw const time).expose_provenance()];
                // SAFETY: the call writes into the entry and reads the time. If it is cut short, this rank only looks sooner.
                unsafe { Gate::call(libc::SYS_ppoll, [polled as u64, 1, time as u64, 0, 0, 0]) };
            }
        }
    }
}

/// Lets others have the core as long as there are any.
fn yields() {
    // SAFETY: the call names no memory.
    unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
}

/// For how long the interrupt may stay away, in microseconds, if it has been away for `before`, the last look is `since` ago, and `absent` was the longest time
/// without one.
fn away_after(before: u64, since: u64, absent: u64) -> u64 {
    if since > before.max(ABSENT_US) {
        0
    } else if since.max(absent) > ABSENT_US {
        AWAY_US[0]
    } else {
        (2 * before).clamp(AWAY_US[0], AWAY_US[1])
    }
}

/// For how long a rank sleeps that has waited so long, in microseconds; 0 if it does not.
fn sleep_after(waited: u64) -> u64 {
    if waited < LONG_US { 0 } else { (waited / SLEEP_PART).min(SLEEP_MAX_US) }
}

/// Why the interrupt is awake.
#[derive(Clone, Copy, Debug, Default)]
struct Woken {
    /// By the timer.
    struck: bool,
    /// It slept where frames wake it.
    slept: bool,
}

fn entry(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Waits until something can be read, for so many microseconds at most; whether it can.
fn poll(polled: &mut [libc::pollfd], most_us: Option<u64>) -> bool {
    let time = most_us.map(|most| libc::timespec { tv_sec: 0, tv_nsec: (most * 1000) as i64 });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the call writes into the entries and reads the time, if there is one.
    unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, time, std::ptr::null()) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_always_looks_is_left_alone_for_longer() {
        let away: Vec<u64> = (0..6)
            .scan(0, |before, _| {
                *before = away_after(*before, 1, 5);
                Some(*before)
            })
            .collect();
        assert_eq!(away, [100, 200, 400, 800, 800, 800]);
    }

    #[test]
    fn who_has_waited_for_long_sleeps_for_a_small_part_of_that() {
        assert_eq!([0, LONG_US - 1, LONG_US, 16_000].map(sleep_after), [0, 0, 62, 1_000]);
        assert_eq!(sleep_after(u64::MAX), SLEEP_MAX_US);
    }

    #[test]
    fn who_looks_now_and_then_is_not() {
        assert_eq!(away_after(800, 1, ABSENT_US + 1), AWAY_US[0]);
        assert_eq!(away_after(800, ABSENT_US + 1, 0), AWAY_US[0]);
    }

    #[test]
    fn who_computes_has_frames_taken_in_for_it() {
        assert_eq!(away_after(0, ABSENT_US + 1, 0), 0);
        assert_eq!(away_after(800, 801, 801), 0);
    }
}
