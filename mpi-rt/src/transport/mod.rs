//! Transports: how a message gets from one rank's memory into another's. Matching is not theirs.
//!
//! A transport carries envelopes in order from each rank to each other, and content by whatever protocol it has. The engine
//! asks for the next envelope of a peer ([`Transport::front`]), decides where the content goes, and has it delivered there
//! ([`Transport::deliver`]) or kept until a receive comes ([`Transport::hold`]).

pub mod chosen;
mod descriptors;
pub mod setting;
pub mod shm;
pub mod smartmap;

use crate::error::{Error, Result};
use crate::region::Region;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use lwk_user::abi::address::slot_of;
use lwk_user::smartmap::{Peer, remote_address};

/// The address in this rank of what `peer` calls `address`. An address that is already in a slot means the same in every rank.
#[inline(always)]
pub(crate) fn seen_from_here<T>(peer: Peer, address: usize) -> *mut T {
    let pointer = core::ptr::with_exposed_provenance_mut(address);
    if slot_of(address as u64) == 0 { remote_address(peer, pointer) } else { pointer }
}

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
    pub peer: u32,
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
    /// It is on its way; the transport needs the buffer until [`Transport::advance_receive`] says done.
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

/// The content of a message that waits for its receive.
#[derive(Debug)]
pub enum Held {
    /// A copy of it.
    Copy(Box<[u8]>),
    /// It is still at the sender: its region there, and the descriptor that tells the sender when it is done (its address, as this
    /// rank or the sender calls it: the transport's choice).
    AtSender { source: Region, descriptor: usize },
    /// The transport keeps it under a number of its own.
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

/// The most bytes of a message that [`Transport::send_short`] is asked to send.
pub const SHORT: usize = 40;

/// A way to move messages between the ranks of a node. Peers are node ranks.
pub trait Transport {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// Starts a send.
    ///
    /// # Safety
    /// The message's bytes must be readable and its layout's datatype live; after [`Started::Underway`], until
    /// [`Transport::advance`] says done.
    unsafe fn start(&mut self, peer: u32, message: &Outgoing) -> Started;

    /// Sends a message of at most [`SHORT`] bytes that lie in one block, if that can be done at once and completely, as far as is known without a
    /// look at the peer; false if nothing has happened, and then [`Transport::start`] does it. A way around everything that only longer messages need.
    ///
    /// # Safety
    /// The bytes must be readable.
    #[inline(always)]
    unsafe fn send_short(&mut self, _peer: u32, _label: Label, _address: *const u8, _bytes: usize) -> bool {
        false
    }

    /// Receives the front message of a peer if it has this label, came by [`Transport::send_short`] and fits `room` bytes at
    /// `target`; how many it has. `None` if nothing has happened.
    ///
    /// # Safety
    /// `target` must be writable for `room` bytes.
    #[inline(always)]
    unsafe fn receive_short(
        &mut self,
        _peer: u32,
        _label: Label,
        _target: *mut u8,
        _room: usize,
    ) -> Option<usize> {
        None
    }

    /// Receives the front message of a peer if it has this label, is one block that is still at the sender, of as many bytes as `sizes` says, and
    /// fits `room` bytes at `target`; how many it has. `None` if nothing has happened, and then [`Transport::deliver`] does it, or if the sender
    /// had cancelled the message, which is gone.
    ///
    /// # Safety
    /// `target` must be writable for `room` bytes.
    #[inline(always)]
    unsafe fn receive_block(
        &mut self,
        _peer: u32,
        _label: Label,
        _target: *mut u8,
        _room: usize,
        _sizes: RangeInclusive<usize>,
    ) -> Option<usize> {
        None
    }

    /// Does what this rank can do for a send under way; true when it is done, after which the ticket is void.
    ///
    /// # Safety
    /// The ticket must be of this transport and not void.
    unsafe fn advance(&mut self, ticket: Ticket) -> bool;

