//! Return codes.

use core::ffi::c_int;
use core::ptr;

use lwk_user::portals::abi::status as code;
use lwk_user::portals::{Error, system_call};

/// Why a function failed (`PTL_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

pub type Result<T> = core::result::Result<T, Status>;

impl Status {
    pub const ARG_INVALID: Status = Status(code::ARG_INVALID);
    pub const NO_SPACE: Status = Status(code::NO_SPACE);
}

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        match error {
            Error::Status(status) => Status(status),
            Error::NoMemory => Status::NO_SPACE,
            Error::NoNetwork => Status(code::FAIL),
        }
    }
}

/// What a function returns.
pub fn answer(result: Result<()>) -> c_int {
    match result {
        Ok(()) => code::OK as c_int,
        Err(Status(status)) => status as c_int,
    }
}

/// One of Portals' system calls.
///
/// # Safety
/// As [`system_call`].
pub unsafe fn ask(number: u64, arguments: [u64; 4]) -> Result<u32> {
    // SAFETY: what others do with the memory that the arguments name is sound (this function's contract).
    unsafe { system_call(number, arguments) }.map_err(Status::from)
}

/// A pointer as an argument of a system call.
pub fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

/// Where a result goes. Errors: nowhere.
pub fn place<T>(pointer: *mut T) -> Result<*mut T> {
    if pointer.is_null() { Err(Status::ARG_INVALID) } else { Ok(pointer) }
}

/// What a pointer leads to. Errors: it is null.
///
/// # Safety
/// A pointer that is not null is readable.
pub unsafe fn read<T: Copy>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Err(Status::ARG_INVALID);
    }
    // SAFETY: `pointer` is not null, so it is readable (this function's contract).
    Ok(unsafe { ptr::read(pointer) })
}

/// Calls `work`, which gives a value for `to`, if the program has initialized Portals and `to` is not null.
///
/// # Safety
/// A pointer that is not null is writable.
pub unsafe fn give<T>(to: *mut T, work: impl FnOnce() -> Result<T>) -> c_int {
    answer(crate::initialized().and_then(|()| {
        let to = place(to)?;
        let value = work()?;
        // SAFETY: `to` is not null, so it is writable (this function's contract).
        unsafe { to.write(value) };
        Ok(())
    }))
}

/// Calls `work` if the program has initialized Portals.
pub fn run(work: impl FnOnce() -> Result<()>) -> c_int {
    answer(crate::initialized().and_then(|()| work()))
}
