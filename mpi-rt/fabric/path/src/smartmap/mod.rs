//! The `smartmap` path: envelopes in rings in the receiver's memory, content copied once.
//!
//! * A message of up to [`EAGER_LIMIT`] bytes travels in the ring's cells, behind its envelope: up to 40 bytes in the cell of the
//!   envelope itself, so that a small message is one cache line. Its send completes at once.
//! * A longer one, or a synchronous one, stays where it is; the envelope says where ([`rendezvous`]). The receiver copies it
//!   once, straight from the sender's buffer; for long ones a sender that is waiting copies as well.
//!
//! This is the SMARTMAP paper's matching transport (section IV.B) with what it lacked: short sends that do not wait for the
//! receiver, and both cores at work on long ones.

mod rendezvous;

use super::descriptors::{Descriptors, named};
use super::{
    Arrival, Delivery, Held, Label, Limits, Memory, Outgoing, Path, Started, Ticket, UnderWay, WorldRank,
    leak, seen_from_here,
};
use crate::region::{Region, copy_regions};
use crate::{Fault, Result};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;
use lwk_copy::few;
use lwk_copy::threshold::{EAGER_LIMIT, HELP_FROM};
use lwk_place::{Peer, is_far, peer_of};
use lwk_rendezvous::{Gate, Pace, Passage};
use lwk_ring::{Cell, Consumer, Credit, DATA_BYTES, Producer, Published};
use lwk_user::smartmap::Symmetric;
use lwk_user::{job, syscall, wait};

/// Cells of a ring: 4 KiB from each peer. Measured: 64 to 256 make no difference to rate or latency.
pub const CELLS: usize = 64;

/// Bytes of content in the cell of the envelope: what two words of envelope leave.
const INLINE: usize = DATA_BYTES - 16;

/// Set in the envelope's length word: the content is at the sender.
const AT_SENDER: u64 = 1 << 63;

/// Where the messages of one peer come in; in the receiver's memory.
#[repr(align(64))]
struct Entrance {
    /// One for each cell of the ring.
    gates: [Gate; CELLS],
    pace: Pace,
}

impl Entrance {
    const fn new() -> Entrance {
        Entrance { gates: [const { Gate::new() }; CELLS], pace: Pace::new() }
    }

    /// The gate of the message whose envelope is at a position of the ring.
    #[inline(always)]
    fn gate(&self, position: u64) -> Passage<'_> {
        Passage::new(&self.gates[position as usize % CELLS], position)
    }
}

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

/// Two lines, so that its address is a shift.
#[repr(align(128))]
struct Link {
    producer: Producer<'static>,
    consumer: Consumer<'static>,
    peer: Peer,
    /// Whether all messages to the peer go here, so that the short ways may be used.
    sends: bool,
    /// Whether its next message comes here, and whatever comes after it.
    receives: bool,
    /// Whether the peer claims each message of ours.
    is_claimed: bool,
    /// Of messages to the peer, in its memory.
    out: &'static Entrance,
    /// Of messages from the peer.
    into: &'static Entrance,
}

const _: () = assert!(size_of::<Link>() == 128 && CELLS.is_power_of_two());

impl Link {
    /// The gate of the next message from the peer.
    #[inline(always)]
    fn gate(&self) -> Passage<'static> {
        self.into.gate(self.consumer.position())
    }
}

/// Cells that an eager message of that many bytes takes.
#[inline(always)]
fn cells_for(bytes: usize) -> u64 {
    if bytes <= INLINE { 1 } else { 1 + (bytes - INLINE).div_ceil(DATA_BYTES) as u64 }
}

/// The most bytes of a message that [`Smartmap::send_short`] is asked to send: one cell's.
pub const SHORT: usize = INLINE;

