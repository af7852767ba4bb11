//! Which PEs take part in a collective call: every team, and every active set, is a stride through the PE numbers.

use super::pe::{mapped, my_pe, n_pes};
use lwk_place::TeamRank;

/// PEs `start`, `start + stride`, … as this PE, one of them, sees them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    start: i32,
    stride: i32,
    size: i32,
    me: TeamRank,
}

impl Group {
    /// All PEs.
    #[inline]
    pub(crate) fn world() -> Group {
        Group::of(0, n_pes())
    }

    /// The PEs around this one that can be loaded from and stored to.
    pub(crate) fn near() -> Group {
        let is_near = |pe: &i32| mapped::<u8>(core::ptr::null(), *pe).is_some();
        let start = (0..my_pe()).rev().take_while(is_near).last().unwrap_or(my_pe());
        Group::of(start, (start..n_pes()).take_while(is_near).count() as i32)
    }

    /// `size` PEs from `start` on, of which this one is one.
    #[inline(always)]
    fn of(start: i32, size: i32) -> Group {
        Group { start, stride: 1, size, me: TeamRank(my_pe() - start) }
    }

    /// The members `start`, `start + stride`, … of this group, `size` of them, as a group of their own; `None` if some of
    /// them are not members of this one. The second value is whether this PE is a member.
    pub(crate) fn subset(self, start: i32, stride: i32, size: i32) -> Option<(Group, bool)> {
        let last = i64::from(start) + i64::from(stride) * (i64::from(size) - 1);
        let inside = |index: i64| (0..i64::from(self.size)).contains(&index);
        if size < 1 || !inside(start.into()) || !inside(last) || (stride == 0 && size > 1) {
            return None;
        }
        let distance = self.me.number() - start;
        let me = match stride {
            0 if distance == 0 => Some(0),
            0 => None,
            _ if distance % stride == 0 => Some(distance / stride),
            _ => None,
        };
        let me = me.and_then(|me| TeamRank::of(me, size));
        // Both products are differences of PE numbers or smaller, so they fit.
        let group = Group {
            start: self.start + start * self.stride,
            stride: stride.wrapping_mul(self.stride),
            size,
            me: me.unwrap_or(TeamRank::FIRST),
        };
        Some((group, me.is_some()))
    }

    /// How many PEs.
    #[inline(always)]
    pub(crate) fn size(self) -> i32 {
        self.size
    }

    /// This PE.
    #[inline(always)]
    pub(crate) fn me(self) -> TeamRank {
        self.me
    }

    /// All members.
    #[inline(always)]
    pub(crate) fn members(self) -> impl Iterator<Item = TeamRank> {
        TeamRank::all(self.size)
    }

    /// The PE number of a member.
    #[inline(always)]
    pub(crate) fn pe(self, member: TeamRank) -> i32 {
        self.start + self.stride * member.number()
    }

    /// The member that a PE is, if it is one.
    pub(crate) fn member_of(self, pe: i32) -> Option<TeamRank> {
        self.members().find(|member| self.pe(*member) == pe)
    }

    /// The member of that number, if there is one.
    #[inline(always)]
    pub(crate) fn member(self, number: i32) -> Option<TeamRank> {
        TeamRank::of(number, self.size)
    }

    /// The PE number of the member `distance` further around the group; `distance` is from 0 to the group's size.
    #[inline(always)]
    pub(crate) fn ahead(self, distance: i32) -> i32 {
        self.pe(self.me.above(distance, self.size))
    }

    /// The PE number of the member `distance` before, around the group; `distance` is from 0 to the group's size.
    #[inline(always)]
    pub(crate) fn behind(self, distance: i32) -> i32 {
        self.ahead(self.size - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(size: i32, me: i32) -> Group {
        Group { start: 0, stride: 1, size, me: TeamRank(me) }
    }

    fn members(group: Group) -> Vec<i32> {
        group.members().map(|member| group.pe(member)).collect()
    }

    #[test]
    fn subsets_of_subsets_name_the_right_pes() {
        let (odd, member) = of(10, 5).subset(1, 2, 5).unwrap();
        assert_eq!((members(odd), member, odd.me().number()), (vec![1, 3, 5, 7, 9], true, 2));
        let (back, member) = odd.subset(4, -2, 3).unwrap();
        assert_eq!((members(back), member, back.me().number()), (vec![9, 5, 1], true, 1));
        let (one, member) = back.subset(2, 0, 1).unwrap();
        assert_eq!((members(one), member), (vec![1], false));
        assert_eq!(back.member_of(1), Some(TeamRank(2)));
        assert_eq!(back.member_of(3), None);
    }

    #[test]
    fn triplets_that_leave_the_group_are_refused() {
        for (start, stride, size) in
            [(0, 1, 5), (-1, 1, 2), (3, 1, 2), (1, -1, 3), (0, 0, 2), (0, 1, 0), (0, i32::MAX, 3), (4, 1, 1)]
        {
            assert_eq!(of(4, 0).subset(start, stride, size), None, "{start} {stride} {size}");
        }
    }

    #[test]
    fn around_the_group_in_both_directions() {
        let (odd, _) = of(10, 7).subset(1, 2, 5).unwrap();
        assert_eq!([odd.ahead(1), odd.ahead(2), odd.ahead(5), odd.behind(4), odd.behind(0)], [9, 1, 7, 9, 7]);
    }
}
