//! Ranks of a team.

/// A PE's number within a team, an active set or any other group of PEs, from 0 (OpenSHMEM 1.5, section 9.4). It says nothing without the group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct TeamRank(pub i32);

impl TeamRank {
    /// Which every group has.
    pub const FIRST: TeamRank = TeamRank(0);

    /// A member of a group of `size`, if the number is one's.
    #[inline(always)]
    pub const fn of(number: i32, size: i32) -> Option<TeamRank> {
        if 0 <= number && number < size { Some(TeamRank(number)) } else { None }
    }

    /// All of a group of `size`.
    #[inline(always)]
    pub fn all(size: i32) -> impl Iterator<Item = TeamRank> {
        (0..size).map(TeamRank)
    }

    /// As the standard counts them.
    #[inline(always)]
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Its place in what has an entry for each member.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The member `distance` further round a group of `size`; `distance` is from 0 to `size`.
    #[inline(always)]
    pub const fn above(self, distance: i32, size: i32) -> TeamRank {
        let number = self.0 + distance;
        TeamRank(if number < size { number } else { number - size })
    }

    /// The member whose number has that bit the other way, in a group that has it.
    #[inline(always)]
    pub const fn across(self, bit: i32) -> TeamRank {
        TeamRank(self.0 ^ bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_count_from_0_and_go_round() {
        assert_eq!(
            [-1, 0, 4, 5].map(|number| TeamRank::of(number, 5).map(TeamRank::number)),
            [None, Some(0), Some(4), None]
        );
        let third = TeamRank::of(3, 5).unwrap();
        assert_eq!([0, 1, 2, 5].map(|distance| third.above(distance, 5).number()), [3, 4, 0, 3]);
        assert_eq!((third.across(2).number(), third.index()), (1, 3));
        assert!(TeamRank::all(3).map(TeamRank::number).eq(0..3));
    }
}
