//! The channel of a communicator: numbered operations on posted buffers, several under way at once.
//!
//! Every rank numbers the operations for itself; all call them in the same order (MPI-5.0, chapter "Collective Communication"), so the
//! numbers agree. For operation `n` a rank
//! 1. posts: it fills slot `n mod SLOTS` of its area, as soon as all ranks have finished operation `n - SLOTS`, and from then on its
//!    peers may load from and store to what it has posted;
//! 2. does its part, as its peers' posts appear; parts are done in the order of numbers;
//! 3. says so in one counter (`finished`), which is all that peers wait for whose buffers it has used.
//!
//! No step needs another rank to be inside a call: what a rank has posted it has posted, and `finished` only grows.

use super::area::Shared;
use crate::engine::Engine;
use crate::error::{Error, Result};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::wait::Poll;

/// Operations of one communicator that a rank can have posted at once; more wait their turn.
pub const SLOTS: usize = 8;
/// Words of a post.
pub(super) const WORDS: usize = 6;

/// One rank's post of an operation: a line.
#[repr(C, align(64))]
pub(crate) struct Slot {
    number: AtomicU64,
    /// What operation it is: see [`Call`]'s check word.
    check: AtomicU64,
    words: [AtomicU64; WORDS],
}

impl Slot {
    pub(super) const fn new() -> Slot {
        Slot {
            number: AtomicU64::new(0),
            check: AtomicU64::new(0),
            words: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    pub(super) fn number(&self) -> &AtomicU64 {
        &self.number
    }

    /// Fills the slot. The owner only, when all have finished the operation that was in it.
    #[inline(always)]
    fn fill(&self, number: u64, check: u64, words: &[u64]) {
        // Relaxed: published by the release store below.
        self.check.store(check, Ordering::Relaxed);
        for (slot, word) in self.words.iter().zip(words) {
            slot.store(*word, Ordering::Relaxed);
        }
        // Release: pairs with the acquire load in `has`; carries the words and all that they lead to.
        self.number.store(number, Ordering::Release);
    }

    /// Whether operation `number` has been posted here. A later one cannot be before the reader has finished this one.
    #[inline(always)]
    fn has(&self, number: u64) -> bool {
        // Acquire: pairs with the release store in `fill`.
        self.number.load(Ordering::Acquire) == number
    }

    /// A word of the operation that is here, after `has` has said yes.
    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        // Relaxed: ordered by `has`.
        self.words[index].load(Ordering::Relaxed)
    }
}

/// How far this rank is in its channel: numbers of operations.
pub(crate) struct Channel {
    /// The last one that has been called.
    called: Cell<u64>,
    /// The last one that has been posted.
    posted: Cell<u64>,
    /// The last one in which this rank has done its part.
    finished: Cell<u64>,
    /// The last one that all ranks are known to have finished.
    all_finished: Cell<u64>,
}

impl Channel {
    pub const fn new() -> Channel {
        Channel {
            called: Cell::new(0),
            posted: Cell::new(0),
            finished: Cell::new(0),
            all_finished: Cell::new(0),
        }
    }
}

/// What sort of operation a post belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Barrier = 1,
    Broadcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    NeighbourAllgather,
    NeighbourAlltoall,
    Exchange,
    // The blocking forms that post a row: they do not match the others.
    BroadcastRow,
    GatherRow,
    ScatterRow,
    AllgatherRow,
    AlltoallRow,
    AlltoallPush,
}

const ROOT_BITS: u32 = 16;
const COUNT_BITS: u32 = 40;

/// The word by which ranks see that they are in the same operation: its kind, its root, and what all must agree on of its count.
pub(super) fn check(kind: Kind, root: u32, count: u64) -> u64 {
    (kind as u64) << (ROOT_BITS + COUNT_BITS)
        | (root as u64 & ((1 << ROOT_BITS) - 1)) << COUNT_BITS
        | count & ((1 << COUNT_BITS) - 1)
}

/// The class of a mismatch of two check words.
#[cold]
fn mismatch(mine: u64, other: u64) -> Error {
    let differ = mine ^ other;
    if differ >> (ROOT_BITS + COUNT_BITS) != 0 {
        Error::OTHER
    } else if differ >> COUNT_BITS != 0 {
        Error::ROOT
    } else {
        Error::COUNT
    }
}

impl Shared {
    /// The number of the operation that is called now.
    #[inline(always)]
    pub(super) fn call(&self) -> u64 {
        Shared::next(&self.channel.called)
    }

    /// Whether this rank may post operation `number` now.
    #[inline(always)]
    pub(super) fn may_post(&self, number: u64) -> bool {
        if self.channel.posted.get() + 1 != number {
            return false;
        }
        number <= self.channel.all_finished.get() + SLOTS as u64 || self.learn_finished(number)
    }

    #[cold]
    fn learn_finished(&self, number: u64) -> bool {
        let all = (0..self.size()).map(|rank| self.finished_by(rank)).min().unwrap_or(0);
        self.channel.all_finished.set(all);
        number <= all + SLOTS as u64
    }

