//! Sessions and the world model: two ways to start the runtime (MPI-5.0, chapter 11), which may be used together.
//!
//! The engine starts with the first of them, in all ranks of the job together, and sleeps when none is left. After the world model has
//! ended it does not come back; sessions may come and go.

use crate::abi::{COMM_SELF, COMM_WORLD, thread};
use crate::attribute;
use crate::engine::{self, Engine, with};
use crate::error::{Error, Result};
use crate::error_handler;
use crate::group::Group;
use crate::handle::{Handle, Kind, Table};
use crate::info::{self, Info};
use crate::local::RankLocal;
use crate::object::Object;
use crate::request::Owner;
use alloc::string::ToString;
use alloc::vec::Vec;
use lwk_place::WorldRank;

/// The process sets that always exist (MPI-5.0, section 11.3.2).
pub const WORLD_SET: &[u8] = b"mpi://WORLD";
pub const SELF_SET: &[u8] = b"mpi://SELF";
const SETS: [&[u8]; 2] = [WORLD_SET, SELF_SET];

/// Bytes of a set's name, with the NUL that ends it: the binary interface's `MPI_MAX_PSET_NAME_LEN`.
pub const MAX_SET_NAME: usize = 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum World {
    Before,
    Running,
    After,
}

struct Models {
    world: World,
    sessions: Table<()>,
}

static MODELS: RankLocal<Models> =
    RankLocal::new(Models { world: World::Before, sessions: Table::of(Kind::Session) });

fn models<R>(call: impl FnOnce(&mut Models) -> Result<R>) -> Result<R> {
    MODELS.try_with(call).unwrap_or(Err(Error::INTERN))
}

impl Models {
    fn in_use(&self) -> bool {
        self.world == World::Running || !self.sessions.is_empty()
    }
}

/// The level of thread support that is provided, whatever is asked for: a rank is one thread and can have no other.
pub const THREAD_LEVEL: i32 = thread::SINGLE;

/// Starts the world model; every rank of the job must. The level of thread support that is provided, [`THREAD_LEVEL`]. Errors: `ORDER`
/// the second time, `ARG` for an unknown level, `UNSUPPORTED_OPERATION` if the job has more than one node, `NO_MEM`.
pub fn initialize_world(required: i32) -> Result<i32> {
    let levels = [thread::SINGLE, thread::FUNNELED, thread::SERIALIZED, thread::MULTIPLE];
    if !levels.contains(&required) {
        return Err(Error::ARG);
    }
    models(|it| if it.world == World::Before { Ok(()) } else { Err(Error::ORDER) })?;
    engine::wake()?;
    with(|engine| {
        engine.communicators.show_predefined(true);
        Ok(())
    })?;
    models(|it| {
        it.world = World::Running;
        Ok(THREAD_LEVEL)
    })
}

/// Ends the world model: deletes the attributes of `MPI_COMM_SELF` (the last one set first), then of `MPI_COMM_WORLD`, and waits for all
/// ranks. Errors: `ORDER` if it is not running; what a delete function returns, after all is done.
pub fn finalize_world() -> Result<()> {
    models(|it| if it.world == World::Running { Ok(()) } else { Err(Error::ORDER) })?;
    let mut outcome = Ok(());
    for communicator in [COMM_SELF, COMM_WORLD] {
        outcome = outcome.and(attribute::delete_all(Object::communicator(Handle(communicator))));
    }
    with(Engine::meet_at_the_end)?;
    let last = models(|it| {
        it.world = World::After;
        Ok(!it.in_use())
    })?;
    if last {
        engine::sleep()?;
    }
    outcome
}

/// Whether the world model has been started, whatever has become of it.
pub fn is_initialized() -> bool {
    models(|it| Ok(it.world != World::Before)).unwrap_or(false)
}

/// Whether the world model has ended.
pub fn is_finalized() -> bool {
    models(|it| Ok(it.world == World::After)).unwrap_or(false)
}

/// The level of thread support of the world model. Errors: `ORDER` if it is not running.
pub fn thread_level() -> Result<i32> {
    models(|it| if it.world == World::Running { Ok(THREAD_LEVEL) } else { Err(Error::ORDER) })
}

