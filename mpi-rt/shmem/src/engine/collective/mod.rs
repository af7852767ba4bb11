//! Collective calls (the standard, section 9.9).
//!
//! All of them work in place on the peers' memory and are built from signals and letters ([`super::pair`]). The standard makes
//! the program see to it that destinations are ready before any PE enters, so data is pushed without asking.

mod active_set;
mod alltoall;
mod broadcast;
mod gather;
mod reduce;
mod sync;

pub use active_set::*;
pub use alltoall::{alltoall, alltoallmem, alltoalls};
pub use broadcast::{broadcast, broadcastmem};
pub use gather::{collect, collectmem, fcollect, fcollectmem};
pub use reduce::{FLAT_PES, reduce};
pub use sync::{barrier_all, sync_all};
pub(crate) use sync::{partners, synchronise};
