//! Sends by the table.

use super::{CHANGE, Route, Table};
use crate::path_id::PathId;
use crate::region::Region;
use crate::{Label, Outgoing, Path, Result, Started, Ticket, UnderWay};
use lwk_copy::threshold::LONG_FROM;
use lwk_place::WorldRank;

impl Table {
    /// As [`Smartmap::send_short`](crate::smartmap::Smartmap::send_short).
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn send_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        address: *const u8,
        bytes: usize,
    ) -> bool {
        // SAFETY: `bytes` are readable at `address`, at most `SHORT` (this function's contract).
        unsafe { self.smartmap.send_short(peer, label, address, bytes) }
    }

    /// As [`Path::begin`], by the path for the peer and the size.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        if self.smartmap.sends_to(peer) {
            // SAFETY: the message's bytes are readable until the send is done (this function's contract).
            return unsafe { self.smartmap.begin(peer, message) };
        }
        // SAFETY: the message's bytes are readable until the send is done (this function's contract).
        unsafe { self.begin_by_route(peer, message) }
    }

    /// # Safety
    /// As for [`Table::begin`].
    #[inline(never)]
    unsafe fn begin_by_route(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        let bytes = message.source.bytes();
        let Route { carries, outgoing, .. } = self.routes[peer.index()];
        let by = carries[(bytes >= LONG_FROM) as usize];
        if by != outgoing {
            let (label, source) = (Label::new(CHANGE, by as i32), Region::block(core::ptr::null(), 0));
            // SAFETY: no bytes need no memory.
            match unsafe { self.path(outgoing).begin(peer, &Outgoing { label, source, synchronous: false }) }
            {
                Started::Full => return Started::Full,
                Started::Done => {}
                Started::Underway(ticket) => self.markers.push(ticket.of(outgoing)),
            }
            self.routes[peer.index()].outgoing = by;
            self.tell_smartmap(peer);
        }
        // SAFETY: the message's bytes are readable until the send is done (this function's contract).
        let started = unsafe { self.path(by).begin(peer, message) };
        if let (Some(profile), true) = (&mut self.profile, started != Started::Full) {
            profile.count(peer, bytes);
        }
        match started {
            Started::Underway(ticket) => Started::Underway(ticket.of(by)),
            other => other,
        }
    }

    /// As [`Path::advance`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the ticket is not void (this function's contract), and its path bits name the path that
        // gave it.
        unsafe {
            match ticket.path() {
                None => self.smartmap.advance(ticket),
                Some(path) => self.path(path).advance(ticket.bare()),
            }
        }
    }

    /// Carries on with markers that are on their way.
    #[inline(always)]
    pub fn advance_markers(&mut self) {
        if !self.markers.is_empty() {
            let mut markers = core::mem::take(&mut self.markers);
            // SAFETY: a marker's ticket is kept here until it is done, and its bytes are none.
            markers.retain(|ticket| unsafe { self.advance(*ticket).is_none() });
            self.markers = markers;
        }
    }

    /// As [`Path::under_way`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn under_way(&mut self, ticket: Ticket) -> UnderWay {
        // SAFETY: the ticket is of a send and not void (this function's contract), and its path bits name the
        // path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).under_way(ticket.bare()) }
    }

    /// As [`Path::cancel`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is of a send and not void (this function's contract), and its path bits name the
        // path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).cancel(ticket.bare()) }
    }

    /// As [`Path::relocate`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        // SAFETY: the ticket is of a send and not void, and the copy stays until it is done (this function's
        // contract); the ticket's path bits name the path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).relocate(ticket.bare(), copy) }
    }
}
