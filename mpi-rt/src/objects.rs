//! What the engine says of the objects that it has: which there are, and their predefined attributes (MPI-5.0, sections 9.1.2, 9.4 and 11.10).

use crate::abi::attribute as key;
use crate::abi::{ANY_SOURCE, PROC_NULL, TAG_UB};
use crate::engine::with;
use crate::error::{Error, Result};
use crate::handle::Kind;
use crate::object::{self, Object, Owner};
use crate::{error_code, session};
use lwk_primitive::own::Own;
use lwk_user::job;

/// The kinds of objects that the engine has.
const KINDS: [Kind; 6] =
    [Kind::Communicator, Kind::Group, Kind::Datatype, Kind::Session, Kind::Operation, Kind::Request];

// What predefined attributes point to: C has the addresses.
static TAG_UB_VALUE: Own<i32> = Own::<i32>::new(TAG_UB);
static HOST_VALUE: Own<i32> = Own::<i32>::new(PROC_NULL);
/// Every rank can read and write files.
static IO_VALUE: Own<i32> = Own::<i32>::new(ANY_SOURCE);
/// The ranks of a node read one clock.
static WTIME_IS_GLOBAL_VALUE: Own<i32> = Own::<i32>::new(1);
static APPNUM_VALUE: Own<i32> = Own::<i32>::new(0);
static UNIVERSE_SIZE_VALUE: Own<i32> = Own::<i32>::new(0);
static LAST_USED_CODE_VALUE: Own<i32> = Own::<i32>::new(0);

/// Makes the engine the owner of its objects.
pub(crate) fn own() {
    KINDS.into_iter().for_each(|kind| object::own(kind, Owner { has, attribute }));
}

fn has(object: Object) -> Result<bool> {
    with(|engine| {
        Ok(match object.kind {
            Kind::Communicator => engine.communicator(object.handle).is_ok(),
            Kind::Group => engine.groups.get(object.handle).is_ok(),
            Kind::Datatype => engine.datatypes.get(object.handle.0).is_ok(),
            Kind::Session => session::exists(object.handle),
            Kind::Operation => engine.op_commutes(object.handle.0).is_ok(),
            Kind::Request => engine.has_request(object.handle),
            _ => false,
        })
    })
}

/// Communicators that come from sessions have the largest tag only.
fn attribute(object: Object, number: i32) -> Result<Option<usize>> {
    if object.kind != Kind::Communicator {
        return Err(Error::KEYVAL);
    }
    let value = match number {
        key::TAG_UB => &TAG_UB_VALUE,
        key::HOST => &HOST_VALUE,
        key::IO => &IO_VALUE,
        key::WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL_VALUE,
        key::APPNUM => &APPNUM_VALUE,
        key::UNIVERSE_SIZE => {
            UNIVERSE_SIZE_VALUE.set(job().size() as i32);
            &UNIVERSE_SIZE_VALUE
        }
        key::LASTUSEDCODE => {
            LAST_USED_CODE_VALUE.set(error_code::last_used());
            &LAST_USED_CODE_VALUE
        }
        _ => return Err(Error::KEYVAL),
    };
    if number != key::TAG_UB && with(|engine| engine.is_of_session(object.handle))? {
        return Ok(None);
    }
    Ok(Some(value.as_ptr().expose_provenance()))
}
