//! A FIFO of packets of bytes from one rank to another (dissertation, sections 3.1.1 and 3.2.4).
//!
//! A packet is written into free bytes, then published by adding its length, rounded up to blocks, to *total-in*; the consumer
//! reads it and adds as much to *total-out*. Both count for ever. Each side keeps what it knows of the other's counter, and looks
//! again only when that is used up.

use crate::block::{self, BLOCK, Block, blocks_for};
use crate::primitive::{AtomicU64, Ordering};

/// A counter of bytes that one side writes and the other reads: *total-in* or *total-out*. Where it lies is the caller's choice.
#[repr(transparent)]
pub struct Total(AtomicU64);

impl Total {
    /// 0 bytes: of a new FIFO.
    pub fn new() -> Total {
        Total(AtomicU64::new(0))
    }
}

impl Default for Total {
    fn default() -> Total {
        Total::new()
    }
}

/// The end that writes.
pub struct Producer<'a> {
    blocks: &'a [Block],
    total_in: &'a Total,
    total_out: &'a Total,
    written: u64,
    /// Bytes that have been read, as far as this end knows.
    read: u64,
}

/// The end that reads.
pub struct Consumer<'a> {
    blocks: &'a [Block],
    total_in: &'a Total,
    total_out: &'a Total,
    read: u64,
    /// Bytes that have been written, as far as this end knows.
    written: u64,
}

/// Bytes that a packet takes.
#[inline(always)]
const fn rounded(bytes: usize) -> u64 {
    (blocks_for(bytes) * BLOCK) as u64
}

impl<'a> Producer<'a> {
    /// The writing end of a new FIFO; `None` if it has no blocks.
    ///
    /// # Safety
    /// The FIFO must be new, and this its only producer.
    pub unsafe fn new(
        blocks: &'a [Block],
        total_in: &'a Total,
        total_out: &'a Total,
    ) -> Option<Producer<'a>> {
        (!blocks.is_empty()).then_some(Producer { blocks, total_in, total_out, written: 0, read: 0 })
    }

    /// Bytes that fit in at all.
    pub fn capacity(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Whether a packet of that many bytes fits in now. One longer than the FIFO never does.
    #[inline(always)]
    pub fn has_room(&mut self, bytes: usize) -> bool {
        rounded(bytes) <= self.known_room() || rounded(bytes) <= self.look_for_room()
    }

    /// Whether the consumer has read and freed everything.
    pub fn is_empty(&mut self) -> bool {
        self.read == self.written || self.room() == self.capacity()
    }

    /// Free bytes.
    pub fn room(&mut self) -> usize {
        self.look_for_room() as usize
    }

    #[inline(always)]
    fn known_room(&self) -> u64 {
        self.capacity() as u64 - (self.written - self.read)
    }

    fn look_for_room(&mut self) -> u64 {
        // Acquire: pairs with the release store in `Consumer::advance`; the consumer has read what was there.
        self.read = self.total_out.0.load(Ordering::Acquire);
        self.known_room()
    }

    /// Lets `piece` write the `bytes` bytes of the packet from byte `position` on, in at most two pieces: address, distance from
    /// `position`, length.
    ///
    /// # Safety
    /// [`Producer::has_room`] has said yes to `position + bytes` since the last [`Producer::publish`], and `piece` writes nothing but what
    /// it is given.
    #[inline(always)]
    pub unsafe fn write(&mut self, position: usize, bytes: usize, piece: impl FnMut(*mut u8, usize, usize)) {
        let start = (self.written as usize + position) % self.capacity();
        block::write(self.blocks, start, bytes, piece);
    }

    /// Hands the packet over.
    ///
    /// # Safety
    /// [`Producer::has_room`] has said yes to `bytes`, and all that the consumer will read of them has been written.
    #[inline(always)]
    pub unsafe fn publish(&mut self, bytes: usize) {
        self.written += rounded(bytes);
        // Release: pairs with the acquire load in `Consumer::look`; carries the packet's bytes.
        self.total_in.0.store(self.written, Ordering::Release);
    }
}

impl<'a> Consumer<'a> {
    /// The reading end of a new FIFO; `None` if it has no blocks.
    ///
    /// # Safety
    /// The FIFO must be new, and this its only consumer.
    pub unsafe fn new(
        blocks: &'a [Block],
        total_in: &'a Total,
        total_out: &'a Total,
    ) -> Option<Consumer<'a>> {
        (!blocks.is_empty()).then_some(Consumer { blocks, total_in, total_out, read: 0, written: 0 })
    }

    /// Whether there is a packet.
    #[inline(always)]
    pub fn has_packet(&mut self) -> bool {
        self.read != self.written || self.look()
    }

    #[inline(always)]
    fn look(&mut self) -> bool {
        // Acquire: pairs with the release store in `Producer::publish`.
        self.written = self.total_in.0.load(Ordering::Acquire);
        self.read != self.written
    }

    /// Bytes that have been published and not been freed: of packets, each a number of blocks.
    pub fn waiting(&mut self) -> usize {
        self.look();
        (self.written - self.read) as usize
    }

    /// Shows the `bytes` bytes from byte `position` of the packet on to `piece`, in at most two pieces: address, distance from `position`,
    /// length.
    ///
    /// # Safety
    /// [`Consumer::has_packet`] has said yes since the last [`Consumer::advance`], and the packet has `position + bytes` bytes; or
    /// [`Consumer::waiting`] has said as many or more since then.
    #[inline(always)]
    pub unsafe fn read(&self, position: usize, bytes: usize, piece: impl FnMut(*const u8, usize, usize)) {
        let start = (self.read as usize + position) % (self.blocks.len() * BLOCK);
        block::read(self.blocks, start, bytes, piece);
    }

    /// Frees the packet's bytes.
    ///
    /// # Safety
    /// [`Consumer::has_packet`] has said yes since the last call, and `bytes` is the length the producer published.
    #[inline(always)]
    pub unsafe fn advance(&mut self, bytes: usize) {
        self.read += rounded(bytes);
        // Release: pairs with the acquire load in `Producer::look_for_room`; all reads of the packet are done.
        self.total_out.0.store(self.read, Ordering::Release);
    }
}
