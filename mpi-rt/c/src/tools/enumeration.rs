//! Enumerations (MPI-5.0, section 15.3.5): the names of the forms of a collective operation. Item 0 stands for the runtime's own choice, by size
//! and number of ranks; the others follow in the order of the runtime's list. A handle is the operation's place among the variables plus one.

use super::variable::{OPERATIONS, Operation};
use super::{error, tell, tell_text, tool};
use crate::mpi;
use core::ffi::c_int;
use lwk_mpi_rt::collective::algorithm::FORMS;

/// The name of item 0.
const OWN_CHOICE: &str = "automatic";

/// The handle of an operation's enumeration.
pub fn handle_of(operation: &Operation) -> u64 {
    OPERATIONS.iter().position(|it| it.variable == operation.variable).map_or(0, |place| place as u64 + 1)
}

fn of_handle(handle: u64) -> Result<&'static Operation, c_int> {
    let place = handle.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    place.and_then(|place| OPERATIONS.get(place)).ok_or(error::INVALID_HANDLE)
}

/// The items' names, in the order of their values.
fn items(operation: &Operation) -> impl Iterator<Item = &'static str> {
    let variable = operation.variable;
    core::iter::once(OWN_CHOICE)
        .chain(FORMS.iter().filter(move |form| form.variable == variable).map(|form| form.name))
}

/// The form of a value; `None` for the runtime's own choice. Errors: `INVALID` if it is the value of no item.
pub fn form_of(operation: &Operation, value: c_int) -> Result<Option<&'static str>, c_int> {
    let place = usize::try_from(value).map_err(|_| error::INVALID)?;
    let name = items(operation).nth(place).ok_or(error::INVALID)?;
    Ok((place > 0).then_some(name))
}

/// The value of a form.
pub fn value_of(operation: &Operation, form: Option<&str>) -> c_int {
    form.and_then(|form| items(operation).position(|name| name == form)).unwrap_or(0) as c_int
}

mpi! {
    fn T_enum_get_info(enumtype: u64, num: *mut c_int, name: *mut u8, name_len: *mut c_int) -> c_int {
        tool(|| {
            let it = of_handle(enumtype)?;
            tell(num, items(it).count() as c_int);
            tell_text(name, name_len, it.name);
            Ok(())
        })
    }

    fn T_enum_get_item(enumtype: u64, index: c_int, value: *mut c_int, name: *mut u8, name_len: *mut c_int) -> c_int {
        tool(|| {
            let it = of_handle(enumtype)?;
            let place = usize::try_from(index).map_err(|_| error::INVALID_INDEX)?;
            let item = items(it).nth(place).ok_or(error::INVALID_INDEX)?;
            tell(value, index);
            tell_text(name, name_len, item);
            Ok(())
        })
    }
}
