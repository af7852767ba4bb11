//! Error classes, codes and handlers (MPI-5.0, sections 9.3 to 9.5).

use crate::report::{self, report};
use crate::types::{Comm, Errhandler, Session, Win, give, give_text, text, value};
use crate::{conversions, mpi, stdio};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::ERRHANDLER_NULL;
use lwk_mpi_rt::error_code::{self, MAX_TEXT};
use lwk_mpi_rt::error_handler::{self, ErrorSite, Function, NumberedFunction, UserFunction};
use lwk_mpi_rt::object::{Kind, Object};
use lwk_mpi_rt::{Error, Handle, Result};

type File = u64;

/// A new handler.
///
/// # Safety
/// `place` must be null or writable.
pub(crate) unsafe fn create(
    kind: Kind,
    function: Option<UserFunction>,
    place: *mut Errhandler,
) -> Result<()> {
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, error_handler::create(kind, Function::C(function.ok_or(Error::ARG)?))?.0) }
}

/// The Fortran bindings' way to make a handler of a Fortran function, for a kind of object by its place in the list; an error code, which
/// Fortran's error handlers have seen.
///
/// # Safety
/// As for `create`.
// SAFETY: the name is this library's own.
#[unsafe(no_mangle)]
unsafe extern "C" fn margay_errhandler_create(
    kind: c_int,
    function: Option<NumberedFunction>,
    place: *mut Errhandler,
) -> c_int {
    const KINDS: [Kind; 4] = [Kind::Communicator, Kind::Window, Kind::File, Kind::Session];
    let make = || {
        let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind)).ok_or(Error::ARG)?;
        let function = Function::Fortran(function.ok_or(Error::ARG)?, conversions::number_of);
        // SAFETY: `place` is null or writable (this function's contract).
        unsafe { give(place, error_handler::create(*kind, function)?.0) }
    };
    match make() {
        Ok(()) => 0,
        Err(error) => report("MPI_COMM_CREATE_ERRHANDLER", report::Object::Nothing, error),
    }
}

/// The handler of an object, with a reference that the caller frees.
///
/// # Safety
/// `place` must be null or writable.
pub(crate) unsafe fn get(object: Object, place: *mut Errhandler) -> Result<()> {
    if place.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `place` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(place, error_handler::get(object)?.0) }
}

/// Calls the handler of an object.
fn call(object: Object, code: c_int) -> Result<()> {
    stdio::flush_before_error(ErrorSite::on(object));
    error_handler::call(object, code)
}

mpi! {
    /// What nobody has made a code of, but a callback of the program's may have answered all the same, is unknown.
    fn Error_class(errorcode: c_int, errorclass: *mut c_int) on Nothing {
        give(errorclass, Error::from_code(errorcode).map_or(0, Error::class))
    }

    fn Error_string(errorcode: c_int, string: *mut u8, resultlen: *mut c_int) on Nothing {
        give_text(string, resultlen, &error_code::text(errorcode)?, MAX_TEXT)
    }

    fn Add_error_class(errorclass: *mut c_int) on Nothing {
        give(errorclass, error_code::add_class()?)
    }

    fn Add_error_code(errorclass: c_int, errorcode: *mut c_int) on Nothing {
        give(errorcode, error_code::add_code(errorclass)?)
    }

    fn Add_error_string(errorcode: c_int, string: *const c_char) on Nothing {
        error_code::add_text(errorcode, text(string)?)
    }

    fn Remove_error_class(errorclass: c_int) on Nothing {
        error_code::remove_class(errorclass)
    }

    fn Remove_error_code(errorcode: c_int) on Nothing {
        error_code::remove_code(errorcode)
    }

    fn Remove_error_string(errorcode: c_int) on Nothing {
        error_code::remove_text(errorcode)
    }

    fn Errhandler_free(errhandler: *mut Errhandler) on Nothing {
        let handle = value(errhandler)?;
        error_handler::free(Handle(handle))?;
        // Each call that gives a handler out must be answered by one of these: its number stays until the last.
        if !error_handler::is_held(Handle(handle)) {
            conversions::forget(handle);
        }
        give(errhandler, ERRHANDLER_NULL)
    }

    fn Comm_create_errhandler(function: Option<UserFunction>, errhandler: *mut Errhandler) on Nothing {
        create(Kind::Communicator, function, errhandler)
    }

    fn Comm_set_errhandler(comm: Comm, errhandler: Errhandler) on Comm(comm) {
        error_handler::set(Object::communicator(Handle(comm)), Handle(errhandler))
    }

    fn Comm_get_errhandler(comm: Comm, errhandler: *mut Errhandler) on Comm(comm) {
        get(Object::communicator(Handle(comm)), errhandler)
    }

    fn Comm_call_errhandler(comm: Comm, errorcode: c_int) on Comm(comm) {
        call(Object::communicator(Handle(comm)), errorcode)
    }

    fn Win_create_errhandler(function: Option<UserFunction>, errhandler: *mut Errhandler) on Nothing {
        create(Kind::Window, function, errhandler)
    }

    fn Win_set_errhandler(win: Win, errhandler: Errhandler) on Win(win) {
        error_handler::set(Object::window(Handle(win)), Handle(errhandler))
    }

    fn Win_get_errhandler(win: Win, errhandler: *mut Errhandler) on Win(win) {
        get(Object::window(Handle(win)), errhandler)
    }

    fn Win_call_errhandler(win: Win, errorcode: c_int) on Win(win) {
        call(Object::window(Handle(win)), errorcode)
    }

    fn File_create_errhandler(function: Option<UserFunction>, errhandler: *mut Errhandler) on Nothing {
        create(Kind::File, function, errhandler)
    }

    fn File_set_errhandler(file: File, errhandler: Errhandler) on File(file) {
        error_handler::set(Object::file(Handle(file)), Handle(errhandler))
    }

    fn File_get_errhandler(file: File, errhandler: *mut Errhandler) on File(file) {
        get(Object::file(Handle(file)), errhandler)
    }

    fn File_call_errhandler(file: File, errorcode: c_int) on File(file) {
        call(Object::file(Handle(file)), errorcode)
    }

    fn Session_create_errhandler(function: Option<UserFunction>, errhandler: *mut Errhandler) on Nothing {
        create(Kind::Session, function, errhandler)
    }

    fn Session_set_errhandler(session: Session, errhandler: Errhandler) on Session(session) {
        error_handler::set(Object::session(Handle(session)), Handle(errhandler))
    }

    fn Session_get_errhandler(session: Session, errhandler: *mut Errhandler) on Session(session) {
        get(Object::session(Handle(session)), errhandler)
    }

    fn Session_call_errhandler(session: Session, errorcode: c_int) on Session(session) {
        call(Object::session(Handle(session)), errorcode)
    }
}
