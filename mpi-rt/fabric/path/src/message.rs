//! What a path and its user say to each other of a message.

use crate::Result;
use crate::region::Region;
use alloc::boxed::Box;
use lwk_place::WorldRank;

/// Context and tag in one word, as they travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(pub u64);

impl Label {
    #[inline(always)]
    pub fn new(context: u32, tag: i32) -> Label {
        Label((context as u64) << 32 | tag as u32 as u64)
    }

    #[inline(always)]
    pub fn context(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub fn tag(self) -> i32 {
        self.0 as u32 as i32
    }
}

/// A message to be sent: the bytes of a region of this rank's memory.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    pub label: Label,
    pub source: Region,
    /// The send may complete only when the message has been matched.
    pub synchronous: bool,
}

/// Names a send that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub usize);

/// How far a send has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Started {
    /// The buffer is free again, the send is complete.
    Done,
    /// The message is on its way; the transport still needs the buffer.
    Underway(Ticket),
    /// Nothing has happened: the peer has no room. Ask again later.
    Full,
}

/// A send that a transport has under way.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    pub peer: WorldRank,
    pub source: Region,
    /// The send may complete only when the message has been matched.
    pub synchronous: bool,
}

/// How far a delivery has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// There is none: the sender has cancelled the message, which is gone.
    Cancelled,
    /// The content is in the receive buffer.
    Done,
    /// It is on its way; the transport needs the buffer until [`crate::Path::advance`] says done.
    Underway(Ticket),
}

/// The next message of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub label: Label,
    /// Length of the message, whatever the receive buffer's.
    pub bytes: usize,
    /// Whether the content is in the transport's own memory (and must be copied out) or still at the sender.
    pub eager: bool,
}

/// What has come of a receive that was handed to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// The message's, and its length, which may be more than the receive has room for; nothing if the outcome is an error.
    pub label: Label,
    pub bytes: usize,
    pub outcome: Result<()>,
}

/// The content of a message that waits for its receive.
#[derive(Debug)]
pub enum Held {
    /// A copy of it.
    Copy(Box<[u8]>),
    /// It is still at the sender: its region there, and the descriptor that tells the sender when it is done (its address, as this
    /// rank or the sender calls it: the transport's choice).
    AtSender { source: Region, descriptor: usize },
    /// There is none: the sender has cancelled the message.
    Cancelled,
    /// The path keeps it under a number of its own.
    Kept(usize),
}

/// Memory that a transport uses in this rank, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Independent of the number of peers.
    pub fixed: usize,
    /// For each peer.
    pub per_peer: usize,
    /// Now in use beyond that: descriptors of long messages.
    pub dynamic: usize,
}

/// What has become of the messages that a path has taken for other ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// All.
    pub messages: u64,
    /// Those of them whose content the system copies, or has a worker or a copy engine copy.
    pub by_system: u64,
    /// Those with which it cannot: without content, or in several blocks where the path takes one.
    pub unfit: u64,
}

/// What a path takes: a sender need not try more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Messages up to this many bytes are sent without waiting for their receiver, if there is room.
    pub eager: usize,
}
