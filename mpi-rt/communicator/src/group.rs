//! Groups: ordered sets of ranks, and their algebra (MPI-5.0, section 7.3). Members are world ranks.

use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_core::abi::{PROC_NULL, UNDEFINED};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_place::WorldRank;

/// How two communicators or groups compare (MPI-5.0, sections 7.3.1 and 7.4.1); the numbers are the binary interface's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Comparison {
    /// The same communicator; of groups, the same members in the same order.
    Identical = 201,
    /// The same members in the same order.
    Congruent = 202,
    /// The same members.
    Similar = 203,
    Unequal = 204,
}

/// A group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    members: Rc<[WorldRank]>,
    session: Option<Handle>,
}

/// A range of ranks: first, last and stride, as the standard's triplets.
pub type Range = [i32; 3];

impl Group {
    /// A group of distinct world ranks.
    pub fn new(members: Rc<[WorldRank]>) -> Group {
        Group { members, session: None }
    }

    /// The group, come from a session or, if `None`, from the world model.
    pub fn of_session(self, session: Option<Handle>) -> Group {
        Group { session, ..self }
    }

    /// The session that it comes from: what is made of a group has its origin, of two groups, the first one's.
    pub fn session(&self) -> Option<Handle> {
        self.session
    }

    /// A group of other members with the same origin.
    fn with(&self, members: Rc<[WorldRank]>) -> Group {
        Group { members, session: self.session }
    }

    /// The world ranks of its members, in order.
    pub fn members(&self) -> &[WorldRank] {
        &self.members
    }

    /// How many members it has.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The rank in it of a world rank, or `UNDEFINED`.
    pub fn rank_of(&self, member: WorldRank) -> i32 {
        self.members.iter().position(|it| *it == member).map_or(UNDEFINED, |rank| rank as i32)
    }

    /// The rank in `other` of a rank of this group; `UNDEFINED` if it is not in it. Errors: `RANK`.
    pub fn translate(&self, rank: i32, other: &Group) -> Result<i32> {
        if rank == PROC_NULL {
            return Ok(PROC_NULL);
        }
        let member = usize::try_from(rank).ok().and_then(|rank| self.members.get(rank)).ok_or(Error::RANK)?;
        Ok(other.rank_of(*member))
    }

