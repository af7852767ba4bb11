//! Data representations of the program's own (MPI-5.0, section 14.5.3).

use crate::mpi;
use crate::types::{Datatype, text};
use alloc::rc::Rc;
use core::ffi::{c_char, c_int, c_void};
use lwk_mpi_file::{self as file, Converter, Direction};
use lwk_mpi_rt::abi::FILE_NULL;
use lwk_mpi_rt::{Error, Handle, Result};

/// `MPI_Datarep_conversion_function`, with the count's type.
type Conversion<N> = unsafe extern "C" fn(
    userbuf: *mut c_void,
    datatype: Datatype,
    count: N,
    filebuf: *mut c_void,
    position: i64,
    extra_state: *mut c_void,
) -> c_int;
/// `MPI_Datarep_extent_function`.
type Extent = unsafe extern "C" fn(datatype: Datatype, extent: *mut i64, extra_state: *mut c_void) -> c_int;

/// A conversion in either form.
#[derive(Clone, Copy)]
enum Function {
    Int(Conversion<c_int>),
    Wide(Conversion<i64>),
}

/// The program's functions; a conversion that is null is none. All may be called with `state` as the standard
/// says, for good ([`register`]'s contract).
struct Functions {
    read: Option<Function>,
    write: Option<Function>,
    extent: Extent,
    state: *mut c_void,
}

/// A callback's failure is one of the conversion, whatever its code.
fn outcome(code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Error::CONVERSION) }
}

impl Functions {
    fn of(&self, direction: Direction) -> Option<Function> {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
        }
    }
}

impl Converter for Functions {
    fn extent(&self, datatype: Handle) -> Result<i64> {
        let mut bytes = 0;
        // SAFETY: `extent` may be called with `state` (this type's invariant), and `bytes`, a variable here,
        // is writable.
        outcome(unsafe { (self.extent)(datatype.0, &raw mut bytes, self.state) })?;
        Ok(bytes)
    }

    fn converts(&self, direction: Direction) -> bool {
        self.of(direction).is_some()
    }

    unsafe fn convert(
        &self,
        direction: Direction,
        buffer: *mut u8,
        datatype: Handle,
        count: i64,
        data: *mut u8,
    ) -> Result<()> {
        let (buffer, data) = (buffer.cast(), data.cast());
        let code = match self.of(direction) {
            None => return Err(Error::CONVERSION),
            Some(Function::Int(function)) => {
                let count = c_int::try_from(count).map_err(|_| Error::VALUE_TOO_LARGE)?;
                // SAFETY: items and `data` are valid for the conversion (`Converter::convert`), and the
                // function may be called with `state` (this type's invariant).
                unsafe { function(buffer, datatype.0, count, data, 0, self.state) }
            }
            // SAFETY: items and `data` are valid for the conversion, and the function may be called with
            // `state`, as for `Int`.
            Some(Function::Wide(function)) => unsafe {
                function(buffer, datatype.0, count, data, 0, self.state)
            },
        };
        outcome(code)
    }
}

/// # Safety
/// `name` must be null or a text that ends with a zero. The functions may be called with `state`, as the
/// standard says, as long as the program runs.
unsafe fn register(
    name: *const c_char,
    read: Option<Function>,
    write: Option<Function>,
    extent: Option<Extent>,
    state: *mut c_void,
) -> Result<()> {
    let extent = extent.ok_or(Error::ARG)?;
    // SAFETY: `name` is null or a text that ends with a zero (this function's contract).
    file::register(unsafe { text(name)? }, Rc::new(Functions { read, write, extent, state }))
}

mpi! {
    fn Register_datarep(
        datarep: *const c_char, read_conversion_fn: Option<Conversion<c_int>>, write_conversion_fn: Option<Conversion<c_int>>,
        dtype_file_extent_fn: Option<Extent>, extra_state: *mut c_void,
    ) on File(FILE_NULL) {
        let (read, write) = (read_conversion_fn.map(Function::Int), write_conversion_fn.map(Function::Int));
        register(datarep, read, write, dtype_file_extent_fn, extra_state)
    }

    fn Register_datarep_c(
        datarep: *const c_char, read_conversion_fn: Option<Conversion<i64>>, write_conversion_fn: Option<Conversion<i64>>,
        dtype_file_extent_fn: Option<Extent>, extra_state: *mut c_void,
    ) on File(FILE_NULL) {
        let (read, write) = (read_conversion_fn.map(Function::Wide), write_conversion_fn.map(Function::Wide));
        register(datarep, read, write, dtype_file_extent_fn, extra_state)
    }
}
