//! Whether the ranks of a communicator are in the same call, at no cost to those that are.
//!
//! A rank numbers its collective calls on a communicator, and each has a word: its number, what sort of call it is, its root and the
//! size of small buffers. Lines of small operations carry the word instead of a number, so a rank never takes what was given in another
//! call. Beside that each rank keeps the words of its last calls where the others can look at them, which they do only after having
//! waited for long. A rank that sees a mismatch answers with its class (`NOT_SAME`: another call, `ROOT`, `TRUNCATE`, `COUNT`) and tells the other
//! one; whoever waits for a rank that has been in one is told as well, and from then on all calls on the communicator that it makes are
//! answered so. Buffers that are posted have a check of their own (`channel`), after which the communicator stays usable.
//!
//! Not seen: calls in which no rank waits for another, as broadcasts from two roots that are the only two ranks; what a rank has called
//! more than [`HISTORY`] calls ago; the forms of the SMARTMAP paper, which do not take part.

use crate::Shared;
use crate::kind::Kind;
use crate::long_lines::ONEWAY_LONG;
use crate::oneway::{ONEWAY, ONEWAY_WORDS};
use core::cell::Cell;
use lwk_copy::threshold::TOLD_LIMIT;
use lwk_mpi_core::error::{Error, Result};
use lwk_place::CommRank;
use lwk_ring::Notes;
use lwk_user::smartmap::CacheLine;

/// Calls whose words a rank keeps: more than a giver of lines can be ahead (`oneway`), so that who waits for it finds the one it is in itself.
pub const HISTORY: usize = 128;
const _: () = assert!(HISTORY > ONEWAY + ONEWAY_WORDS + ONEWAY_LONG);

/// Of a word, from the lowest bit: size, root, kind, whether buffers are posted, number. Numbers wrap around after years of calls.
const ROOT_SHIFT: u32 = 6;
const KIND_SHIFT: u32 = 14;
const POSTED: u64 = 1 << 19;
const NUMBER_SHIFT: u32 = 20;
const SIZE: u64 = (1 << ROOT_SHIFT) - 1;
/// In place of a size: larger than any line.
const LARGE: u64 = SIZE;

/// What of a call must be the same in all ranks: its word without a number.
#[inline(always)]
pub fn sort(kind: Kind, root: CommRank, bytes: usize) -> u64 {
    (kind as u64) << KIND_SHIFT | (root.0 as u64 & 0xff) << ROOT_SHIFT | (bytes as u64).min(LARGE)
}

/// The same of a call in which all tell all, which has no root: all bits for the size.
#[inline(always)]
pub fn sort_of_all(kind: Kind, bytes: usize) -> u64 {
    const _: () = assert!(TOLD_LIMIT < 1 << KIND_SHIFT);
    (kind as u64) << KIND_SHIFT | (bytes as u64).min((1 << KIND_SHIFT) - 1)
}

/// The same of one that is begun and completed later: a blocking call does not match it.
#[inline]
pub fn sort_of_all_begun(kind: Kind, bytes: usize) -> u64 {
    const BEGUN: usize = 1 << (KIND_SHIFT - 1);
    const _: () = assert!(TOLD_LIMIT < BEGUN);
    sort_of_all(kind, BEGUN | bytes.min(BEGUN - 1))
}

/// Whether calls of that kind have no root.
fn has_no_root(kind: u64) -> bool {
    const KINDS: [Kind; 11] = [
        Kind::Allgather,
        Kind::Alltoall,
        Kind::NeighbourAllgather,
        Kind::Allreduce,
        Kind::ReduceScatter,
        Kind::Scan,
        Kind::Exscan,
        Kind::AllgatherRow,
        Kind::AllgatherParts,
        Kind::AlltoallParts,
        Kind::NeighbourParts,
    ];
    KINDS.iter().any(|it| *it as u64 == kind)
}

/// Whether what one side gives may be longer than what the other takes.
fn may_be_truncated(kind: u64) -> bool {
    [Kind::Broadcast, Kind::Gather, Kind::Scatter, Kind::BroadcastRow, Kind::GatherRow, Kind::ScatterRow]
        .iter()
        .any(|it| *it as u64 == kind)
}

/// The same of a call that posts buffers.
#[inline(always)]
pub fn posted(kind: u64, root: u64) -> u64 {
    POSTED | kind << KIND_SHIFT | (root & 0xff) << ROOT_SHIFT | LARGE
}

/// The class of a mismatch of this rank's call and another's.
#[cold]
fn class(mine: u64, other: u64) -> Error {
    let part = |word: u64, from: u32, to: u32| word >> from & ((1 << (to - from)) - 1);
    let kind = |word| part(word, KIND_SHIFT, NUMBER_SHIFT - 1);
    if kind(mine) != kind(other) {
        Error::NOT_SAME
    } else if has_no_root(kind(mine)) {
        Error::COUNT
    } else if part(mine, ROOT_SHIFT, KIND_SHIFT) != part(other, ROOT_SHIFT, KIND_SHIFT) {
        Error::ROOT
    } else if may_be_truncated(kind(mine)) && other & SIZE > mine & SIZE {
        Error::TRUNCATE
    } else {
        Error::COUNT
    }
}

/// The error with that class, as a verdict has it.
fn error(class: u64) -> Error {
    Error::from_class(class as i32).unwrap_or(Error::OTHER)
}

