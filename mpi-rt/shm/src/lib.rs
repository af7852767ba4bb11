//! What the two copy-in/copy-out designs of the dissertation (L. Chai, chapter 3) are made of, without locks: one reader and
//! one writer for everything.
//!
//! * A FIFO of bytes from one rank to another ([`Producer`], [`Consumer`]): the shared buffer of the basic design (section 3.1.1)
//!   and the receive buffer of the advanced one (3.2.1). Two counters, *total-in* and *total-out*, say how many bytes have ever
//!   been written and read; if they differ, there is something to read.
//! * A pool of cells ([`Pool`]) that its owner loads and peers read ([`Cells`]): the send buffer pool and the send queues of the
//!   advanced design. A reader only marks a cell free; the owner sweeps its send queues for marked ones when it needs cells
//!   (*mark and sweep*, 3.2.2), so that the pool, too, has one writer.
//!
//! Memory is in blocks of one cache line. Written over `lwk_primitive`, so that loom can try the interleavings.
#![cfg_attr(not(test), no_std)]
#![allow(clippy::disallowed_types, reason = "has protocols, each with a model")]

extern crate alloc;

mod block;
mod fifo;
mod pool;

#[cfg(not(all(test, feature = "loom")))]
use lwk_primitive::machine as primitive;
#[cfg(all(test, feature = "loom"))]
use lwk_primitive::model as primitive;

pub use block::{BLOCK, Block, blocks_for};
pub use fifo::{Consumer, Producer, Total};
pub use pool::{CellNumber, Cells, Mark, Pool};

#[cfg(all(test, feature = "loom"))]
mod model;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
