//! Channels: numbered operations on posted buffers, several under way at once (`lwk_ring::Slots`).
//!
//! A rank posts its buffers, does its part as its peers' posts appear, in the order of numbers, and says so in one word, which is all that
//! peers wait for whose buffers it has used. All ranks begin the operations of a channel in the same order. A communicator has one for its blocking
//! and non-blocking calls (MPI-5.0, chapter "Collective Communication"), and one for each persistent collective, whose operations are its
//! starts.

use crate::Shared;
use crate::calls::posted;
use crate::kind::Kind;
use alloc::boxed::Box;
use lwk_mpi_core::error::{Error, Result};
use lwk_path::region::Region;
use lwk_place::CommRank;
use lwk_ring::{Finished, Progress, Slots};

/// Operations of one communicator that a rank can have posted at once; more wait their turn.
pub const SLOTS: usize = 8;

const ROOT_BITS: u32 = 16;
const COUNT_BITS: u32 = 40;

/// The word by which ranks see that they are in the same operation: its kind, its root, and what all must agree on of its count.
#[inline]
pub fn check(kind: Kind, root: CommRank, count: u64) -> u64 {
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

/// What of a check word ranks that post nothing can see: see `calls`.
#[inline(always)]
pub fn sort_of(check: u64) -> u64 {
    posted(check >> (ROOT_BITS + COUNT_BITS), check >> COUNT_BITS)
}

/// The class of the mismatch if two check words are of different kinds. Errors: `NOT_SAME`.
#[inline]
pub fn same_kind(mine: u64, other: u64) -> Result<()> {
    if (mine ^ other) >> (ROOT_BITS + COUNT_BITS) == 0 { Ok(()) } else { Err(Error::NOT_SAME) }
}

/// Where a member of a channel lays open its buffers, and says how far it is.
#[derive(Clone, Copy)]
pub struct Member {
    pub slots: &'static Slots<SLOTS>,
    pub finished: &'static Finished,
}

/// Numbered operations of a group of ranks, as one of them sees them.
pub struct Channel {
    members: Box<[Member]>,
    /// This rank's place.
    rank: CommRank,
    pub progress: Progress<SLOTS>,
}

impl Channel {
    /// Nothing has been called on it. Members in the order of their ranks; this one is number `rank`.
    pub fn new(rank: CommRank, members: impl Iterator<Item = Member>) -> Channel {
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
    pub fn may_post(&self, number: u64) -> bool {
        self.progress.may_post(number, || self.all_finished())
    }

    /// Posts operation `number`, when [`Channel::may_post`] says so.
    #[inline(always)]
    pub fn post(&self, number: u64, check: u64, words: &[u64]) {
        self.of(self.rank).slots.post(&self.progress, number, check, words);
    }

    /// Whether `rank` has posted operation `number`.
    #[inline(always)]
    pub fn has_posted(&self, rank: CommRank, number: u64) -> bool {
        self.of(rank).slots.has(number)
    }

    /// A word of a rank's post, which is there.
    #[inline(always)]
    pub fn posted_word(&self, rank: CommRank, number: u64, index: usize) -> u64 {
        self.of(rank).slots.word(number, index)
    }

    /// Whether a rank's post, which is there, is of the operation that this rank means. Errors: `NOT_SAME` if it is another, `ROOT` if it has
    /// another root, `COUNT` if the counts differ that must not.
    #[inline(always)]
    pub fn agree(&self, rank: CommRank, number: u64, check: u64) -> Result<()> {
        let other = self.of(rank).slots.check(number);
        if other == check { Ok(()) } else { Err(mismatch(check, other)) }
    }

    /// This rank has done its part of operation `number`.
    #[inline(always)]
    pub fn finish(&self, number: u64) {
        self.progress.finish(self.of(self.rank).finished, number);
    }

    /// The last operation in which a rank has done its part.
    #[inline(always)]
    pub fn finished_by(&self, rank: CommRank) -> u64 {
        self.of(rank).finished.last()
    }
}

impl Shared {
    /// The address in a word of a rank's post in the communicator's channel, which is there, as seen from here.
    #[inline(always)]
    pub fn posted_address(&self, rank: CommRank, number: u64, index: usize) -> *mut u8 {
        self.seen(rank, self.channel.posted_word(rank, number, index))
    }

    /// The region for `rank` of the row that `owner` has posted: its first region, as words, bytes of each, and the bytes from one to the next. Errors: `INTERN`.
    #[inline]
    pub fn posted_part(&self, owner: CommRank, number: u64, rank: CommRank) -> Result<Region> {
        let [address, layout, length, count, bytes, stride] =
            [0, 1, 2, 3, 4, 5].map(|index| self.channel.posted_word(owner, number, index));
        let words = [address.wrapping_add(stride.wrapping_mul(rank.0 as u64)), layout, length, count];
        if owner == self.rank {
            return Ok(Region::of_words(words, bytes as usize));
        }
        Ok(Region::of_peer(self.peer(owner).ok_or(Error::INTERN)?, words, bytes as usize))
    }

    /// This rank has done its part of operation `number` of the communicator's channel.
    #[inline(always)]
    pub fn finish(&self, number: u64) {
        self.channel.finish(number);
        self.pass_mismatch_on();
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
