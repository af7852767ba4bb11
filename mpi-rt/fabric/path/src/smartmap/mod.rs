//! The `smartmap` path: envelopes in rings in the receiver's memory, content copied once.
//!
//! * A message of up to [`EAGER_LIMIT`] bytes travels in the ring's cells, behind its envelope: up to 40 bytes in the cell of the
//!   envelope itself, so that a small message is one cache line. Its send completes at once.
//! * A longer one, or a synchronous one, stays where it is; the envelope says where ([`rendezvous`]). The receiver copies it
//!   once, straight from the sender's buffer; for long ones a sender that is waiting copies as well.
//!
//! This is the SMARTMAP paper's matching transport (section IV.B) with what it lacked: short sends that do not wait for the
//! receiver, and both cores at work on long ones.

mod eager;
mod envelope;
mod link;
mod rendezvous;
mod short;

pub use link::CELLS;
pub use short::SHORT;

use super::descriptors::{Descriptors, named};
use super::{
    Arrival, Delivery, Held, Label, Limits, Memory, Outgoing, Path, Started, Ticket, UnderWay, WorldRank,
    leak, seen_from_here,
};
use crate::region::{Region, copy_regions};
use crate::{Fault, Result};
use alloc::vec::Vec;
use eager::cells_for;
use envelope::AT_SENDER;
use link::{Entrance, Link};
use lwk_copy::threshold::{EAGER_LIMIT, HELP_FROM};
use lwk_place::{Peer, is_far, peer_of};
use lwk_ring::{Cell, Consumer, Credit, Producer, Published};
use lwk_user::smartmap::Symmetric;
use lwk_user::{job, syscall, wait};

/// Where a rank's rings, credit words and entrances are, in its own addresses.
struct Addresses(Published<3>);

// SAFETY: atomics only; the numbers are slot-0 addresses that readers translate.
unsafe impl lwk_user::smartmap::Shared for Addresses {}

static ADDRESSES: Symmetric<Addresses> = Symmetric::new(Addresses(Published::new()));

/// The transport's state in this rank.
pub struct Smartmap {
    links: Vec<Link>,
    descriptors: Descriptors,
}

impl Smartmap {
    /// Sets up the rings between all ranks of the node. Every rank must call it once; it waits for the others. Errors: [`Fault::NoMemory`].
    pub fn start_up() -> Result<Smartmap> {
        let count = Peer::count() as usize;
        let rings: &'static [Cell] = leak(count * CELLS, Cell::new)?;
        let credits: &'static [Credit] = leak(count, Credit::new)?;
        let entrances: &'static [Entrance] = leak(count, Entrance::new)?;
        if syscall::accept_fences().is_err() {
            // No sender could find out which message is just being read.
            entrances.iter().for_each(|entrance| entrance.pace.ask());
        }
        let addresses = [
            rings.as_ptr().expose_provenance(),
            credits.as_ptr().expose_provenance(),
            entrances.as_ptr().expose_provenance(),
        ];
        ADDRESSES.here().0.tell(addresses.map(|address| address as u64));
        let me = Peer::me().node_rank().0 as usize;
        let links = (0..job().size()).map(WorldRank).map(|rank| {
            let (sends, receives) = (false, false);
            let Some(peer) = peer_of(rank).filter(|_| !is_far(rank)) else {
                // Nobody comes here: the table has another path. This rank's own ring to itself stands for a ring.
                let own = &rings[me * CELLS..][..CELLS];
                // SAFETY: neither end is ever used.
                let ends = unsafe { (Producer::new(own, &credits[me])?, Consumer::new(own, &credits[me])?) };
                let (producer, consumer, into) = (ends.0, ends.1, &entrances[me]);
                let (peer, out, is_claimed) = (Peer::me(), into, true);
                return Some(Link { producer, consumer, peer, sends, receives, is_claimed, out, into });
            };
            let number = peer.node_rank().index();
            let published = &ADDRESSES.at(peer).get().0;
            wait::spin_until(|| published.is_told());
            let [rings_there, credits_there, entrances_there] = published.words().map(|word| word as usize);
            let theirs = rings_there + me * CELLS * size_of::<Cell>();
            let credit = credits_there + me * size_of::<Credit>();
            let out = entrances_there + me * size_of::<Entrance>();
            // SAFETY: the peer has published an array with one ring, one credit word and an entrance for every rank; it leaks all, and
            // its memory stays mapped as long as the job runs. Each ring's only producer is the rank it is for.
            unsafe {
                let cells = seen_from_here::<Cell>(peer, theirs);
                let cells = core::slice::from_raw_parts(cells, CELLS);
                let credit = &*seen_from_here::<Credit>(peer, credit);
                let out = &*seen_from_here::<Entrance>(peer, out);
                Some(Link {
                    producer: Producer::new(cells, &credits[number])?,
                    consumer: Consumer::new(&rings[number * CELLS..][..CELLS], credit)?,
                    peer,
                    sends,
                    receives,
                    is_claimed: out.pace.is_asked(),
                    out,
                    into: &entrances[number],
                })
            }
        });
        let links: Option<Vec<Link>> = links.collect();
        Ok(Smartmap { links: links.ok_or(Fault::Internal)?, descriptors: Descriptors::new() })
    }