    /// What a send under way is.
    ///
    /// # Safety
    /// The ticket must be of this transport and not void.
    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay;

    /// Takes a send under way back, unless its message has been matched: nobody receives it, and buffer, layout and ticket are the transport's no more.
    /// False, and nothing has changed, if it has been matched. Waits for nobody (MPI-5.0, section 3.8.4).
    ///
    /// # Safety
    /// As for [`Transport::under_way`].
    unsafe fn cancel(&mut self, ticket: Ticket) -> bool;

    /// Whether [`Transport::relocate`] would succeed now, without a copy made in vain.
    ///
    /// # Safety
    /// As for [`Transport::under_way`].
    unsafe fn may_relocate(&self, ticket: Ticket) -> bool;

    /// Takes the content of a send under way from a copy from now on, one block, so that the buffer is free. False, and nothing has changed, if the
    /// receiver is copying, which ends by itself. Waits for nobody.
    ///
    /// # Safety
    /// As for [`Transport::under_way`]. The copy must hold the message's bytes and stay until [`Transport::advance`] says done.
    unsafe fn relocate(&mut self, ticket: Ticket, copy: *const u8) -> bool;

    /// The next message of a peer, if one has arrived. It stays next until delivered or held.
    fn front(&mut self, peer: u32) -> Option<Arrival>;

    /// Copies as many bytes of the front message as `target` has, or all if fewer, and removes it. Errors: `INTERN` if the sender's
    /// layout is damaged; the message is gone all the same.
    ///
    /// # Safety
    /// There must be a front message of that peer, and `target` must be writable for as many bytes, its layout's datatype live;
    /// after [`Delivery::Underway`], until [`Transport::advance_receive`] says done.
    unsafe fn deliver(&mut self, peer: u32, arrival: &Arrival, target: &Region) -> Result<Delivery>;

    /// Removes the front message and keeps what is needed to deliver it later. `None`, and it stays, if there is no memory.
    ///
    /// # Safety
    /// There must be a front message of that peer.
    unsafe fn hold(&mut self, peer: u32, arrival: &Arrival) -> Option<Held>;

    /// Delivers a message that was held, as [`Transport::deliver`].
    ///
    /// # Safety
    /// `held` came from [`Transport::hold`] for that peer; `target` must be writable for the message's bytes or its own, whichever
    /// are fewer.
    unsafe fn deliver_held(&mut self, peer: u32, held: Held, target: &Region) -> Result<Delivery>;

    /// Whether the sender has cancelled a message that is held.
    ///
    /// # Safety
    /// `held` came from [`Transport::hold`] for that peer and has not been delivered.
    unsafe fn is_cancelled(&self, peer: u32, held: &Held) -> bool;

    /// Matches a message that is held for a probe: it cannot be cancelled from now on. False if it has been.
    ///
    /// # Safety
    /// As for [`Transport::is_cancelled`].
    unsafe fn reserve(&mut self, peer: u32, held: &Held) -> bool;

    /// Does what this rank can do for a delivery under way; its outcome when it is done, after which the ticket is void. Errors: as for
    /// [`Transport::deliver`].
    ///
    /// # Safety
    /// The ticket must be of a delivery by this transport and not void.
    unsafe fn advance_receive(&mut self, _: Ticket) -> Option<Result<()>> {
        Some(Ok(()))
    }

    /// Whether what this rank waits for may lie behind a peer's messages that no receive wants, so that they must be taken in.
    #[inline(always)]
    fn must_take(&self, _: u32) -> bool {
        false
    }

    /// Memory in use.
    fn memory(&self) -> Memory;
}

/// Objects that live as long as the job, because peers reach them.
fn leak<T>(count: usize, new: impl Fn() -> T) -> Result<&'static [T]> {
    let mut objects = Vec::new();
    objects.try_reserve_exact(count).map_err(|_| Error::NO_MEM)?;
    objects.extend((0..count).map(|_| new()));
    Ok(Box::leak(objects.into_boxed_slice()))
}
