//! Channels: numbered operations on posted buffers, several under way at once (`lwk_ring::Slots`).
//!
//! A rank posts its buffers, does its part as its peers' posts appear, in the order of numbers, and says so in one word, which is all that
//! peers wait for whose buffers it has used. All ranks begin the operations of a channel in the same order. A communicator has one for its blocking
//! and non-blocking calls (MPI-5.0, chapter "Collective Communication"), and one for each persistent collective, whose operations are its
//! starts (`persistent`).

use super::area::Shared;
use super::matching_calls::posted;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::boxed::Box;
use lwk_place::CommRank;
use lwk_ring::{Finished, Progress, Slots};
use lwk_user::wait::Poll;

/// Operations of one communicator that a rank can have posted at once; more wait their turn.
pub const SLOTS: usize = 8;

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
    /// The making of a persistent collective.
    Init,
    // The blocking forms that post a row: they do not match the others.
    BroadcastRow,
    GatherRow,
    ScatterRow,
    AllgatherRow,
    AlltoallRow,
    AlltoallPush,
    // The blocking forms of parts that differ, by lines.
    GatherParts,
    ScatterParts,
    AllgatherParts,
    AlltoallParts,
    NeighbourParts,
}

const ROOT_BITS: u32 = 16;
const COUNT_BITS: u32 = 40;

/// What stands for the root where there is none.
pub(super) const NO_ROOT: CommRank = CommRank::FIRST;

/// The word by which ranks see that they are in the same operation: its kind, its root, and what all must agree on of its count.
pub(super) fn check(kind: Kind, root: CommRank, count: u64) -> u64 {
    (kind as u64) << (ROOT_BITS + COUNT_BITS)
        | (root.0 as u64 & ((1 << ROOT_BITS) - 1)) << COUNT_BITS
        | count & ((1 << COUNT_BITS) - 1)
}

/// The class of a mismatch of two check words.
#[cold]
fn mismatch(mine: u64, other: u64) -> Error {
    let differ = mine ^ other;
    if differ >> (ROOT_BITS + COUNT_BITS) != 0 {
        Error::NOT_SAME
    } else if differ >> COUNT_BITS != 0 {
        Error::ROOT
    } else {
        Error::COUNT
    }
}

/// What of a check word ranks that post nothing can see: see `matching_calls`.
#[inline(always)]
pub(super) fn sort_of(check: u64) -> u64 {
    posted(check >> (ROOT_BITS + COUNT_BITS), check >> COUNT_BITS)
}

/// The class of the mismatch if two check words are of different kinds. Errors: `NOT_SAME`.
pub(super) fn same_kind(mine: u64, other: u64) -> Result<()> {
    if (mine ^ other) >> (ROOT_BITS + COUNT_BITS) == 0 { Ok(()) } else { Err(Error::NOT_SAME) }
}

/// Where a member of a channel lays open its buffers, and says how far it is.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub slots: &'static Slots<SLOTS>,
    pub finished: &'static Finished,
}

/// Numbered operations of a group of ranks, as one of them sees them.
pub(crate) struct Channel {
    members: Box<[Member]>,
    /// This rank's place.
    rank: CommRank,
    pub(super) progress: Progress<SLOTS>,
}

impl Channel {
    /// Nothing has been called on it. Members in the order of their ranks; this one is number `rank`.
    pub(super) fn new(rank: CommRank, members: impl Iterator<Item = Member>) -> Channel {
        Channel { members: members.collect(), rank, progress: Progress::new() }
    }

    #[inline(always)]
    fn of(&self, rank: CommRank) -> &Member {
        &self.members[rank.index()]
    }

    /// The least number of the operations that ranks have finished last.
    #[cold]
    fn all_finished(&self) -> u64 {
        self.members.iter().map(|member| member.finished.last()).min().unwrap_or(0)
    }

    /// Whether this rank may post operation `number` now.
    #[inline(always)]
    pub(super) fn may_post(&self, number: u64) -> bool {
        self.progress.may_post(number, || self.all_finished())
    }

    /// Posts operation `number`, when [`Channel::may_post`] says so.
    #[inline(always)]
    pub(super) fn post(&self, number: u64, check: u64, words: &[u64]) {
        self.of(self.rank).slots.post(&self.progress, number, check, words);
    }

    /// Whether `rank` has posted operation `number`.
    #[inline(always)]
    pub(super) fn has_posted(&self, rank: CommRank, number: u64) -> bool {
        self.of(rank).slots.has(number)
    }

