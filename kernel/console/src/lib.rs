//! The console's records ([`lwk_abi::console`]), by which a node tells the host tool what happens: [`Header`] and [`one_line`] write them, in the kernel and in
//! the host home; `Parser` (feature `read`) reads them, in the host tool.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "read")]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "read")]
mod read;
mod write;

#[cfg(feature = "read")]
pub use read::{Parser, Record};
pub use write::{Header, one_line};
