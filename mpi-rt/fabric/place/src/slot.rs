//! Slots, and what an address of one rank is in another.

use crate::{NodeRank, Peer, wall};
use core::num::NonZeroUsize;
use core::ptr::with_exposed_provenance_mut;
use lwk_user::abi::address::{SLOT_SHIFT, remote, slot_of};

/// Where a rank's memory is seen, as what is added to an address of slot 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot(usize);

impl Slot {
    /// This rank's own memory, where it was made.
    pub const OWN: Slot = Slot(0);

    /// The slot of a rank of this node, this rank's second one among them.
    #[inline(always)]
    pub const fn of(rank: NodeRank) -> Slot {
        Slot(remote(0, rank.0) as usize)
    }

    /// The slot of a peer whose memory can be loaded and stored.
    ///
    /// # Panics
    /// Behind the [`wall`].
    #[inline(always)]
    pub fn of_peer(peer: Peer) -> Slot {
        wall::check(peer.node_rank());
        Slot::of(peer.node_rank())
    }

    /// Where an address of slot 0 is seen.
    #[inline(always)]
    pub const fn place_own(self, address: usize) -> usize {
        address | self.0
    }

    /// As [`Slot::place`], of an address that is not null.
    #[inline(always)]
    pub fn place_not_null(self, address: NonZeroUsize) -> NonZeroUsize {
        if is_own(address.get()) { address | self.0 } else { address }
    }

    /// Where an address of the slot's rank is seen. One that is in a slot already means the same in every rank.
    #[inline(always)]
    pub const fn place(self, address: usize) -> usize {
        if is_own(address) { address | self.0 } else { address }
    }
}

/// Whether an address lies in slot 0, and so means something else in each rank.
#[inline(always)]
pub const fn is_own(address: usize) -> bool {
    slot_of(address as u64) == 0
}

/// Whether two addresses lie in one slot.
#[inline(always)]
pub const fn in_one_slot(one: usize, other: usize) -> bool {
    one >> SLOT_SHIFT == other >> SLOT_SHIFT
}

/// The address in this rank of what `peer` calls `address`.
///
/// # Panics
/// If the peer is behind the [`wall`].
#[inline(always)]
pub fn seen_from_here<T>(peer: Peer, address: usize) -> *mut T {
    with_exposed_provenance_mut(Slot::of_peer(peer).place(address))
}

/// The same for the memory of a path itself, which stands for a wire between nodes where there is a wall: the rings that carry bytes, and
/// nothing of the program's.
#[inline(always)]
pub fn seen_by_wire<T>(peer: Peer, address: usize) -> *mut T {
    with_exposed_provenance_mut(Slot::of(peer.node_rank()).place(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_moved_into_the_slot_once_and_none_other_is() {
        let slot = Slot::of(NodeRank(4));
        let there = slot.place(0x20_0000);
        assert_eq!(there, 0x20_0000 | 5 << SLOT_SHIFT);
        assert_eq!(Slot::of(NodeRank(7)).place(there), there);
        assert_eq!(Slot::OWN.place(0x20_0000), 0x20_0000);
        assert!(in_one_slot(there, there + 8) && !in_one_slot(there, 0x20_0000));
    }
}
