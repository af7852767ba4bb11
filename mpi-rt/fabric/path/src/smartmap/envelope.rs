//! Envelopes of messages that stay at their sender: where the content is, and which descriptor tells when it is received.

use super::link::Link;
use super::rendezvous;
use crate::region::Region;
use lwk_rendezvous::Passage;

/// Set in the envelope's length word: the content is at the sender.
pub const AT_SENDER: u64 = 1 << 63;

impl Link {
    /// Takes the front message, whose descriptor is known, out of the ring, and asks for the line in which its completion will be told. What is
    /// returned is its gate, which the caller passes.
    ///
    /// # Safety
    /// The front message of the link is there and in one cell.
    #[inline(always)]
    pub unsafe fn take_envelope(&mut self, descriptor: usize) -> Passage<'static> {
        let gate = self.gate();
        // SAFETY: the front message is there, in one cell (this function's contract). The next is read only
        // after `has_message`; every message's cell holds these words.
        unsafe {
            self.consumer.advance(1);
            rendezvous::prefetch(self.peer, descriptor);
            // The next message's as well: its copy may be too short to hide the transfer. (Its cell is left to the sender
            // unless the sender is ahead.)
            if self.consumer.is_behind() && self.consumer.has_message() {
                let [length, next] = self.consumer.read(0, |data| [(*data)[1], (*data)[2]]);
                if length & AT_SENDER != 0 {
                    rendezvous::prefetch(self.peer, next as usize);
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
    pub unsafe fn source(&self, bytes: usize) -> (Region, usize) {
        // SAFETY: the front message is there and not eager (this function's contract), so its cell holds
        // these words.
        unsafe {
            self.consumer.read(0, |data| {
                let data = data.cast::<u64>();
                let words = [3, 4, 5, 6].map(|index| data.add(index).read());
                (Region::of_peer(self.peer, words, bytes), data.add(2).read() as usize)
            })
        }
    }
}
