//! The environment of a C program, which the runtime reads when it starts and when it ends: the transport, forms of collectives, what to report.

use core::ffi::c_char;
use lwk_user::start;

unsafe extern "C" {
    /// POSIX's array of the environment, in the C library.
    static environ: *const *const c_char;
}

/// Shows the runtime the environment as it is now. Called wherever the runtime is about to look: the program may have moved the array.
pub fn show() {
    // SAFETY: the C library's array is null or null-terminated, its texts end in NUL, and the program has one thread, which is here: nobody
    // changes either until the runtime has looked.
    unsafe { start::set_environment(environ) }
}
