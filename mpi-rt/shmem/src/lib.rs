//! OpenSHMEM 1.5 on SMARTMAP, and on Portals between nodes, for one thread a PE.
//!
//! Every PE's memory is mapped in every other of its node (Brightwell, Pedretti, Hudson, sections III and IV.A), so a put is a store or a
//! copy, an atomic is one locked instruction, and nothing needs the peer's help. PEs of other nodes are reached by Portals ([`lwk_remote`]). Two faces over one engine:
//!
//! * [`engine`]: raw functions with the standard's semantics. Symmetric addresses are pointers, PE numbers, teams and contexts
//!   are integers, results are the standard's codes; a C face is a thin shell around it.
//! * the crate's root: typed symmetric objects, [`Pe`], results instead of codes, for Rust programs.
//!
//! Ground rules, in both:
//! * nothing here makes a system call, except set-up, operations on PEs of other nodes and, where ranks share cores, waiting;
//! * nothing panics on a caller's mistake: what the standard gives a code gets the code, and what it leaves undefined (a PE that
//!   does not exist, a freed handle, mismatched collectives as far as they are noticed) ends the job with one line that says so;
//! * `fence` and `quiet` are what orders plain data: puts before, flags after (the standard, section 3).
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::disallowed_types,
    reason = "has protocols, each with a model, and waits on words of the program"
)]

extern crate alloc;

#[cfg(not(all(test, feature = "loom")))]
pub mod engine;
#[cfg(not(all(test, feature = "loom")))]
mod face;
mod primitive;
mod protocol;

#[cfg(not(all(test, feature = "loom")))]
pub use face::*;
