//! How the receiver takes the messages of one peer: with an exchange each at their gates, so that each of them can be cancelled, or, until the
//! sender asks for that, without.
//!
//! An exchange costs a short message a tenth of its time, and cancelling is rare. So the receiver begins without: it says which message it reads, looks
//! whether the sender has asked, and reads the content where it is ([`crate::Passage::moved`]). The sender that is to cancel for the first
//! time asks, has the system make a fence on every core, and waits until the message is done that is being read just then, if there is one. From then on
//! every message is the receiver's only by the exchange. Relocating needs nothing of this: whoever has read too late reads again.

use crate::gate::Passage;
use crate::primitive::{AtomicU64, Ordering, light_fence};
use lwk_primitive::made;

/// In the receiver's memory, one for each peer.
pub struct Pace {
    /// Written by the receiver: the number of the message that it reads without an exchange, or 0.
    reading: AtomicU64,
    /// Whether messages are to be claimed.
    is_careful: AtomicU64,
}

/// What the receiver was reading when the sender looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading(u64);

impl Pace {
    made! {
        /// Of a peer that has sent nothing yet.
        pub fn new() -> Pace {
            Pace { reading: AtomicU64::new(0), is_careful: AtomicU64::new(0) }
        }
    }

    /// Receiver: begins to read a message without claiming it, until [`Pace::leave`]; false if it is to be claimed.
    #[inline(always)]
    pub fn enter(&self, gate: Passage) -> bool {
        // Relaxed, both: the fence orders them, with the system's on the other side.
        self.reading.store(gate.number(), Ordering::Relaxed);
        light_fence();
        if self.is_careful.load(Ordering::Relaxed) == 0 {
            return true;
        }
        self.leave();
        false
    }

    /// Receiver: the message has been read, and the sender told.
    #[inline(always)]
    pub fn leave(&self) {
        // Release: pairs with the acquire in `reading`: what this rank has told of the message is there.
        self.reading.store(0, Ordering::Release);
    }

    /// Sender, or the receiver before its first message: all messages are to be claimed from now on. For a sender that holds when a fence has been made on
    /// every core after this, and the message that [`Pace::reading`] says then is over.
    pub fn ask(&self) {
        // Relaxed: ordered by the fence on every core; of the receiver's own, by being its own.
        self.is_careful.store(1, Ordering::Relaxed);
    }

    /// Sender, when it meets the receiver: whether the receiver claims all messages.
    pub fn is_asked(&self) -> bool {
        // Relaxed: ordered by whatever tells where this is.
        self.is_careful.load(Ordering::Relaxed) != 0
    }

    /// Sender, after the fence: what the receiver reads without having claimed it.
    pub fn reading(&self) -> Reading {
        // Acquire: pairs with the release in `leave`.
        Reading(self.reading.load(Ordering::Acquire))
    }

    /// Sender: whether that has been read.
    pub fn is_over(&self, reading: Reading) -> bool {
        reading == Reading(0) || self.reading() != reading
    }
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::new()
    }
}
