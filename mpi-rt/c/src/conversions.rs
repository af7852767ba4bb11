//! Handles as integers: for Fortran (MPI-5.0, section 19.3.4), and for languages that have no pointers (section 20.4).
//!
//! A predefined handle is its own number, which is the same in every implementation of the binary interface. Others get numbers from
//! [`FIRST`] on, each the lowest that is free; [`forget`] makes one free again.

use crate::mpi;
use crate::statuses;
use crate::types::Status;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::c_int;
use lwk_mpi_rt::Error;
use lwk_mpi_rt::abi::FIRST_DYNAMIC_HANDLE;

/// The first number of a handle that is not predefined.
const FIRST: c_int = FIRST_DYNAMIC_HANDLE as c_int;

struct Numbers {
    handles: Vec<Option<u64>>,
    numbers: BTreeMap<u64, c_int>,
    free: Vec<usize>,
}

/// A cell of this rank's own.
struct RankLocal(RefCell<Numbers>);

// SAFETY: a rank is one thread, and nothing here is called from a signal handler.
unsafe impl Sync for RankLocal {}

static NUMBERS: RankLocal =
    RankLocal(RefCell::new(Numbers { handles: Vec::new(), numbers: BTreeMap::new(), free: Vec::new() }));

/// The number of a handle.
pub fn number_of(handle: u64) -> c_int {
    if handle < FIRST_DYNAMIC_HANDLE {
        return handle as c_int;
    }
    let numbers = &mut *NUMBERS.0.borrow_mut();
    *numbers.numbers.entry(handle).or_insert_with(|| {
        let place = numbers.free.pop().unwrap_or_else(|| {
            numbers.handles.push(None);
            numbers.handles.len() - 1
        });
        numbers.handles[place] = Some(handle);
        FIRST + place as c_int
    })
}

/// The handle of a number; a number that has none is a handle that names nothing.
pub fn handle_of(number: c_int) -> u64 {
    if number < FIRST {
        return number as u32 as u64;
    }
    let numbers = NUMBERS.0.borrow();
    numbers.handles.get((number - FIRST) as usize).copied().flatten().unwrap_or(NOTHING)
}

/// A handle that is never given out.
const NOTHING: u64 = u64::MAX;

/// The handle has been freed: its number may be used again.
pub fn forget(handle: u64) {
    let numbers = &mut *NUMBERS.0.borrow_mut();
    if let Some(number) = numbers.numbers.remove(&handle) {
        let place = (number - FIRST) as usize;
        numbers.handles[place] = None;
        numbers.free.push(place);
    }
}

/// The four conversions of a kind of handle.
macro_rules! conversions {
    ($($c2f:ident $f2c:ident $toint:ident $fromint:ident,)*) => {
        mpi! {
            $(
                fn $c2f(handle: u64) -> c_int {
                    number_of(handle)
                }

                fn $f2c(number: c_int) -> u64 {
                    handle_of(number)
                }

                fn $toint(handle: u64) -> c_int {
                    number_of(handle)
                }

                fn $fromint(number: c_int) -> u64 {
                    handle_of(number)
                }
            )*
        }
    };
}

conversions! {
    Comm_c2f Comm_f2c Comm_toint Comm_fromint,
    Errhandler_c2f Errhandler_f2c Errhandler_toint Errhandler_fromint,
    File_c2f File_f2c File_toint File_fromint,
    Group_c2f Group_f2c Group_toint Group_fromint,
    Info_c2f Info_f2c Info_toint Info_fromint,
    Message_c2f Message_f2c Message_toint Message_fromint,
    Op_c2f Op_f2c Op_toint Op_fromint,
    Request_c2f Request_f2c Request_toint Request_fromint,
    Session_c2f Session_f2c Session_toint Session_fromint,
    Type_c2f Type_f2c Type_toint Type_fromint,
    Win_c2f Win_f2c Win_toint Win_fromint,
}

// A status has the same eight integers in C, in Fortran's arrays and in mpi_f08.
mpi! {
    fn Status_c2f(c_status: *const Status, f_status: *mut Status) on Nothing {
        copy(c_status, f_status)
    }

    fn Status_f2c(f_status: *const Status, c_status: *mut Status) on Nothing {
        copy(f_status, c_status)
    }

    fn Status_c2f08(c_status: *const Status, f08_status: *mut Status) on Nothing {
        copy(c_status, f08_status)
    }

    fn Status_f082c(f08_status: *const Status, c_status: *mut Status) on Nothing {
        copy(f08_status, c_status)
    }

    fn Status_f082f(f08_status: *const Status, f_status: *mut Status) on Nothing {
        copy(f08_status, f_status)
    }

    fn Status_f2f08(f_status: *const Status, f08_status: *mut Status) on Nothing {
        copy(f_status, f08_status)
    }
}

/// # Safety
/// `from` must be null or readable, `to` null or writable; they may be the same.
unsafe fn copy(from: *const Status, to: *mut Status) -> Result<(), Error> {
    // SAFETY: `from` is null or readable, `to` null or writable (this function's contract); the first borrow
    // has ended.
    unsafe {
        let status = *statuses::read(from)?;
        *statuses::write(to)? = status;
    }
    Ok(())
}

/// The Fortran bindings' way to [`forget`].
// SAFETY: the name is this library's own.
#[unsafe(no_mangle)]
extern "C" fn margay_forget(number: c_int) {
    forget(handle_of(number));
}
