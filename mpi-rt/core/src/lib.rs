//! The core of MPI: what every subsystem stands on, and what knows none of them.
//!
//! [`handle`] numbers objects, [`error`] and [`error_code`] number what can go wrong, [`abi`] has the numbers of the MPI-5.0 application binary interface, and
//! [`status`] is the outcome of an operation. [`info`] objects, and what programs attach to any object ([`object`]: [`name`], [`attribute`],
//! [`error_handler`]), lie beside the objects, by handle. Whether there is an object is its owner's to say: a subsystem registers for the kinds that it has
//! ([`object::own`]).
//!
//! Per rank: all tables and lists, in [`local::RankLocal`]s of their own, so that a callback of the program finds them free. A call borrows one for a moment and
//! never while it calls the program. Nothing is per thread (a rank is one) or per communicator.
#![no_std]

extern crate alloc;

pub mod abi;
pub mod attribute;
pub mod error;
pub mod error_code;
pub mod error_handler;
pub mod handle;
pub mod info;
pub mod local;
pub mod name;
pub mod object;
pub mod status;

pub use error::{Error, Result};
pub use handle::Handle;

use object::Object;

/// Drops what is attached to an object that is being freed: its name and its hold on an error handler. Attributes must have been
/// deleted before ([`attribute::delete_all`]), since that can fail.
pub fn forget(object: Object) {
    if let Some(handler) = object.detach().and_then(|it| it.handler) {
        error_handler::let_go(handler);
    }
}
