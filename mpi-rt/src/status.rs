//! What a completed operation tells.

use crate::abi::{ANY_SOURCE, ANY_TAG, PROC_NULL};
use crate::error::Error;

/// The outcome of one operation (MPI-4.1, section 3.2.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    pub tag: i32,
    /// What went wrong in this operation.
    pub error: Option<Error>,
    /// Bytes received.
    pub bytes: u64,
    pub cancelled: bool,
}

impl Status {
    /// Of a null or inactive request, and of a send.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, error: None, bytes: 0, cancelled: false };

    /// Of a receive from nobody.
    pub const PROC_NULL: Status =
        Status { source: PROC_NULL, tag: ANY_TAG, error: None, bytes: 0, cancelled: false };
}
