//! The end of a job for a mistake that the standard gives no code for.

use core::fmt::Arguments;
use lwk_user::{eprintln, job, start};

/// The status of a job that ended for wrong use of the library.
pub const MISUSE_STATUS: i32 = lwk_user::abi::exit::USAGE;

/// Says what is wrong, in one line, and ends the job.
#[cold]
#[inline(never)]
pub(crate) fn stop(what: Arguments) -> ! {
    // The mistake may be one of a program that has been started directly.
    start::require_job();
    eprintln!("shmem: PE {}: {what}", job().rank());
    start::abort(MISUSE_STATUS)
}
