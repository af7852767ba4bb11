//! Generalized requests (MPI-5.0, section 13.2): operations of the program's own.

use crate::mpi;
use crate::types::{Request, Status, give};
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use lwk_mpi_generalized::{Generalized, grequest_complete, grequest_start};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::status::Status as Outcome;
use lwk_mpi_rt::{Error, Handle, Result};

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// The program's callbacks, and what it wants to be given with them. Each may be called with `state` until
/// `free` has been (the C contract of `MPI_Grequest_start`).
struct Callbacks {
    query: Query,
    free: Free,
    cancel: Cancel,
    state: *mut c_void,
}

/// What a callback has returned.
fn outcome(code: c_int) -> Result<()> {
    Error::from_code(code).map_or(Ok(()), Err)
}

impl Generalized for Callbacks {
    fn query(&mut self) -> Outcome {
        let mut status = Status::empty();
        // SAFETY: `query` may be called with `state` (this type's invariant), and `status`, a variable here,
        // is writable.
        let code = unsafe { (self.query)(self.state, &raw mut status) };
        Outcome {
            source: status.source,
            tag: status.tag,
            error: outcome(code).err(),
            bytes: status.length(),
            cancelled: status.cancelled != 0,
            empty: false,
        }
    }

    fn cancel(&mut self, complete: bool) -> Result<()> {
        // SAFETY: `cancel` may be called with `state` (this type's invariant).
        outcome(unsafe { (self.cancel)(self.state, complete as c_int) })
    }

    fn free(self: Box<Self>) -> Result<()> {
        // SAFETY: `free` may be called with `state`, once: it takes the callbacks (this type's invariant).
        outcome(unsafe { (self.free)(self.state) })
    }
}

mpi! {
    fn Grequest_start(
        query_fn: Option<Query>, free_fn: Option<Free>, cancel_fn: Option<Cancel>, extra_state: *mut c_void, request: *mut Request,
    ) on Nothing {
        let (Some(query), Some(free), Some(cancel)) = (query_fn, free_fn, cancel_fn) else { return Err(Error::ARG) };
        if request.is_null() {
            return Err(Error::ARG);
        }
        let callbacks = Box::new(Callbacks { query, free, cancel, state: extra_state });
        give(request, with(|engine| Ok(grequest_start(engine, callbacks)))?.0)
    }

    fn Grequest_complete(request: Request) on Nothing {
        grequest_complete(Handle(request))
    }
}
