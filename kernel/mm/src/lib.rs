//! The memory of a node as pure logic, tested on the host: which physical memory is free ([`physical`]), where a rank's
//! parts lie in its segment ([`layout`]), how the segment is mapped ([`table`]), and which of its heap is in use
//! ([`heap`]).
//!
//! Nothing here touches the machine. The kernel supplies the firmware's memory map and the frames of page tables, and
//! does what the answers say. Two functions are unsafe to call, since they make types that stand for a check:
//! [`table::TableFrame::new`] and [`table::Mappable::new`]. No code here is.
#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod access;
pub mod address;
pub mod heap;
pub mod layout;
pub mod physical;
pub mod table;

pub use access::Access;
pub use address::{PhysAddr, VirtAddr};
