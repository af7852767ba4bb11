//! Portals 4: network interfaces, portal tables, matching and delivery, for the ranks of one node and over the link to others.
//!
//! Pure logic over a few traits ([`memory`]): programs' memory, and a network card. Everything of a node is one [`Node`], which begins as zeros,
//! refers to its parts by number and never allocates; so it may lie in memory that several processes share, each at an address of its own. The
//! caller has a lock around it. Addresses of programs become usable only as [`Span`]s that the home has checked.
//!
//! A call of a program comes in by [`Node::call`], a frame by [`Node::receive`], and time by [`Node::work`]. A message is matched when its first frame
//! is there; its payload goes from the frames straight into the target's memory, and the event into a queue there. Messages between ranks of
//! one node take the same way without frames, with one copy; by frames, too, where the node is its own peer ([`Settings::loops`]).
//!
//! Meanings are those of the Portals 4.3 reference, chapter 3; where it leaves a choice:
//! * A counting event triggers when successes and failures together reach the threshold.
//! * An entry that is used once and finds an unexpected message when it is appended is never linked; `AUTO_UNLINK` is posted after the overflow event.
//! * Bindings of a rank to node and process are the job's and never change: ranks are spread over the nodes in their order.
//! * There are no operations on `long double`, which the kernel, without the processor's floating point, does not do.
//! * All users are user 0.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod atomic;
mod call;
mod calls;
mod contract;
mod entries;
mod events;
mod fetch;
mod initiator;
pub mod interface;
pub mod lists;
pub mod memory;
pub mod message;
mod node;
mod raw;
pub mod region;
mod resources;
mod slab;
mod target;
mod triggered;
mod upper;

pub use call::Call;
pub use events::{Counter, Queue};
pub use memory::{HomeCounts, Memory, Nic, Span};
pub use node::{Node, Ranks, Settings};
pub use raw::ETHERTYPE as RAW_ETHERTYPE;

/// Why a call failed: a return code of Portals (`lwk_abi::portals::status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    pub const ARG_INVALID: Status = Status(lwk_abi::portals::status::ARG_INVALID);
    pub const IN_USE: Status = Status(lwk_abi::portals::status::IN_USE);
    pub const LIST_TOO_LONG: Status = Status(lwk_abi::portals::status::LIST_TOO_LONG);
    pub const NO_SPACE: Status = Status(lwk_abi::portals::status::NO_SPACE);
    pub const PT_FULL: Status = Status(lwk_abi::portals::status::PT_FULL);
    pub const PT_EQ_NEEDED: Status = Status(lwk_abi::portals::status::PT_EQ_NEEDED);
    pub const PT_IN_USE: Status = Status(lwk_abi::portals::status::PT_IN_USE);

    /// What a system call answers.
    pub fn answer(self) -> i64 {
        -(lwk_abi::portals::ERROR_BASE + i64::from(self.0))
    }
}

/// What a call answers.
pub type Result<T> = core::result::Result<T, Status>;
