//! How two ranks agree on copying what stays in the sender's buffer: the words, without the copying.
//!
//! * [`Descriptor`]: one long message. The receiver takes it, unless the sender has taken it back, and says that it has copied it, or first
//!   where it goes, and then both copy.
//! * [`Gate`]: who has a message that comes by a ring, where its receiver is; [`Pace`]: whether the receiver says so.
//! * [`Partitions`]: a message that becomes ready piece by piece, again and again (MPI-5.0, chapter 4, "Partitioned Point-to-Point
//!   Communication").
//!
//! Nothing here waits, and nothing here touches the content: callers poll, copy, and make progress on other things meanwhile. What
//! each side may do with the content when is what the words say; loom tries the interleavings (`lwk_primitive` is its way in).
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "has protocols, each with a model")]

extern crate alloc;

mod descriptor;
mod gate;
mod line;
mod pace;
mod partitions;

#[cfg(not(all(test, feature = "loom")))]
use lwk_primitive::machine as primitive;
#[cfg(all(test, feature = "loom"))]
use lwk_primitive::model as primitive;

pub use descriptor::{Claim, Descriptor, Helped, Seen, USES};
pub use gate::{Gate, Passage};
pub use pace::{Pace, Reading};
pub use partitions::{Partitions, Readiness};

#[cfg(all(test, feature = "loom"))]
mod model;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
