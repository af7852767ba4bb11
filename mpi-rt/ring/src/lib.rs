//! What ranks hand to each other through lines of each other's memory, without locks.
//!
//! * [`Producer`] and [`Consumer`]: rings of one-line cells from one rank to another, below.
//! * [`Lines`]: from one member of a group to all others or to each, or from all to one, the givers ahead of the takers; [`Reply`]: what is more than a line.
//! * [`ExchangeLines`], [`PairLine`]: from all members of a group to all.
//! * [`Slots`]: posts of buffers to all members of a group, several operations under way.
//! * [`Announcement`]: how the members of a new group learn of each other's memory; [`Published`]: how all ranks do at the start.
//! * [`MeetingLine`]: the barrier of two; [`Turns`]: the SMARTMAP paper's structure; [`Notes`]: words that stand by themselves.
//!
//! # Rings
//!
//! The cells lie in the consumer's memory. A cell is one cache line: a sequence word, and [`DATA_WORDS`] words of data. A message
//! takes one cell or several consecutive ones; only its first is published, by one plain release store of its position plus one,
//! so handing over a small message moves exactly one line. The consumer polls the sequence word of the next cell and nothing
//! else. Positions count for ever (64 bits), so what an earlier lap left in a cell is never mistaken for news.
//!
//! Room is told by credit: the consumer stores its position into a word in the *producer's* memory each time it has freed a
//! quarter of the ring, and the producer looks at that word only when the credit it knows of is used up.
//!
//! Written over `lwk_primitive`, so that loom can try the interleavings.
#![cfg_attr(not(test), no_std)]
#![allow(clippy::disallowed_types, reason = "has protocols, each with a model")]

mod announcement;
mod arch;
mod cell;
mod consumer;
mod exchange;
mod line;
mod lines;
mod meeting;
mod notes;
mod posts;
mod producer;
mod published;
mod reply;
mod turns;

#[cfg(not(all(test, feature = "loom")))]
use lwk_primitive::machine as primitive;
#[cfg(all(test, feature = "loom"))]
use lwk_primitive::model as primitive;

pub use announcement::{Announcement, Word};
pub use arch::prefetch_to_write;
pub use cell::{Cell, Credit, DATA_BYTES, DATA_WORDS};
pub use consumer::Consumer;
pub use exchange::{ExchangeLines, PAIR_BYTES, PairLine};
pub use lines::{Lines, Pace};
pub use meeting::MeetingLine;
pub use notes::Notes;
pub use posts::{Departed, Finished, POST_WORDS, Progress, Slots};
pub use producer::{Producer, Room};
pub use published::Published;
pub use reply::{REPLY_WORDS, Reply};
pub use turns::Turns;

/// The share of a ring after which the consumer returns credit: measured no worse than after every message, and a quarter of
/// the lines moved.
const CREDIT_SHARE: u64 = 4;

/// Both ends ask for the cell that so many cells ahead will be theirs: a far line takes as long as a dozen messages, and neither end gets
/// as far ahead by itself (measured: README.md of `mpi-rt`).
const AHEAD: u64 = 8;

#[cfg(all(test, feature = "loom"))]
mod model;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
