//! What can go wrong in a call that returns.

use core::fmt;

/// Why a call did nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The symmetric heap has no room for that many bytes. The same in all PEs.
    HeapFull {
        /// Bytes asked for.
        bytes: usize,
    },
    /// Elements beyond the end of a symmetric slice.
    OutOfRange {
        /// First element.
        start: usize,
        /// How many.
        count: usize,
        /// Elements there are.
        length: usize,
    },
    /// A team with PEs that its parent does not have.
    NoSuchMembers,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::HeapFull { bytes } => {
                write!(
                    f,
                    "no room in the symmetric heap for {bytes} bytes: raise SHMEM_SYMMETRIC_SIZE or --mem"
                )
            }
            Error::OutOfRange { start, count, length } => {
                write!(f, "{count} elements from {start} of a symmetric slice of {length}")
            }
            Error::NoSuchMembers => write!(f, "a team must consist of PEs of its parent"),
        }
    }
}

impl core::error::Error for Error {}
