//! The tool interface, MPI_T (MPI-5.0, chapter 15): the runtime's tunables as control variables, its memory and the kernel's counters as
//! performance variables. There are no events: nothing interrupts a rank to tell of one.
//!
//! Its functions return codes of their own and call no error handler, and work before the runtime starts and after it has ended.

mod category;
mod control;
mod enumeration;
mod event;
mod performance;
mod variable;

use crate::mpi;
use crate::types::give;
use core::ffi::{CStr, c_char, c_int};
use lwk_primitive::own::Own;

/// Codes of the tool interface (MPI-5.0, section 15.3.10).
pub mod error {
    use core::ffi::c_int;

    pub const NOT_ACCESSIBLE: c_int = 1002;
    pub const NOT_INITIALIZED: c_int = 1003;
    pub const INVALID: c_int = 1006;
    pub const INVALID_INDEX: c_int = 1007;
    pub const INVALID_SESSION: c_int = 1009;
    pub const INVALID_HANDLE: c_int = 1010;
    pub const INVALID_NAME: c_int = 1011;
    pub const CVAR_SET_NOT_NOW: c_int = 1014;
    pub const CVAR_SET_NEVER: c_int = 1015;
    pub const PVAR_NO_WRITE: c_int = 1016;
    pub const PVAR_NO_STARTSTOP: c_int = 1017;
}

/// What the functions here return: a code, or success.
pub type Outcome = Result<(), c_int>;

/// How often `MPI_T_init_thread` has been called more than `MPI_T_finalize`.
static STARTED: Own<u32> = Own::<u32>::new(0);

/// Carries a call out between start and end of the interface.
pub fn tool(call: impl FnOnce() -> Outcome) -> c_int {
    if STARTED.get() == 0 {
        return error::NOT_INITIALIZED;
    }
    call().err().unwrap_or(0)
}

/// Writes a result; a null pointer, which the caller does not want it in, is no error here.
///
/// # Safety
/// `place` must be null or writable.
pub unsafe fn tell<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: `place` is not null (checked above), so it is writable (this function's contract).
        unsafe { place.write(value) };
    }
}

/// Writes a text as MPI-5.0, section 15.3.3 says: cut to the room that `length` gives; without room only the length, the closing zero
/// included, is told.
///
/// # Safety
/// `length` must be null or writable, `place` null or writable for that many bytes.
pub unsafe fn tell_text(place: *mut u8, length: *mut c_int, text: &str) {
    // SAFETY: `length` is null or writable, `place` null or writable for `length` bytes (this function's
    // contract), which is at least 1 where `give_text` is called.
    unsafe {
        let Some(length) = length.as_mut() else { return };
        if place.is_null() || *length <= 0 {
            *length = text.len() as c_int + 1;
            return;
        }
        let _ = crate::types::give_text(place, length, text.as_bytes(), *length as usize);
        *length += 1;
    }
}

/// The one of several that has the name. Errors: `INVALID_NAME`, `INVALID` for null pointers.
///
/// # Safety
/// `name` must be null or a text that ends with a zero, `index` null or writable.
pub unsafe fn find(
    mut names: impl Iterator<Item = &'static str>,
    name: *const c_char,
    index: *mut c_int,
) -> Outcome {
    if name.is_null() {
        return Err(error::INVALID);
    }
    // SAFETY: `name` is not null (checked above), so it is a text that ends with a zero (this function's
    // contract).
    let wanted = unsafe { CStr::from_ptr(name) }.to_bytes();
    let place = names.position(|name| name.as_bytes() == wanted).ok_or(error::INVALID_NAME)?;
    // SAFETY: `index` is null or writable (this function's contract).
    unsafe { give(index, place as c_int) }.map_err(|_| error::INVALID)
}

/// An element by a caller's index. Errors: `INVALID_INDEX`.
pub fn at<T>(list: &[T], index: c_int) -> Result<&T, c_int> {
    usize::try_from(index).ok().and_then(|index| list.get(index)).ok_or(error::INVALID_INDEX)
}

mpi! {
    fn T_init_thread(_required: c_int, provided: *mut c_int) -> c_int {
        STARTED.set(STARTED.get() + 1);
        tell(provided, 0);
        0
    }

    fn T_finalize() -> c_int {
        match STARTED.get().checked_sub(1) {
            None => error::NOT_INITIALIZED,
            Some(count) => {
                STARTED.set(count);
                0
            }
        }
    }
}
