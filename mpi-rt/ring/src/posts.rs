//! Posts: what a member of a group lays open of its own buffers, several operations under way at once.
//!
//! Every member numbers the operations for itself; all call them in the same order, so the numbers agree. For operation `n` a member
//! 1. posts: it fills slot `n mod N` of its [`Slots`], as soon as all members have finished operation `n - N`, and from then on the others
//!    may load from and store to what it has posted;
//! 2. does its part, as the others' posts appear; parts are done in the order of numbers;
//! 3. says so in one word ([`Finished`]), which is all that others wait for whose buffers it has used.
//!
//! A member that takes part in no operation any more says so in every member's [`Departed`]; when all have, the member's posts are used for
//! another group ([`Slots::renew`]).
//!
//! No step needs another member to be inside a call: what has been posted is posted, and the words only grow.

use crate::primitive::{AtomicU64, Ordering};
use core::cell::Cell as Local;
use lwk_primitive::{array, made};

/// Words of 8 bytes that a post has, besides its number and its check word: what a cache line has left.
pub const POST_WORDS: usize = 6;

/// One member's post of an operation: a line.
#[repr(C, align(64))]
struct Slot {
    number: AtomicU64,
    check: AtomicU64,
    words: [AtomicU64; POST_WORDS],
}

/// One member's posts: written by it alone, read by all. `N` operations can be under way at once.
pub struct Slots<const N: usize>([Slot; N]);

/// The number of the last operation in which a member has done its part.
#[repr(transparent)]
pub struct Finished(AtomicU64);

/// How many members have left one member's posts for good.
#[repr(transparent)]
pub struct Departed(AtomicU64);

/// How far a member is: its own, of no concern to the others. Numbers of operations.
pub struct Progress<const N: usize> {
    /// The last one that has been called.
    called: Local<u64>,
    /// The last one that has been posted.
    posted: Local<u64>,
    /// The last one in which this member has done its part.
    finished: Local<u64>,
    /// The last one that all members are known to have finished.
    all_finished: Local<u64>,
}

impl Slot {
    made! {
        fn new() -> Slot {
            Slot {
                number: AtomicU64::new(0),
                check: AtomicU64::new(0),
                words: array!(AtomicU64::new(0); POST_WORDS),
            }
        }
    }
}

impl<const N: usize> Slots<N> {
    made! {
        /// Nothing is posted.
        pub fn new() -> Slots<N> {
            Slots(array!(Slot::new(); N))
        }
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> &Slot {
        &self.0[number as usize % N]
    }

    /// Posts operation `number`: a word by which members see whether they mean the same, and at most [`POST_WORDS`] words that lead to
    /// the buffers; a place without one keeps what it held. The owner only, when [`Progress::may_post`] says so.
    #[inline(always)]
    pub fn post(&self, mine: &Progress<N>, number: u64, check: u64, words: &[u64]) {
        let slot = self.slot(number);
        // Relaxed: published by the release store below.
        slot.check.store(check, Ordering::Relaxed);
        for (place, word) in slot.words.iter().zip(words) {
            place.store(*word, Ordering::Relaxed);
        }
        // Release: pairs with the acquire load in `has`; carries the words and all that they lead to.
        slot.number.store(number, Ordering::Release);
        mine.posted.set(number);
    }

    /// Whether the owner has posted operation `number`. A later one cannot be there before the caller has finished this one.
    #[inline(always)]
    pub fn has(&self, number: u64) -> bool {
        // Acquire: pairs with the release store in `post`.
        self.slot(number).number.load(Ordering::Acquire) == number
    }

    /// The check word of an operation that [`Slots::has`] has said yes to.
    #[inline(always)]
    pub fn check(&self, number: u64) -> u64 {
        // Relaxed: ordered by `has`.
        self.slot(number).check.load(Ordering::Relaxed)
    }

    /// Word `index`, from 0 and below [`POST_WORDS`], of an operation that [`Slots::has`] has said yes to.
    #[inline(always)]
    pub fn word(&self, number: u64, index: usize) -> u64 {
        // Relaxed: ordered by `has`.
        self.slot(number).words[index].load(Ordering::Relaxed)
    }

    /// Makes slots as new that no member will touch before it hears of them again.
    pub fn renew(&self) {
        // Relaxed: whatever tells the others of the slots orders these before.
        self.0.iter().for_each(|slot| slot.number.store(0, Ordering::Relaxed));
    }
}

impl Finished {
    made! {
        /// No operation.
        pub fn new() -> Finished {
            Finished(AtomicU64::new(0))
        }
    }

    /// The last operation in which its owner has done its part.
    #[inline(always)]
    pub fn last(&self) -> u64 {
        // Acquire: pairs with the release store in `Progress::finish`.
        self.0.load(Ordering::Acquire)
    }

    /// As [`Slots::renew`].
    pub fn renew(&self) {
        // Relaxed: as there.
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Departed {
    made! {
        /// Nobody has left.
        pub fn new() -> Departed {
            Departed(AtomicU64::new(0))
        }
    }

    /// A member leaves; once each.
    #[inline]
    pub fn leave(&self) {
        // Release: pairs with the acquire load in `have_all`; what the member has done with the posts is done.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Whether so many have left.
    #[inline]
    pub fn have_all(&self, members: u64) -> bool {
        // Acquire: pairs with the release addition in `leave`.
        self.0.load(Ordering::Acquire) == members
    }

    /// As [`Slots::renew`].
    pub fn renew(&self) {
        // Relaxed: as there.
        self.0.store(0, Ordering::Relaxed);
    }
}

impl<const N: usize> Progress<N> {
    /// No operation has been called.
    pub const fn new() -> Progress<N> {
        Progress {
            called: Local::new(0),
            posted: Local::new(0),
            finished: Local::new(0),
            all_finished: Local::new(0),
        }
    }

    /// The number of the operation that is called now.
    #[inline(always)]
    pub fn call(&self) -> u64 {
        let number = self.called.get() + 1;
        self.called.set(number);
        number
    }

    /// Whether this member may post operation `number` now; `all` gives the least of all members' [`Finished::last`].
    #[inline(always)]
    pub fn may_post(&self, number: u64, all: impl FnOnce() -> u64) -> bool {
        if self.posted.get() + 1 != number {
            return false;
        }
        if number > self.all_finished.get() + N as u64 {
            self.all_finished.set(all());
        }
        number <= self.all_finished.get() + N as u64
    }

    /// Whether it is this member's turn to do its part of operation `number`.
    #[inline(always)]
    pub fn is_next(&self, number: u64) -> bool {
        self.finished.get() + 1 == number
    }

    /// This member has done its part of operation `number`; `word` is where it says so.
    #[inline(always)]
    pub fn finish(&self, word: &Finished, number: u64) {
        self.finished.set(number);
        // Release: pairs with the acquire load in `Finished::last`; carries what this member has stored into the others' buffers, and ends its
        // use of their posts.
        word.0.store(number, Ordering::Release);
    }
}

impl<const N: usize> Default for Slots<N> {
    fn default() -> Slots<N> {
        Slots::new()
    }
}

impl Default for Finished {
    fn default() -> Finished {
        Finished::new()
    }
}

impl Default for Departed {
    fn default() -> Departed {
        Departed::new()
    }
}

impl<const N: usize> Default for Progress<N> {
    fn default() -> Progress<N> {
        Progress::new()
    }
}
