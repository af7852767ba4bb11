//! Ranks of a communicator.

use core::ops::Range;

/// A rank within a communicator: one of its local group, or one of those that its messages go to. It says nothing without the communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct CommRank(pub u32);

impl CommRank {
    /// Which every communicator has, and which begins what one rank has to begin.
    pub const FIRST: CommRank = CommRank(0);

    /// What no rank of any communicator is.
    pub const NONE: CommRank = CommRank(u32::MAX);

    /// A rank as the standard's interfaces count them, of which those below 0 are none.
    #[inline(always)]
    pub const fn of_number(number: i32) -> Option<CommRank> {
        if number < 0 { None } else { Some(CommRank(number as u32)) }
    }

    /// Its place in what has an entry for each rank.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// As the standard's interfaces count ranks.
    #[inline(always)]
    pub const fn number(self) -> i32 {
        self.0 as i32
    }

    /// The rank at a place among those of a communicator.
    #[inline(always)]
    pub const fn at(index: usize) -> CommRank {
        CommRank(index as u32)
    }

    /// The rank so many above, of `size`, round the end.
    #[inline(always)]
    pub const fn above(self, distance: u32, size: u32) -> CommRank {
        let rank = self.0 + distance;
        CommRank(if rank < size { rank } else { rank - size })
    }

    /// The rank so many below, of `size`, round the beginning.
    #[inline(always)]
    pub const fn below(self, distance: u32, size: u32) -> CommRank {
        CommRank(if self.0 >= distance { self.0 - distance } else { self.0 + size - distance })
    }

    #[inline(always)]
    pub const fn next(self) -> CommRank {
        CommRank(self.0 + 1)
    }

    /// The other one of two.
    #[inline(always)]
    pub const fn other(self) -> CommRank {
        CommRank(self.0 ^ 1)
    }

    /// All ranks of a communicator of so many, this one first, so that no two begin with the same one.
    #[inline(always)]
    pub fn and_on(self, size: u32) -> impl Iterator<Item = CommRank> + Clone {
        Ranks(self.0..size).chain(Ranks(0..self.0))
    }
}

/// Ranks of a communicator, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranks(pub Range<u32>);

impl Ranks {
    pub const NONE: Ranks = Ranks(0..0);

    /// All of a communicator of so many.
    #[inline(always)]
    pub const fn all(size: u32) -> Ranks {
        Ranks(0..size)
    }

    /// One alone.
    #[inline(always)]
    pub const fn only(rank: CommRank) -> Ranks {
        Ranks(rank.0..rank.0 + 1)
    }

    /// The first of them, if there is one.
    #[inline(always)]
    pub const fn first(&self) -> CommRank {
        CommRank(self.0.start)
    }

    /// How many.
    #[inline(always)]
    pub const fn size(&self) -> u32 {
        self.0.end - self.0.start
    }

    /// Which of them a rank is that is one of them.
    #[inline(always)]
    pub const fn position(&self, rank: CommRank) -> usize {
        (rank.0 - self.0.start) as usize
    }
}

impl Iterator for Ranks {
    type Item = CommRank;

    #[inline(always)]
    fn next(&mut self) -> Option<CommRank> {
        self.0.next().map(CommRank)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Ranks {
    #[inline(always)]
    fn next_back(&mut self) -> Option<CommRank> {
        self.0.next_back().map(CommRank)
    }
}

impl ExactSizeIterator for Ranks {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_above_and_below_go_round() {
        for size in 1..=9 {
            for rank in Ranks::all(size) {
                for distance in 0..size {
                    let above = rank.above(distance, size);
                    assert_eq!(above.0, (rank.0 + distance) % size);
                    assert_eq!(above.below(distance, size), rank);
                }
                let mut all: std::vec::Vec<CommRank> = rank.and_on(size).collect();
                assert_eq!(all[0], rank);
                all.sort_unstable();
                assert!(all.into_iter().eq(Ranks::all(size)));
            }
        }
    }

    #[test]
    fn a_number_below_0_is_no_rank() {
        assert_eq!(CommRank::of_number(7), Some(CommRank(7)));
        assert_eq!(CommRank::of_number(-1), None);
    }

    #[test]
    fn positions_count_from_the_first_of_a_group() {
        let group = Ranks(3..7);
        assert_eq!((group.size(), group.len(), group.first()), (4, 4, CommRank(3)));
        let positions = group.clone().map(|rank| group.position(rank));
        assert!(positions.eq(0..4));
        assert!(Ranks::only(CommRank(5)).eq([CommRank(5)]));
    }
}
