//! What this rank has of each peer: the ring to it, the ring from it, and where both agree whose a message is.

use lwk_place::Peer;
use lwk_rendezvous::{Gate, Pace, Passage};
use lwk_ring::{Consumer, Producer};

/// Cells of a ring: 4 KiB from each peer. Measured: 64 to 256 make no difference to rate or latency.
pub const CELLS: usize = 64;

/// Where the messages of one peer come in; in the receiver's memory.
#[repr(align(64))]
pub struct Entrance {
    /// One for each cell of the ring.
    pub gates: [Gate; CELLS],
    pub pace: Pace,
}

impl Entrance {
    pub const fn new() -> Entrance {
        Entrance { gates: [const { Gate::new() }; CELLS], pace: Pace::new() }
    }

    /// The gate of the message whose envelope is at a position of the ring.
    #[inline(always)]
    pub fn gate(&self, position: u64) -> Passage<'_> {
        Passage::new(&self.gates[position as usize % CELLS], position)
    }
}

/// Two lines, so that its address is a shift.
#[repr(align(128))]
pub struct Link {
    pub producer: Producer<'static>,
    pub consumer: Consumer<'static>,
    pub peer: Peer,
    /// Whether all messages to the peer go here, so that the short ways may be used.
    pub sends: bool,
    /// Whether its next message comes here, and whatever comes after it.
    pub receives: bool,
    /// Whether the peer claims each message of ours.
    pub is_claimed: bool,
    /// Of messages to the peer, in its memory.
    pub out: &'static Entrance,
    /// Of messages from the peer.
    pub into: &'static Entrance,
}

const _: () = assert!(size_of::<Link>() == 128 && CELLS.is_power_of_two());

impl Link {
    /// The gate of the next message from the peer.
    #[inline(always)]
    pub fn gate(&self) -> Passage<'static> {
        self.into.gate(self.consumer.position())
    }
}
