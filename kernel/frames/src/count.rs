//! What a link counts.

use bytemuck::Zeroable;

/// Why a frame was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Dropped {
    /// Shorter than a head.
    Short,
    /// Another protocol's ethertype.
    Foreign,
    /// Another version of this protocol, or bits that have no meaning.
    Form,
    /// Longer or shorter than it says, or longer than any frame.
    Length,
    /// Damaged on the way.
    Checksum,
    /// Of another job.
    Job,
    /// For another node.
    Destination,
    /// From a node that the job does not have, or from this one.
    Source,
    /// From or for another life of a node.
    Epoch,
    /// Acknowledges what has not been sent.
    Acknowledgement,
    /// Has been here before.
    Duplicate,
    /// Further ahead than the window.
    Window,
    /// Came too early, and there is no room to keep it.
    NoRoom,
    /// The first of a node more than there is room for.
    Peers,
}

/// Reasons there are.
pub const REASONS: usize = Dropped::Peers as usize + 1;

/// What a link has done since it was made.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
#[repr(C)]
pub struct Counters {
    /// Frames handed to the card, retransmissions included.
    pub sent: u64,
    /// Frames of the card's that were taken.
    pub received: u64,
    /// Frames sent again because they were taken for lost.
    pub retransmitted: u64,
    /// Of those: because nothing was heard for too long.
    pub timeouts: u64,
    /// Frames sent that carried nothing but an acknowledgement.
    pub answers: u64,
    /// Frames that came with a mark of a full queue.
    pub marked: u64,
    /// Frames that came too early and were kept.
    pub held: u64,
    /// Messages that went with others in one frame.
    pub bundled: u64,
    /// Messages that failed.
    pub failed: u64,
    /// Restarts of peers, and breaks of their streams.
    pub restarts: u64,
    dropped: [u64; REASONS],
}

impl Counters {
    /// Frames dropped for this reason.
    pub fn dropped(&self, why: Dropped) -> u64 {
        self.dropped[why as usize]
    }

    /// Frames dropped, whatever for.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(crate) fn drop_for(&mut self, why: Dropped) {
        self.dropped[why as usize] += 1;
    }
}
