//! Paths: how a message gets from one rank's memory into another's. Matching is not theirs, but for receives that they are handed ([`Matching`]).
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
mod message;
mod path_id;
mod portals;
mod profile;
pub mod region;
pub mod setting;
pub mod shm;
pub mod smartmap;
mod table;

pub use fault::{Fault, Result};
pub use lwk_place::{Peer, WorldRank, seen_from_here};
pub use message::{
    Arrival, Delivery, Held, Label, Limits, Memory, Outgoing, Received, Sent, Started, Ticket, UnderWay,
};
pub use path_id::PathId;
pub use smartmap::SHORT;
pub use table::{CHANGE, Parked, Reach, Table};

use crate::region::Region;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A way to move messages between ranks: sends that begin, advance and are cancelled; arrivals that are looked for, delivered and
/// held; limits and memory. What only some paths can is in traits of their own, which a path names if it has them.
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

    /// Whether what this rank waits for may lie behind a peer's messages that no receive wants, so that they must be taken in.
    #[inline(always)]
    fn must_take(&self, _: WorldRank) -> bool {
        false
    }

    /// What it takes; no send completes by itself if nothing else is said.
    fn limits(&self) -> Limits {
        Limits { eager: 0 }
    }

    /// What has become of what it has sent, if it counts that.
    fn sent(&self) -> Sent {
        Sent::default()
    }

    /// Memory in use.
    fn memory(&self) -> Memory;

    /// Its matching, if receives may be handed to it.
    fn matching(&mut self) -> Option<&mut dyn Matching> {
        None
    }

    /// Its way to the ranks of other nodes, if it reaches any.
    fn between_nodes(&mut self) -> Option<&mut dyn BetweenNodes> {
        None
    }
}

/// Of a path that matches receives that it is handed.
pub trait Matching {
    /// Receives with room for more bytes may be handed to it.
    fn takes_above(&self) -> usize;

    /// Hands it a receive, which it may complete by a message that nothing is seen of otherwise; `None` if it does not want it. Receives of one peer are handed over in
    /// order, and only if no other receive that has been posted and not handed over may be for a message of that peer. They are recalled before an arrival of that peer is delivered or held.
    ///
    /// # Safety
    /// `target` must be writable, its layout's datatype live, and nobody else may use it, until [`Matching::posted`] or [`Matching::recall`] has said what has come of it.
    unsafe fn post(
        &mut self,
        peer: WorldRank,
        context: u32,
        tag: Option<i32>,
        target: &Region,
    ) -> Option<Ticket>;

    /// What has come of a receive that it has been handed, if it is done; its ticket is void then.
    fn posted(&mut self, ticket: Ticket) -> Option<Received>;

    /// Takes such a receive back; its ticket is void. What has come of it, if it has been matched.
    fn recall(&mut self, ticket: Ticket) -> Option<Received>;
}

/// Of a path that reaches ranks of other nodes.
pub trait BetweenNodes {
    /// Waits for the other nodes' ranks: see [`Table::meet_nodes`].
    fn meet_nodes(&mut self) -> Result<()>;

    /// Tells a peer of another node that a question is coming which that rank may not be listening for.
    fn call(&mut self, peer: WorldRank);

    /// Such calls that have come since it was asked.
    fn take_calls(&mut self) -> u32;
}

/// Objects that live as long as the job, because peers reach them.
fn leak<T>(count: usize, new: impl Fn() -> T) -> Result<&'static [T]> {
    let mut objects = Vec::new();
    objects.try_reserve_exact(count).map_err(|_| Fault::NoMemory)?;
    objects.extend((0..count).map(|_| new()));
    Ok(Box::leak(objects.into_boxed_slice()))
}
