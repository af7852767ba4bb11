//! Names of communicators, datatypes and windows (MPI-5.0, section 7.8).

use crate::abi::{COMM_NULL, COMM_SELF, COMM_WORLD, WIN_NULL, datatype};
use crate::error::Result;
use crate::handle::Kind;
use crate::object::{self, Object};
use alloc::vec::Vec;
use lwk_datatype::Predefined;

/// Bytes of a name, with the NUL that ends it: the binary interface's `MPI_MAX_OBJECT_NAME`.
pub const MAX_NAME: usize = 128;

/// Names an object; what is too long is cut. Errors: the class of an invalid object.
pub fn set(object: Object, name: &[u8]) -> Result<()> {
    object::exists(object)?;
    let name = name[..name.len().min(MAX_NAME - 1)].to_vec();
    object.attach(|it| it.name = Some(name))
}

/// The name of an object: what [`set`] has set, or the name of a predefined one, or nothing. Errors: as for [`set`].
pub fn get(object: Object) -> Result<Vec<u8>> {
    let given = object.attached(|it| it.and_then(|it| it.name.clone()))?;
    match (object.kind, object.handle.0) {
        (Kind::Communicator, COMM_NULL) => return Ok(b"MPI_COMM_NULL".to_vec()),
        (Kind::Datatype, datatype::NULL) => return Ok(b"MPI_DATATYPE_NULL".to_vec()),
        (Kind::Window, WIN_NULL) => return Ok(b"MPI_WIN_NULL".to_vec()),
        _ => {}
    }
    object::exists(object)?;
    Ok(given.unwrap_or_else(|| predefined(object).to_vec()))
}

fn predefined(object: Object) -> &'static [u8] {
    match (object.kind, object.handle.0) {
        (Kind::Communicator, COMM_WORLD) => b"MPI_COMM_WORLD",
        (Kind::Communicator, COMM_SELF) => b"MPI_COMM_SELF",
        (Kind::Datatype, handle) => {
            Predefined::from_handle(handle as usize).map_or(b"", |it| it.name().as_bytes())
        }
        _ => b"",
    }
}