    /// Posts operation `number`, when [`Shared::may_post`] says so.
    #[inline(always)]
    pub(super) fn post(&self, number: u64, check: u64, words: &[u64]) {
        self.mine().slots[number as usize % SLOTS].fill(number, check, words);
        self.channel.posted.set(number);
    }

    /// Whether `rank` has posted operation `number`.
    #[inline(always)]
    pub(super) fn has_posted(&self, rank: u32, number: u64) -> bool {
        self.of(rank).slots[number as usize % SLOTS].has(number)
    }

    /// A word of a rank's post, which is there.
    #[inline(always)]
    pub(super) fn posted_word(&self, rank: u32, number: u64, index: usize) -> u64 {
        self.of(rank).slots[number as usize % SLOTS].word(index)
    }

    /// The address in a word of a rank's post, which is there, as seen from here.
    #[inline(always)]
    pub(super) fn posted_address(&self, rank: u32, number: u64, index: usize) -> *mut u8 {
        self.seen(rank, self.posted_word(rank, number, index))
    }

    /// Whether a rank's post, which is there, is of the operation that this rank means. Errors: `OTHER` if it is another, `ROOT` if it has
    /// another root, `COUNT` if the counts differ that must not.
    #[inline(always)]
    pub(super) fn agree(&self, rank: u32, number: u64, check: u64) -> Result<()> {
        // Relaxed: ordered by `has`.
        let other = self.of(rank).slots[number as usize % SLOTS].check.load(Ordering::Relaxed);
        if other == check { Ok(()) } else { Err(mismatch(check, other)) }
    }

    /// Whether it is this rank's turn to do its part of operation `number`.
    #[inline(always)]
    pub(super) fn is_next(&self, number: u64) -> bool {
        self.channel.finished.get() + 1 == number
    }

    /// This rank has done its part of operation `number`.
    #[inline(always)]
    pub(super) fn finish(&self, number: u64) {
        self.channel.finished.set(number);
        // Release: pairs with the acquire load in `finished_by`; carries what this rank has stored into its peers' buffers, and ends its
        // use of their posts.
        self.finished_word(self.rank).store(number, Ordering::Release);
    }

    /// The last operation in which a rank has done its part.
    #[inline(always)]
    pub(super) fn finished_by(&self, rank: u32) -> u64 {
        // Acquire: pairs with the release store in `finish`.
        self.finished_word(rank).load(Ordering::Acquire)
    }

    #[inline(always)]
    fn finished_word(&self, rank: u32) -> &AtomicU64 {
        if self.size() == 2 { &self.of(0).both_finished[rank as usize & 1] } else { &self.of(rank).finished }
    }
}

impl Engine {
    /// Begins a blocking operation on posted buffers: all earlier ones are done, this one is posted. Its number.
    #[inline(always)]
    pub(super) fn open(&mut self, shared: &Shared, check: u64, words: &[u64]) -> u64 {
        let number = shared.call();
        if !(shared.is_next(number) && shared.may_post(number)) {
            self.wait_for_turn(shared, number);
        }
        shared.post(number, check, words);
        number
    }

    #[cold]
    fn wait_for_turn(&mut self, shared: &Shared, number: u64) {
        let mut poll = Poll::new();
        while !(shared.is_next(number) && shared.may_post(number)) {
            // Earlier, non-blocking operations go on here.
            self.progress();
            poll.pause();
        }
    }

    /// Waits for a rank's post. Errors: as for [`Shared::agree`].
    #[inline(always)]
    pub(super) fn await_post(&mut self, shared: &Shared, rank: u32, number: u64, check: u64) -> Result<()> {
        self.wait_until(|| shared.has_posted(rank, number));
        shared.agree(rank, number, check)
    }

    /// Waits for the posts of all. Errors: as for [`Shared::agree`], when all are there.
    #[inline(always)]
    pub(super) fn await_posts(&mut self, shared: &Shared, number: u64, check: u64) -> Result<()> {
        let mut outcome = Ok(());
        for rank in 0..shared.size() {
            outcome = self.await_post(shared, rank, number, check).and(outcome);
        }
        outcome
    }

    /// Ends this rank's part and waits until all have done theirs.
    #[inline(always)]
    pub(super) fn close(&mut self, shared: &Shared, number: u64) {
        shared.finish(number);
        for rank in 0..shared.size() {
            self.wait_until(|| shared.finished_by(rank) >= number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_is_told_by_what_differs_first() {
        let mine = check(Kind::Reduce, 3, 100);
        assert_eq!(mismatch(mine, check(Kind::Allreduce, 3, 100)), Error::OTHER);
        assert_eq!(mismatch(mine, check(Kind::Reduce, 2, 7)), Error::ROOT);
        assert_eq!(mismatch(mine, check(Kind::Reduce, 3, 101)), Error::COUNT);
        assert_eq!(mine, check(Kind::Reduce, 3, 100 + (1 << COUNT_BITS)));
    }
}
