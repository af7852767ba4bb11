//! Names of communicators, datatypes and windows (MPI-5.0, section 7.8).

use crate::mpi;
use crate::types::{Comm, Datatype, Win, give_text, text};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::Handle;
use lwk_mpi_rt::name::{self, MAX_NAME};
use lwk_mpi_rt::object::Object;

mpi! {
    fn Comm_set_name(comm: Comm, comm_name: *const c_char) on Comm(comm) {
        name::set(Object::communicator(Handle(comm)), text(comm_name)?)
    }

    fn Comm_get_name(comm: Comm, comm_name: *mut u8, resultlen: *mut c_int) on Comm(comm) {
        give_text(comm_name, resultlen, &name::get(Object::communicator(Handle(comm)))?, MAX_NAME)
    }

    fn Type_set_name(datatype: Datatype, type_name: *const c_char) on Nothing {
        name::set(Object::datatype(Handle(datatype)), text(type_name)?)
    }

    fn Type_get_name(datatype: Datatype, type_name: *mut u8, resultlen: *mut c_int) on Nothing {
        give_text(type_name, resultlen, &name::get(Object::datatype(Handle(datatype)))?, MAX_NAME)
    }

    fn Win_set_name(win: Win, win_name: *const c_char) on Win(win) {
        name::set(Object::window(Handle(win)), text(win_name)?)
    }

    fn Win_get_name(win: Win, win_name: *mut u8, resultlen: *mut c_int) on Win(win) {
        give_text(win_name, resultlen, &name::get(Object::window(Handle(win)))?, MAX_NAME)
    }
}