    /// Identical: the same members in the same order; similar: the same members.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members == other.members {
            return Comparison::Identical;
        }
        let similar =
            self.size() == other.size() && self.members.iter().all(|member| other.members.contains(member));
        if similar { Comparison::Similar } else { Comparison::Unequal }
    }

    /// All of this group, then those of the other that are not in it.
    pub fn union(&self, other: &Group) -> Group {
        let more = other.members.iter().filter(|member| !self.members.contains(member));
        self.with(self.members.iter().chain(more).copied().collect())
    }

    /// Those of this group that are in the other.
    pub fn intersection(&self, other: &Group) -> Group {
        self.with(self.members.iter().filter(|member| other.members.contains(member)).copied().collect())
    }

    /// Those of this group that are not in the other.
    pub fn difference(&self, other: &Group) -> Group {
        self.with(self.members.iter().filter(|member| !other.members.contains(member)).copied().collect())
    }

    /// The members with these ranks, in this order. Errors: `RANK` for a rank that does not exist or comes twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        let chosen = self.distinct(ranks)?;
        Ok(self.with(chosen.into_iter().map(|rank| self.members[rank]).collect()))
    }

    /// The members but these ranks. Errors: as for [`Group::include`].
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let chosen = self.distinct(ranks)?;
        let rest = (0..self.size()).filter(|rank| !chosen.contains(rank));
        Ok(self.with(rest.map(|rank| self.members[rank]).collect()))
    }

    /// As [`Group::include`], by ranges. Errors: `ARG` for a stride of zero; `RANK`.
    pub fn include_ranges(&self, ranges: &[Range]) -> Result<Group> {
        self.include(&self.expand(ranges)?)
    }

    /// As [`Group::exclude`], by ranges. Errors: as for [`Group::include_ranges`].
    pub fn exclude_ranges(&self, ranges: &[Range]) -> Result<Group> {
        self.exclude(&self.expand(ranges)?)
    }

    /// The ranks that ranges name: `first + i * stride` up to `last`.
    fn expand(&self, ranges: &[Range]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for [first, last, stride] in ranges {
            if *stride == 0 {
                return Err(Error::ARG);
            }
            let (first, last, stride) = (*first as i64, *last as i64, *stride as i64);
            // No rank if the last one lies against the stride's direction.
            let against = (last - first).signum() * stride.signum() < 0;
            for step in 0..=if against { -1 } else { (last - first) / stride } {
                // A range that leaves the group is wrong whatever its length: this also bounds the loop.
                let rank = first + step * stride;
                if rank < 0 || rank >= self.size() as i64 || ranks.len() > self.size() {
                    return Err(Error::RANK);
                }
                ranks.push(rank as i32);
            }
        }
        Ok(ranks)
    }

    /// Errors: `RANK`.
    fn distinct(&self, ranks: &[i32]) -> Result<Vec<usize>> {
        let mut chosen: Vec<usize> = Vec::new();
        for rank in ranks {
            let rank = usize::try_from(*rank).ok().filter(|rank| *rank < self.size()).ok_or(Error::RANK)?;
            if chosen.contains(&rank) {
                return Err(Error::RANK);
            }
            chosen.push(rank);
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn group(members: &[u32]) -> Group {
        Group::new(members.iter().copied().map(WorldRank).collect())
    }

    /// A small generator of numbers (Marsaglia's xorshift), so that failures repeat.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % bound
        }

        fn subset(&mut self) -> Group {
            let mut all: Vec<WorldRank> = (0..12).map(WorldRank).collect();
            let count = self.below(13);
            let members = (0..count).map(|_| all.remove(self.below(all.len() as u64) as usize)).collect();
            Group::new(members)
        }
    }

    #[test]
    fn the_algebra_is_that_of_sets_with_the_order_of_the_first() {
        let mut numbers = Numbers(0x5eed);
        for round in 0..5000 {
            let (a, b) = (numbers.subset(), numbers.subset());
            let (union, both, only) = (a.union(&b), a.intersection(&b), a.difference(&b));
            for member in (0..12).map(WorldRank) {
                let (in_a, in_b) = (a.members().contains(&member), b.members().contains(&member));
                let count = |group: &Group| group.members().iter().filter(|it| **it == member).count();
                assert_eq!(count(&union), (in_a || in_b) as usize, "round {round}");
                assert_eq!(count(&both), (in_a && in_b) as usize, "round {round}");
                assert_eq!(count(&only), (in_a && !in_b) as usize, "round {round}");
            }
            assert_eq!(&union.members()[..a.size()], a.members(), "the first group comes first");
            for part in [&both, &only] {
                let ranks: Vec<i32> = part.members().iter().map(|member| a.rank_of(*member)).collect();
                assert!(ranks.is_sorted(), "in the order of the first group");
            }
            for rank in 0..a.size() as i32 {
                let there = a.translate(rank, &b);
                let member = a.members()[rank as usize];
                let expected = b.members().iter().position(|it| *it == member);
                assert_eq!(there, Ok(expected.map_or(UNDEFINED, |it| it as i32)));
            }
            let same = a.size() == b.size() && only.size() == 0;
            let expected = match (a == b, same) {
                (true, _) => Comparison::Identical,
                (_, true) => Comparison::Similar,
                _ => Comparison::Unequal,
            };
            assert_eq!(a.compare(&b), expected, "round {round}");
        }
    }

    #[test]
    fn including_and_excluding_are_complements() {
        let mut numbers = Numbers(0xfeed);
        for _ in 0..2000 {
            let all = numbers.subset();
            let chosen: Vec<i32> = (0..all.size() as i32).filter(|_| numbers.below(2) == 0).collect();
            let (inside, outside) = (all.include(&chosen), all.exclude(&chosen));
            let (Ok(inside), Ok(outside)) = (inside, outside) else { panic!("distinct ranks of the group") };
            assert_eq!(inside.size() + outside.size(), all.size());
            assert!(inside.union(&outside).compare(&all) != Comparison::Unequal);
            assert_eq!(all.difference(&inside), outside);
        }
    }

    #[test]
    fn ranges_count_up_and_down() {
        let all = group(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
        let members = |ranges: &[Range]| {
            all.include_ranges(ranges)
                .map(|it| it.members().iter().map(|member| member.0).collect::<Vec<u32>>())
        };
        assert_eq!(members(&[[1, 6, 2]]), Ok(vec![11, 13, 15]));
        assert_eq!(members(&[[9, 0, -4], [2, 2, 7]]), Ok(vec![19, 15, 11, 12]));
        assert_eq!(members(&[[5, 4, 1]]), Ok(vec![]), "no rank from 5 up to 4");
        assert_eq!(members(&[[4, 5, -1]]), Ok(vec![]), "nor from 4 down to 5");
        assert_eq!(members(&[[0, 3, 0]]), Err(Error::ARG));
        assert_eq!(members(&[[0, 10, 1]]), Err(Error::RANK));
        assert_eq!(members(&[[0, 11, 5]]), Err(Error::RANK), "the last one computed is 10");
        assert_eq!(members(&[[-2, 3, 1]]), Err(Error::RANK));
        assert_eq!(members(&[[0, 4, 2], [2, 2, 1]]), Err(Error::RANK), "2 comes twice");
        assert_eq!(members(&[[0, i32::MAX, 1]]), Err(Error::RANK));
        assert_eq!(members(&[[i32::MIN, i32::MAX, i32::MAX]]), Err(Error::RANK));
        let rest = all
            .exclude_ranges(&[[0, 9, 3]])
            .map(|it| it.members().iter().map(|member| member.0).collect::<Vec<u32>>());
        assert_eq!(rest, Ok(vec![11, 12, 14, 15, 17, 18]));
    }

    #[test]
    fn wrong_ranks_are_named() {
        let all = group(&[4, 2]);
        assert_eq!(all.include(&[0, 2]), Err(Error::RANK));
        assert_eq!(all.include(&[-1]), Err(Error::RANK));
        assert_eq!(all.include(&[1, 1]), Err(Error::RANK));
        assert_eq!(all.exclude(&[2]), Err(Error::RANK));
        assert_eq!(all.include(&[]), Ok(group(&[])));
        assert_eq!(all.translate(2, &all), Err(Error::RANK));
        assert_eq!(all.translate(PROC_NULL, &all), Ok(PROC_NULL));
    }
}
