//! Start, end and surroundings (MPI-5.0, chapters 9 and 11).

use crate::mpi;
use crate::types::{Comm, give, give_text};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::{Error, Result, engine};
use lwk_user::clock;
use lwk_user::syscall;

/// A rank is one thread: what is provided whatever is asked for, up to the level at which only the main thread calls.
const THREAD_FUNNELED: c_int = 1024;

/// `MPI_MAX_ERROR_STRING`.
const MAX_ERROR_STRING: usize = 512;

fn start() -> Result<()> {
    engine::initialize()
}

mpi! {
    /// Starts (MPI-5.0, section 11.2.1). Arguments are the program's own.
    fn Init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) on Nothing {
        start()
    }

    /// Ends (MPI-5.0, section 11.2.2).
    fn Finalize() on Nothing {
        engine::finalize()
    }

    fn Initialized(flag: *mut c_int) on Nothing {
        give(flag, engine::is_initialized() as c_int)
    }

    fn Finalized(flag: *mut c_int) on Nothing {
        give(flag, engine::is_finalized() as c_int)
    }

    fn Init_thread(_argc: *mut c_int, _argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) on Nothing {
        start()?;
        give(provided, required.clamp(0, THREAD_FUNNELED))
    }

    fn Error_class(errorcode: c_int, errorclass: *mut c_int) on Nothing {
        give(errorclass, if errorcode == 0 { 0 } else { Error::from_class(errorcode).ok_or(Error::ARG)?.class() })
    }

    fn Error_string(errorcode: c_int, string: *mut u8, resultlen: *mut c_int) on Nothing {
        let text = if errorcode == 0 { "no error" } else { Error::from_class(errorcode).ok_or(Error::ARG)?.text() };
        give_text(string, resultlen, text.as_bytes(), MAX_ERROR_STRING)
    }

    /// Ends the job, whatever the communicator (MPI-5.0, section 9.7). The code's low byte is the status.
    fn Abort(_comm: Comm, errorcode: c_int) on Nothing {
        syscall::abort(errorcode & 0xff)
    }

    /// Seconds, from an arbitrary but fixed moment (MPI-5.0, section 9.6).
    fn Wtime() -> f64 {
        clock::ticks_to_ns(clock::ticks_ordered()) as f64 * 1e-9
    }

    fn Wtick() -> f64 {
        1.0 / clock::ticks_per_second() as f64
    }
}
