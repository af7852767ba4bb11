//! Control variables (MPI-5.0, section 15.3.6). All are constants of this library. A handle is the variable's index plus one.

use super::variable::{CONTROL, Control};
use super::{Outcome, at, error, find, tell, tell_text, tool};
use crate::mpi;
use crate::types::{Datatype, give};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::datatype::UNSIGNED_LONG;

/// `MPI_T_VERBOSITY_TUNER_BASIC`, `MPI_T_BIND_NO_OBJECT`, `MPI_T_SCOPE_CONSTANT`.
const VERBOSITY: c_int = 0x11;
const NO_OBJECT: c_int = 1;
const CONSTANT: c_int = 1;

fn of_handle(handle: u64) -> Result<&'static Control, c_int> {
    let index = handle.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| CONTROL.get(index)).ok_or(error::INVALID_HANDLE)
}

mpi! {
    fn T_cvar_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, CONTROL.len() as c_int).map_err(|_| error::INVALID))
    }

    fn T_cvar_get_info(
        index: c_int, name: *mut u8, name_len: *mut c_int, verbosity: *mut c_int, datatype: *mut Datatype, enumtype: *mut u64,
        desc: *mut u8, desc_len: *mut c_int, bind: *mut c_int, scope: *mut c_int,
    ) -> c_int {
        tool(|| {
            let it = at(&CONTROL, index)?;
            tell_text(name, name_len, it.name);
            tell_text(desc, desc_len, it.description);
            tell(verbosity, VERBOSITY);
            tell(datatype, UNSIGNED_LONG);
            tell(enumtype, 0);
            tell(bind, NO_OBJECT);
            tell(scope, CONSTANT);
            Ok(())
        })
    }

    fn T_cvar_get_index(name: *const c_char, index: *mut c_int) -> c_int {
        tool(|| find(CONTROL.iter().map(|it| it.name), name, index))
    }

    fn T_cvar_handle_alloc(index: c_int, _object: *mut u8, handle: *mut u64, count: *mut c_int) -> c_int {
        tool(|| {
            at(&CONTROL, index)?;
            tell(count, 1);
            give(handle, index as u64 + 1).map_err(|_| error::INVALID)
        })
    }

    fn T_cvar_handle_free(handle: *mut u64) -> c_int {
        tool(|| {
            of_handle(*handle.as_ref().ok_or(error::INVALID)?)?;
            give(handle, 0).map_err(|_| error::INVALID)
        })
    }

    fn T_cvar_read(handle: u64, buffer: *mut u64) -> c_int {
        tool(|| give(buffer, of_handle(handle)?.value).map_err(|_| error::INVALID))
    }

    fn T_cvar_write(handle: u64, _buffer: *const u64) -> c_int {
        tool(|| never(handle))
    }
}

/// Errors: always; `CVAR_SET_NEVER` for a variable that there is.
fn never(handle: u64) -> Outcome {
    of_handle(handle)?;
    Err(error::CVAR_SET_NEVER)
}
