//! A split queue (virtio 1.2, section 2.7): descriptors, the chains that the driver offers, and those that the card has used. By event indices (section 2.7.10) each
//! side names the entry of the other's at which it wants to be told next.
//!
//! The driver names the next entry whenever it has found none: an idle card interrupts at once, and one whose frames are being worked through does not. Until it is
//! named again, an entry interrupts once, however many follow.

use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};

use bitflags::bitflags;
use virtio_drivers::transport::Transport;
use virtio_drivers::{BufferDirection, Hal};
use volatile::VolatilePtr;

use crate::{Unusable, memory};

/// Places of a queue: what QEMU's card has. Several peers' windows of frames are received, and about a hundred frames are on their way out.
pub const PLACES: usize = 256;

bitflags! {
    /// Of a descriptor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Piece: u16 {
        /// Another one follows.
        const NEXT = 1 << 0;
        /// The card writes to it.
        const INCOMING = 1 << 1;
    }
}

/// First half word of what a side offers: it wants to be told of nothing. Without event indices only.
const SILENT: u16 = 1;

/// Offsets in the queue's memory: descriptors, what the driver offers, what the card has used.
const OFFERED: usize = 16 * PLACES;
const INTERRUPT_AT: usize = OFFERED + 4 + 2 * PLACES;
const USED: usize = (INTERRUPT_AT + 2).next_multiple_of(64);
const RING_AT: usize = USED + 4 + 8 * PLACES;
const BYTES: usize = RING_AT + 2;
/// Of the index, and of the first entry.
const INDEX: usize = 2;
const ENTRIES: usize = 4;

/// A chain that the card has used.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// The place of its first descriptor, as the card says.
    pub place: usize,
    /// Bytes that it has written.
    pub bytes: usize,
}

/// The driver's side of a queue. Indices run on over all 16 bits.
pub struct SplitQueue {
    start: NonNull<u8>,
    /// The card's address of it.
    address: u64,
    events: bool,
    offered: u16,
    /// What had been offered when it was asked last whether the card is to be told.
    told: u16,
    taken: u16,
    interrupts: bool,
    /// The entry at which the card is to interrupt.
    asked: u16,
}

impl SplitQueue {
    /// A queue's memory, which no card knows of yet.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new<H: Hal>() -> Result<Self, Unusable> {
        let (address, start) = memory::<H>(BYTES, BufferDirection::Both)?;
        let (events, interrupts) = (false, false);
        Ok(SplitQueue { start, address, events, offered: 0, told: 0, taken: 0, interrupts, asked: 0 })
    }

    /// Tells a card that has been reset of the queue, empty.
    ///
    /// # Errors
    /// The card's queue has not so many places.
    pub fn begin(
        &mut self,
        transport: &mut impl Transport,
        number: u16,
        events: bool,
    ) -> Result<(), Unusable> {
        if transport.queue_used(number) || transport.max_queue_size(number) < PLACES as u32 {
            return Err(Unusable::Lacks("queues of 256 places"));
        }
        // SAFETY: so many bytes of this queue's, which the card does not use since its reset.
        unsafe { self.start.write_bytes(0, BYTES) };
        (self.offered, self.told, self.taken, self.events) = (0, 0, 0, events);
        let at = |offset: usize| self.address + offset as u64;
        transport.queue_set(number, PLACES as u32, at(0), at(OFFERED), at(USED));
        Ok(())
    }

    fn at<T>(&self, offset: usize) -> VolatilePtr<'_, T> {
        debug_assert!(offset + size_of::<T>() <= BYTES && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: within the queue's memory, which stays for ever, and aligned: offsets are this file's constants and places below `PLACES`.
        unsafe { VolatilePtr::new(self.start.add(offset).cast()) }
    }

    /// Fills the descriptor of a place: the card's address of some bytes. A piece that is not its chain's last is followed by the next place's.
    pub fn describe(&self, place: usize, address: u64, bytes: usize, piece: Piece) {
        assert!(place < PLACES, "a place of the queue");
        self.at(16 * place).write(address);
        self.at(16 * place + 8).write(bytes as u32);
        self.at(16 * place + 12).write(piece.bits());
        self.at(16 * place + 14).write(place as u16 + 1);
    }

    /// Offers the card the chain that begins at a place.
    pub fn offer(&mut self, place: usize) {
        let entry = usize::from(self.offered) % PLACES;
        self.at(OFFERED + ENTRIES + 2 * entry).write(place as u16);
        // Release: the card sees the entry, and the descriptors, before the index that tells of them.
        fence(Ordering::Release);
        self.offered = self.offered.wrapping_add(1);
        self.at(OFFERED + INDEX).write(self.offered);
    }

    /// Whether the card is to be told of what has been offered since this was asked last.
    pub fn must_tell(&mut self) -> bool {
        // SeqCst: the card sees what is offered, or the driver sees that it wants to be told.
        fence(Ordering::SeqCst);
        let before = core::mem::replace(&mut self.told, self.offered);
        match self.events {
            true => is_passed(self.at(RING_AT).read(), before, self.offered),
            false => self.at::<u16>(USED).read() & SILENT == 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.at::<u16>(USED + INDEX).read() == self.taken
    }

    /// The next chain that the card has used.
    pub fn take(&mut self) -> Option<Used> {
        if self.is_empty() {
            if !self.events || !self.interrupts || self.asked == self.taken {
                return None;
            }
            self.ask();
            if self.is_empty() {
                return None;
            }
        }
        // Acquire: the entry and the bytes are read after the index that tells of them.
        fence(Ordering::Acquire);
        let entry = USED + ENTRIES + 8 * (usize::from(self.taken) % PLACES);
        self.taken = self.taken.wrapping_add(1);
        let (place, bytes) = (self.at::<u32>(entry).read(), self.at::<u32>(entry + 4).read());
        Some(Used { place: place as usize, bytes: bytes as usize })
    }

    /// Has the card interrupt when it uses the next chain, or not.
    pub fn interrupt(&mut self, on: bool) {
        self.interrupts = on;
        self.ask();
    }

    fn ask(&mut self) {
        if self.events {
            // Behind all that the card can use before it is asked again, but for 65,535 chains: then it interrupts once.
            self.asked = if self.interrupts { self.taken } else { self.taken.wrapping_sub(1) };
            self.at(INTERRUPT_AT).write(self.asked);
        } else {
            self.at(OFFERED).write(if self.interrupts { 0 } else { SILENT });
        }
        // SeqCst: the card sees what it is asked, or the driver sees what the card has used meanwhile.
        fence(Ordering::SeqCst);
    }
}

/// Whether the entry that is waited for is among those from one index to another (section 2.7.10).
pub fn is_passed(awaited: u16, before: u16, after: u16) -> bool {
    after.wrapping_sub(awaited).wrapping_sub(1) < after.wrapping_sub(before)
}
