//! What programs attach to objects of any kind: a name, attributes, an error handler. It lies beside the objects, by handle, so
//! that the objects need not know, and outside of the engine, so that a callback that it leads to finds the engine free.
//!
//! Whoever frees an object calls [`forget`]. Handles are not used again, so nothing is ever attached to the wrong object.

use crate::attribute::Attributes;
use crate::error::{Error, Result};
use crate::handle::Handle;
pub use crate::handle::Kind;
use crate::info::Info;
use crate::local::RankLocal;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// An object of some kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Object {
    pub kind: Kind,
    pub handle: Handle,
}

/// What is attached to it.
#[derive(Default)]
pub(crate) struct Attached {
    pub name: Option<Vec<u8>>,
    pub attributes: Attributes,
    /// An error handler's handle; `None` is the kind's default.
    pub handler: Option<Handle>,
    /// Hints that are kept: the program's assertions.
    pub hints: Info,
}

/// The hints on communicators that mean something (MPI-5.0, section 7.4.4). They are promises of the program that this runtime has no use for.
const ASSERTIONS: [&[u8]; 4] = [
    b"mpi_assert_no_any_tag",
    b"mpi_assert_no_any_source",
    b"mpi_assert_exact_length",
    b"mpi_assert_allow_overtaking",
];

static ATTACHED: RankLocal<BTreeMap<Object, Attached>> = RankLocal::new(BTreeMap::new());

impl Object {
    pub const fn communicator(handle: Handle) -> Object {
        Object { kind: Kind::Communicator, handle }
    }

    pub const fn datatype(handle: Handle) -> Object {
        Object { kind: Kind::Datatype, handle }
    }

    pub const fn window(handle: Handle) -> Object {
        Object { kind: Kind::Window, handle }
    }

    pub const fn file(handle: Handle) -> Object {
        Object { kind: Kind::File, handle }
    }

    pub const fn session(handle: Handle) -> Object {
        Object { kind: Kind::Session, handle }
    }

    /// The class for a handle of this kind that names nothing.
    pub fn invalid(self) -> Error {
        match self.kind {
            Kind::Request | Kind::Compact | Kind::Message => Error::REQUEST,
            Kind::Communicator => Error::COMM,
            Kind::Group => Error::GROUP,
            Kind::Datatype => Error::TYPE,
            Kind::Operation => Error::OP,
            Kind::Window => Error::WIN,
            Kind::File => Error::FILE,
            Kind::Session => Error::SESSION,
            Kind::Info => Error::INFO,
            Kind::ErrorHandler => Error::ERRHANDLER,
            Kind::Other => Error::ARG,
        }
    }

    /// Keeps those hints of a communicator that are known; others are ignored, as the standard allows. Errors: `INTERN` if it is called while the
    /// hints are looked at.
    pub fn set_hints(self, hints: &Info) -> Result<()> {
        self.attach(|it| it.hints.merge(&hints.only(&ASSERTIONS)))
    }

    /// The hints that are kept.
    pub fn hints(self) -> Result<Info> {
        self.attached(|it| it.map(|it| it.hints.clone()).unwrap_or_default())
    }

    /// Lets `look` see what is attached, if anything is.
    pub(crate) fn attached<R>(self, look: impl FnOnce(Option<&Attached>) -> R) -> Result<R> {
        ATTACHED.try_with(|all| look(all.get(&self))).ok_or(Error::INTERN)
    }

    /// Lets `change` change what is attached.
    pub(crate) fn attach<R>(self, change: impl FnOnce(&mut Attached) -> R) -> Result<R> {
        ATTACHED.try_with(|all| change(all.entry(self).or_default())).ok_or(Error::INTERN)
    }
}

/// Drops what is attached to an object that is being freed: its name and its hold on an error handler. Attributes must have been
/// deleted before ([`crate::attribute::delete_all`]), since that can fail.
pub fn forget(object: Object) {
    let attached = ATTACHED.try_with(|all| all.remove(&object)).flatten();
    if let Some(handler) = attached.and_then(|it| it.handler) {
        crate::error_handler::let_go(handler);
    }
}
