//! What the engine asks of a path, done by a transport over shared memory.

use super::held::Kept;
use super::link::{self, Link};
use super::loopback::Begun;
use super::packet::{CellList, Header, Kind};
use super::transfer::RECEIVE;
use super::{Design, Entered, Receiving, Sending, Shm, node_peer};
use crate::descriptors::named;
use crate::region::Region;
use crate::{
    Arrival, Delivery, Fault, Held, Limits, Matching, Memory, Outgoing, Path, Received, Result, Sent,
    Started, Ticket, UnderWay, WorldRank,
};
use alloc::vec::Vec;
use lwk_place::peer_of;

impl<D: Design> Path for Shm<D> {
    unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        if self.links.get(peer.index()).is_none_or(Option::is_none) {
            // SAFETY: the message's bytes are readable until the send is done (this function's contract).
            return match unsafe { self.loopback.begin(self.me, message, &mut self.sends) } {
                Begun::Done => Started::Done,
                Begun::Underway(number) => Started::Underway(Ticket(number)),
                Begun::Full => Started::Full,
            };
        }
        if self.design.is_late(peer) {
            // Whether it still is may be at the front; a sender that copies and goes on looks nowhere else.
            self.look(peer);
        }
        let Some(link) = self.links.get_mut(peer.index()).and_then(Option::as_mut) else {
            unreachable!("a link that was there")
        };
        let place = self.sends.vacant_entry();
        let sending = Sending::new(place.key(), peer, message);
        let (number, mut descriptor) = (sending.number, None);
        let name = || {
            let taken = self.descriptors.take(sending.message, None);
            descriptor = Some(taken);
            self.descriptors.name(taken) as u64
        };
        // SAFETY: the message's bytes are readable until the send is done (this function's contract).
        let entered = unsafe { self.design.begin(link, peer, message, number, name) };
        let Some(entered) = entered else { return Started::Full };
        let (position, is_described, post) = match entered {
            Entered::Whole | Entered::Copied => {
                self.count(message, entered);
                return Started::Done;
            }
            Entered::Asked(position) => (position, false, None),
            Entered::Described => (0, true, None),
            Entered::Ordered(post) => (0, false, Some(post)),
        };
        let ticket = Ticket(place.key());
        place.insert(Sending { position, descriptor, is_described, post, ..sending });
        // What a described message waits for is no packet.
        link.transfers += usize::from(!is_described);
        self.count(message, entered);
        Started::Underway(ticket)
    }

    unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the ticket is of this path and not void (this function's contract).
        unsafe {
            if ticket.0 & RECEIVE == 0 {
                self.advance_send(ticket).then_some(Ok(()))
            } else {
                self.advance_receive(ticket.0 & !RECEIVE)
            }
        }
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        self.sends[ticket.0].message
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        let Sending { message, descriptor, is_described, post, .. } = self.sends[ticket.0];
        let is_cancelled = match descriptor {
            Some(descriptor) => self.descriptors.cancel(descriptor),
            None => self.cancel_own(ticket.0),
        };
        if is_cancelled {
            if let (true, Some(post)) = (D::ORDERS, post) {
                self.design.take_back(post);
            }
            self.sends.remove(ticket.0);
            if let Some(link) = self.links.get_mut(message.peer.index()).and_then(Option::as_mut) {
                link.transfers -= usize::from(!is_described);
            }
        }
        is_cancelled
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        let Sending { descriptor, is_described, post, .. } = self.sends[ticket.0];
        if let (Some(descriptor), true) = (descriptor, is_described) {
            return self.descriptors.may_relocate(descriptor)
                && copy().is_some_and(|copy| self.descriptors.relocate(descriptor, copy));
        }
        let Some(copy) = copy() else { return false };
        if let (true, Some(post)) = (D::ORDERS, post) {
            // SAFETY: the copy holds the bytes and stays (this function's contract).
            let is_relocated = unsafe { self.design.relocate(post, copy) };
            if !is_relocated {
                return false;
            }
        }
        // Nobody but this rank reads the source now.
        let message = &mut self.sends[ticket.0].message;
        message.source = Region::block(copy, message.source.bytes());
        true
    }

    fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        if peer == self.me {
            return self.loopback.arrival();
        }
        let header = self.look(peer)?;
        Some(Arrival { label: header.label, bytes: header.bytes, eager: header.kind != Kind::Request })
    }

    unsafe fn deliver(&mut self, peer: WorldRank, _: &Arrival, target: &Region) -> Result<Delivery> {
        if peer == self.me {
            let own = self.loopback.take().ok_or(Fault::Internal)?;
            // SAFETY: the target is writable (this function's contract).
            return unsafe { own.deliver(target, &mut self.sends) }.map(|()| Delivery::Done);
        }
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut).ok_or(Fault::Internal)?;
        let header = link.front.take().ok_or(Fault::Internal)?;
        let came = self.comes(peer, header.bytes);
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut).ok_or(Fault::Internal)?;
        // SAFETY: `header` is the front packet's, not removed yet; `target` is writable, its datatype live
        // (this function's contract).
        let delivery = unsafe {
            let cells = header.read_cells(&link.consumer);
            if header.kind == Kind::Request {
                // The cells outlive the packet that names them.
                link.consumer.advance(header.packet_bytes(0));
                self.accept(peer, &header, &cells, target)
            } else {
                let (_, outcome) = self.design.copy_out(link, &header, &cells, 0, target);
                link.consumer.advance(header.packet_bytes(D::payload(&header)));
                outcome.map(|()| Delivery::Done)
            }
        };
        self.has_taken(peer, header.bytes, came);
        delivery
    }

    unsafe fn hold(&mut self, peer: WorldRank, _: &Arrival) -> Option<Held> {
        if peer == self.me {
            return match self.loopback.take()?.hold() {
                Ok(held) => Some(held),
                Err(own) => Some(Held::Kept(self.kept.insert(Kept::Own(own)))),
            };
        }
        let link = self.links.get_mut(peer.index())?.as_mut()?;
        let header = link.front?;
        // SAFETY: `header` is the front packet's, not removed yet; `content` is new, `header.bytes` long, and
        // overlaps nothing.
        unsafe {
            let held = if header.kind == Kind::Eager {
                let mut content = Vec::new();
                content.try_reserve_exact(header.bytes).ok()?;
                content.resize(header.bytes, 0u8);
                let target = Region::block(content.as_mut_ptr(), header.bytes);
                let (_, outcome) = self.design.copy_out(link, &header, &CellList::default(), 0, &target);
                outcome.ok()?;
                Held::Copy(content.into_boxed_slice())
            } else {
                let cells = header.read_cells(&link.consumer);
                Held::Kept(self.kept.insert(Kept::Packet(header, cells)))
            };
            link.front = None;
            link.consumer.advance(header.packet_bytes(D::payload(&header)));
            if let Some(watch) = self.design.watch(peer, header.bytes) {
                watch.hold(peer.index());
            }
            Some(held)
        }
    }

    unsafe fn deliver_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery> {
        let bytes = self.held_bytes(&held);
        let came = self.comes(peer, bytes);
        if let Some(watch) = self.design.watch(peer, bytes) {
            watch.release(peer.index());
        }
        // SAFETY: this function's contract.
        let delivery = unsafe { self.take_held(peer, held, target) };
        self.has_taken(peer, bytes, came);
        delivery
    }

    unsafe fn is_there(&mut self, peer: WorldRank, held: &Held, reserve: bool) -> bool {
        let Held::Kept(kept) = held else { return true };
        match &mut self.kept[*kept] {
            Kept::Cancelled => false,
            Kept::Packet(Header { kind: Kind::Request, name, .. }, _) => node_peer(peer).is_ok_and(|peer| {
                // SAFETY: the peer's request named the descriptor; the peer never frees descriptors.
                let (descriptor, number) = unsafe { named(peer, *name as usize) };
                if reserve { descriptor.reserve(number) } else { !descriptor.is_cancelled(number) }
            }),
            Kept::Packet(..) => true,
            Kept::Own(own) => {
                if reserve {
                    own.reserve();
                }
                true
            }
        }
    }

    fn must_take(&self, peer: WorldRank) -> bool {
        self.links
            .get(peer.index())
            .and_then(Option::as_ref)
            .is_some_and(|link| link.transfers > 0 || !link.permissions.is_empty())
    }

    fn limits(&self) -> Limits {
        Limits { eager: self.design.eager(&self.plan) }
    }

    fn sent(&self) -> Sent {
        self.sent
    }

    fn memory(&self) -> Memory {
        Memory {
            fixed: size_of::<Self>() + link::bytes_of_pool(&self.plan),
            per_peer: size_of::<Option<Link>>() + link::bytes_per_peer(&self.plan),
            dynamic: self.sends.capacity() * size_of::<Sending>()
                + self.descriptors.bytes()
                + self.receives.capacity() * size_of::<Receiving>()
                + self.kept.capacity() * size_of::<Kept>(),
        }
    }
    fn matching(&mut self) -> Option<&mut dyn Matching> {
        if D::MATCHES { Some(self) } else { None }
    }
}

impl<D: Design> Matching for Shm<D> {
    fn takes_above(&self) -> usize {
        self.design.takes_above()
    }

    unsafe fn post(
        &mut self,
        peer: WorldRank,
        context: u32,
        tag: Option<i32>,
        target: &Region,
    ) -> Option<Ticket> {
        let is_linked = self.links.get(peer.index()).is_some_and(Option::is_some);
        let peer = peer_of(peer).filter(|_| is_linked)?;
        // SAFETY: the target is writable until the receive is done or recalled (this function's contract).
        unsafe { self.design.post(peer, context, tag, target) }.map(Ticket)
    }

    fn posted(&mut self, ticket: Ticket) -> Option<Received> {
        self.design.posted(ticket.0)
    }

    fn recall(&mut self, ticket: Ticket) -> Option<Received> {
        self.design.recall(ticket.0)
    }
}