/// What a rank lets the others know of its calls on a communicator.
pub struct Record {
    words: Notes<HISTORY>,
    /// Classes of mismatches, by [`ANSWERS`] and [`TOLD`]; 0 if there was none.
    verdict: CacheLine<Notes<2>>,
}

/// By which the owner answers: whoever waits for it waits in vain.
const ANSWERS: usize = 0;
/// That others have told it of.
const TOLD: usize = 1;

impl Record {
    pub const fn new() -> Record {
        Record { words: Notes::new(), verdict: CacheLine(Notes::new()) }
    }

    /// As for `Area::renew`.
    pub fn renew(&self) {
        self.words.renew();
        self.verdict.renew();
    }

    #[inline(always)]
    fn set(&self, word: u64) {
        self.words.set((word >> NUMBER_SHIFT) as usize % HISTORY, word);
    }

    /// The word in the place of that one.
    fn in_place_of(&self, word: u64) -> u64 {
        self.words.get((word >> NUMBER_SHIFT) as usize % HISTORY)
    }
}

/// What a rank knows of its own calls.
pub struct Calls {
    /// The word of the last one.
    last: Cell<u64>,
    /// The class of a mismatch that this rank has seen.
    seen: Cell<Option<Error>>,
}

impl Calls {
    pub const fn new() -> Calls {
        Calls { last: Cell::new(0), seen: Cell::new(None) }
    }
}

impl Shared {
    /// Enters a call of that [`sort`]; its word. Errors: the class of a mismatch that this rank has seen or been told of.
    #[inline(always)]
    pub fn enter(&self, sort: u64) -> Result<u64> {
        let record = &self.mine().record;
        if record.verdict.get(TOLD) != 0 {
            self.admit()?;
        }
        let number = (self.calls.last.get() >> NUMBER_SHIFT).wrapping_add(1);
        let word = number << NUMBER_SHIFT | sort;
        self.calls.last.set(word);
        record.set(word);
        Ok(word)
    }

    /// Answers from now on by the class that this rank has seen, or been told of. Errors: that class, always.
    #[cold]
    fn admit(&self) -> Result<()> {
        let verdict = &self.mine().record.verdict;
        let class = self.calls.seen.get().unwrap_or_else(|| error(verdict.get(TOLD)));
        verdict.set(ANSWERS, class.class() as u64);
        Err(class)
    }

    /// If this rank has seen a mismatch: lets those that wait for it know. It must not use any rank's buffers of the call any more.
    #[inline(always)]
    pub fn pass_mismatch_on(&self) {
        if self.calls.seen.get().is_some() {
            let _ = self.admit();
        }
    }

    /// Whether `rank` has, in place of the call of this rank with that word, entered one that does not match: the class of the mismatch. Calls
    /// that both post buffers see it by these.
    #[cold]
    pub fn elsewhere(&self, rank: CommRank, word: u64) -> Option<Error> {
        let theirs = self.of(rank).record.in_place_of(word);
        let differ = theirs ^ word;
        let is_other = differ >> NUMBER_SHIFT == 0 && differ != 0 && theirs & word & POSTED == 0;
        is_other.then(|| class(word, theirs))
    }

    /// Looks what `rank` is doing, for which this one has waited for long in its last call. Errors: the class of a mismatch.
    #[cold]
    pub fn look_at(&self, rank: CommRank) -> Result<()> {
        self.look_beside(rank, self.calls.last.get())
    }

    /// The same in the call of this rank with that word.
    #[cold]
    pub fn look_beside(&self, rank: CommRank, word: u64) -> Result<()> {
        let answers = self.of(rank).record.verdict.get(ANSWERS);
        let seen = match self.elsewhere(rank, word) {
            Some(class) => class,
            None if answers != 0 => error(answers),
            None => return Ok(()),
        };
        self.tell_of_mismatch(rank, seen);
        Err(seen)
    }

    /// This rank has seen that `rank` is in a call that does not match: lets both know.
    #[cold]
    pub fn tell_of_mismatch(&self, rank: CommRank, seen: Error) {
        self.calls.seen.set(Some(seen));
        for record in [&self.mine().record, &self.of(rank).record] {
            record.verdict.set(TOLD, seen.class() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_is_told_by_what_differs_first() {
        let mine = sort(Kind::BroadcastRow, CommRank(3), 8);
        assert_eq!(class(mine, sort(Kind::Reduce, CommRank(3), 8)), Error::NOT_SAME);
        assert_eq!(class(mine, sort(Kind::BroadcastRow, CommRank(2), 16)), Error::ROOT);
        assert_eq!(class(mine, sort(Kind::BroadcastRow, CommRank(3), 16)), Error::TRUNCATE);
        assert_eq!(class(mine, sort(Kind::BroadcastRow, CommRank(3), 4)), Error::COUNT);
        assert_eq!(class(mine, posted(Kind::BroadcastRow as u64, 3)), Error::TRUNCATE);
        let all = |bytes| sort_of_all(Kind::Allreduce, bytes);
        assert_eq!(class(all(64), all(4088)), Error::COUNT);
        assert_eq!(
            class(sort(Kind::GatherRow, CommRank(1), 8), sort(Kind::GatherRow, CommRank(1), 16)),
            Error::TRUNCATE
        );
        assert_eq!(
            class(sort(Kind::Reduce, CommRank(255), 8), sort(Kind::Reduce, CommRank(255), 16)),
            Error::COUNT
        );
    }
}
