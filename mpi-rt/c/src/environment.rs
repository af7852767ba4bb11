//! Start, end and surroundings (MPI-5.0, chapters 9 and 11).

use crate::types::{Comm, Info, give, give_text};
use crate::{allocator, mpi, stdio, variables};
use alloc::format;
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::info::hints;
use lwk_mpi_rt::{Error, Handle, engine, session};
use lwk_place::node_of;
use lwk_user::{clock, job, start, syscall};

/// `MPI_MAX_LIBRARY_VERSION_STRING` and `MPI_MAX_PROCESSOR_NAME`.
const MAX_LIBRARY_VERSION: usize = 8192;
const MAX_PROCESSOR_NAME: usize = 256;

/// The standard that is followed.
const STANDARD: (c_int, c_int) = (5, 0);

/// What comes before each start of the runtime: it is shown the environment, and the subsystems over the engine make themselves known.
pub(crate) fn before_start() {
    variables::show();
    lwk_mpi_window::start();
    lwk_mpi_file::start();
}

mpi! {
    /// Starts (MPI-5.0, section 11.2.1). Arguments are the program's own.
    fn Init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) on Nothing {
        before_start();
        engine::initialize()
    }

    /// Ends (MPI-5.0, section 11.2.2).
    fn Finalize() on Nothing {
        variables::show();
        engine::finalize()
    }

    fn Initialized(flag: *mut c_int) on Nothing {
        give(flag, engine::is_initialized() as c_int)
    }

    fn Finalized(flag: *mut c_int) on Nothing {
        give(flag, engine::is_finalized() as c_int)
    }

    fn Init_thread(_argc: *mut c_int, _argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) on Nothing {
        before_start();
        give(provided, session::initialize_world(required)?)
    }

    /// Ends the job, whatever the communicator (MPI-5.0, section 9.7). The code's low byte is the status.
    fn Abort(_comm: Comm, errorcode: c_int) on Nothing {
        stdio::flush();
        start::require_job();
        // A job that has been aborted has failed, whatever the code.
        syscall::end_job(if errorcode & 0xff == 0 { 1 } else { errorcode })
    }

    fn Query_thread(provided: *mut c_int) on Nothing {
        give(provided, session::thread_level()?)
    }

    fn Is_thread_main(flag: *mut c_int) on Nothing {
        with(|_| Ok(()))?;
        give(flag, 1)
    }

    fn Get_version(version: *mut c_int, subversion: *mut c_int) on Nothing {
        give(version, STANDARD.0)?;
        give(subversion, STANDARD.1)
    }

    fn Get_library_version(version: *mut u8, resultlen: *mut c_int) on Nothing {
        let text = concat!("Margay ", env!("CARGO_PKG_VERSION"), ", MPI-5.0 standard binary interface");
        give_text(version, resultlen, text.as_bytes(), MAX_LIBRARY_VERSION)
    }

    /// The node, for programs find out by it which ranks share one: the same in all ranks of a node, whatever core they run on.
    fn Get_processor_name(name: *mut u8, resultlen: *mut c_int) on Nothing {
        start::require_job();
        let text = format!("node{}", node_of(job().rank()).0);
        give_text(name, resultlen, text.as_bytes(), MAX_PROCESSOR_NAME)
    }

    /// Memory for messages and windows (MPI-5.0, section 9.2): all of a rank's memory is, so this is `malloc`. The result is written
    /// to the pointer that `baseptr` leads to. The info key `mpi_minimum_memory_alignment` is followed if it is a power of two.
    fn Alloc_mem(size: i64, info: Info, baseptr: *mut *mut u8) on Nothing {
        let bytes = usize::try_from(size).map_err(|_| Error::ARG)?;
        let hints = hints(Handle(info))?;
        let wish = hints.get(b"mpi_minimum_memory_alignment")?.and_then(|text| str::from_utf8(text).ok()?.parse().ok());
        let block = allocator::allocate(bytes, wish.unwrap_or(1));
        if block.is_null() {
            return Err(Error::NO_MEM);
        }
        give(baseptr, block)
    }

    /// Null is nothing. Errors: `BASE` for what `MPI_Alloc_mem` cannot have given.
    fn Free_mem(base: *mut u8) on Nothing {
        if !allocator::may_have_given(base) {
            return Err(Error::BASE);
        }
        allocator::release(base);
        Ok(())
    }

    /// For profilers, which define their own (MPI-5.0, section 15.2.4).
    fn Pcontrol(_level: c_int) on Nothing {
        Ok(())
    }

    /// Seconds, from an arbitrary but fixed moment (MPI-5.0, section 9.6). May be called before the start.
    fn Wtime() -> f64 {
        // Whatever may be called before the start may be called in a program that has been started directly.
        start::require_job();
        clock::ticks_to_ns(clock::node_ticks_ordered()) as f64 * 1e-9
    }

    fn Wtick() -> f64 {
        start::require_job();
        1.0 / clock::ticks_per_second() as f64
    }
}
