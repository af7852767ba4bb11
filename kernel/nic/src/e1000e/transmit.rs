//! The queue of frames that go out, each in one or two pieces: its head out of the driver's memory, its body from where it lies.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};

use virtio_drivers::{BufferDirection, Hal};

use super::descriptors::{Descriptors, Outgoing, PLACES, QUEUE_BYTES, after};
use super::registers;
use crate::{HEAD_BYTES_MAX, Registers, Unusable, memory};

/// Frames on their way out, at most: each takes two places, and a full queue would look like an empty one.
pub const FRAMES: usize = PLACES / 2 - 1;
const HEAD_BYTES: usize = HEAD_BYTES_MAX.next_multiple_of(64);

/// A frame on its way out.
#[derive(Clone, Copy, Debug)]
struct Sent {
    head: u16,
    /// Place of its last piece.
    last: u16,
    /// The card's address of the body, for when it is done.
    body: Option<(u64, NonNull<[u8]>)>,
}

pub struct TransmitQueue<H: Hal> {
    registers: Registers,
    descriptors: Descriptors,
    /// The card's address of the descriptors, and of the heads, which lie one after the other.
    address: u64,
    heads_address: u64,
    heads: NonNull<u8>,
    free_heads: [u16; FRAMES],
    free_count: usize,
    /// The next place of the queue.
    tail: usize,
    /// Frames on their way out, a ring of its own: the oldest, and where the next one goes.
    sent: [Option<Sent>; FRAMES],
    oldest: usize,
    newest: usize,
    /// Frames that have gone.
    gone: u64,
    platform: PhantomData<H>,
}

impl<H: Hal> TransmitQueue<H> {
    /// An empty queue, which the card does not know of yet.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(registers: Registers) -> Result<Self, Unusable> {
        let (address, start) = memory::<H>(QUEUE_BYTES, BufferDirection::Both)?;
        let (heads_address, heads) = memory::<H>(FRAMES * HEAD_BYTES, BufferDirection::DriverToDevice)?;
        Ok(TransmitQueue {
            registers,
            // SAFETY: fresh pages of so many bytes, this queue's for ever.
            descriptors: unsafe { Descriptors::new(start) },
            address,
            heads_address,
            heads,
            free_heads: core::array::from_fn(|head| head as u16),
            free_count: FRAMES,
            tail: 0,
            sent: [None; FRAMES],
            oldest: 0,
            newest: 0,
            gone: 0,
            platform: PhantomData,
        })
    }

    /// Tells a card that has been reset of the queue. What was on its way is lost.
    pub fn begin(&mut self) {
        while let Some(sent) = self.sent[self.oldest] {
            self.take_back(sent);
        }
        self.tail = 0;
        registers::TRANSMIT.begin(&self.registers, self.address, QUEUE_BYTES, 0);
    }

    /// How many frames had gone before the oldest that is on its way; none if none is.
    pub fn oldest(&mut self) -> Option<u64> {
        self.reclaim();
        self.sent[self.oldest].map(|_| self.gone)
    }

    /// Sends a frame, as [`crate::Nic::send`]. False: there is no room.
    ///
    /// # Safety
    /// As [`crate::Nic::send`].
    pub unsafe fn send(&mut self, head: &[u8], middle: &[u8], body: Option<NonNull<[u8]>>) -> bool {
        self.reclaim();
        if self.free_count == 0 {
            return false;
        }
        self.free_count -= 1;
        let number = self.free_heads[self.free_count];
        let bytes = head.len() + middle.len();
        let at = usize::from(number) * HEAD_BYTES;
        assert!(bytes <= HEAD_BYTES, "a head that is longer than any");
        // SAFETY: there are so many heads, of so many bytes; the card has no part in this one, and nobody else.
        let whole = unsafe { core::slice::from_raw_parts_mut(self.heads.add(at).as_ptr(), bytes) };
        whole[..head.len()].copy_from_slice(head);
        whole[head.len()..].copy_from_slice(middle);
        let body = body.filter(|body| !body.is_empty());
        let mut last = self.give(self.heads_address + at as u64, bytes, body.is_none());
        let body = body.map(|body| {
            // SAFETY: memory that the card can be told of (this function's contract).
            let address = unsafe { H::share(body, BufferDirection::DriverToDevice) };
            last = self.give(address, body.len(), true);
            (address, body)
        });
        self.sent[self.newest] = Some(Sent { head: number, last, body });
        self.newest = (self.newest + 1) % FRAMES;
        // Release: the card sees head and descriptors before the tail that tells of them.
        fence(Ordering::Release);
        self.registers.word(registers::TRANSMIT.tail()).write(self.tail as u32);
        true
    }

    /// Fills the next place. There is one: no more than [`FRAMES`] frames are on their way.
    fn give(&mut self, address: u64, bytes: usize, last: bool) -> u16 {
        let place = self.tail;
        self.descriptors.fill(place, address, Outgoing::piece(bytes, last).bits());
        self.tail = after(place);
        place as u16
    }

    /// Takes back what has been sent.
    fn reclaim(&mut self) {
        while let Some(sent) = self.sent[self.oldest] {
            let about = Outgoing::from_bits_retain(self.descriptors.about(sent.last.into()));
            if !about.contains(Outgoing::DONE) {
                return;
            }
            self.take_back(sent);
        }
    }

    fn take_back(&mut self, sent: Sent) {
        self.sent[self.oldest] = None;
        self.oldest = (self.oldest + 1) % FRAMES;
        self.gone += 1;
        self.free_heads[self.free_count] = sent.head;
        self.free_count += 1;
        if let Some((address, body)) = sent.body {
            // SAFETY: what `send` has shared; the card is done with it, or has been reset.
            unsafe { H::unshare(address, body, BufferDirection::DriverToDevice) };
        }
    }
}
