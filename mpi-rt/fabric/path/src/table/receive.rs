//! Arrivals and receives by the table.

use super::{Parked, Table};
use crate::path_id::{PATHS, PathId};
use crate::region::Region;
use crate::{Arrival, Delivery, Fault, Label, Path, Result};
use core::ops::RangeInclusive;
use lwk_place::WorldRank;

impl Table {
    /// As [`Smartmap::receive_short`](crate::smartmap::Smartmap::receive_short).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn receive_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
    ) -> Option<usize> {
        // SAFETY: `target` is writable for `room` bytes (this function's contract).
        unsafe { self.smartmap.receive_short(peer, label, target, room) }
    }

    /// As [`Smartmap::receive_block`](crate::smartmap::Smartmap::receive_block).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn receive_block(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
        sizes: RangeInclusive<usize>,
    ) -> Option<usize> {
        // SAFETY: `target` is writable for `room` bytes (this function's contract).
        unsafe { self.smartmap.receive_block(peer, label, target, room, sizes) }
    }

    /// As [`Path::arrival`], of the path by which the peer's next message comes.
    #[inline(always)]
    pub fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        if self.smartmap.receives_from(peer) {
            return self.smartmap.arrival(peer);
        }
        self.arrival_by_route(peer)
    }

    #[inline(never)]
    fn arrival_by_route(&mut self, peer: WorldRank) -> Option<Arrival> {
        let incoming = self.routes[peer.index()].incoming;
        // What a path that is not looked at has under way needs its look.
        for (place, other) in self.others.iter_mut().enumerate() {
            if let Some(other) = other
                && place + 1 != incoming as usize
                && other.must_take(peer)
            {
                other.arrival(peer);
            }
        }
        self.path(incoming).arrival(peer)
    }

    /// Takes a marker, which is next, and follows it: the peer's messages come by another path from now on.
    #[cold]
    pub fn follow(&mut self, peer: WorldRank, arrival: &Arrival) -> Result<()> {
        let next = PATHS.get(arrival.label.tag() as usize).copied().ok_or(Fault::Internal)?;
        // SAFETY: it is the next message; no bytes need no memory.
        let taken = unsafe { self.deliver(peer, arrival, &Region::block(core::ptr::null(), 0))? };
        if let Delivery::Underway(ticket) = taken {
            self.markers.push(ticket);
        }
        self.routes[peer.index()].incoming = next;
        self.tell_smartmap(peer);
        Ok(())
    }

    /// As [`Path::deliver`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn deliver(
        &mut self,
        peer: WorldRank,
        arrival: &Arrival,
        target: &Region,
    ) -> Result<Delivery> {
        if self.smartmap.receives_from(peer) {
            // SAFETY: `arrival` is the peer's front message, and `target` is writable until the delivery is
            // done (this function's contract).
            return unsafe { self.smartmap.deliver(peer, arrival, target) };
        }
        let path = self.routes[peer.index()].incoming;
        // SAFETY: `arrival` is the front message of `incoming`, the path that `arrival` was asked of;
        // `target` is writable (this function's contract).
        let delivery = unsafe { self.path(path).deliver(peer, arrival, target) };
        of_path(delivery, path)
    }

    /// As [`Path::hold`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn hold(&mut self, peer: WorldRank, arrival: &Arrival) -> Option<Parked> {
        let path = self.routes[peer.index()].incoming;
        // SAFETY: `arrival` is the peer's front message (this function's contract), which the `incoming` path
        // has.
        let held = unsafe { self.path(path).hold(peer, arrival)? };
        Some(Parked { path, held })
    }

    /// As [`Path::deliver_held`], of the path that holds the message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn deliver_held(
        &mut self,
        peer: WorldRank,
        parked: Parked,
        target: &Region,
    ) -> Result<Delivery> {
        let Parked { path, held } = parked;
        if path == PathId::Smartmap {
            // SAFETY: `held` came from this path's `hold` for `peer`, and `target` is writable (this
            // function's contract).
            return unsafe { self.smartmap.deliver_held(peer, held, target) };
        }
        // SAFETY: `held` came from the `hold` of `path` for `peer`, and `target` is writable (this function's
        // contract).
        let delivery = unsafe { self.path(path).deliver_held(peer, held, target) };
        of_path(delivery, path)
    }

    /// As [`Path::is_there`], of the path that holds the message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn is_there(&mut self, peer: WorldRank, parked: &Parked, reserve: bool) -> bool {
        // SAFETY: `held` came from the `hold` of `parked.path` for `peer` and has not been delivered (this
        // function's contract).
        unsafe { self.path(parked.path).is_there(peer, &parked.held, reserve) }
    }
}

/// A delivery whose ticket names its path.
fn of_path(delivery: Result<Delivery>, path: PathId) -> Result<Delivery> {
    delivery.map(|it| match it {
        Delivery::Underway(ticket) => Delivery::Underway(ticket.of(path)),
        other => other,
    })
}
