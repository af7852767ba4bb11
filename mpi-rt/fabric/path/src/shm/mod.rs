//! The paths of the dissertation's chapter 3 (L. Chai): every byte is copied twice, into a buffer in shared memory by its
//! sender and out of it by its receiver. [`basic`] and [`advanced`] are its two designs; what they have in common is here.
//!
//! * A message that fits is sent at once, *eagerly*; its send completes.
//! * For a longer one the sender asks (*request to send*). When the message is matched, the receiver permits it (*ok to send*), and the
//!   sender hands over packet after packet, while the receiver copies out what has come: copying in and copying out overlap.
//!
//! Permissions and data travel in the same FIFOs as envelopes. So that they are never stuck behind messages that no receive
//! wants, the engine takes in everything from a peer with which a transfer is under way ([`Path::must_take`]).

mod advanced;
mod basic;
mod design;
pub mod limic2;
mod link;
mod loopback;
pub mod ordered;
mod packet;
mod skew;
pub mod tunables;

pub use advanced::Advanced;
pub use basic::Basic;
pub use design::{Design, Entered};
pub use limic2::{Hybrid, Limic2};
pub use ordered::{Mci, Mcni, Sci};
pub use tunables::Tunables;

use super::descriptors::{Descriptors, named};
use super::{Arrival, Delivery, Held, Limits, Memory, Outgoing, Path, Started, Ticket, UnderWay, WorldRank};
use crate::region::{Region, copy_part, copy_regions};
use crate::{Fault, Result};
use alloc::vec::Vec;
use link::{Link, Plan};
use loopback::{Begun, Loopback, Own};
use lwk_place::{Peer, peer_of};
use lwk_rendezvous::Claim;
use lwk_user::clock::ticks;
use packet::{CellList, HEADER, Header, Kind};
use slab::Slab;

/// Set in the tickets of receives.
const RECEIVE: usize = 1 << 32;

/// A send under way.
#[derive(Debug)]
pub struct Sending {
    /// Its own number.
    number: u32,
    message: UnderWay,
    /// What the receiver takes the message by; none for messages of a rank to itself.
    descriptor: Option<Ticket>,
    /// Bytes handed over.
    position: usize,
    /// Bytes that the receiver wants; known when the message has been matched.
    wanted: Option<usize>,
    /// The receiver's number of the transfer.
    receive: u32,
    /// The buffer was used up; the receiver will say when to go on.
    paused: bool,
    /// The receiver reads the message where it is.
    is_described: bool,
    /// What has been posted for it, if the system copies it.
    post: Option<usize>,
}

impl Sending {
    fn new(number: usize, peer: WorldRank, message: &Outgoing) -> Sending {
        let message = UnderWay { peer, source: message.source, synchronous: message.synchronous };
        let number = number as u32;
        let (descriptor, wanted) = (None, None);
        let (paused, is_described, post) = (false, false, None);
        Sending { number, message, descriptor, position: 0, wanted, receive: 0, paused, is_described, post }
    }

    fn is_done(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.position >= wanted)
    }
}

/// A receive under way.
struct Receiving {
    peer: WorldRank,
    target: Region,
    /// Bytes copied out, and to copy.
    position: usize,
    wanted: usize,
    outcome: Result<()>,
    /// What has been posted for it, if the system copies it.
    post: Option<usize>,
}

/// A matched or waiting message that the engine holds by number.
enum Kept {
    Own(Own),
    Packet(Header, CellList),
    /// A message to this rank itself that has been cancelled.
    Cancelled,
}

/// A shared-memory transport.
pub struct Shm<D> {
    me: WorldRank,
    plan: Plan,
    /// By rank of the job; none to this rank itself and to other nodes'.
    links: Vec<Option<Link>>,
    loopback: Loopback,
    sends: Slab<Sending>,
    descriptors: Descriptors,
    receives: Slab<Receiving>,
    kept: Slab<Kept>,
    design: D,
}

