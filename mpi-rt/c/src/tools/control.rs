//! Control variables (MPI-5.0, section 15.3.6): numbers that the library was built with, which never change, and the forms of collective
//! operations, which a program may set while MPI runs, to the same in all ranks. A handle is the variable's index plus one.

use super::variable::{CONSTANTS, OPERATIONS, Operation};
use super::{enumeration, error, find, tell, tell_text, tool};
use crate::mpi;
use crate::types::{Datatype, give};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::datatype::{INT, UNSIGNED_LONG};
use lwk_mpi_rt::engine::with;

/// `MPI_T_VERBOSITY_TUNER_BASIC`, `MPI_T_BIND_NO_OBJECT`, `MPI_T_SCOPE_CONSTANT`, `MPI_T_SCOPE_ALL_EQ`.
const VERBOSITY: c_int = 0x11;
const NO_OBJECT: c_int = 1;
const CONSTANT: c_int = 1;
const ALL_EQUAL: c_int = 7;

/// What a variable is.
enum Control {
    /// An `unsigned long`.
    Constant(u64),
    /// An `int`, of the operation's enumeration.
    Form(&'static Operation),
}

/// How many variables there are.
pub const COUNT: usize = CONSTANTS.len() + OPERATIONS.len();

/// The variable with an index, its name and its description. Errors: `INVALID_INDEX`.
fn variable(index: c_int) -> Result<(Control, &'static str, &'static str), c_int> {
    let index = usize::try_from(index).map_err(|_| error::INVALID_INDEX)?;
    if let Some(it) = CONSTANTS.get(index) {
        return Ok((Control::Constant(it.value), it.name, it.description));
    }
    let operation = index.checked_sub(CONSTANTS.len()).and_then(|index| OPERATIONS.get(index));
    operation.map(|it| (Control::Form(it), it.name, it.description)).ok_or(error::INVALID_INDEX)
}

/// Errors: `INVALID_HANDLE`.
fn of_handle(handle: u64) -> Result<Control, c_int> {
    let index = handle.checked_sub(1).and_then(|index| c_int::try_from(index).ok());
    let found = index.and_then(|index| variable(index).ok());
    found.map(|(control, ..)| control).ok_or(error::INVALID_HANDLE)
}

mpi! {
    fn T_cvar_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, COUNT as c_int).map_err(|_| error::INVALID))
    }

    fn T_cvar_get_info(
        index: c_int, name: *mut u8, name_len: *mut c_int, verbosity: *mut c_int, datatype: *mut Datatype, enumtype: *mut u64,
        desc: *mut u8, desc_len: *mut c_int, bind: *mut c_int, scope: *mut c_int,
    ) -> c_int {
        tool(|| {
            let (control, its_name, description) = variable(index)?;
            tell_text(name, name_len, its_name);
            tell_text(desc, desc_len, description);
            tell(verbosity, VERBOSITY);
            let (its_type, enumeration, its_scope) = match control {
                Control::Constant(_) => (UNSIGNED_LONG, 0, CONSTANT),
                Control::Form(operation) => (INT, enumeration::handle_of(operation), ALL_EQUAL),
            };
            tell(datatype, its_type);
            tell(enumtype, enumeration);
            tell(bind, NO_OBJECT);
            tell(scope, its_scope);
            Ok(())
        })
    }

    fn T_cvar_get_index(name: *const c_char, index: *mut c_int) -> c_int {
        tool(|| find(CONSTANTS.iter().map(|it| it.name).chain(OPERATIONS.iter().map(|it| it.name)), name, index))
    }

    fn T_cvar_handle_alloc(index: c_int, _object: *mut u8, handle: *mut u64, count: *mut c_int) -> c_int {
        tool(|| {
            variable(index)?;
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

    /// The buffer is of the variable's type. Errors: `NOT_ACCESSIBLE` for a form while MPI does not run.
    fn T_cvar_read(handle: u64, buffer: *mut u8) -> c_int {
        tool(|| match of_handle(handle)? {
            Control::Constant(value) => give(buffer.cast::<u64>(), value).map_err(|_| error::INVALID),
            Control::Form(operation) => {
                let form = with(|engine| Ok(engine.form_of(operation.variable))).map_err(|_| error::NOT_ACCESSIBLE)?;
                give(buffer.cast::<c_int>(), enumeration::value_of(operation, form)).map_err(|_| error::INVALID)
            }
        })
    }

    /// Errors: `CVAR_SET_NEVER` for a constant, `CVAR_SET_NOT_NOW` while MPI does not run, `INVALID` for a value that is no item's.
    fn T_cvar_write(handle: u64, buffer: *const u8) -> c_int {
        tool(|| match of_handle(handle)? {
            Control::Constant(_) => Err(error::CVAR_SET_NEVER),
            Control::Form(operation) => {
                let value = *buffer.cast::<c_int>().as_ref().ok_or(error::INVALID)?;
                let form = enumeration::form_of(operation, value)?;
                with(|engine| Ok(engine.set_form(operation.variable, form)))
                    .map_err(|_| error::CVAR_SET_NOT_NOW)?
                    .map_err(|_| error::INVALID)
            }
        })
    }
}