    #[inline(always)]
    fn link(&mut self, peer: WorldRank) -> &mut Link {
        // Peers are checked where they enter the engine; a wrong one here is the engine's own mistake.
        &mut self.links[peer.index()]
    }

    /// Whether all messages to the peer go here.
    #[inline(always)]
    pub(crate) fn sends_to(&self, peer: WorldRank) -> bool {
        self.links[peer.index()].sends
    }

    /// Whether its next message comes here, and whatever comes after it.
    #[inline(always)]
    pub(crate) fn receives_from(&self, peer: WorldRank) -> bool {
        self.links[peer.index()].receives
    }

    /// Says what goes here and comes here, for the two above.
    pub(crate) fn carry(&mut self, peer: WorldRank, sends: bool, receives: bool) {
        let link = self.link(peer);
        (link.sends, link.receives) = (sends, receives);
    }

    /// Has the peer claim each message of ours from now on; what it has read without, is done afterwards. False if that cannot be.
    #[cold]
    fn have_claimed(&mut self, peer: WorldRank) -> bool {
        let link = self.link(peer);
        if !link.is_claimed {
            let pace = &link.out.pace;
            pace.ask();
            if syscall::fence_ranks().is_err() {
                return false;
            }
            let reading = pace.reading();
            wait::spin_until(|| pace.is_over(reading));
            link.is_claimed = true;
        }
        true
    }
}

