//! Watching: whether a peer that owes nothing is still there, while somebody waits for what it may send.
//!
//! A peer that something is under way to is given up after [`SILENCE_MAX_US`](super::SILENCE_MAX_US), and who has sent that is told. One that is only waited for is asked when it has been silent for a while, and lost
//! when so many questions in a row have had no answer. Questions are counted, not time: each has really gone, [`ASK_US`] or more after the one before. So time in which this node stands
//! still, in which it asks nothing, is not its peers' silence.

use bytemuck::Zeroable;

use super::Link;
use crate::Upper;
use crate::frame::{HELLO, NodeId};

/// A peer that is waited for is asked when it has been silent for so long, in microseconds.
const QUIET_US: u64 = 1_500_000;
/// Least time between two questions, in microseconds. [`Link::watch`] is to be called about as often.
pub const ASK_US: u64 = 500_000;
/// Questions without an answer that make a peer lost: after 8.5 seconds if this node runs all the time. One frame in ten lost on the way is one question in five without an answer.
pub const QUESTIONS: u8 = 14;
/// The same of a peer that has been given up, and so been silent for [`SILENCE_MAX_US`](super::SILENCE_MAX_US) already.
const QUESTIONS_AFTER: u8 = 4;
/// Least distance between the epochs of a node and of its next life, in microseconds. A node that has given a peer up counts on by one, and lives.
const RESTART_US: u64 = 1_000;

/// A peer that nothing is to be expected of any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    pub node: NodeId,
    /// Time since something was heard of its life, in microseconds.
    pub silent_us: u64,
    /// It has begun another life, which knows nothing of the job so far.
    pub restarted: bool,
}

impl<T: Zeroable + Copy> Link<T> {
    /// Asks peers that have been silent whether they are there, and gives one that is lost. To be called while somebody waits, about every [`ASK_US`], after all
    /// frames that have come were received. Peers that have not been heard of yet are not asked, nor those that something is under way to.
    pub fn watch(&mut self, now: u64, upper: &mut impl Upper<T>) -> Option<Lost> {
        for at in 1..=self.peer_count {
            let peer = self.peer(at);
            let silent_us = now.saturating_sub(peer.heard_at);
            let (node, restarted) = (NodeId(peer.node), peer.restarted != 0);
            // A peer that has been given up is asked, too: not all that fails has somebody to be told.
            let idle = peer.theirs != 0 && peer.first == 0 && peer.window.is_empty();
            let questions = if peer.known != 0 { QUESTIONS } else { QUESTIONS_AFTER };
            if !idle {
                peer.asked = 0;
            }
            let asks = idle && silent_us >= QUIET_US && now.saturating_sub(peer.asked_at) >= ASK_US;
            if restarted || (asks && peer.asked >= questions) {
                return Some(Lost { node, silent_us, restarted });
            }
            if asks && self.transmit(at, HELLO, 0, None, upper) {
                let peer = self.peer(at);
                (peer.asked, peer.asked_at) = (peer.asked + 1, now);
            }
        }
        None
    }
}

/// Whether a node whose epoch was `before` has begun another life.
pub(super) fn is_restart(before: u64, epoch: u64) -> bool {
    epoch.saturating_sub(before) >= RESTART_US
}
