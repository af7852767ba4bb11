//! Barriers and small allreduces of one rank of each node, its first, by triggered operations of Portals 4 (reference 4.3, section 3.16): each first gives its
//! kernel all that there is to do when it enters, and from then on the kernels carry it on, whatever the ranks do.
//!
//! * The firsts are a binomial tree ([`Tree`]). Which operations a collective is, and which counts set them off, says [`Plan`], without memory or calls.
//! * Contributions go up by atomic operations into the parent's buffer, the result goes down by puts into the children's. So all have the same result, also of
//!   reals, whose order of folding is that of arrival.
//! * A parent tells its children, by a put without bytes, that its own part lies in its buffer. Barriers need no such word.
//! * Two buffers take turns ([`Epoch::lane`]).
//!
//! The promise: if all firsts have opened their ends before any of them enters, all enter the same collectives in the same order, and each waits for the end of one before it enters the
//! next, then nobody's ends before all have entered it, and every result is what all parts come to.
//!
//! Per communicator and first: two list entries, three counting events, a descriptor, and 1 KiB.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_op_in_unsafe_fn)]

extern crate alloc;

mod plan;
mod together;
mod tree;

pub use plan::{Asked, Content, Epoch, Kind, Plan, Way};
pub use together::{Entered, Failed, Fold, Together};
pub use tree::Tree;

/// The most bytes of a reduction: what one atomic operation changes.
pub const BYTES: usize = lwk_user::portals::abi::ATOMIC_BYTES as usize;
