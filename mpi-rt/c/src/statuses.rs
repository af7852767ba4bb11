//! Reading and writing statuses (MPI-5.0, section 3.2.5).

use crate::mpi;
use crate::types::{Status, give};
use core::ffi::c_int;
use lwk_mpi_rt::{Error, Result};

/// Borrows a status. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `status` must be null or readable, as long as `'a`.
pub(crate) unsafe fn read<'a>(status: *const Status) -> Result<&'a Status> {
    // SAFETY: `status` is null or readable during `'a` (this function's contract).
    unsafe { status.as_ref() }.ok_or(Error::ARG)
}

/// Borrows a status to change it. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `status` must be null or writable, as long as `'a`.
pub(crate) unsafe fn write<'a>(status: *mut Status) -> Result<&'a mut Status> {
    // SAFETY: `status` is null or writable and nobody else's during `'a` (this function's contract).
    unsafe { status.as_mut() }.ok_or(Error::ARG)
}

mpi! {
    fn Test_cancelled(status: *const Status, flag: *mut c_int) on Nothing {
        give(flag, (read(status)?.cancelled != 0) as c_int)
    }

    fn Status_set_cancelled(status: *mut Status, flag: c_int) on Nothing {
        write(status)?.cancelled = (flag != 0) as c_int;
        Ok(())
    }

    fn Status_get_source(status: *const Status, source: *mut c_int) on Nothing {
        give(source, read(status)?.source)
    }

    fn Status_set_source(status: *mut Status, source: c_int) on Nothing {
        write(status)?.source = source;
        Ok(())
    }

    fn Status_get_tag(status: *const Status, tag: *mut c_int) on Nothing {
        give(tag, read(status)?.tag)
    }

    fn Status_set_tag(status: *mut Status, tag: c_int) on Nothing {
        write(status)?.tag = tag;
        Ok(())
    }

    fn Status_get_error(status: *const Status, error: *mut c_int) on Nothing {
        give(error, read(status)?.error)
    }

    fn Status_set_error(status: *mut Status, error: c_int) on Nothing {
        write(status)?.error = error;
        Ok(())
    }
}
