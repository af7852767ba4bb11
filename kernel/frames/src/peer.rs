//! What a link knows of a peer node.

use bytemuck::Zeroable;

use crate::held::{HeldFrames, HeldIndex};
use crate::messages::MessageIndex;
use crate::peer_index::PeerIndex;
use crate::window::{WINDOW, Window};

/// A peer node: made when its first frame comes or goes.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Peer {
    pub(crate) node: u16,
    /// 1 while it is on the list of peers with something to do.
    pub(crate) busy: u16,
    pub(crate) next_busy: PeerIndex,
    /// Frames with data for which an acknowledgement is owed.
    pub(crate) owes: u8,
    /// 1: a mark has come that the peer does not know of.
    pub(crate) marked: u8,
    /// 1: the peer's present epoch is known, so the streams have begun.
    pub(crate) known: u8,
    /// 1: the acknowledgement goes at once, even alone.
    pub(crate) urgent: u8,
    /// Messages of the next frame expected that have been handed up, if it has several.
    pub(crate) taken: u16,
    /// Number of the next frame expected.
    pub(crate) expected: u32,
    /// This node's and the peer's epoch in this pair of streams.
    pub(crate) ours: u64,
    pub(crate) theirs: u64,
    /// Since when nothing has got through although something is to, and when to ask again who is there, in microseconds.
    pub(crate) silent_since: u64,
    pub(crate) ask_at: u64,
    /// Since when an acknowledgement has been owed, if one is.
    pub(crate) owes_since: u64,
    /// When a frame of its came last.
    pub(crate) heard_at: u64,
    /// When it was asked last whether it is there, while somebody waited.
    pub(crate) asked_at: u64,
    /// Messages not yet sent as a whole, the first and the last, and those sent but not acknowledged.
    pub(crate) first: MessageIndex,
    pub(crate) last: MessageIndex,
    /// Pieces of the first that have been sent.
    pub(crate) pieces: u32,
    pub(crate) unanswered: u16,
    /// 1: its short messages are held back until an acknowledgement comes.
    pub(crate) holds: u8,
    /// Questions since a frame of its came.
    pub(crate) asked: u8,
    /// 1: it has begun another life than the first that was known.
    pub(crate) restarted: u8,
    pub(crate) held: [HeldIndex; WINDOW as usize],
    pub(crate) window: Window,
}

impl Peer {
    /// The kept frame whose turn it is, if it is there: it waits for room above.
    pub(crate) fn held_next(&self) -> Option<HeldIndex> {
        let place = self.held[(self.expected % WINDOW) as usize];
        (place != 0).then_some(place)
    }

    /// Whether frames are kept that came before those they follow.
    pub(crate) fn keeps_any(&self) -> bool {
        self.held != [0; WINDOW as usize]
    }

    /// Gives up the frames kept for their turn.
    pub(crate) fn drop_held(&mut self, frames: &mut HeldFrames) {
        for place in self.held.iter_mut().filter(|place| **place != 0) {
            frames.release(core::mem::take(place));
        }
    }
}

/// Most bytes that a peer may take, with what the messages' owner keeps for each.
pub const PEER_BYTES_MAX: usize = 1024;
/// Of those: for the messages' owner.
pub const OWNER_BYTES_MAX: usize = PEER_BYTES_MAX - size_of::<Peer>();
const _: () = assert!(size_of::<Peer>() <= 768);
