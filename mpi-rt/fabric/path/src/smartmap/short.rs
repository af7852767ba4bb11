//! The short ways of one block: a message that fits one cell, and one that is at its sender and copied without help. Whatever is unusual they leave to
//! [`Path`](crate::Path)'s functions.

use super::eager::INLINE;
use super::envelope::AT_SENDER;
use super::{Smartmap, rendezvous};
use crate::{Label, WorldRank};
use core::ops::RangeInclusive;
use lwk_copy::few;

/// The most bytes of a message that [`Smartmap::send_short`] is asked to send: one cell's.
pub const SHORT: usize = INLINE;

impl Smartmap {
    /// Sends a message of at most [`SHORT`] bytes that lie in one block, if that can be done at once and completely, as far as is known without a
    /// look at the peer; false if nothing has happened, and then [`crate::Path::begin`] does it. A way around everything that only longer messages need.
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
    /// fits `room` bytes at `target`; how many it has. `None` if nothing has happened, and then [`crate::Path::deliver`] does it, or if the sender
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
            let (source, descriptor) = link.source(bytes);
            let source = source.contiguous()?;
            let gate = link.take_envelope(descriptor);
            let pace = &link.into.pace;
            rendezvous::receive_block(link.peer, source, descriptor, target, bytes, gate, pace)
                .then_some(bytes)
        }
    }
}
