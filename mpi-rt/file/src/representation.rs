//! Data representations (MPI-5.0, section 14.5): how data lies in a file. `native` and `internal` are memory's own; `external32` is the standard's
//! portable form; others are the program's, registered under a name.

use crate::Files;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_datatype::{Basic, Datatype, Predefined};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::local::RankLocal;

use crate::Direction;

/// Bytes of a name with the NUL that ends it: the binary interface's `MPI_MAX_DATAREP_STRING`.
pub const MAX_NAME: usize = 128;

/// What a program says of a representation of its own.
pub trait Converter {
    /// Bytes that a value of a predefined datatype takes in a file. Errors: the program's.
    fn extent(&self, datatype: Handle) -> Result<i64>;

    /// Whether data is converted at all in this direction; otherwise it lies in the file as in memory.
    fn converts(&self, direction: Direction) -> bool;

    /// Converts `count` basic elements of the items of a datatype at `buffer`, from the first one on: for reading from `data` to the items, for
    /// writing the other way. Errors: the program's.
    ///
    /// # Safety
    /// For a read `data` must be readable and the elements at `buffer` writable, for a write the other way
    /// round; they do not overlap.
    unsafe fn convert(
        &self,
        direction: Direction,
        buffer: *mut u8,
        datatype: Handle,
        count: i64,
        data: *mut u8,
    ) -> Result<()>;
}

/// How the data of a view lies in the file.
#[derive(Clone)]
pub(super) enum Representation {
    Native,
    /// The same as native.
    Internal,
    External32,
    User(Rc<User>),
}

/// One that a program has registered.
pub(super) struct User {
    name: Vec<u8>,
    pub converter: Rc<dyn Converter>,
}

static REGISTERED: RankLocal<Vec<Rc<User>>> = RankLocal::new(Vec::new());

/// Registers a representation, for good. Errors: `ARG` for a name that is empty or too long; `DUP_DATAREP` if there is one of this name.
pub fn register(name: &[u8], converter: Rc<dyn Converter>) -> Result<()> {
    if name.is_empty() || name.len() >= MAX_NAME {
        return Err(Error::ARG);
    }
    match Representation::named(name) {
        Ok(_) => Err(Error::DUP_DATAREP),
        Err(_) => REGISTERED
            .try_with(|all| all.push(Rc::new(User { name: name.to_vec(), converter })))
            .ok_or(Error::INTERN),
    }
}

impl Representation {
    /// Errors: `UNSUPPORTED_DATAREP` if there is none of that name.
    pub fn named(name: &[u8]) -> Result<Representation> {
        match name {
            b"native" => Ok(Representation::Native),
            b"internal" => Ok(Representation::Internal),
            b"external32" => Ok(Representation::External32),
            _ => {
                let found =
                    REGISTERED.try_with(|all| all.iter().find(|it| it.name == name).cloned()).flatten();
                found.map(Representation::User).ok_or(Error::UNSUPPORTED_DATAREP)
            }
        }
    }

    pub fn name(&self) -> &[u8] {
        match self {
            Representation::Native => b"native",
            Representation::Internal => b"internal",
            Representation::External32 => b"external32",
            Representation::User(user) => &user.name,
        }
    }
}

impl Files {
    /// Bytes that a basic element takes in a file. Errors: those of a program's representation; `CONVERSION` if it says a negative number.
    pub(super) fn bytes_in_file(&mut self, representation: &Representation, basic: Basic) -> Result<i64> {
        match representation {
            Representation::Native | Representation::Internal => Ok(basic.size() as i64),
            Representation::External32 => Ok(basic.external_size() as i64),
            Representation::User(user) => {
                let converter = user.converter.clone();
                let extent = self.lend(|| converter.extent(Handle(basic.handle().into())))?;
                if extent < 0 { Err(Error::CONVERSION) } else { Ok(extent) }
            }
        }
    }

    /// A datatype as it lies in a file. Errors: `TYPE` and others of the datatype; as for [`Files::bytes_in_file`].
    pub(super) fn type_in_file(
        &mut self,
        representation: &Representation,
        datatype: &Datatype,
    ) -> Result<Datatype> {
        if matches!(representation, Representation::Native | Representation::Internal) {
            return Ok(datatype.clone());
        }
        datatype.represented(&mut |predefined| match predefined {
            Predefined::Basic(basic) => self.bytes_in_file(representation, basic),
            Predefined::Pair(pair) => {
                let value = self.bytes_in_file(representation, pair.value())?;
                value.checked_add(self.bytes_in_file(representation, pair.index())?).ok_or(Error::CONVERSION)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubling;

    impl Converter for Doubling {
        fn extent(&self, _: Handle) -> Result<i64> {
            Ok(8)
        }

        fn converts(&self, _: Direction) -> bool {
            false
        }

        unsafe fn convert(&self, _: Direction, _: *mut u8, _: Handle, _: i64, _: *mut u8) -> Result<()> {
            Err(Error::CONVERSION)
        }
    }

    #[test]
    fn names_are_registered_once() {
        let register = |name: &[u8]| register(name, Rc::new(Doubling));
        assert_eq!(Representation::named(b"mine").err(), Some(Error::UNSUPPORTED_DATAREP));
        assert_eq!((register(b"mine"), register(b"mine")), (Ok(()), Err(Error::DUP_DATAREP)));
        assert_eq!(Representation::named(b"mine").map(|it| it.name().to_vec()), Ok(b"mine".to_vec()));
        for taken in [&b"native"[..], b"internal", b"external32"] {
            assert_eq!(register(taken), Err(Error::DUP_DATAREP));
        }
        assert_eq!((register(b""), register(&[b'x'; MAX_NAME])), (Err(Error::ARG), Err(Error::ARG)));
    }
}
