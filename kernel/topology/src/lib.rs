//! Which hardware the processors of a node share, which memory is near them, and in which order ranks get them.
//!
//! A processor here is a hardware thread, named by the number of its interrupt controller (APIC). What processors share follows from that
//! number: those of one core, cache or package have the same value of some of its upper bits ([`Shifts`]). How many, the processor
//! says (`CPUID`), as it says by what a program may wait ([`ProgramWait`]); this crate is given its answers, whatever they are, and is tested on answers written after the vendors' manuals.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod memory_nodes;
mod order;
mod shifts;
mod waits;

pub use memory_nodes::MemoryNodes;
pub use order::{Binding, order};
pub use shifts::{Answer, Own, Shifts};
pub use waits::ProgramWait;

/// The most processors of a node that are used.
pub const PROCESSORS_MAX: usize = 255;