impl Path for Smartmap {
    #[inline(always)]
    unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        let link = self.link(peer);
        let bytes = message.source.bytes();
        if bytes <= EAGER_LIMIT && !message.synchronous {
            let cells = cells_for(bytes);
            if !link.producer.has_room(cells) {
                return Started::Full;
            }
            // SAFETY: `has_room(cells)` above said yes, and the message's bytes are readable (this function's
            // contract).
            unsafe { link.write_eager(message, cells) };
            return Started::Done;
        }
        if !link.producer.has_room(1) {
            return Started::Full;
        }
        let position = link.producer.position();
        let gate = link.out.gate(position);
        let synchronous = message.synchronous;
        let ticket =
            self.descriptors.take(UnderWay { peer, source: message.source, synchronous }, Some(gate));
        if bytes >= HELP_FROM {
            self.descriptors.entry(ticket).descriptor.renew();
        }
        let descriptor = self.descriptors.name(ticket);
        let link = &mut self.links[peer.index()];
        // SAFETY: `has_room(1)` above said yes; all the receiver reads of the cell is written.
        unsafe {
            link.producer.write(0, |data| {
                let data = data.cast::<u64>();
                data.write(message.label.0);
                data.add(1).write(bytes as u64 | AT_SENDER);
                data.add(2).write(descriptor as u64);
                data.add(3).cast::<[u64; 4]>().write(message.source.words());
            });
            link.producer.publish(1);
        }
        Started::Underway(ticket)
    }

    #[inline]
    unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the ticket is in use (this function's contract), so the message's bytes are still readable
        // (`Path::begin`'s contract).
        unsafe { rendezvous::advance(&mut self.descriptors, ticket) }.then_some(Ok(()))
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        self.descriptors.entry(ticket).message
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        self.have_claimed(self.descriptors.entry(ticket).message.peer)
            && !self.descriptors.is_done(ticket)
            && self.descriptors.cancel(ticket)
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        self.descriptors.may_relocate(ticket)
            && copy().is_some_and(|copy| self.descriptors.relocate(ticket, copy))
    }

    #[inline(always)]
    fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        let link = self.link(peer);
        if !link.consumer.has_message() {
            return None;
        }
        // SAFETY: there is a message, and its first cell begins with the envelope.
        let (label, length) = unsafe {
            link.consumer.read(0, |data| (data.cast::<u64>().read(), data.cast::<u64>().add(1).read()))
        };
        let bytes = (length & !AT_SENDER) as usize;
        Some(Arrival { label: Label(label), bytes, eager: length & AT_SENDER == 0 })
    }

    #[inline(always)]
    unsafe fn deliver(&mut self, peer: WorldRank, arrival: &Arrival, target: &Region) -> Result<Delivery> {
        let link = self.link(peer);
        // SAFETY: `arrival` is the link's front message, and `target` is writable for it (this function's
        // contract). The sender keeps content and descriptor until told.
        unsafe {
            if arrival.eager {
                link.read_eager(arrival.bytes, target)?;
            } else {
                let (source, descriptor) = link.source(arrival.bytes);
                let gate = link.take_envelope(descriptor);
                let pace = &link.into.pace;
                let bytes = arrival.bytes.min(target.bytes());
                let is_there = match (source.contiguous(), target.contiguous()) {
                    (Some(from), Some(to)) if bytes < HELP_FROM => {
                        rendezvous::receive_block(link.peer, from, descriptor, to, bytes, gate, pace)
                    }
                    _ => rendezvous::receive(link.peer, &source, descriptor, target, Some(gate))?,
                };
                if !is_there {
                    return Ok(Delivery::Cancelled);
                }
            }
        }
        Ok(Delivery::Done)
    }

    unsafe fn hold(&mut self, peer: WorldRank, arrival: &Arrival) -> Option<Held> {
        let link = self.link(peer);
        // SAFETY: `arrival` is the link's front message (this function's contract); `content` has room for
        // all its bytes, which `read_eager` initialises.
        unsafe {
            if !arrival.eager {
                let (source, descriptor) = link.source(arrival.bytes);
                let gate = link.gate();
                link.consumer.advance(1);
                let source = rendezvous::hold(link.peer, source, descriptor, gate);
                return Some(source.map_or(Held::Cancelled, |source| Held::AtSender { source, descriptor }));
            }
            let mut content = Vec::new();
            content.try_reserve_exact(arrival.bytes).ok()?;
            link.read_eager(arrival.bytes, &Region::block(content.as_mut_ptr(), arrival.bytes)).ok()?;
            content.set_len(arrival.bytes);
            Some(Held::Copy(content.into_boxed_slice()))
        }
    }

    unsafe fn deliver_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery> {
        match held {
            Held::Copy(content) => {
                let source = Region::block(content.as_ptr(), content.len());
                // SAFETY: `content` holds the message; `target` is writable for the lesser of both lengths
                // (this function's contract); they are distinct.
                unsafe { copy_regions(&source, target)? };
            }
            Held::AtSender { source, descriptor } => {
                let peer = self.link(peer).peer;
                // SAFETY: the sender keeps content and descriptor until told that the message is copied;
                // `target` is writable (this function's contract).
                if !unsafe { rendezvous::receive(peer, &source, descriptor, target, None)? } {
                    return Ok(Delivery::Cancelled);
                }
            }
            Held::Cancelled => return Ok(Delivery::Cancelled),
            Held::Kept(_) => return Err(Fault::Internal),
        }
        Ok(Delivery::Done)
    }

    unsafe fn is_there(&mut self, peer: WorldRank, held: &Held, reserve: bool) -> bool {
        let Held::AtSender { descriptor, .. } = held else { return !matches!(held, Held::Cancelled) };
        // SAFETY: a message of the peer named the descriptor; the peer never frees descriptors.
        let (descriptor, number) = unsafe { named(self.link(peer).peer, *descriptor) };
        if reserve { descriptor.reserve(number) } else { !descriptor.is_cancelled(number) }
    }

    fn limits(&self) -> Limits {
        Limits { eager: EAGER_LIMIT }
    }

    fn memory(&self) -> Memory {
        Memory {
            fixed: size_of::<Smartmap>() + size_of::<Addresses>(),
            per_peer: CELLS * size_of::<Cell>()
                + size_of::<Entrance>()
                + size_of::<Credit>()
                + size_of::<Link>(),
            dynamic: self.descriptors.bytes(),
        }
    }
}
