//! What kernel and ranks tell each other through memory, without a system call. Both sides of each protocol are here, so that a model can play one against
//! the other.
//!
//! | protocol | who tells whom |
//! | --- | --- |
//! | [`Told`], a word | the system tells that all it has stored before is there: a copy is done ([`struct@Copy`]), a rank has exited ([`lwk_abi::syscall::JOB_LEAVE`]) |
//! | [`events`] | the system posts events to a ring; the rank says how many it has taken, so that places are used again |
//! | [`counts`] | the system counts events |
//! | [`Sum`], a word | a rank of another node tells how far it has come: its system adds, by an atomic operation of Portals |
//! | [`Request`] | the system has matched and copied a message, and says which, or why not |
//! | [`Sleeper`] | within the system: the core of the network tells that of a rank that waits, which may sleep |
//!
//! A rank reaches its words where they are. The system reaches them by other mappings, or through checks of each address; so its side is written over small
//! traits, which its two homes implement by [`Told::at`].
//!
//! Per rank: all of it. Written over `lwk_primitive`, so that loom can try the interleavings.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::disallowed_types, reason = "has protocols, each with a model")]

#[cfg(test)]
extern crate std;

pub mod counts;
pub mod events;
#[cfg(all(test, feature = "loom"))]
mod model;
mod order;
mod request;
mod sleeper;
mod sum;
mod told;

pub use order::Copy;
pub use request::{Outcome, Request, Words, describe, finish};
pub use sleeper::Sleeper;
pub use sum::Sum;
pub use told::Told;

#[cfg(not(all(test, feature = "loom")))]
use lwk_primitive::machine as primitive;
#[cfg(all(test, feature = "loom"))]
use lwk_primitive::model as primitive;