    /// A word of a rank's post, which is there.
    #[inline(always)]
    pub(super) fn posted_word(&self, rank: CommRank, number: u64, index: usize) -> u64 {
        self.of(rank).slots.word(number, index)
    }

    /// Whether a rank's post, which is there, is of the operation that this rank means. Errors: `NOT_SAME` if it is another, `ROOT` if it has
    /// another root, `COUNT` if the counts differ that must not.
    #[inline(always)]
    pub(super) fn agree(&self, rank: CommRank, number: u64, check: u64) -> Result<()> {
        let other = self.of(rank).slots.check(number);
        if other == check { Ok(()) } else { Err(mismatch(check, other)) }
    }

    /// This rank has done its part of operation `number`.
    #[inline(always)]
    pub(super) fn finish(&self, number: u64) {
        self.progress.finish(self.of(self.rank).finished, number);
    }

    /// The last operation in which a rank has done its part.
    #[inline(always)]
    pub(super) fn finished_by(&self, rank: CommRank) -> u64 {
        self.of(rank).finished.last()
    }
}

impl Shared {
    /// The address in a word of a rank's post in the communicator's channel, which is there, as seen from here.
    #[inline(always)]
    pub(super) fn posted_address(&self, rank: CommRank, number: u64, index: usize) -> *mut u8 {
        self.seen(rank, self.channel.posted_word(rank, number, index))
    }

    /// This rank has done its part of operation `number` of the communicator's channel.
    #[inline(always)]
    pub(super) fn finish(&self, number: u64) {
        self.channel.finish(number);
        self.pass_mismatch_on();
    }
}

impl Engine {
    /// Begins a blocking operation on posted buffers: all earlier ones are done, this one is posted. Its number. Errors: those of
    /// [`Shared::enter`].
    #[inline(always)]
    pub(super) fn open(&mut self, shared: &Shared, check: u64, words: &[u64]) -> Result<u64> {
        shared.enter(sort_of(check))?;
        let number = shared.channel.progress.call();
        if !(shared.channel.progress.is_next(number) && shared.channel.may_post(number)) {
            self.wait_for_turn(shared, number);
        }
        shared.channel.post(number, check, words);
        Ok(number)
    }

    #[cold]
    fn wait_for_turn(&mut self, shared: &Shared, number: u64) {
        let mut poll = Poll::new();
        while !(shared.channel.progress.is_next(number) && shared.channel.may_post(number)) {
            // Earlier, non-blocking operations go on here.
            self.progress();
            poll.pause();
        }
    }

    /// Waits for a rank's post. Errors: as for [`Channel::agree`], and those of `await_rank`.
    #[inline(always)]
    pub(super) fn await_post(
        &mut self,
        shared: &Shared,
        rank: CommRank,
        number: u64,
        check: u64,
    ) -> Result<()> {
        self.await_rank(shared, rank, || shared.channel.has_posted(rank, number))?;
        shared.channel.agree(rank, number, check)
    }

    /// Waits for the posts of all. Errors: as for [`Engine::await_post`], when all are there or will not come.
    #[inline(always)]
    pub(super) fn await_posts(&mut self, shared: &Shared, number: u64, check: u64) -> Result<()> {
        let mut outcome = Ok(());
        for rank in shared.ranks() {
            outcome = self.await_post(shared, rank, number, check).and(outcome);
        }
        outcome
    }

    /// Ends this rank's part, which came out so, and waits until all have done theirs that are in this operation.
    #[inline(always)]
    pub(super) fn close(&mut self, shared: &Shared, number: u64, outcome: Result<()>) -> Result<()> {
        shared.finish(number);
        let mut outcome = outcome;
        for rank in shared.ranks() {
            let ended = self.await_rank(shared, rank, || shared.channel.finished_by(rank) >= number);
            outcome = outcome.and(ended);
        }
        shared.pass_mismatch_on();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_is_told_by_what_differs_first() {
        let mine = check(Kind::Reduce, CommRank(3), 100);
        assert_eq!(mismatch(mine, check(Kind::Allreduce, CommRank(3), 100)), Error::NOT_SAME);
        assert_eq!(mismatch(mine, check(Kind::Reduce, CommRank(2), 7)), Error::ROOT);
        assert_eq!(mismatch(mine, check(Kind::Reduce, CommRank(3), 101)), Error::COUNT);
        assert_eq!(mine, check(Kind::Reduce, CommRank(3), 100 + (1 << COUNT_BITS)));
    }
}
