//! What the ranks of a window, or of a file, share, as words in each other's memory (MPI-5.0, section 12.5, "Synchronization Calls").
//!
//! * [`TargetLock`]: passive target, shared and exclusive, first come first served; [`FarLock`]: the same lock for those that cannot load and store it.
//! * [`PairLine`]: general active target: what one rank tells another by post and by complete.
//! * [`ElementLock`]: makes updates atomic that the processor has no instruction for, and those of many elements at once.
//! * [`Attachments`]: the memory that a rank has attached to a dynamic window.
//! * [`SharedPointer`]: of a file.
//! * [`complete_at_targets`], [`complete_here`]: what a flush and a local flush order.
//!
//! Nothing here waits: callers poll, and make progress on messages meanwhile. Nothing here is on the path of a put or a get.
//! Written over `lwk_primitive`, so that loom can try the interleavings.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "has protocols, each with a model")]

mod attachments;
mod completion;
mod element_lock;
mod far_lock;
mod pair_line;
mod shared_pointer;
mod target_lock;

#[cfg(not(all(test, feature = "loom")))]
use lwk_primitive::machine as primitive;
#[cfg(all(test, feature = "loom"))]
use lwk_primitive::model as primitive;

pub use attachments::{Attachments, Full};
pub use completion::{complete_at_targets, complete_here};
pub use element_lock::{ElementLock, Singly};
pub use far_lock::{FarLock, LockWord, LockWords};
pub use pair_line::{PairLine, Tally};
pub use shared_pointer::SharedPointer;
pub use target_lock::{TargetLock, Ticket};

#[cfg(all(test, feature = "loom"))]
mod model;
