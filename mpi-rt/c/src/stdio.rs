//! What the C library's streams hold: it is written out before a call ends the job, so that nothing is lost of what a rank has printed.

use core::ffi::{c_int, c_void};
use core::ptr;
use lwk_mpi_rt::error_handler::ErrorSite;

unsafe extern "C" {
    fn fflush(stream: *mut c_void) -> c_int;
}

/// Writes all streams out.
pub fn flush() {
    // SAFETY: a null pointer stands for all streams.
    unsafe { fflush(ptr::null_mut()) };
}

/// Writes all streams out if an error there ends the job.
pub fn flush_before_error(place: ErrorSite) {
    if place.ends_job() {
        flush();
    }
}
