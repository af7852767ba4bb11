//! How a rank reaches memory that its peers use as well: blocks by the copy loop that suits size, processor and home ([`copy()`], [`few`]), rows of small blocks ([`copy_row`]), one word by
//! one instruction ([`word`]), words that peers update by the processor's atomics ([`Word`]). From which size on what is used stands in [`threshold`]. Both runtimes, MPI and OpenSHMEM, move everything by these.
#![no_std]

#[cfg(test)]
extern crate alloc;

mod arch;
mod congruent;
mod copy;
pub mod threshold;

pub use arch::{Row, Vectors, copy_row, word};
pub use congruent::are_confused;
pub use copy::{copy, few, vectors};
pub use lwk_primitive::word::{Word, update};
