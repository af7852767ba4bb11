//! Who takes frames in: the interrupt, which is a thread of the node's process, and ranks that wait.
//!
//! To wake a thread costs several times as much as a message. So a rank that waits and gives way looks at the wires itself ([`Network::look`]), and as
//! long as one does, the interrupt stays away from them: a frame then wakes nobody. A rank that computes does not look, so the interrupt sees every
//! [`AWAY_US`] whether somebody still does. The longer no frame comes, the longer it stays away, so that it takes little from others of its core; the next
//! call of a rank, which may be answered, has it come back sooner.
//!
//! No frame can be missed between the two: what nobody has taken stays in the socket, and the interrupt sleeps there by poll(2), which returns
//! as long as there is one.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;

use super::{BATCH, Network};
use crate::arch::Gate;

/// How long the interrupt stays away before it sees whether ranks still look, in microseconds: while frames come, and at most.
pub(super) const AWAY_US: [u64; 2] = [100, 1_600];
/// Looks in vain of a rank before it makes way: a look takes a third of the time.
const LOOKS_PER_YIELD: u32 = 4;
/// A rank's since it has made way.
static IN_VAIN: AtomicU32 = AtomicU32::new(0);
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
    fn settle(&self) {
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
        let (mut woken, mut seen) = (Woken::default(), Looks::default());
        loop {
            let more = self.with(|node, home| {
                if woken.struck {
                    // Relaxed: used under the lock only.
                    self.shared().strikes_at.store(u64::MAX, Ordering::Relaxed);
                }
                let taken = self.take_frames(node, home);
                home.counts.interrupts += u64::from(taken > 0 && woken.slept);
                home.counts.timer += u64::from(woken.struck);
                self.finish(node, home);
                taken == BATCH
            });
            let more = more || (own && (0..LOOKS).any(|_| poll(&mut [entry(receives)], Some(0))));
            woken = if more { Woken::default() } else { self.sleep(receives, &mut seen) };
        }
    }

    /// Sleeps until a frame comes that no rank looks for, or the timer strikes.
    fn sleep(&self, receives: RawFd, seen: &mut Looks) -> Woken {
        let shared = self.shared();
        let mut away = AWAY_US[0];
        loop {
            // Relaxed, all of them: what is seen too late costs one more time away, or one wake-up.
            let looks = Looks {
                all: shared.looks.load(Ordering::Relaxed),
                found: shared.found.load(Ordering::Relaxed),
            };
            let before = std::mem::replace(seen, looks);
            if looks.all == before.all {
                break;
            }
            away = if looks.found == before.found { (2 * away).min(AWAY_US[1]) } else { AWAY_US[0] };
            shared.away.store(away, Ordering::Relaxed);
            if poll(&mut [entry(self.timer)], Some(away)) && self.has_struck() {
                return Woken { struck: true, slept: false };
            }
        }
        shared.away.store(0, Ordering::Relaxed);
        poll(&mut [entry(receives), entry(self.timer)], None);
        Woken { struck: self.has_struck(), slept: true }
    }

    /// Whether the timer has struck since it was asked.
    fn has_struck(&self) -> bool {
        let mut count = 0u64;
        // SAFETY: the call writes into this variable, and does not wait.
        unsafe { libc::read(self.timer, (&raw mut count).cast(), size_of::<u64>()) > 0 }
    }

    /// What a rank of the node does while it waits, instead of making way at once: takes frames in that have come, unless somebody is at it. Makes way if there
    /// is none. From a program's call ([`crate::calls::on_call`]).
    pub fn look(&self) {
        let taken = self.receives.and_then(|_| {
            self.try_with(|node, home| {
                let shared = self.shared();
                // Under the lock, so that none is lost.
                shared.looks.store(shared.looks.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                // The clock is not read for nothing.
                let taken = self.take_frames(node, home);
                if taken > 0 {
                    shared
                        .found
                        .store(shared.found.load(Ordering::Relaxed) + taken as u64, Ordering::Relaxed);
                    self.finish(node, home);
                }
                taken
            })
        });
        // Relaxed: of this process's one thread.
        let in_vain = if taken == Some(0) { IN_VAIN.load(Ordering::Relaxed) + 1 } else { 0 };
        IN_VAIN.store(in_vain % LOOKS_PER_YIELD, Ordering::Relaxed);
        if taken.is_none() || in_vain == LOOKS_PER_YIELD {
            // SAFETY: the call names no memory.
            unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
        }
    }
}

/// Why the interrupt is awake.
#[derive(Clone, Copy, Debug, Default)]
struct Woken {
    /// By the timer.
    struck: bool,
    /// It slept where frames wake it.
    slept: bool,
}

/// Looks of ranks so far, and frames that they have found.
#[derive(Clone, Copy, Debug, Default)]
struct Looks {
    all: u64,
    found: u64,
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