/// Starts a session with an error handler. There are no hints for it. The first one, if the world model has not been started, waits until every rank of the job has started
/// one of the two. Errors: `ERRHANDLER`; `UNSUPPORTED_OPERATION` if the job has more than one node, `NO_MEM`.
pub fn initialize(handler: Handle) -> Result<Handle> {
    error_handler::check(Kind::Session, handler)?;
    engine::wake()?;
    let session = models(|it| Ok(it.sessions.insert(())))?;
    error_handler::set(Object::session(session), handler)?;
    Ok(session)
}

/// Ends a session, after its sends are gone; its buffer, if it has one, is the program's again. Errors: `SESSION`.
pub fn finalize(session: Handle) -> Result<()> {
    models(|it| it.sessions.get(session).map(|_| ()).ok_or(Error::SESSION))?;
    with(|engine| {
        engine.finish_transfers();
        engine.drop_buffer(Owner::Session(session))
    })?;
    lwk_mpi_core::forget(Object::session(session));
    let last = models(|it| {
        it.sessions.remove(session);
        Ok(!it.in_use())
    })?;
    if last { engine::sleep() } else { Ok(()) }
}

/// Whether there is such a session.
pub(crate) fn exists(session: Handle) -> bool {
    models(|it| Ok(it.sessions.get(session).is_some())).unwrap_or(false)
}

/// The hints of a session that mean something: its level of thread support. Errors: `SESSION`.
pub fn info(session: Handle) -> Result<Info> {
    set_count(session)?;
    let mut info = Info::new();
    info.set(info::THREAD_LEVEL, info::THREAD_LEVEL_PROVIDED)?;
    Ok(info)
}

/// How many process sets there are. Errors: `SESSION`.
pub fn set_count(session: Handle) -> Result<usize> {
    if exists(session) { Ok(SETS.len()) } else { Err(Error::SESSION) }
}

/// The name of a process set, by its number from 0, without a closing zero. Errors: `SESSION`; `ARG` if there are not so many.
pub fn set_name(session: Handle, number: i32) -> Result<&'static [u8]> {
    set_count(session)?;
    usize::try_from(number).ok().and_then(|number| SETS.get(number)).copied().ok_or(Error::ARG)
}

/// What is known of a process set: its size. Errors: `SESSION`, `ARG`.
pub fn set_info(session: Handle, name: &[u8]) -> Result<Info> {
    let mut info = Info::new();
    let size = with(|engine| engine.set_members(session, name))?.len();
    info.set(b"mpi_size", size.to_string().as_bytes())?;
    Ok(info)
}

impl Engine {
    fn set_members(&self, session: Handle, name: &[u8]) -> Result<Vec<WorldRank>> {
        set_count(session)?;
        // Names of sets are uniform resource identifiers, whose scheme has no case; nor have the names behind it here.
        if name.eq_ignore_ascii_case(WORLD_SET) {
            Ok((0..self.size).map(WorldRank).collect())
        } else if name.eq_ignore_ascii_case(SELF_SET) {
            Ok([self.me].to_vec())
        } else {
            Err(Error::ARG)
        }
    }

    /// Whether a communicator comes from a session, itself or through those that it was made of. Errors: `COMM`.
    pub(crate) fn is_of_session(&self, communicator: Handle) -> Result<bool> {
        Ok(self.communicator(communicator)?.session.is_some())
    }

    /// The ranks of a process set. Errors: `SESSION`, `ARG`.
    pub fn group_from_set(&mut self, session: Handle, name: &[u8]) -> Result<Handle> {
        let members = self.set_members(session, name)?;
        Ok(self.groups.insert(Group::new(members.into()).of_session(Some(session))))
    }

    /// Waits for this rank's sends, then for all ranks.
    fn meet_at_the_end(&mut self) -> Result<()> {
        self.finish_transfers();
        let world = self.communicators.world().clone();
        self.barrier(&world)?;
        self.communicators.show_predefined(false);
        Ok(())
    }
}
