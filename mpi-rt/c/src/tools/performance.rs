//! Performance variables (MPI-5.0, section 15.3.7). All are read-only and run by themselves, so that they cannot be started, stopped,
//! reset or written. A session's handle is a number; a variable's is its index and the session it belongs to.

use super::variable::{PERFORMANCE, Performance};
use super::{Outcome, at, error, tell, tell_text, tool};
use crate::mpi;
use crate::types::{Datatype, give};
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering};
use lwk_mpi_rt::abi::datatype::UNSIGNED_LONG;

/// `MPI_T_VERBOSITY_USER_BASIC`, `MPI_T_BIND_NO_OBJECT`, `MPI_T_PVAR_ALL_HANDLES`.
const VERBOSITY: c_int = 0x09;
const NO_OBJECT: c_int = 1;
const ALL_HANDLES: u64 = 1;

/// Sessions that exist, a bit each. Relaxed everywhere: a rank is one thread.
static SESSIONS: AtomicU64 = AtomicU64::new(0);
/// A session's handle is its bit's number and this, so that no small number is one.
const FIRST_SESSION: u64 = 0x100;
/// Bits of a variable's handle above the session's, for its index plus one.
const INDEX_SHIFT: u32 = 32;

/// Errors: `INVALID_SESSION`.
fn session(handle: u64) -> Result<u64, c_int> {
    let bit = handle
        .checked_sub(FIRST_SESSION)
        .filter(|bit| *bit < u64::BITS as u64)
        .ok_or(error::INVALID_SESSION)?;
    // Relaxed: see SESSIONS.
    if SESSIONS.load(Ordering::Relaxed) & 1 << bit == 0 { Err(error::INVALID_SESSION) } else { Ok(bit) }
}

/// The variable of a handle. Errors: `INVALID_SESSION`, `INVALID_HANDLE`.
fn variable(of: u64, handle: u64) -> Result<&'static Performance, c_int> {
    session(of)?;
    let index = (handle >> INDEX_SHIFT).checked_sub(1).ok_or(error::INVALID_HANDLE)?;
    if handle & u32::MAX as u64 != of {
        return Err(error::INVALID_HANDLE);
    }
    usize::try_from(index).ok().and_then(|index| PERFORMANCE.get(index)).ok_or(error::INVALID_HANDLE)
}

/// What starting, stopping, resetting and writing come to. All handles of a session at once is no error: those that allow it are
/// started, and here that is none.
fn refuse(of: u64, handle: u64, why: c_int) -> Outcome {
    if handle == ALL_HANDLES {
        return session(of).map(|_| ());
    }
    variable(of, handle)?;
    Err(why)
}

mpi! {
    fn T_pvar_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, PERFORMANCE.len() as c_int).map_err(|_| error::INVALID))
    }

    fn T_pvar_get_info(
        index: c_int, name: *mut u8, name_len: *mut c_int, verbosity: *mut c_int, class: *mut c_int, datatype: *mut Datatype,
        enumtype: *mut u64, desc: *mut u8, desc_len: *mut c_int, bind: *mut c_int, readonly: *mut c_int,
        continuous: *mut c_int, atomic: *mut c_int,
    ) -> c_int {
        tool(|| {
            let it = at(&PERFORMANCE, index)?;
            tell_text(name, name_len, it.name);
            tell_text(desc, desc_len, it.description);
            tell(verbosity, VERBOSITY);
            tell(class, it.class);
            tell(datatype, UNSIGNED_LONG);
            tell(enumtype, 0);
            tell(bind, NO_OBJECT);
            tell(readonly, 1);
            tell(continuous, 1);
            tell(atomic, 0);
            Ok(())
        })
    }

    fn T_pvar_get_index(name: *const c_char, class: c_int, index: *mut c_int) -> c_int {
        tool(|| {
            if name.is_null() || index.is_null() {
                return Err(error::INVALID);
            }
            let wanted = CStr::from_ptr(name).to_bytes();
            let found = PERFORMANCE.iter().position(|it| it.name.as_bytes() == wanted && it.class == class);
            index.write(found.ok_or(error::INVALID_NAME)? as c_int);
            Ok(())
        })
    }

    fn T_pvar_session_create(handle: *mut u64) -> c_int {
        tool(|| {
            // Relaxed: see SESSIONS.
            let taken = SESSIONS.load(Ordering::Relaxed);
            let bit = taken.trailing_ones();
            if bit == u64::BITS {
                return Err(error::OUT_OF_SESSIONS);
            }
            give(handle, FIRST_SESSION + bit as u64).map_err(|_| error::INVALID)?;
            SESSIONS.store(taken | 1 << bit, Ordering::Relaxed);
            Ok(())
        })
    }

    fn T_pvar_session_free(handle: *mut u64) -> c_int {
        tool(|| {
            let bit = session(*handle.as_ref().ok_or(error::INVALID)?)?;
            // Relaxed: see SESSIONS.
            SESSIONS.fetch_and(!(1 << bit), Ordering::Relaxed);
            give(handle, 0).map_err(|_| error::INVALID)
        })
    }

    /// Errors: `NOT_ACCESSIBLE` if the home or the state of the runtime does not have the variable now.
    fn T_pvar_handle_alloc(of: u64, index: c_int, _object: *mut u8, handle: *mut u64, count: *mut c_int) -> c_int {
        tool(|| {
            session(of)?;
            (at(&PERFORMANCE, index)?.read)().ok_or(error::NOT_ACCESSIBLE)?;
            tell(count, 1);
            give(handle, (index as u64 + 1) << INDEX_SHIFT | of).map_err(|_| error::INVALID)
        })
    }

    fn T_pvar_handle_free(of: u64, handle: *mut u64) -> c_int {
        tool(|| {
            variable(of, *handle.as_ref().ok_or(error::INVALID)?)?;
            give(handle, 0).map_err(|_| error::INVALID)
        })
    }

    fn T_pvar_read(of: u64, handle: u64, buffer: *mut u64) -> c_int {
        tool(|| {
            let value = (variable(of, handle)?.read)().ok_or(error::NOT_ACCESSIBLE)?;
            give(buffer, value).map_err(|_| error::INVALID)
        })
    }

    fn T_pvar_start(of: u64, handle: u64) -> c_int {
        tool(|| refuse(of, handle, error::PVAR_NO_STARTSTOP))
    }

    fn T_pvar_stop(of: u64, handle: u64) -> c_int {
        tool(|| refuse(of, handle, error::PVAR_NO_STARTSTOP))
    }

    fn T_pvar_reset(of: u64, handle: u64) -> c_int {
        tool(|| refuse(of, handle, error::PVAR_NO_WRITE))
    }

    fn T_pvar_write(of: u64, handle: u64, _buffer: *const u64) -> c_int {
        tool(|| refuse(of, handle, error::PVAR_NO_WRITE))
    }

    fn T_pvar_readreset(of: u64, handle: u64, _buffer: *mut u64) -> c_int {
        tool(|| {
            variable(of, handle)?;
            Err(error::PVAR_NO_WRITE)
        })
    }
}
