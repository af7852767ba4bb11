//! This PE's mailboxes and the numbers that go with them ([`crate::protocol::mailbox`] is the protocol).
//!
//! Numbers count, for each pair of PEs and direction, what was told since the job began. Both PEs of a pair take part in the
//! same collective calls in the same order, so both count alike; a program whose PEs call in different orders may deadlock
//! under the standard, too.

use super::fatal::stop;
use super::pe::at;
use crate::protocol::mailbox::{LETTER_WORDS, Mailbox, Mismatch};
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_abi::address::MAX_RANKS;
use lwk_user::smartmap::{Shared, Symmetric};

/// What a signal or letter belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    SetUp = 1,
    Barrier,
    Sync,
    Heap,
    Team,
    Broadcast,
    Collect,
    Fcollect,
    Alltoall,
    Alltoalls,
    Reduce,
    Finalize,
}

impl Kind {
    const NAMES: [&str; 12] = [
        "init",
        "barrier",
        "sync",
        "an allocation or a free of the symmetric heap",
        "the creation or end of a team",
        "broadcast",
        "collect",
        "fcollect",
        "alltoall",
        "alltoalls",
        "a reduction",
        "finalize",
    ];

    fn name(kind: u8) -> &'static str {
        Kind::NAMES.get((kind as usize).wrapping_sub(1)).copied().unwrap_or("an unknown call")
    }
}

// SAFETY: atomics only, no addresses.
unsafe impl Shared for Mailbox {}

/// In each PE: entry `p` is what PE `p` tells it. 48 KiB.
static INBOX: Symmetric<[Mailbox; MAX_RANKS]> = Symmetric::new([const { Mailbox::new() }; MAX_RANKS]);

/// Counts of this PE's own, by peer. Atomics only because they are static; relaxed, as a rank is one thread.
struct Counts([AtomicU64; MAX_RANKS]);

impl Counts {
    const fn new() -> Counts {
        Counts([const { AtomicU64::new(0) }; MAX_RANKS])
    }

    #[inline(always)]
    fn next(&self, pe: i32) -> u64 {
        let count = &self.0[pe as usize];
        let next = count.load(Ordering::Relaxed) + 1;
        count.store(next, Ordering::Relaxed);
        next
    }
}

static SIGNALLED: Counts = Counts::new();
static HEARD: Counts = Counts::new();
static POSTED: Counts = Counts::new();
static TAKEN: Counts = Counts::new();

/// The mailbox in PE `pe` that this PE writes.
#[inline(always)]
fn outgoing(pe: i32) -> &'static Mailbox {
    let own = INBOX.as_ptr().cast::<Mailbox>().wrapping_add(super::my_pe() as usize);
    // SAFETY: a static, so the peer has it at the same address, initialised, as long as the job runs; `Shared`.
    unsafe { &*at(own, pe) }
}

/// The mailbox of this PE that PE `pe` writes.
#[inline(always)]
fn incoming(pe: i32) -> &'static Mailbox {
    &INBOX.here()[pe as usize]
}

/// Tells PE `pe` that this PE has come this far; what was stored before is visible to it when it hears.
#[inline]
pub(crate) fn signal(pe: i32, kind: Kind) {
    outgoing(pe).signal(SIGNALLED.next(pe), kind as u8);
}

/// Waits for the next signal of PE `pe`.
#[inline]
pub(crate) fn hear(pe: i32, kind: Kind) {
    if let Err(mismatch) = incoming(pe).hear(HEARD.next(pe), kind as u8) {
        not_matching(pe, kind, mismatch);
    }
}

/// Sends PE `pe` a letter. The rule of use in [`crate::protocol::mailbox`] applies.
#[inline]
pub(crate) fn post(pe: i32, kind: Kind, words: &[u64; LETTER_WORDS], used: usize) {
    outgoing(pe).post(POSTED.next(pe), kind as u8, &words[..used.min(LETTER_WORDS)]);
}

/// Waits for the next letter of PE `pe`.
#[inline]
pub(crate) fn take(pe: i32, kind: Kind, words: &mut [u64; LETTER_WORDS], used: usize) {
    let words = &mut words[..used.min(LETTER_WORDS)];
    if let Err(mismatch) = incoming(pe).take(TAKEN.next(pe), kind as u8, words) {
        not_matching(pe, kind, mismatch);
    }
}

#[cold]
#[inline(never)]
fn not_matching(pe: i32, kind: Kind, mismatch: Mismatch) -> ! {
    let (mine, theirs) = (Kind::name(kind as u8), Kind::name(mismatch.0));
    stop(format_args!(
        "calls do not match: this PE is in {mine}, PE {pe} in {theirs}; all PEs of a team must make the same collective calls in \
         the same order"
    ))
}
