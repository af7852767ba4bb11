//! Errors become what the object's error handler makes of them (MPI-5.0, section 9.3): `lwk_mpi_rt::error_handler`.

use crate::stdio;
use core::ffi::c_int;
use lwk_mpi_rt::error_handler::ErrorSite;
use lwk_mpi_rt::object::Object as Of;
use lwk_mpi_rt::{Error, Handle, abi};

/// What an error belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code, reason = "a kind is used when the first of its functions is there")]
pub enum Object {
    Comm(u64),
    Win(u64),
    File(u64),
    Session(u64),
    /// A communicator or session in the making, by the handler that it is to have.
    NewComm(u64),
    NewSession(u64),
    /// No object (MPI-5.0, section 9.3).
    Nothing,
}

/// Hands an error to the object's error handler, and returns the error's code if that lets the program go on. A handler that ends the job
/// prints one line: rank, function, class, object.
#[cold]
#[inline(never)]
pub fn report(function: &'static str, object: Object, error: Error) -> c_int {
    let place = match object {
        Object::Comm(comm) => ErrorSite::on(Of::communicator(Handle(comm))),
        Object::Win(win) => ErrorSite::on(Of::window(Handle(win))),
        Object::File(file) => ErrorSite::on(Of::file(Handle(file))),
        Object::Session(session) => ErrorSite::on(Of::session(Handle(session))),
        Object::NewComm(handler) => {
            ErrorSite::making(Of::communicator(Handle(abi::COMM_NULL)), Handle(handler))
        }
        Object::NewSession(handler) => {
            ErrorSite::making(Of::session(Handle(abi::SESSION_NULL)), Handle(handler))
        }
        Object::Nothing => ErrorSite::nowhere(),
    };
    stdio::flush_before_error(place);
    place.raise(function, error)
}
