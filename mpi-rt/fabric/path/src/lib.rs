//! Paths: how a message gets from one rank's memory into another's. Matching is not theirs, but for receives that they are handed ([`Path::post`]).
//!
//! A path carries envelopes in order from each rank to each other, and content by whatever protocol it has. Its user asks for the next message
//! of a peer ([`Path::arrival`]), decides where the content goes, and has it delivered there ([`Path::deliver`]) or kept until a receive comes
//! ([`Path::hold`]). Which path carries what is the [`Table`]'s to say.
//!
//! Per rank: all of it. A rank is one thread; nothing here is per communicator.
#![no_std]

extern crate alloc;

mod descriptors;
mod fault;
mod late;
mod portals;
mod profile;
pub mod region;
pub mod setting;
pub mod shm;
pub mod smartmap;
mod table;

pub use fault::{Fault, Result};
pub use lwk_place::{Peer, WorldRank, seen_from_here};
pub use smartmap::SHORT;
pub use table::{CHANGE, Parked, PathId, Reach, Table};

use crate::region::Region;
use alloc::boxed::Box;
use alloc::vec::Vec;

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
    /// It is on its way; the transport needs the buffer until [`Path::advance`] says done.
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

/// What a path takes: a sender need not try more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Messages up to this many bytes are sent without waiting for their receiver, if there is room.
    pub eager: usize,
}

/// A way to move messages between ranks: sends that begin, advance and are cancelled; arrivals that are looked for, delivered and
/// held; limits and memory.
pub trait Path {
    /// Begins a send.
    ///
    /// # Safety
    /// The message's bytes must be readable, its layout's datatype live, and nobody may write either; after
    /// [`Started::Underway`], until [`Path::advance`] says done.
    unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started;

    /// Does what this rank can do for a send or a delivery under way; its outcome when it is done, after which the ticket is void. Errors: of a
    /// delivery, as for [`Path::deliver`].
    ///
    /// # Safety
    /// The ticket must be of this path and not void.
    unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>>;

    /// What a send under way is.
    ///
    /// # Safety
    /// The ticket must be of a send by this path and not void.
    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay;

    /// Takes a send under way back, unless its message has been matched: nobody receives it, and buffer, layout and ticket are the path's no more.
    /// False, and nothing has changed, if it has been matched. Waits for nobody (MPI-5.0, section 3.8.4).
    ///
    /// # Safety
    /// As for [`Path::under_way`].
    unsafe fn cancel(&mut self, ticket: Ticket) -> bool;

    /// Takes the content of a send under way from a copy from now on, one block, so that the buffer is free. `copy` makes it, and is called only
    /// when it will be used; `None` of it is no. False, and nothing has changed, if the receiver is copying, which ends by itself. Waits for nobody.
    ///
    /// # Safety
    /// As for [`Path::under_way`]. The copy must hold the message's bytes and stay until [`Path::advance`] says done.
    unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool;

    /// The next message of a peer, if one has arrived. It stays next until delivered or held.
    fn arrival(&mut self, peer: WorldRank) -> Option<Arrival>;

    /// Copies as many bytes of the next message as `target` has, or all if fewer, and removes it. Errors: [`Fault::Internal`] if the sender's
    /// layout is damaged; the message is gone all the same. [`Fault::NoMemory`]: it stays.
    ///
    /// # Safety
    /// `arrival` must be what [`Path::arrival`] has said of that peer's next message. `target` must be
    /// writable for as many bytes, its layout's datatype live, and nobody else may use it; after
    /// [`Delivery::Underway`], until [`Path::advance`] says done.
    unsafe fn deliver(&mut self, peer: WorldRank, arrival: &Arrival, target: &Region) -> Result<Delivery> {
        // SAFETY: `arrival` is `peer`'s front message and `target` is writable (this function's contract);
        // what `hold` gives is delivered once, here.
        unsafe {
            let held = self.hold(peer, arrival).ok_or(Fault::NoMemory)?;
            self.deliver_held(peer, held, target)
        }
    }

    /// Removes the next message and keeps what is needed to deliver it later. `None`, and it stays, if there is no memory.
    ///
    /// # Safety
    /// `arrival` must be what [`Path::arrival`] has said of that peer's next message.
    unsafe fn hold(&mut self, peer: WorldRank, arrival: &Arrival) -> Option<Held>;

    /// Delivers a message that was held, as [`Path::deliver`].
    ///
    /// # Safety
    /// `held` came from [`Path::hold`] for that peer. `target` must be writable for the message's bytes or
    /// its own, whichever are fewer, and otherwise as for [`Path::deliver`].
    unsafe fn deliver_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery>;

    /// Whether a message that is held is still to be had: its sender has not cancelled it. If `reserve`, the sender cannot from now on.
    ///
    /// # Safety
    /// `held` came from [`Path::hold`] for that peer and has not been delivered.
    unsafe fn is_there(&mut self, peer: WorldRank, held: &Held, reserve: bool) -> bool;

    /// Receives with room for more bytes may be handed to it: it matches them.
    fn takes_above(&self) -> usize {
        usize::MAX
    }

    /// Hands it a receive, which it may complete by a message that nothing is seen of otherwise; `None` if it does not want it. Receives of one peer are handed over in
    /// order, and only if no other receive that has been posted and not handed over may be for a message of that peer. They are recalled before an arrival of that peer is delivered or held.
    ///
    /// # Safety
    /// `target` must be writable, its layout's datatype live, and nobody else may use it, until [`Path::posted`] or [`Path::recall`] has said what has come of it.
    unsafe fn post(
        &mut self,
        _: WorldRank,
        _context: u32,
        _tag: Option<i32>,
        _target: &Region,
    ) -> Option<Ticket> {
        None
    }

    /// What has come of a receive that it has been handed, if it is done; its ticket is void then.
    fn posted(&mut self, _: Ticket) -> Option<Received> {
        None
    }

    /// Takes such a receive back; its ticket is void. What has come of it, if it has been matched.
    fn recall(&mut self, _: Ticket) -> Option<Received> {
        None
    }

    /// Whether what this rank waits for may lie behind a peer's messages that no receive wants, so that they must be taken in.
    #[inline(always)]
    fn must_take(&self, _: WorldRank) -> bool {
        false
    }

    /// Waits for the other nodes' ranks, if it reaches any: see [`Table::meet_nodes`].
    fn meet_nodes(&mut self) -> Result<()> {
        Ok(())
    }

    /// Tells a peer of another node, if it reaches any, that a question is coming which that rank may not be listening for.
    fn call(&mut self, _: WorldRank) {}

    /// Such calls that have come since it was asked.
    fn take_calls(&mut self) -> u32 {
        0
    }

    /// What it takes; no send completes by itself if nothing else is said.
    fn limits(&self) -> Limits {
        Limits { eager: 0 }
    }

    /// Memory in use.
    fn memory(&self) -> Memory;
}

/// Objects that live as long as the job, because peers reach them.
fn leak<T>(count: usize, new: impl Fn() -> T) -> Result<&'static [T]> {
    let mut objects = Vec::new();
    objects.try_reserve_exact(count).map_err(|_| Fault::NoMemory)?;
    objects.extend((0..count).map(|_| new()));
    Ok(Box::leak(objects.into_boxed_slice()))
}
