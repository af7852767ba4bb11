//! Objects of any kind: who owns them, and what programs attach to them: a name, attributes, an error handler. That lies beside the objects, by handle, so
//! that the objects need not know, and outside of the engine, so that a callback that it leads to finds the engine free.
//!
//! The subsystem that has the objects of a kind owns it ([`own`]). Whoever frees an object calls [`crate::forget`]. Handles are not used again, so nothing is ever
//! attached to the wrong object.

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

/// Attributes of one object: key and value, in the order of setting.
pub type Attributes = Vec<(i32, usize)>;

/// What is attached to it.
#[derive(Default)]
pub struct Attached {
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

/// What the subsystem that has the objects of a kind says of them.
#[derive(Clone, Copy)]
pub struct Owner {
    /// Whether there is such an object. Errors: `ORDER` before the runtime starts and after it has ended.
    pub has: fn(Object) -> Result<bool>,
    /// The value of a predefined attribute, by its key, as in the C binding: an address; `None` if it is not set. Errors: `KEYVAL`.
    pub attribute: fn(Object, i32) -> Result<Option<usize>>,
}

static OWNERS: RankLocal<BTreeMap<Kind, Owner>> = RankLocal::new(BTreeMap::new());

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
    pub fn attached<R>(self, look: impl FnOnce(Option<&Attached>) -> R) -> Result<R> {
        ATTACHED.try_with(|all| look(all.get(&self))).ok_or(Error::INTERN)
    }

    /// Takes away what is attached, if anything is.
    pub(crate) fn detach(self) -> Option<Attached> {
        ATTACHED.try_with(|all| all.remove(&self)).flatten()
    }

    /// Lets `change` change what is attached.
    pub fn attach<R>(self, change: impl FnOnce(&mut Attached) -> R) -> Result<R> {
        ATTACHED.try_with(|all| change(all.entry(self).or_default())).ok_or(Error::INTERN)
    }
}

/// From now on that subsystem says which objects of a kind there are. The one that was there before says so no longer.
pub fn own(kind: Kind, owner: Owner) {
    // The table is in use for moments only, in which nothing is called.
    let _ = OWNERS.try_with(|all| all.insert(kind, owner));
}

/// Of a kind. Errors: `ORDER` before its subsystem has started.
fn owner(kind: Kind) -> Result<Owner> {
    OWNERS.try_with(|all| all.get(&kind).copied()).flatten().ok_or(Error::ORDER)
}

/// Whether there is such an object. Errors: the class of an invalid handle of its kind; before the runtime starts and after it has
/// ended, `ORDER`.
pub fn exists(object: Object) -> Result<()> {
    if (owner(object.kind)?.has)(object)? { Ok(()) } else { Err(object.invalid()) }
}

/// The value of a predefined attribute of an object, as [`Owner::attribute`] says. Errors: those.
pub(crate) fn predefined_attribute(object: Object, key: i32) -> Result<Option<usize>> {
    (owner(object.kind)?.attribute)(object, key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_objects_that_its_owner_has() {
        let (there, gone) = (Object::window(Handle(0x5000)), Object::window(Handle(0x5001)));
        assert_eq!(exists(there), Err(Error::ORDER));
        let attribute = |_, key| if key == 1 { Ok(Some(7)) } else { Err(Error::KEYVAL) };
        own(Kind::Window, Owner { has: |it| Ok(it.handle.0 == 0x5000), attribute });
        assert_eq!((exists(there), exists(gone)), (Ok(()), Err(Error::WIN)));
        assert_eq!(
            (predefined_attribute(there, 1), predefined_attribute(there, 2)),
            (Ok(Some(7)), Err(Error::KEYVAL))
        );
        assert_eq!(exists(Object::file(Handle(0x5000))), Err(Error::ORDER));
    }
}
