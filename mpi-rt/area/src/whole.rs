//! Copies of whole regions.

use lwk_mpi_core::error::{Error, Result};
use lwk_path::region::{Region, copy_regions};

/// Copies all of `from`. Errors: `TRUNCATE` if `to` is shorter.
///
/// # Safety
/// As for [`copy_regions`].
#[inline]
pub unsafe fn copy_whole(from: &Region, to: &Region) -> Result<()> {
    if from.bytes() > to.bytes() {
        return Err(Error::TRUNCATE);
    }
    // SAFETY: `from` is readable and `to`, which is no shorter, writable; they do not overlap (this
    // function's contract).
    unsafe { copy_regions(from, to)? };
    Ok(())
}
