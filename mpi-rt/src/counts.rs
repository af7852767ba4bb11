//! How much a status says was received, in items of a datatype and in basic elements (MPI-5.0, sections 3.2.5 and 5.1.11).

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::status::Status;

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
