//! Errors become what the object's error handler makes of them (MPI-5.0, section 9.3).
//!
//! A handler that ends the job prints one line: rank, function, class, object.

use core::ffi::c_int;
use lwk_mpi_rt::{Error, abi};
use lwk_user::{eprintln, job, syscall};

/// What an error belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    Comm(u64),
    /// No object: the error is raised on `MPI_COMM_SELF` (MPI-5.0, section 9.3).
    Nothing,
}

/// Hands an error to the object's error handler, and returns the error's code if that lets the program go on.
#[cold]
#[inline(never)]
pub fn report(function: &'static str, object: Object, error: Error) -> c_int {
    fatal(function, object, error)
}

/// Ends the job with one line.
fn fatal(function: &'static str, object: Object, error: Error) -> ! {
    let rank = job().rank();
    match object {
        Object::Comm(abi::COMM_WORLD) => eprintln!("rank {rank}: {function}: {error}, on MPI_COMM_WORLD"),
        Object::Comm(abi::COMM_SELF) => eprintln!("rank {rank}: {function}: {error}, on MPI_COMM_SELF"),
        Object::Comm(comm) => eprintln!("rank {rank}: {function}: {error}, on communicator {comm:#x}"),
        Object::Nothing => eprintln!("rank {rank}: {function}: {error}"),
    }
    // The class as the status: what a shell sees is below 256, and classes are.
    syscall::abort(error.class())
}