impl<D: Design> Shm<D> {
    /// Sets up the buffers between all ranks of the node. Every rank must call it once; it waits for the others. Errors: [`Fault::NoMemory`].
    pub fn start_up(tunables: &Tunables) -> Result<Shm<D>> {
        let plan = D::plan(tunables);
        let (links, cells) = link::connect(&plan)?;
        let design = D::new(tunables, cells, links.len())?;
        Ok(Shm {
            me: lwk_user::job().rank(),
            plan,
            links,
            loopback: Loopback::new(),
            sends: Slab::new(),
            descriptors: Descriptors::new(),
            receives: Slab::new(),
            kept: Slab::new(),
            design,
        })
    }

    /// The bytes of shared memory that each of `ranks` ranks makes: figure 3.5's formula.
    pub fn shared_bytes(tunables: &Tunables, ranks: usize) -> usize {
        let plan = D::plan(tunables);
        link::bytes_of_pool(&plan) + (ranks - 1) * link::bytes_per_peer(&plan)
    }

    /// Deals with control and data at the front of a peer's FIFO; then the front is an envelope, if anything.
    fn look(&mut self, peer: WorldRank) -> Option<Header> {
        let link = self.links.get_mut(peer.index())?.as_mut()?;
        if !link.permissions.is_empty() {
            link.give_permissions();
        }
        while link.front.is_none() && link.consumer.has_packet() {
            // SAFETY: there is a packet.
            let Some(header) = (unsafe { Header::read(&link.consumer) }) else {
                unreachable!("a packet of no kind");
            };
            match header.kind {
                Kind::Eager | Kind::Loaded | Kind::Request => {
                    link.front = Some(header);
                    break;
                }
                Kind::Go => {
                    if let Some(send) = self.sends.get_mut(header.peer_id as usize) {
                        (send.wanted, send.receive, send.paused) = (Some(header.bytes), header.own_id, false);
                        // The receiver wants it through shared memory.
                        if let (true, Some(post)) = (D::ORDERS, send.post.take()) {
                            self.design.take_back(post);
                        }
                    }
                }
                Kind::Pace => self.design.pace(peer, header.bytes != 0),
                Kind::More => {
                    if let Some(receive) = self.receives.get(header.peer_id as usize) {
                        link.permit(header.own_id, header.peer_id, receive.wanted);
                    }
                }
                Kind::Data => {
                    if let Some(receive) = self.receives.get_mut(header.peer_id as usize) {
                        // SAFETY: `header` is the front packet's; the receive's target is writable until
                        // `advance` says done (`Path::deliver`'s contract).
                        let (bytes, outcome) = unsafe {
                            let cells = header.read_cells(&link.consumer);
                            self.design.copy_out(link, &header, &cells, receive.position, &receive.target)
                        };
                        receive.position += bytes;
                        receive.outcome = receive.outcome.and(outcome);
                    }
                }
            }
            // SAFETY: the packet has been dealt with.
            unsafe { link.consumer.advance(header.packet_bytes(D::payload(&header))) };
        }
        link.front
    }

    /// When this rank comes for a message of a peer, if it watches whether it is late.
    fn comes(&mut self, peer: WorldRank, bytes: usize) -> Option<u64> {
        self.design.watch(peer, bytes).map(|_| ticks())
    }

    /// It has taken the message for which it had come then, and tells the peer if what the peer should do has changed.
    fn has_taken(&mut self, peer: WorldRank, bytes: usize, came: Option<u64>) {
        let (Some(came), Some(watch)) = (came, self.design.watch(peer, bytes)) else { return };
        let Some(link) = self.links.get_mut(peer.index()).and_then(Option::as_mut) else { return };
        let behind = link.waiting(watch.enough(peer.index()), D::payload);
        if let Some(is_late) = watch.taken(peer.index(), came, ticks(), behind) {
            link.pace(is_late);
        }
    }

