//! How a rank reaches memory that its peers use as well: blocks by the copy loop that suits size, processor and home ([`copy`], [`few`]), words by
//! the processor's atomics ([`Word`]). Both runtimes, MPI and OpenSHMEM, move everything by these.
#![no_std]
#![allow(
    clippy::disallowed_types,
    reason = "the program's own words, as the processor's atomics; no protocol"
)]

mod arch;
mod atomic;
mod congruent;
mod copy;

pub use arch::Vectors;
pub use atomic::{Word, update};
pub use congruent::are_confused;
pub use copy::{FEW, copy, few, vectors};
