//! The programs' memory, as far as Portals touches it.

use bytemuck::Zeroable;
use lwk_frames::NodeId;

use crate::Status;

/// Memory of a rank that the home has checked: the only form in which addresses of programs come to be used.
///
/// A rank's memory is given once and never changes, so one check holds for good.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Span {
    start: u64,
    bytes: u64,
    rank: u32,
    padding: u32,
}

impl Span {
    /// `bytes` bytes at `address` of a rank of this node, readable, or writable as well.
    ///
    /// # Errors
    /// [`Status::ARG_INVALID`] if the rank has no such memory.
    pub fn check(
        memory: &impl Memory,
        rank: u32,
        address: u64,
        bytes: u64,
        writable: bool,
    ) -> Result<Span, Status> {
        let fits = bytes == 0 || memory.check(rank, address, bytes, writable);
        if fits { Ok(Span { start: address, bytes, rank, padding: 0 }) } else { Err(Status::ARG_INVALID) }
    }

    /// A part of what has been checked before.
    pub(crate) fn checked(start: u64, bytes: u64, rank: u32) -> Span {
        Span { start, bytes, rank, padding: 0 }
    }

    /// Bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// First address, as the program calls it.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// `bytes` bytes from `offset` on, if there are so many.
    pub fn part(&self, offset: u64, bytes: u64) -> Option<Span> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        fits.then_some(Span { start: self.start.wrapping_add(offset), bytes, ..*self })
    }

    /// Rank on its node.
    pub fn rank(&self) -> u32 {
        self.rank
    }
}

/// Memory of the node's ranks. A span that is given has been checked, and is not empty.
pub trait Memory {
    /// Whether rank `rank` of this node has `bytes` bytes, at least 1, at `address` of its own that can be read, or read and written.
    fn check(&self, rank: u32, address: u64, bytes: u64, writable: bool) -> bool;

    /// Reads the span; `into` is as long.
    fn read(&self, from: &Span, into: &mut [u8]);

    /// Writes the span, which is writable; `from` is as long. An aligned span of 1, 2, 4 or 8 bytes is written by one store.
    fn write(&mut self, to: &Span, from: &[u8]);

    /// Copies between spans of the same length, which may overlap.
    fn copy(&mut self, to: &Span, from: &Span);

    /// Replaces `old`, if it is there, by `new` in the aligned span of four or eight bytes, whose word is zero-extended; what was there. Ranks
    /// change such words by instructions of their own at the same time: a home with several processors does this by one instruction, too.
    fn compare_exchange(&mut self, at: &Span, old: u64, new: u64) -> u64 {
        let mut word = [0; 8];
        let bytes = word.len().min(at.bytes() as usize);
        self.read(at, &mut word[..bytes]);
        let seen = u64::from_ne_bytes(word);
        if seen == old {
            self.write(at, &new.to_ne_bytes()[..bytes]);
        }
        seen
    }

    /// What is in the aligned span of eight bytes, before anything is read or written later ([`lwk_words::Told::look`]).
    fn look(&self, at: &Span) -> u64 {
        let mut word = [0; 8];
        self.read(at, &mut word);
        u64::from_ne_bytes(word)
    }

    /// Stores a word in the aligned span of eight bytes, after everything written before ([`lwk_words::Told::tell`]).
    fn publish(&mut self, to: &Span, word: u64);

    /// Continues a CRC-32C over the span.
    fn checksum(&self, seed: u32, from: &Span) -> u32;

    /// The same over bytes of the kernel's own.
    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        lwk_frames::checksum::append(seed, bytes)
    }
}

/// What a home counts by itself, below Portals.
#[derive(Clone, Copy, Debug, Default)]
pub struct HomeCounts {
    /// Bytes that processors have written or copied into programs' memory: payload, and what Portals tells of it.
    pub written: u64,
    /// Bytes that processors have copied in order to send them.
    pub copied_to_send: u64,
    pub frames_sent: u64,
    pub frames_received: u64,
    /// Interrupts of the card, and of the timer that looks after it.
    pub interrupts: u64,
    pub timer: u64,
    /// Times that the card was reset since it sent no more.
    pub resets: u64,
}

/// A network card.
pub trait Nic {
    /// Whether it is likely to take a frame with so many bytes of payload.
    fn has_room(&self, _: NodeId, _: usize) -> bool {
        true
    }

    /// Sends a frame: `head`, `middle`, then the spans, at most [`crate::region::IOVECS_MAX`]. False: there is no room now.
    fn send(&mut self, to: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool;

    /// What the home has counted.
    fn counts(&self) -> HomeCounts;
}
