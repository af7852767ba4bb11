//! Attributes of communicators, datatypes and windows (MPI-5.0, section 7.7), and the names of MPI-1 for those of communicators.

use crate::mpi;
use crate::types::{Comm, Datatype, Win, give, value};
use core::ffi::{c_int, c_void};
use lwk_mpi_rt::abi::attribute::INVALID;
use lwk_mpi_rt::attribute::{self, Copier, Deleter};
use lwk_mpi_rt::object::{Kind, Object};
use lwk_mpi_rt::{Handle, Result};

/// A new key.
///
/// # Safety
/// `keyval` must be null or writable; the functions must be predefined or of the right type.
unsafe fn create(
    kind: Kind,
    copier: *const c_void,
    deleter: *const c_void,
    keyval: *mut c_int,
    extra: *mut c_void,
) -> Result<()> {
    // SAFETY: `keyval` is null or writable, and the functions are predefined or of the right type (this
    // function's contract).
    unsafe {
        let copier = Copier::from_address(copier.expose_provenance());
        let deleter = Deleter::from_address(deleter.expose_provenance());
        give(keyval, attribute::create_key(kind, copier, deleter, extra.expose_provenance())?)
    }
}

/// # Safety
/// `keyval` must be null or writable.
unsafe fn free(kind: Kind, keyval: *mut c_int) -> Result<()> {
    // SAFETY: `keyval` is null or writable (this function's contract).
    unsafe {
        attribute::free_key(kind, value(keyval)?)?;
        give(keyval, INVALID)
    }
}

/// # Safety
/// `place` and `flag` must be null or writable, `place` for a pointer.
unsafe fn get(object: Object, keyval: c_int, place: *mut c_void, flag: *mut c_int) -> Result<()> {
    let found = attribute::get(object, keyval)?;
    // SAFETY: `place` is null or writable for a pointer, `flag` null or writable (this function's contract).
    unsafe {
        if let Some(word) = found {
            give(place.cast::<usize>(), word)?;
        }
        give(flag, found.is_some() as c_int)
    }
}

fn set(object: Object, keyval: c_int, word: *mut c_void) -> Result<()> {
    attribute::set(object, keyval, word.expose_provenance())
}

mpi! {
    fn Comm_create_keyval(copier: *const c_void, deleter: *const c_void, keyval: *mut c_int, extra: *mut c_void) on Nothing {
        create(Kind::Communicator, copier, deleter, keyval, extra)
    }

    fn Comm_free_keyval(keyval: *mut c_int) on Nothing {
        free(Kind::Communicator, keyval)
    }

    fn Comm_set_attr(comm: Comm, keyval: c_int, word: *mut c_void) on Comm(comm) {
        set(Object::communicator(Handle(comm)), keyval, word)
    }

    fn Comm_get_attr(comm: Comm, keyval: c_int, word: *mut c_void, flag: *mut c_int) on Comm(comm) {
        get(Object::communicator(Handle(comm)), keyval, word, flag)
    }

    fn Comm_delete_attr(comm: Comm, keyval: c_int) on Comm(comm) {
        attribute::delete(Object::communicator(Handle(comm)), keyval)
    }

    fn Type_create_keyval(copier: *const c_void, deleter: *const c_void, keyval: *mut c_int, extra: *mut c_void) on Nothing {
        create(Kind::Datatype, copier, deleter, keyval, extra)
    }

    fn Type_free_keyval(keyval: *mut c_int) on Nothing {
        free(Kind::Datatype, keyval)
    }

    fn Type_set_attr(datatype: Datatype, keyval: c_int, word: *mut c_void) on Nothing {
        set(Object::datatype(Handle(datatype)), keyval, word)
    }

    fn Type_get_attr(datatype: Datatype, keyval: c_int, word: *mut c_void, flag: *mut c_int) on Nothing {
        get(Object::datatype(Handle(datatype)), keyval, word, flag)
    }

    fn Type_delete_attr(datatype: Datatype, keyval: c_int) on Nothing {
        attribute::delete(Object::datatype(Handle(datatype)), keyval)
    }

    fn Win_create_keyval(copier: *const c_void, deleter: *const c_void, keyval: *mut c_int, extra: *mut c_void) on Nothing {
        create(Kind::Window, copier, deleter, keyval, extra)
    }

    fn Win_free_keyval(keyval: *mut c_int) on Nothing {
        free(Kind::Window, keyval)
    }

    fn Win_set_attr(win: Win, keyval: c_int, word: *mut c_void) on Win(win) {
        set(Object::window(Handle(win)), keyval, word)
    }

    fn Win_get_attr(win: Win, keyval: c_int, word: *mut c_void, flag: *mut c_int) on Win(win) {
        get(Object::window(Handle(win)), keyval, word, flag)
    }

    fn Win_delete_attr(win: Win, keyval: c_int) on Win(win) {
        attribute::delete(Object::window(Handle(win)), keyval)
    }

    fn Keyval_create(copier: *const c_void, deleter: *const c_void, keyval: *mut c_int, extra: *mut c_void) on Nothing {
        create(Kind::Communicator, copier, deleter, keyval, extra)
    }

    fn Keyval_free(keyval: *mut c_int) on Nothing {
        free(Kind::Communicator, keyval)
    }

    fn Attr_put(comm: Comm, keyval: c_int, word: *mut c_void) on Comm(comm) {
        set(Object::communicator(Handle(comm)), keyval, word)
    }

    fn Attr_get(comm: Comm, keyval: c_int, word: *mut c_void, flag: *mut c_int) on Comm(comm) {
        get(Object::communicator(Handle(comm)), keyval, word, flag)
    }

    fn Attr_delete(comm: Comm, keyval: c_int) on Comm(comm) {
        attribute::delete(Object::communicator(Handle(comm)), keyval)
    }
}
