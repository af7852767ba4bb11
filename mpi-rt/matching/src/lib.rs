//! MPI matching (MPI-5.0, section 3.5): posted receives and unexpected messages, in the order the standard demands.
//!
//! * A message has a [`Key`]: context, source, tag. A receive has a [`Pattern`], in which source and tag may be wild.
//! * [`Posted`]: a message takes the oldest receive that matches it.
//! * [`Unexpected`]: a receive takes the oldest message that matches it.
//!
//! Both find exact matches in constant time, however many peers there are and however many entries wait. A message compares
//! the oldest receive of at most four kinds (source wild or not, tag wild or not), so posted wildcards are constant-time as
//! well. A receive with one wildcard walks the unexpected messages of its context; with two it takes the oldest.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod key;
mod list;
mod posted;
mod unexpected;

pub use key::{Key, Pattern};
pub use posted::{Posted, Token};
pub use unexpected::Unexpected;
