//! Transfers of long messages, from the request to the last byte: what a receiver does when it has matched a request, and what sender and
//! receiver do for a transfer under way.

use super::packet::{CellList, Header};
use super::{Design, Receiving, Shm, node_peer};
use crate::descriptors::named;
use crate::region::Region;
use crate::{Delivery, Fault, Result, Ticket, WorldRank};
use lwk_rendezvous::Claim;

/// Set in the tickets of receives.
pub(super) const RECEIVE: usize = 1 << 32;

impl<D: Design> Shm<D> {
    /// Takes the message that a request of a peer announces, and begins to receive it, unless the sender has cancelled it; `cells` hold the first
    /// bytes.
    ///
    /// # Safety
    /// As for [`crate::Path::deliver`].
    pub(super) unsafe fn accept(
        &mut self,
        peer: WorldRank,
        header: &Header,
        cells: &CellList,
        target: &Region,
    ) -> Result<Delivery> {
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut).ok_or(Fault::Internal)?;
        // SAFETY: the peer's request named the descriptor, and the peer never frees descriptors.
        let (descriptor, number) = unsafe { named(node_peer(peer)?, header.name as usize) };
        let mut cells = *cells;
        match descriptor.claim(number) {
            Claim::InPlace => {}
            Claim::Elsewhere(address) => D::moved(&mut cells, address),
            Claim::Cancelled => {
                // The cells are the sender's again.
                let nothing = Region::block(core::ptr::null(), 0);
                // SAFETY: the cells have been kept; nothing is written to no bytes.
                let (_, outcome) = unsafe { self.design.copy_out(link, header, &cells, 0, &nothing) };
                return outcome.map(|()| Delivery::Cancelled);
            }
        }
        if D::is_described(header) {
            // SAFETY: the cells have been kept, and the target is writable (this function's contract).
            let (_, outcome) = unsafe { self.design.copy_out(link, header, &cells, 0, target) };
            // Whatever has come of it, the sender need not wait for more.
            descriptor.finish(number);
            return outcome.map(|()| Delivery::Done);
        }
        let wanted = header.bytes.min(target.bytes());
        if D::ORDERS {
            // SAFETY: the target is writable until the receive is done (this function's contract).
            if let Some(post) = unsafe { self.design.read(node_peer(peer)?, header, target) } {
                let (position, outcome, post) = (0, Ok(()), Some(post));
                let number = self.receives.insert(Receiving {
                    peer,
                    target: *target,
                    position,
                    wanted,
                    outcome,
                    post,
                });
                link.transfers += 1;
                return Ok(Delivery::Underway(Ticket(number | RECEIVE)));
            }
        }
        // SAFETY: the cells have been kept, and the target is writable (this function's contract).
        let (position, outcome) = unsafe { self.design.copy_out(link, header, &cells, 0, target) };
        let receive = Receiving { peer, target: *target, position, wanted, outcome, post: None };
        if position >= wanted {
            link.permit(header.own_id, 0, wanted);
            return outcome.map(|()| Delivery::Done);
        }
        let number = self.receives.insert(receive);
        link.transfers += 1;
        link.permit(header.own_id, number as u32, wanted);
        Ok(Delivery::Underway(Ticket(number | RECEIVE)))
    }

    /// Does what this rank can do for a send; true when it is done.
    ///
    /// # Safety
    /// As for [`crate::Path::advance`].
    pub(super) unsafe fn advance_send(&mut self, ticket: Ticket) -> bool {
        let Some(send) = self.sends.get(ticket.0) else { return true };
        if let (true, Some(descriptor)) = (send.is_described, send.descriptor) {
            let done = self.descriptors.is_done(descriptor);
            if done {
                self.descriptors.release(descriptor);
                self.sends.remove(ticket.0);
            }
            return done;
        }
        let peer = send.message.peer;
        // The permission may be at the front.
        self.look(peer);
        let Some(send) = self.sends.get_mut(ticket.0) else { return true };
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut);
        if let (Some(link), Some(_), false) = (link, send.wanted, send.paused) {
            // SAFETY: the send's source is readable until this says done (`Path::begin`'s contract).
            unsafe { self.design.push(link, send, &self.plan) };
            if send.is_done() {
                link.transfers -= 1;
            }
        }
        let mut done = send.is_done();
        if let (true, Some(post)) = (D::ORDERS, send.post) {
            // The receiver is told of what could not be copied.
            done = self.design.outcome(post).is_some();
            if let (true, Some(link)) = (done, self.links.get_mut(peer.index()).and_then(Option::as_mut)) {
                link.transfers -= 1;
            }
        }
        if done {
            // Whoever has permitted the send has taken it before, so that the descriptor is free.
            if let Some(descriptor) = self.sends.remove(ticket.0).descriptor {
                self.descriptors.end(descriptor);
            }
        }
        done
    }

    /// The outcome of a receive, when it is done.
    pub(super) fn advance_receive(&mut self, number: usize) -> Option<Result<()>> {
        let Some(peer) = self.receives.get(number).map(|receive| receive.peer) else {
            return Some(Err(Fault::Internal));
        };
        self.look(peer);
        let receive = self.receives.get(number)?;
        let outcome = match receive.post {
            Some(post) if D::ORDERS => self.design.outcome(post)?,
            _ if receive.position < receive.wanted => return None,
            _ => receive.outcome,
        };
        self.receives.remove(number);
        if let Some(link) = self.links.get_mut(peer.index()).and_then(Option::as_mut) {
            link.transfers -= 1;
        }
        Some(outcome)
    }
}