    /// Takes the message that a request of a peer announces, and begins to receive it, unless the sender has cancelled it; `cells` hold the first
    /// bytes.
    ///
    /// # Safety
    /// As for [`Path::deliver`].
    unsafe fn accept(
        &mut self,
        peer: WorldRank,
        header: &Header,
        cells: &CellList,
        target: &Region,
    ) -> Result<Delivery> {
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut).ok_or(Fault::Internal)?;
        // SAFETY: the peer's request named the descriptor, and the peer never frees descriptors.
        let claim = unsafe {
            let (descriptor, number) = named(node_peer(peer)?, header.name as usize);
            descriptor.claim(number)
        };
        let mut cells = *cells;
        match claim {
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
}

impl<D: Design> Shm<D> {
    /// Does what this rank can do for a send; true when it is done.
    ///
    /// # Safety
    /// As for [`Path::advance`].
    unsafe fn advance_send(&mut self, ticket: Ticket) -> bool {
        let Some(peer) = self.sends.get(ticket.0).map(|send| send.message.peer) else { return true };
        // The permission may be at the front.
        self.look(peer);
        let Some(send) = self.sends.get_mut(ticket.0) else { return true };
        let link = self.links.get_mut(peer.index()).and_then(Option::as_mut);
        if let (Some(link), Some(_), false) = (link, send.wanted, send.paused) {
            // SAFETY: the send's source is readable until this says done (`Path::begin`'s contract).
            unsafe { self.design.push(link, send) };
            if send.is_done() {
                link.transfers -= 1;
            }
        }
        let mut done = send.is_done();
        if let (true, Some(post)) = (D::ORDERS, send.post) {
            done = self.design.is_done(post);
            if let (true, Some(link)) = (done, self.links.get_mut(peer.index()).and_then(Option::as_mut)) {
                link.transfers -= 1;
            }
        }
        if done {
            // Whoever has permitted the send has taken it before, so that the descriptor is free.
            if let Some(descriptor) = self.sends.remove(ticket.0).descriptor {
                self.descriptors.release(descriptor);
            }
        }
        done
    }

    /// The outcome of a receive, when it is done.
    fn advance_receive(&mut self, number: usize) -> Option<Result<()>> {
        let Some(peer) = self.receives.get(number).map(|receive| receive.peer) else {
            return Some(Err(Fault::Internal));
        };
        self.look(peer);
        let receive = self.receives.get(number)?;
        let is_done = match receive.post {
            Some(post) if D::ORDERS => self.design.is_done(post),
            _ => receive.position >= receive.wanted,
        };
        if !is_done {
            return None;
        }
        let outcome = receive.outcome;
        self.receives.remove(number);
        if let Some(link) = self.links.get_mut(peer.index()).and_then(Option::as_mut) {
            link.transfers -= 1;
        }
        Some(outcome)
    }

    /// The length of a message that is held; 0 of one from this rank itself, whose length nobody asks for.
    fn held_bytes(&self, held: &Held) -> usize {
        match held {
            Held::Copy(content) => content.len(),
            Held::Kept(number) => match self.kept.get(*number) {
                Some(Kept::Packet(header, _)) => header.bytes,
                _ => 0,
            },
            Held::AtSender { .. } | Held::Cancelled => 0,
        }
    }

    /// Delivers a message that was held.
    ///
    /// # Safety
    /// As for [`Path::deliver_held`].
    unsafe fn take_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery> {
        let kept = match held {
            Held::Copy(content) => {
                let source = Region::block(content.as_ptr(), content.len());
                // SAFETY: `content` holds the message; `target` is writable for the lesser of both lengths
                // (this function's contract).
                return unsafe { copy_regions(&source, target) }.map(|_| Delivery::Done);
            }
            Held::Kept(number) => self.kept.try_remove(number).ok_or(Fault::Internal)?,
            Held::AtSender { .. } | Held::Cancelled => return Err(Fault::Internal),
        };
        // SAFETY: the packet's cells were kept and are emptied once, here; `target` is writable (this
        // function's contract).
        unsafe {
            match kept {
                Kept::Cancelled => Ok(Delivery::Cancelled),
                Kept::Own(own) => own.deliver(target, &mut self.sends).map(|()| Delivery::Done),
                Kept::Packet(header, cells) if header.kind == Kind::Request => {
                    self.accept(peer, &header, &cells, target)
                }
                Kept::Packet(header, cells) => {
                    let link = self.links.get_mut(peer.index()).and_then(Option::as_mut);
                    let link = link.ok_or(Fault::Internal)?;
                    self.design.copy_out(link, &header, &cells, 0, target).1.map(|()| Delivery::Done)
                }
            }
        }
    }

