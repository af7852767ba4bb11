//! Rings of one-line cells from one rank to another, without locks.
//!
//! The cells lie in the consumer's memory. A cell is one cache line: a sequence word, and [`DATA_WORDS`] words of data. A message
//! takes one cell or several consecutive ones; only its first is published, by one plain release store of its position plus one,
//! so handing over a small message moves exactly one line. The consumer polls the sequence word of the next cell and nothing
//! else. Positions count for ever (64 bits), so what an earlier lap left in a cell is never mistaken for news.
//!
//! Room is told by credit: the consumer stores its position into a word in the *producer's* memory each time it has freed a
//! quarter of the ring, and the producer looks at that word only when the credit it knows of is used up.
//!
//! Written over [`primitive`], so that loom can try the interleavings.
#![cfg_attr(not(test), no_std)]

mod cell;
mod consumer;
mod primitive;
mod producer;

pub use cell::{Cell, Credit, DATA_BYTES, DATA_WORDS};
pub use consumer::Consumer;
pub use producer::Producer;

/// The share of a ring after which the consumer returns credit: measured no worse than after every message, and a quarter of
/// the lines moved.
const CREDIT_SHARE: u64 = 4;

#[cfg(all(test, feature = "loom"))]
mod model;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
