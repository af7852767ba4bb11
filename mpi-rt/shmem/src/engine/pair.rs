//! This PE's mailboxes and the numbers that go with them ([`crate::protocol::mailbox`] is the protocol).
//!
//! Numbers count, for each pair of PEs and direction, what was told since the job began. Both PEs of a pair take part in the
//! same collective calls in the same order, so both count alike; a program whose PEs call in different orders may deadlock
//! under the standard, too.

use super::far;
use super::fatal::stop;
use super::pe::{mapped, my_pe, n_pes, near};
use crate::primitive::{AtomicU64, Ordering};
use crate::protocol::mailbox::{LETTER_WORDS, Mailbox, Trouble};
use crate::protocol::wait::wait;
use lwk_abi::address::MAX_RANKS;
use lwk_user::smartmap::{Shared, Symmetric};
use lwk_words::Told;

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

/// The mailbox that this PE writes in others, as they call it.
#[inline(always)]
fn outgoing() -> *mut Mailbox {
    INBOX.as_ptr().cast::<Mailbox>().wrapping_add(my_pe() as usize)
}

/// As many PEs at most.
pub(crate) const MOST: usize = MAX_RANKS;

/// The mailbox of this PE that PE `pe` writes.
#[inline(always)]
fn incoming(pe: i32) -> &'static Mailbox {
    &INBOX.here()[pe as usize]
}

/// Not 0 once this PE has exited with status 0 without `shmem_finalize`: the home stores it ([`lwk_abi::syscall::JOB_LEAVE`]).
static GONE: Symmetric<Told> = Symmetric::new(Told::new());

/// Where the home is to store that this PE has exited.
pub(crate) fn gone_word() -> &'static Told {
    GONE.here()
}

/// Whether a PE has exited.
#[cold]
fn is_gone(pe: i32) -> bool {
    let theirs = match mapped(GONE.as_ptr(), pe) {
        // SAFETY: a static, so the peer has it at the same address, as long as the job runs; an atomic.
        Some(theirs) => Some(unsafe { &*theirs }.look() as u32),
        // SAFETY: a static, which is stored as a whole; its lower half says it all. What the peer has put before arrives before the answer.
        None => unsafe { far::look(GONE.as_ptr().cast(), pe) },
    };
    theirs != Some(0)
}

/// Waits for a change that only peers can make; `call` is for the line that ends the job when no peer is left to make it.
#[inline]
pub(crate) fn await_peers(call: &str, condition: impl FnMut() -> bool) {
    if !wait(condition, is_alone) {
        nobody_left(call);
    }
}

/// Whether every other PE has exited.
#[cold]
fn is_alone() -> bool {
    let me = my_pe();
    (0..n_pes()).all(|pe| pe == me || is_gone(pe))
}

#[cold]
#[inline(never)]
fn nobody_left(call: &str) -> ! {
    stop(format_args!("{call}: there is nobody to wait for, every other PE has exited"))
}

/// Tells PE `pe` that this PE has come this far; what was stored before is visible to it when it hears.
#[inline]
pub(crate) fn signal(pe: i32, kind: Kind) {
    let number = SIGNALLED.next(pe);
    match near(outgoing(), pe) {
        // SAFETY: a static, so the peer has it at the same address, initialised, as long as the job runs; `Shared`.
        Some(mailbox) => unsafe { &*mailbox }.signal(number, kind as u8),
        None => {
            let (offset, word) = Mailbox::signal_word(number, kind as u8);
            put_words(offset, &[word], pe);
        }
    }
}

/// Puts words into the mailbox that this PE writes in PE `pe`, at an offset of bytes. What is put later is there later.
#[cold]
#[inline(never)]
fn put_words(offset: usize, words: &[u64], pe: i32) {
    // SAFETY: words of the peer's mailbox, which this PE alone writes. The peer loads those that it waits for as wholes, which are put alone.
    unsafe {
        far::put(outgoing().cast::<u8>().wrapping_add(offset), words.as_ptr().cast(), size_of_val(words), pe)
    };
}

/// Waits for the next signal of PE `pe`. One that has exited counts as having come to the end of all.
#[inline]
pub(crate) fn hear(pe: i32, kind: Kind) {
    if let Err(trouble) = incoming(pe).hear(HEARD.next(pe), kind as u8, || is_gone(pe)) {
        not_matching(pe, kind, trouble);
    }
}

/// Sends PE `pe` a letter. The rule of use in [`crate::protocol::mailbox`] applies.
#[inline]
pub(crate) fn post(pe: i32, kind: Kind, words: &[u64; LETTER_WORDS], used: usize) {
    let (number, words) = (POSTED.next(pe), &words[..used.min(LETTER_WORDS)]);
    match near(outgoing(), pe) {
        // SAFETY: a static, so the peer has it at the same address, initialised, as long as the job runs; `Shared`.
        Some(mailbox) => unsafe { &*mailbox }.post(number, kind as u8, words),
        None => {
            let (content, stamp, word) = Mailbox::letter_words(number, kind as u8);
            put_words(content, words, pe);
            put_words(stamp, &[word], pe);
        }
    }
}

/// Waits for the next letter of PE `pe`.
#[inline]
pub(crate) fn take(pe: i32, kind: Kind, words: &mut [u64; LETTER_WORDS], used: usize) {
    let words = &mut words[..used.min(LETTER_WORDS)];
    if let Err(trouble) = incoming(pe).take(TAKEN.next(pe), kind as u8, words, || is_gone(pe)) {
        not_matching(pe, kind, trouble);
    }
}

#[cold]
#[inline(never)]
fn not_matching(pe: i32, kind: Kind, trouble: Trouble) {
    let mine = Kind::name(kind as u8);
    match trouble {
        Trouble::Mismatch(theirs) => stop(format_args!(
            "calls do not match: this PE is in {mine}, PE {pe} in {}; all PEs of a team must make the same collective calls in \
             the same order",
            Kind::name(theirs)
        )),
        Trouble::Gone if kind == Kind::Finalize => {}
        Trouble::Gone => {
            stop(format_args!("calls do not match: this PE is in {mine}, and PE {pe} has exited"))
        }
    }
}