// The longest eager message fits half a ring, so that two can follow each other.
const _: () = assert!((EAGER_LIMIT - INLINE).div_ceil(DATA_BYTES) < CELLS / 2);

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

    /// Writes envelope and content into cells; there must be room for `cells`.
    ///
    /// # Safety
    /// `has_room(cells)` has just said yes; the message's bytes are readable; `cells` is `cells_for(bytes)`.
    #[inline(always)]
    unsafe fn write_eager(link: &mut Link, message: &Outgoing, cells: u64) {
        // SAFETY: room for `cells`, and a readable message whose `cells_for` they are (this function's contract).
        unsafe {
            match message.source.contiguous() {
                Some(address) => Smartmap::write_block(link, message, address, cells),
                None => Smartmap::write_layout(link, message, cells),
            }
        }
    }

    /// The same of a message whose bytes are at `content`.
    ///
    /// # Safety
    /// As for [`Smartmap::write_eager`], and `content` is readable for the message's bytes.
    #[inline(always)]
    unsafe fn write_block(link: &mut Link, message: &Outgoing, content: *const u8, cells: u64) {
        let bytes = message.source.bytes();
        // SAFETY: `bytes` are readable at `content`, and `has_room(cells)` said yes (this function's
        // contract); each cell takes at most its own size.
        unsafe {
            let first = bytes.min(INLINE);
            let mut done = first;
            for index in 1..cells {
                let part = (bytes - done).min(DATA_BYTES);
                link.producer.write(index, |data| few(content.add(done), data.cast(), part));
                done += part;
            }
            // Last: the receiver polls this line, and would take it away in between.
            link.producer.write(0, |data| {
                let data = data.cast::<u64>();
                data.write(message.label.0);
                data.add(1).write(bytes as u64);
                few(content, data.add(2).cast(), first);
            });
            link.producer.publish(cells);
        }
    }

    /// The same of a layout, which is packed first: walking it cell by cell would begin anew for each.
    ///
    /// # Safety
    /// As for [`Smartmap::write_eager`].
    #[inline(never)]
    unsafe fn write_layout(link: &mut Link, message: &Outgoing, cells: u64) {
        let mut packed = MaybeUninit::<[u8; EAGER_LIMIT]>::uninit();
        let packed = packed.as_mut_ptr().cast::<u8>();
        // SAFETY: the message is readable and eager, so `packed` has room for its bytes (this function's contract). The layout is this rank's own and whole, so the copy
        // cannot fail.
        unsafe {
            let copied = copy_regions(&message.source, &Region::block(packed, EAGER_LIMIT));
            debug_assert!(copied.is_ok());
            Smartmap::write_block(link, message, packed, cells);
        }
    }

    /// Copies eager content out of the cells and frees them.
    ///
    /// # Safety
    /// The front message of the link is eager and `bytes` long; `region` is writable for these or its own
    /// bytes, whichever are fewer, and its datatype lives.
    #[inline(always)]
    unsafe fn read_eager(link: &mut Link, bytes: usize, region: &Region) -> Result<()> {
        match region.contiguous() {
            Some(target) => {
                // SAFETY: the front message is eager and `bytes` long, and `target` is writable for it (this function's contract).
                unsafe { Smartmap::read_block(link, bytes, target, bytes.min(region.bytes())) };
                Ok(())
            }
            // SAFETY: the front message is eager and `bytes` long, and `region` is writable for it (this function's contract).
            None => unsafe { Smartmap::read_layout(link, bytes, region) },
        }
    }

    /// The same of `wanted` bytes into a block.
    ///
    /// # Safety
    /// The front message of the link is eager and `bytes` long, no less than `wanted`, for which `target` is writable.
    #[inline(always)]
    unsafe fn read_block(link: &mut Link, bytes: usize, target: *mut u8, wanted: usize) {
        let cells = cells_for(bytes);
        // SAFETY: the front message is eager and has `cells` cells, and `target` is writable for `wanted`
        // (this function's contract); each cell gives at most its own size.
        unsafe {
            let first = wanted.min(INLINE);
            link.consumer.read(0, |data| few(data.cast::<u64>().add(2).cast(), target, first));
            let mut done = first;
            let mut index = 1;
            while done < wanted {
                let part = (wanted - done).min(DATA_BYTES);
                link.consumer.read(index, |data| few(data.cast(), target.add(done), part));
                done += part;
                index += 1;
            }
            link.consumer.advance(cells);
        }
    }

    /// The same into the blocks of a layout, by way of a block, as [`Smartmap::write_layout`].
    ///
    /// # Safety
    /// As for [`Smartmap::read_eager`].
    #[inline(never)]
    unsafe fn read_layout(link: &mut Link, bytes: usize, region: &Region) -> Result<()> {
        let mut packed = MaybeUninit::<[u8; EAGER_LIMIT]>::uninit();
        let packed = packed.as_mut_ptr().cast::<u8>();
        let wanted = bytes.min(region.bytes()).min(EAGER_LIMIT);
        // SAFETY: the front message is eager and `bytes` long, no less than `wanted`, for which `packed` has room; `region` is writable for it (this function's
        // contract).
        unsafe {
            Smartmap::read_block(link, bytes, packed, wanted);
            copy_regions(&Region::block(packed, wanted), region)?;
        }
        Ok(())
    }

    /// Takes the front message, whose descriptor is known, out of the ring, and asks for the line in which its completion will be told. What is
    /// returned is its gate, which the caller passes.
    ///
    /// # Safety
    /// The front message of the link is there and in one cell.
    #[inline(always)]
    unsafe fn take_envelope(link: &mut Link, descriptor: usize) -> Passage<'static> {
        let gate = link.gate();
        // SAFETY: the front message is there, in one cell (this function's contract). The next is read only
        // after `has_message`; every message's cell holds these words.
        unsafe {
            link.consumer.advance(1);
            rendezvous::prefetch(link.peer, descriptor);
            // The next message's as well: its copy may be too short to hide the transfer. (Its cell is left to the sender
            // unless the sender is ahead.)
            if link.consumer.is_behind() && link.consumer.has_message() {
                let [length, next] = link.consumer.read(0, |data| [(*data)[1], (*data)[2]]);
                if length & AT_SENDER != 0 {
                    rendezvous::prefetch(link.peer, next as usize);
                }
            }
        }
        gate
    }

    /// Where the content of the front message is, which is not eager, and its descriptor.
    ///
    /// # Safety
    /// The front message of the link is there and not eager, and `bytes` long.
    #[inline(always)]
    unsafe fn source(link: &Link, bytes: usize) -> (Region, usize) {
        // SAFETY: the front message is there and not eager (this function's contract), so its cell holds
        // these words.
        unsafe {
            link.consumer.read(0, |data| {
                let data = data.cast::<u64>();
                let words = [3, 4, 5, 6].map(|index| data.add(index).read());
                (Region::of_peer(link.peer, words, bytes), data.add(2).read() as usize)
            })
        }
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

    /// Sends a message of at most [`SHORT`] bytes that lie in one block, if that can be done at once and completely, as far as is known without a
    /// look at the peer; false if nothing has happened, and then [`Path::begin`] does it. A way around everything that only longer messages need.
    ///
    /// # Safety
    /// `bytes` bytes must be readable at `address`; they are at most [`SHORT`].
    #[inline(always)]
    pub(crate) unsafe fn send_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        address: *const u8,
        bytes: usize,
    ) -> bool {
        let link = self.link(peer);
        if !link.sends {
            return false;
        }
        let producer = &mut link.producer;
        let Some(room) = producer.room_for_one() else { return false };
        let data = room.data().cast::<u64>();
        // SAFETY: `bytes` are readable at `address` and at most `SHORT` (this function's contract), so they
        // fit the free cell `room` behind the envelope; all that the receiver reads is written.
        unsafe {
            data.write(label.0);
            data.add(1).write(bytes as u64);
            few(address, data.add(2).cast(), bytes);
            producer.publish_one(room);
        }
        true
    }

    /// Receives the next message of a peer if it has this label, came by [`Smartmap::send_short`] and fits `room` bytes at
    /// `target`; how many it has. `None` if nothing has happened.
    ///
    /// # Safety
    /// `target` must be writable for `room` bytes.
    #[inline(always)]
    pub(crate) unsafe fn receive_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
    ) -> Option<usize> {
        let link = self.link(peer);
        if !link.receives {
            return None;
        }
        let consumer = &mut link.consumer;
        let data = consumer.next_message()?.cast::<u64>();
        // SAFETY: `next_message` gave the front cell, which begins with the envelope; `bytes` lie behind it,
        // and `target` is writable for `room` (this function's contract), no less than `bytes` (checked).
        unsafe {
            let bytes = data.add(1).read() as usize;
            // A message that is at the sender counts as longer than any buffer.
            if data.read() != label.0 || bytes > INLINE.min(room) {
                return None;
            }
            few(data.add(2).cast(), target, bytes);
            consumer.advance(1);
            Some(bytes)
        }
    }

    /// Receives the next message of a peer if it has this label, is one block that is still at the sender, of as many bytes as `sizes` says, and
    /// fits `room` bytes at `target`; how many it has. `None` if nothing has happened, and then [`Path::deliver`] does it, or if the sender
    /// had cancelled the message, which is gone.
    ///
    /// # Safety
    /// `target` must be writable for `room` bytes.
    #[inline(always)]
    pub(crate) unsafe fn receive_block(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
        sizes: RangeInclusive<usize>,
    ) -> Option<usize> {
        let link = self.link(peer);
        if !link.receives {
            return None;
        }
        let data = link.consumer.next_message()?.cast::<u64>();
        // SAFETY: `next_message` gave the front cell, which begins with the envelope; the sender keeps block
        // and descriptor until told. `target` is writable for `room` (this function's contract), no less than
        // `bytes` (checked).
        unsafe {
            let length = data.add(1).read();
            let bytes = (length & !AT_SENDER) as usize;
            if data.read() != label.0 || length == bytes as u64 || bytes > room || !sizes.contains(&bytes) {
                return None;
            }
            let (source, descriptor) = Smartmap::source(link, bytes);
            let source = source.contiguous()?;
            let gate = Smartmap::take_envelope(link, descriptor);
            let pace = &link.into.pace;
            rendezvous::receive_block(link.peer, source, descriptor, target, bytes, gate, pace)
                .then_some(bytes)
        }
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
            unsafe { Smartmap::write_eager(link, message, cells) };
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
                Smartmap::read_eager(link, arrival.bytes, target)?;
            } else {
                let (source, descriptor) = Smartmap::source(link, arrival.bytes);
                let gate = Smartmap::take_envelope(link, descriptor);
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
                let (source, descriptor) = Smartmap::source(link, arrival.bytes);
                let gate = link.gate();
                link.consumer.advance(1);
                let source = rendezvous::hold(link.peer, source, descriptor, gate);
                return Some(source.map_or(Held::Cancelled, |source| Held::AtSender { source, descriptor }));
            }
            let mut content = Vec::new();
            content.try_reserve_exact(arrival.bytes).ok()?;
            Smartmap::read_eager(link, arrival.bytes, &Region::block(content.as_mut_ptr(), arrival.bytes))
                .ok()?;
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
