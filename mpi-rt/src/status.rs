//! What a completed operation tells.

use crate::abi::{ANY_SOURCE, ANY_TAG, PROC_NULL};
use crate::engine::Engine;
use crate::error::{Error, Result};

/// The outcome of one operation (MPI-5.0, section 3.2.5).
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
    /// It is that of no active request: an empty status, with success as its error (section 3.7.3), where others leave that field alone.
    pub empty: bool,
}

impl Status {
    /// Of a send, and of anything that has nothing to tell.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, error: None, bytes: 0, cancelled: false, empty: false };

    /// Of a null or inactive request.
    pub const OF_NOTHING: Status = Status { empty: true, ..Status::EMPTY };

    /// Of a receive from nobody.
    pub const PROC_NULL: Status = Status { source: PROC_NULL, ..Status::EMPTY };

    /// Of a receive: whose message by its rank in the communicator, which tag, how many bytes.
    #[inline(always)]
    pub const fn received(source: i32, tag: i32, bytes: u64) -> Status {
        Status { source, tag, bytes, ..Status::EMPTY }
    }
}

impl Engine {
    /// Whole items of a datatype that were received (`MPI_GET_COUNT`); `None` is `MPI_UNDEFINED`. Errors: `TYPE`.
    pub fn get_count(&self, status: &Status, datatype: u64) -> Result<Option<i64>> {
        Ok(self.datatype(datatype)?.count_of(status.bytes).map(|count| count as i64))
    }

    /// Basic elements that were received (`MPI_GET_ELEMENTS`); `None` is `MPI_UNDEFINED`. Errors: `TYPE`.
    pub fn get_elements(&self, status: &Status, datatype: u64) -> Result<Option<i64>> {
        Ok(self.datatype(datatype)?.elements_of(status.bytes).map(|elements| elements as i64))
    }

    /// Makes a status say that so many basic elements were received (`MPI_STATUS_SET_ELEMENTS`). Errors: `TYPE`, `COUNT`.
    pub fn set_elements(&self, status: &mut Status, datatype: u64, elements: i64) -> Result<()> {
        let elements = u64::try_from(elements).map_err(|_| Error::COUNT)?;
        status.bytes = self.datatype(datatype)?.bytes_of(elements).ok_or(Error::COUNT)?;
        Ok(())
    }
}
