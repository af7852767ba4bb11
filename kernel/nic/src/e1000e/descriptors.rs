//! Descriptors of 16 bytes in memory that driver and card share: the legacy ones, which every card of the family has (82574 datasheet, sections 7.1.4
//! and 7.2.10).

use core::ptr::NonNull;

use bitflags::bitflags;
use volatile::VolatilePtr;

/// Descriptors of a queue. Their bytes are a multiple of 128, as the cards want.
pub const PLACES: usize = 256;
/// Bytes of a queue's descriptors.
pub const QUEUE_BYTES: usize = PLACES * 16;
const LENGTH: u64 = 0xffff;

bitflags! {
    /// The second word of a descriptor of a frame that comes in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Incoming: u64 {
        const DONE = 1 << 32;
        const END_OF_FRAME = 1 << 33;
        /// Damaged on the way: checksum, symbol, sequence, carrier extension or data error.
        const DAMAGED = 0x97 << 40;
        const _ = !0;
    }
}

impl Incoming {
    /// Bytes in the buffer.
    pub fn length(self) -> usize {
        (self.bits() & LENGTH) as usize
    }
}

bitflags! {
    /// The second word of a descriptor of a piece that goes out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Outgoing: u64 {
        const END_OF_FRAME = 1 << 24;
        const INSERT_CHECKSUM = 1 << 25;
        /// The card writes back when it is done.
        const REPORT = 1 << 27;
        const DONE = 1 << 32;
        const _ = !0;
    }
}

impl Outgoing {
    /// A piece of so many bytes, the last one of its frame or not.
    pub fn piece(bytes: usize, last: bool) -> Outgoing {
        let length = Outgoing::from_bits_retain(bytes as u64 & LENGTH);
        let end = Outgoing::END_OF_FRAME | Outgoing::REPORT;
        length | Outgoing::INSERT_CHECKSUM | if last { end } else { Outgoing::empty() }
    }
}

/// A queue's descriptors.
#[derive(Clone, Copy, Debug)]
pub struct Descriptors {
    start: NonNull<u64>,
}

impl Descriptors {
    /// # Safety
    /// `start` is memory of [`QUEUE_BYTES`] bytes, aligned to 16, which stays for ever and which only this driver and its card use.
    pub unsafe fn new(start: NonNull<u8>) -> Descriptors {
        Descriptors { start: start.cast() }
    }

    fn word(&self, place: usize, word: usize) -> VolatilePtr<'_, u64> {
        assert!(place < PLACES, "a descriptor of the queue");
        // SAFETY: two words a descriptor, within the queue's (`Descriptors::new`).
        unsafe { VolatilePtr::new(self.start.add(2 * place + word)) }
    }

    /// Fills a descriptor: the card's address of a buffer, and what it is to know of it. Seen by the card when the tail's register tells of it.
    pub fn fill(&self, place: usize, address: u64, about: u64) {
        self.word(place, 0).write(address);
        self.word(place, 1).write(about);
    }

    /// What the card has written back.
    pub fn about(&self, place: usize) -> u64 {
        self.word(place, 1).read()
    }
}

/// The place behind another.
pub fn after(place: usize) -> usize {
    (place + 1) % PLACES
}