    /// Takes a message back that this rank has sent to itself; false if a probe has matched it.
    fn cancel_own(&mut self, send: usize) -> bool {
        if self.loopback.cancel(send) {
            return true;
        }
        let held = self.kept.iter_mut().map(|(_, kept)| kept);
        let mut held = held.filter(|kept| matches!(kept, Kept::Own(own) if own.may_cancel(send)));
        match held.next() {
            Some(kept) => *kept = Kept::Cancelled,
            None => return false,
        }
        true
    }
}

/// A rank of this node that has sent something.
fn node_peer(peer: WorldRank) -> Result<Peer> {
    peer_of(peer).ok_or(Fault::Internal)
}

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
        let (position, is_described, post) = match entered {
            None => return Started::Full,
            Some(Entered::Whole) => return Started::Done,
            Some(Entered::Asked(position)) => (position, false, None),
            // Nothing is left to be handed over.
            Some(Entered::Described) => (message.source.bytes(), true, None),
            Some(Entered::Ordered(post)) => (0, false, Some(post)),
        };
        let ticket = Ticket(place.key());
        place.insert(Sending { position, descriptor, is_described, post, ..sending });
        link.transfers += 1;
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
        let Sending { message, descriptor, post, .. } = self.sends[ticket.0];
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
                link.transfers -= 1;
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
}

/// Copies `bytes` bytes of a region, from `position` on, to an address.
///
/// # Safety
/// The region is readable, the address writable for as many bytes.
unsafe fn copy_in(source: &Region, position: usize, to: *mut u8, bytes: usize) -> Result<()> {
    // SAFETY: `source` is readable and `to` writable for `bytes` (this function's contract); shared memory
    // overlaps no user's buffer.
    unsafe { copy_part(source, position, &Region::block(to, bytes), 0, bytes) }
}

/// Copies `bytes` bytes from an address to a region, from `position` on, up to its end.
///
/// # Safety
/// The address is readable for as many bytes, the region writable.
unsafe fn copy_to(from: *const u8, target: &Region, position: usize, bytes: usize) -> Result<()> {
    let bytes = bytes.min(target.bytes().saturating_sub(position));
    if bytes == 0 {
        // Behind the end of a truncated message there is no position either.
        return Ok(());
    }
    // SAFETY: `from` is readable for `bytes` and `target` writable (this function's contract); shared memory
    // overlaps no user's buffer.
    unsafe { copy_part(&Region::block(from, bytes), 0, target, position, bytes) }
}

/// Writes and publishes a whole message as one packet; there must be room.
///
/// # Safety
/// There is room for header and message, whose bytes are readable.
unsafe fn write_eager(link: &mut Link, message: &Outgoing) {
    let bytes = message.source.bytes();
    let (kind, label) = (Kind::Eager, message.label);
    let header = Header { kind, label, bytes, cells: 0, own_id: 0, peer_id: 0, name: 0 };
    // SAFETY: the FIFO has room for header and message, whose bytes are readable (this function's contract).
    // This rank's own layout is sound, so copying in cannot fail.
    unsafe {
        header.write(&mut link.producer, &CellList::default());
        link.producer.write(HEADER, bytes, |to, offset, length| {
            let _ = copy_in(&message.source, offset, to, length);
        });
        link.producer.publish(header.packet_bytes(bytes));
    }
}

/// Copies the payload of the front packet, `bytes` bytes, to byte `position` of the target and on.
///
/// # Safety
/// The front packet has so many bytes behind its header; the target is writable.
unsafe fn read_payload(link: &Link, bytes: usize, position: usize, target: &Region) -> Result<()> {
    let mut outcome = Ok(());
    // SAFETY: the front packet has `bytes` behind its header, and `target` is writable (this function's
    // contract).
    unsafe {
        link.consumer.read(HEADER, bytes, |from, offset, length| {
            outcome = outcome.and(copy_to(from, target, position + offset, length));
        });
    }
    outcome
}
