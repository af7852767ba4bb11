//! Control messages between nodes that stay up and their launchers.
//!
//! Three parts: the [`Key`] that nodes and launchers share, the [`channel`] that seals messages with it, and the messages themselves ([`message`]).
//! Parsing is pure: no bytes make it panic, and what it builds is bounded by what it reads.
//!
//! A channel is the Noise protocol `NNpsk0` (crate `snow`). Who does not know the key gets no further than the first message of the handshake; each
//! connection has keys of its own, so that nothing recorded from one is worth anything in another; and each message has a number, so that none can
//! be left out, repeated or put elsewhere.
#![forbid(unsafe_code)]

mod broken;
pub mod channel;
mod key;
pub mod message;

pub use broken::Broken;
pub use channel::{Receiver, Sender, accept, connect};
pub use key::{Key, NoKey};
