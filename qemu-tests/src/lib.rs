//! What the programs of the boot tests share: memory that a system call may touch and memory around it that none may, hostile
//! addresses, and a seeded generator.
#![no_std]

extern crate alloc;

pub mod arch;
pub mod hostile;
pub mod random;
pub mod scratch;
