//! The queue of frames that come in: each place has a buffer that holds the longest frame of the card.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};

use virtio_drivers::{BufferDirection, Hal};

use super::descriptors::{Descriptors, Incoming, PLACES, QUEUE_BYTES, after};
use super::registers;
use crate::{Counts, Received, Registers, Unusable, memory};

/// Buffers that the card has at most: a full queue would look like an empty one.
const BUFFERS: usize = PLACES - 1;
/// Buffers go back to the card so many at a time while frames come in.
const REFILL: u32 = 32;

pub struct ReceiveQueue<H: Hal> {
    registers: Registers,
    descriptors: Descriptors,
    /// The card's address of the descriptors, and of the buffers, which lie one after the other.
    address: u64,
    buffers_address: u64,
    buffers: NonNull<u8>,
    buffer_bytes: usize,
    /// Buffers by their place.
    placed: [u16; PLACES],
    /// The next place that a frame comes to, and the next that gets a buffer.
    next: usize,
    tail: usize,
    /// Buffers that the card has not been told of.
    refilled: u32,
    /// In the middle of a frame that is longer than a buffer.
    too_long: bool,
    platform: PhantomData<H>,
}

impl<H: Hal> ReceiveQueue<H> {
    /// A queue with its buffers, which the card does not know of yet.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(registers: Registers, buffer_bytes: usize) -> Result<Self, Unusable> {
        let (address, start) = memory::<H>(QUEUE_BYTES, BufferDirection::Both)?;
        let (buffers_address, buffers) =
            memory::<H>(BUFFERS * buffer_bytes, BufferDirection::DeviceToDriver)?;
        let mut queue = ReceiveQueue {
            registers,
            // SAFETY: fresh pages of so many bytes, this queue's for ever.
            descriptors: unsafe { Descriptors::new(start) },
            address,
            buffers_address,
            buffers,
            buffer_bytes,
            placed: [0; PLACES],
            next: 0,
            tail: 0,
            refilled: 0,
            too_long: false,
            platform: PhantomData,
        };
        (0..BUFFERS as u16).for_each(|buffer| queue.offer(buffer));
        Ok(queue)
    }

    /// Tells a card that has been reset of the queue. Frames that had come and were not looked at are lost.
    pub fn begin(&mut self) {
        let mut at = self.next;
        while at != self.tail {
            self.descriptors.fill(at, self.buffer_address(self.placed[at]), 0);
            at = after(at);
        }
        self.too_long = false;
        registers::RECEIVE.begin(&self.registers, self.address, QUEUE_BYTES, self.next);
    }

    fn buffer_address(&self, buffer: u16) -> u64 {
        self.buffers_address + u64::from(buffer) * self.buffer_bytes as u64
    }

    fn offer(&mut self, buffer: u16) {
        self.descriptors.fill(self.tail, self.buffer_address(buffer), 0);
        self.placed[self.tail] = buffer;
        self.tail = after(self.tail);
        self.refilled += 1;
    }

    /// Gives a buffer to the card, which is told of some at once.
    pub fn put_back(&mut self, buffer: u16) {
        self.offer(buffer);
        if self.refilled >= REFILL {
            self.tell();
        }
    }

    /// Tells the card of its buffers.
    pub fn tell(&mut self) {
        self.refilled = 0;
        // Release: the card sees the descriptors before the tail that tells of them.
        fence(Ordering::Release);
        self.registers.word(registers::RECEIVE.tail()).write(self.tail as u32);
    }

    /// The next frame that has come whole.
    pub fn take(&mut self, counts: &mut Counts) -> Option<Received> {
        loop {
            let place = self.next;
            let about = Incoming::from_bits_retain(self.descriptors.about(place));
            if place == self.tail || !about.contains(Incoming::DONE) {
                if self.refilled > 0 {
                    self.tell();
                }
                return None;
            }
            // Acquire: the frame's bytes are read after the word that tells of them.
            fence(Ordering::Acquire);
            self.next = after(place);
            let buffer = self.placed[place];
            let ends = about.contains(Incoming::END_OF_FRAME);
            let begins = !core::mem::replace(&mut self.too_long, !ends);
            if !ends || !begins || about.intersects(Incoming::DAMAGED) {
                // A long frame counts once, with its last piece.
                counts.dropped += u64::from(ends);
                self.put_back(buffer);
                continue;
            }
            counts.received += 1;
            // SAFETY: there are so many buffers.
            let start = unsafe { self.buffers.add(usize::from(buffer) * self.buffer_bytes) };
            return Some(Received { buffer, start, bytes: about.length().min(self.buffer_bytes) });
        }
    }
}
