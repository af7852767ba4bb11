//! What can go wrong below the runtimes.

use lwk_datatype::Class;

/// Why a message could not be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// This rank has no memory for it.
    NoMemory,
    /// A peer has written what it should not have, or a path is not as it should be.
    Internal,
    /// A part lies beyond the end of its message.
    Truncated,
    /// Its sender has taken it back.
    Cancelled,
    /// This home has no network.
    NoNetwork,
    /// More bytes than an address can count.
    Count,
    /// What a datatype's layout says.
    Layout(Class),
}

/// What paths and copies return.
pub type Result<T> = core::result::Result<T, Fault>;

impl From<lwk_datatype::Error> for Fault {
    fn from(error: lwk_datatype::Error) -> Fault {
        Fault::Layout(error.class)
    }
}
