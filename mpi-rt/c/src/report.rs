//! Errors become what the object's error handler makes of them (MPI-5.0, section 9.3): `lwk_mpi_rt::error_handler`.

use crate::stdio;
use core::ffi::c_int;
use lwk_mpi_rt::object::Object as Of;
use lwk_mpi_rt::{Error, Handle, abi, error_handler};

/// What an error belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code, reason = "a kind is used when the first of its functions is there")]
pub enum Object {
    Comm(u64),
    Win(u64),
    File(u64),
    Session(u64),
    /// No object: the error is raised on `MPI_COMM_SELF` (MPI-5.0, section 9.3).
    Nothing,
}

/// Hands an error to the object's error handler, and returns the error's code if that lets the program go on. A handler that ends the job
/// prints one line: rank, function, class, object.
#[cold]
#[inline(never)]
pub fn report(function: &'static str, object: Object, error: Error) -> c_int {
    let of = match object {
        Object::Comm(comm) => Of::communicator(Handle(comm)),
        Object::Win(win) => Of::window(Handle(win)),
        Object::File(file) => Of::file(Handle(file)),
        Object::Session(session) => Of::session(Handle(session)),
        Object::Nothing => Of::communicator(Handle(abi::COMM_SELF)),
    };
    stdio::flush_before_error(of);
    error_handler::raise(of, function, error)
}
