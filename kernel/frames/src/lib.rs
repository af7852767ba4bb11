//! The reliable link between nodes: messages in, frames out, and the same messages at the other node, each once and in order.
//!
//! A card loses, repeats, reorders and damages frames ([`frame`]). A [`Link`] makes that good for every peer node: a sliding window with
//! selective acknowledgement, retransmission by measured round-trip time, suppression of duplicates, and CRC-32C from end to end. Frames of
//! another job, of another node, or of an earlier life of a node are dropped and counted ([`Dropped`]).
//!
//! A message is cut into frames as they go, straight out of the sender's memory, and handed up frame by frame in order, to be put straight into
//! the target's ([`Upper`]): the link keeps no copy but of frames that came too early. What is known of a peer ([`peer::Peer`]) is made when its
//! first frame comes or goes, and takes a fixed number of bytes; a peer at rest costs no time.
//!
//! A message that may go goes at once. Short ones behind two others that are under way wait for those, and go together, several in a frame ([`bundle`]).
//!
//! An acknowledgement goes with the next data for the peer. It goes alone if none come within [`ANSWER_US`], or at once if the frame asks for it: every quarter
//! of a window does, the last frame of a message whose end is waited for, one that others wait behind, and one that goes again. What tells of a loss or of a mark goes at
//! once, too.
//!
//! Restart of a node: each life of a node has an epoch, later ones a greater one, and every frame names those of both ends. A
//! frame that names an earlier life of its target is answered with the present one. So both learn of a restart; what was under way is
//! reported as failed ([`Upper::failed`]), and the streams begin anew. An old frame that is replayed names an old pair of epochs.
//!
//! A peer that is only waited for is asked now and then whether it is there, as long as somebody waits ([`Link::watch`]).
//!
//! Time is microseconds of any steady clock, given by the caller.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod bundle;
pub mod checksum;
mod count;
pub mod frame;
mod held;
mod link;
mod messages;
mod patience;
pub mod pause;
pub mod peer;
pub mod peer_index;
mod window;

pub use count::{Counters, Dropped};
pub use frame::{FRAME_BYTES_MAX, HEAD_BYTES, JUMBO_BYTES, NodeId};
pub use link::{ANSWER_US, ASK_US, Identity, Link, Lost, NODES_MAX, PEERS_MAX, QUESTIONS, Refused};
pub use messages::MESSAGES_MAX;
pub use patience::Patience;

/// What a link works for and with: the messages' owner, and the card.
pub trait Upper<T> {
    /// Continues a CRC-32C over `bytes` bytes of a message from `offset` on ([`checksum::append`] or the same by other means).
    fn checksum(&self, seed: u32, message: &T, offset: u64, bytes: usize) -> u32;

    /// The same over bytes of a frame that has come.
    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        checksum::append(seed, bytes)
    }

    /// Whether somebody waits for the end of a message: its last frame asks for an acknowledgement at once.
    fn is_waited_for(&self, message: &T) -> bool;

    /// Whether all of a message is the owner's own: no program's memory, so that it can be copied and sent with others in one frame.
    fn is_own(&self, _: &T) -> bool {
        false
    }

    /// Copies a message that is; `into` is as long.
    fn read_own(&self, _: &T, _: &mut [u8]) {
        unreachable!("no message is the owner's own");
    }

    /// As [`Upper::transmit`], of a frame whose payload is not of one message.
    fn transmit_bytes(&mut self, _: NodeId, _: &[u8; HEAD_BYTES], _: &[u8]) -> bool {
        unreachable!("no message is the owner's own");
    }

    /// Whether the card is likely to take a frame with so many bytes of payload: asked before its checksum is computed. False: it is tried again later.
    fn has_room(&self, _: NodeId, _: usize) -> bool {
        true
    }

    /// Hands a frame to the card: `head`, then `bytes` of the message from `offset` on if there is a message. False: the card has no
    /// room now, and the frame is tried again later.
    fn transmit(&mut self, to: NodeId, head: &[u8; HEAD_BYTES], piece: Option<(&T, u64, usize)>) -> bool;

    /// The next piece of the message that `from` sends, in order; a message's first piece comes with `first`, its last with `last`. False:
    /// there is no room now, and the piece comes again.
    fn deliver(&mut self, from: Sender, payload: &[u8], first: bool, last: bool) -> bool;

    /// As [`Upper::deliver`], of the next piece of a message that has been put where it belongs before it was looked at ([`Link::receive_placed`]).
    fn deliver_placed(&mut self, _: Sender, _: usize, _: bool) -> bool {
        unreachable!("no piece is placed before it is looked at");
    }

    /// Continues a CRC-32C over the bytes of such a piece, where they are now.
    fn checksum_placed(&self, _: u32, _: Sender, _: usize) -> u32 {
        unreachable!("no piece is placed before it is looked at");
    }

    /// The peer has all of a message: its memory is free.
    fn completed(&mut self, to: NodeId, message: &T);

    /// The peer may or may not have got the message: it is gone, or does not answer.
    fn failed(&mut self, to: NodeId, message: &T);

    /// The stream from a peer has ended: a message that it was in the middle of will not be finished.
    fn broken(&mut self, from: Sender);
}

/// Where pieces of messages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    pub node: NodeId,
    /// The place of what is known of it: below [`PEERS_MAX`], no other node's, and the same as long as the link is.
    pub place: usize,
}
