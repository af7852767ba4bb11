//! Buffers, and those that are none: null pointers, and `MPI_IN_PLACE` where a call does not take it. Both lie in the first page, which is never mapped, so a
//! comparison tells them from all others; only a datatype of absolute addresses leads on from there (`MPI_BOTTOM`).

use crate::abi::IN_PLACE;
use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_path::region::Region;

/// Bytes at address 0 that are never mapped, at least.
const FIRST_PAGE: usize = 4096;

/// Whether nothing can lie at the address.
#[inline(always)]
pub fn is_none(address: *const u8) -> bool {
    address.addr() < FIRST_PAGE
}

/// Refuses an argument for `bytes` bytes where nothing can lie. Errors: `BUFFER`.
pub(crate) fn check_bytes(address: *const u8, bytes: usize) -> Result<()> {
    if bytes > 0 && is_none(address) { Err(Error::BUFFER) } else { Ok(()) }
}

/// A buffer as the standard lists it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    pub address: *mut u8,
    pub count: i64,
    pub datatype: u64,
}

impl Engine {
    /// [`Engine::region`] of a buffer that is one. Errors: those, and `BUFFER`.
    #[inline(always)]
    pub fn buffer(&self, address: *const u8, count: i64, datatype: u64) -> Result<Region> {
        let region = self.region(address, count, datatype)?;
        self.check_buffer(address, count, datatype)?;
        Ok(region)
    }

    /// Refuses a buffer of `count` items that begins in the first page, which is never mapped: a null pointer, or `MPI_IN_PLACE` where
    /// the call does not take it. Errors: `BUFFER`.
    #[inline(always)]
    pub fn check_buffer(&self, address: *const u8, count: i64, datatype: u64) -> Result<()> {
        if !is_none(address) || count <= 0 {
            return Ok(());
        }
        self.check_low_buffer(address, datatype)
    }

    #[cold]
    fn check_low_buffer(&self, address: *const u8, datatype: u64) -> Result<()> {
        if crate::datatypes::dense_bytes(datatype) != 0 {
            return Err(Error::BUFFER);
        }
        // From MPI_BOTTOM a datatype leads to absolute addresses. One that is wrong is another error, which the caller finds.
        let Ok(datatype) = self.datatype(datatype) else { return Ok(()) };
        let lowest = (address.addr() as i64).wrapping_add(datatype.true_lb());
        let is_low = (0..FIRST_PAGE as i64).contains(&lowest);
        if datatype.size() > 0 && (is_low || address.addr() == IN_PLACE) {
            Err(Error::BUFFER)
        } else {
            Ok(())
        }
    }
}
