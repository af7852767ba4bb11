//! Intel's I/OAT copy engine, CBDMA version 3: where one is ([`find()`]), its registers and descriptors ([`registers`]), a driver ([`Ioat`]), and a model of the device in
//! software ([`Model`]).
//!
//! The driver knows the device by its registers and by rings of descriptors in memory, and by nothing else. So it runs unchanged on the model, which looks at the same registers and
//! rings from another core. The model makes faults on demand: a channel that halts, an address that is none, a chain that is broken.
#![no_std]
#![allow(
    clippy::disallowed_types,
    reason = "registers of a device, and memory that it uses; ranks do not see them"
)]

mod driver;
mod find;
mod model;
pub mod registers;

pub use driver::{ChannelState, DESCRIPTORS, Ioat, Ring};
pub use find::{Found, find, is_it};
pub use model::{Fault, Memory, Model, Wrong};
