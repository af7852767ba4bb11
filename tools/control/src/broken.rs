//! How a channel ends that is of no more use.

use std::fmt;
use std::io;

/// Why a channel is of no more use.
#[derive(Debug)]
pub enum Broken {
    /// The stream has ended, between two messages.
    Closed,
    /// The stream has failed, or ended within a message.
    Stream(io::Error),
    /// What came was not sealed by the key, or not in its turn.
    Forged,
    /// What came is no message of this version.
    Unknown,
    /// The message is longer than [`MESSAGE_BYTES_MAX`](crate::channel::MESSAGE_BYTES_MAX).
    TooLong,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Closed => f.write_str("the other side has closed the connection"),
            Broken::Stream(error) => error.fmt(f),
            Broken::Forged => f.write_str("the other side has another key"),
            Broken::Unknown => f.write_str("the other side has another version"),
            Broken::TooLong => f.write_str("a control message is too long"),
        }
    }
}

impl std::error::Error for Broken {}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Stream(error)
    }
}
