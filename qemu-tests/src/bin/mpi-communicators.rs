//! Communicators, groups and their surroundings where a program goes wrong, or far: the class the standard names, and no rank left behind
//!
//! What programs in C can check portably stands in `conformance/`. Here are handles that name nothing, calls out of their time, more
//! communicators than there are contexts, and a rank that leaves early.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use lwk_mpi_rt::abi::{
    COMM_NULL, COMM_SELF, COMM_WORLD, ERRORS_RETURN, GROUP_EMPTY, INFO_NULL, datatype, op, thread, topology,
};
use lwk_mpi_rt::attribute::{self, Copier, Deleter};
use lwk_mpi_rt::engine::{self, Engine, with};
use lwk_mpi_rt::error::Error;
use lwk_mpi_rt::error_handler::{self, ErrorSite};
use lwk_mpi_rt::hardware::{self, Level};
use lwk_mpi_rt::info::Info;
use lwk_mpi_rt::object::{Kind, Object};
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::topology::DistributedGraph;
use lwk_mpi_rt::{Handle, Result, communicators, duplication, name, session};
use lwk_user::{Env, job, println, start};

const WORLD: Handle = Handle(COMM_WORLD);
const SELF: Handle = Handle(COMM_SELF);

lwk_user::entry!(main);

fn main(env: &Env) -> Result<i32> {
    let part = env.args().nth(1).unwrap_or("");
    if part == "times" {
        return times();
    }
    engine::initialize()?;
    match part {
        "handles" => handles()?,
        "exhaustion" => exhaustion(4000, Error::INTERN)?,
        "memory" => exhaustion(100, Error::NO_MEM)?,
        "callbacks" => callbacks()?,
        "hardware" => by_hardware()?,
        "arguments" => arguments()?,
        "leave" => leave(),
        _ => return Ok(2),
    }
    engine::finalize()?;
    if job().rank().0 == 0 {
        println!("{part}: passed on {} ranks", job().size());
    }
    Ok(0)
}

/// Every call with a communicator answers an invalid one alike: freed, null, wild, or of another kind.
fn handles() -> Result<()> {
    let freed = communicators::duplicate(WORLD)?;
    communicators::free(freed)?;
    // Another takes its place.
    let present = communicators::duplicate(WORLD)?;
    let group = with(|engine| engine.group_of(WORLD))?;
    let invalid =
        [freed.0, COMM_NULL, 0, 0x103, 0xfff, u64::MAX, 0x1234_5678_9abc, group.0, datatype::INT, op::SUM];
    for handle in invalid.map(Handle) {
        let wrong = |outcome: Result<()>| assert_eq!(outcome, Err(Error::COMM), "{:#x}", handle.0);
        let call = |call: &mut dyn FnMut(&mut Engine) -> Result<()>| wrong(with(|engine| call(engine)));
        call(&mut |engine| engine.communicators.rank(handle).map(drop));
        call(&mut |engine| engine.communicators.size(handle).map(drop));
        call(&mut |engine| engine.split(handle, 0, 0).map(drop));
        call(&mut |engine| engine.create(handle, group).map(drop));
        call(&mut |engine| engine.create_group(handle, group, 0).map(drop));
        call(&mut |engine| engine.create_inter(handle, 0, WORLD, 0, 0).map(drop));
        call(&mut |engine| engine.merge(handle, false).map(drop));
        call(&mut |engine| engine.group_of(handle).map(drop));
        call(&mut |engine| engine.remote_group_of(handle).map(drop));
        call(&mut |engine| engine.communicators.is_inter(handle).map(drop));
        call(&mut |engine| engine.communicators.compare(handle, WORLD).map(drop));
        call(&mut |engine| engine.communicators.compare(WORLD, handle).map(drop));
        call(&mut |engine| engine.cart_create(handle, &[1], &[false]).map(drop));
        call(&mut |engine| engine.graph_create(handle, &[0], &[]).map(drop));
        call(&mut |engine| engine.dist_graph_create_adjacent(handle, DistributedGraph::none()).map(drop));
        call(&mut |engine| engine.communicators.topology_kind(handle).map(drop));
        call(&mut |engine| engine.split_type(handle, topology::SHARED, 0, &Info::new()).map(drop));
        call(&mut |engine| engine.barrier_on(handle));
        wrong(communicators::duplicate(handle).map(drop));
        wrong(duplication::begin(handle).map(drop));
        wrong(communicators::free(handle));
        let object = Object::communicator(handle);
        wrong(name::set(object, b"x"));
        wrong(attribute::set(object, 0x1000, 0));
        wrong(error_handler::get(object).map(drop));
        // Its errors go to the handler of the communicator of this rank alone.
        assert!(ErrorSite::on(object).ends_job());
    }
    let wrong_group = |handle: Handle| {
        let outcome = with(|engine| engine.groups.size(handle));
        assert_eq!(outcome, Err(Error::GROUP), "{:#x}", handle.0);
    };
    with(|engine| engine.groups.free(group))?;
    [group.0, present.0, COMM_WORLD, 0, u64::MAX].map(Handle).into_iter().for_each(wrong_group);
    assert_eq!(with(|engine| engine.groups.free(group)), Err(Error::GROUP));
    with(|engine| engine.groups.free(Handle(GROUP_EMPTY)))?;
    for handle in [INFO_NULL, present.0, 0, u64::MAX].map(Handle) {
        assert_eq!(lwk_mpi_rt::info::content(handle), Err(Error::INFO));
        assert_eq!(session::finalize(handle), Err(Error::SESSION));
        assert_eq!(error_handler::free(handle), Err(Error::ERRHANDLER));
        assert_eq!(error_handler::set(Object::communicator(present), handle), Err(Error::ERRHANDLER));
    }
    communicators::free(present)
}

/// Calls before the start and after the end; the world model does not come back, sessions do.
fn times() -> Result<i32> {
    let nothing_runs = || {
        assert_eq!(with(|engine| engine.communicators.rank(WORLD)), Err(Error::ORDER));
        assert_eq!(communicators::duplicate(WORLD), Err(Error::ORDER));
        assert_eq!(engine::finalize(), Err(Error::ORDER));
        assert_eq!(session::thread_level(), Err(Error::ORDER));
    };
    nothing_runs();
    assert_eq!((engine::is_initialized(), engine::is_finalized()), (false, false));
    assert_eq!(session::initialize_world(17), Err(Error::ARG));
    engine::initialize()?;
    assert_eq!(engine::initialize(), Err(Error::ORDER));
    assert_eq!((session::thread_level(), engine::is_finalized()), (Ok(thread::SINGLE), false));
    engine::finalize()?;
    nothing_runs();
    assert_eq!(engine::initialize(), Err(Error::ORDER));
    assert_eq!((engine::is_initialized(), engine::is_finalized()), (true, true));
    assert_eq!(session::initialize(Handle(INFO_NULL)), Err(Error::ERRHANDLER));
    nothing_runs();
    let session = session::initialize(Handle(ERRORS_RETURN))?;
    let group = with(|engine| engine.group_from_set(session, b"mpi://WORLD"))?;
    let made = with(|engine| engine.create_from_group(group, b"times"))?.ok_or(Error::INTERN)?;
    with(|engine| engine.barrier_on(made))?;
    assert_eq!(with(|engine| engine.group_from_set(session, b"mpi://NOBODY")), Err(Error::ARG));
    session::finalize(session)?;
    assert_eq!(session::finalize(session), Err(Error::SESSION));
    nothing_runs();
    if job().rank().0 == 0 {
        println!("times: passed on {} ranks", job().size());
    }
    Ok(0)
}

/// As many communicators as there are contexts, or as memory takes, then one more, which is that error in every rank; freed ones make room
/// again.
fn exhaustion(least: usize, limit: Error) -> Result<()> {
    for parent in [SELF, WORLD] {
        let mut all: Vec<Handle> = Vec::with_capacity(10_000);
        let error = loop {
            match communicators::duplicate(parent) {
                Ok(made) => all.push(made),
                Err(error) => break error,
            }
        };
        assert_eq!(error, limit);
        assert!(all.len() > least, "{} communicators", all.len());
        // Where memory has run out, something smaller may still find room.
        for kind in 0..if least > 1000 { 3 } else { 0 } {
            let outcome = match kind {
                0 => with(|engine| engine.split(parent, 0, 0)).map(drop),
                1 => duplication::begin(parent)
                    .and_then(|(_, request)| with(|engine| engine.wait(request)))
                    .map(drop),
                _ => with(|engine| engine.cart_create(parent, &[1], &[false])).map(drop),
            };
            // The ranks that get no part of the grid do not need one.
            let rank = with(|engine| engine.communicators.rank(parent))?;
            assert_eq!(outcome, if kind == 2 && rank > 0 { Ok(()) } else { Err(limit) });
        }
        with(|engine| engine.barrier_on(all[all.len() / 2]))?;
        for last in all.split_off(all.len() - 20) {
            communicators::free(last)?;
        }
        with(|engine| engine.barrier_on(parent))?;
        let again = communicators::duplicate(parent)?;
        with(|engine| engine.barrier_on(again))?;
        communicators::free(again)?;
        all.into_iter().try_for_each(communicators::free)?;
        with(|engine| engine.barrier_on(parent))?;
    }
    Ok(())
}

/// How often the functions below have been called.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Uses the runtime from inside: another attribute on the same object, another communicator.
unsafe extern "C" fn copy(
    object: u64,
    _key: i32,
    extra: *mut c_void,
    value: *mut c_void,
    target: *mut c_void,
    flag: *mut i32,
) -> i32 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let twin = communicators::duplicate(SELF).and_then(communicators::free);
    let size = with(|engine| engine.communicators.size(Handle(object)));
    if twin.is_err() || size.is_err() {
        return Error::OTHER.code();
    }
    // SAFETY: both lead to where the results go.
    unsafe {
        target.cast::<usize>().write(value.addr() + extra.addr());
        flag.write(1);
    }
    0
}

/// The key of the attribute that `delete` sets on the object that it is called for.
static OTHER_KEY: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn delete(object: u64, _key: i32, _value: *mut c_void, _extra: *mut c_void) -> i32 {
    // Once: an attribute that is set while all are being deleted is deleted as well.
    if CALLS.fetch_add(1, Ordering::Relaxed) == 1 {
        let other = OTHER_KEY.load(Ordering::Relaxed) as i32;
        if attribute::set(Object::communicator(Handle(object)), other, 1).is_err() {
            return Error::OTHER.code();
        }
    }
    0
}

/// Attribute functions that use the runtime, and keys of the wrong kind.
fn callbacks() -> Result<()> {
    let key =
        attribute::create_key(Kind::Communicator, Copier::Function(copy), Deleter::Function(delete), 100)?;
    let other = attribute::create_key(Kind::Communicator, Copier::Null, Deleter::Function(delete), 0)?;
    OTHER_KEY.store(other as u32, Ordering::Relaxed);
    let first = communicators::duplicate(WORLD)?;
    let at = Object::communicator;
    attribute::set(at(first), key, 5)?;
    let second = communicators::duplicate(first)?;
    assert_eq!((CALLS.load(Ordering::Relaxed), attribute::get(at(second), key)), (1, Ok(Some(105))));
    let (third, request) = duplication::begin(second)?;
    with(|engine| engine.wait(request))?;
    assert_eq!(attribute::get(at(third), key), Ok(Some(205)));
    CALLS.store(1, Ordering::Relaxed);
    communicators::free(first)?;
    assert_eq!(CALLS.load(Ordering::Relaxed), 3, "the attribute, and the one that its function has set");
    communicators::free(second)?;
    communicators::free(third)?;
    let of_types = attribute::create_key(Kind::Datatype, Copier::Null, Deleter::Null, 0)?;
    assert_eq!(attribute::set(at(WORLD), of_types, 1), Err(Error::KEYVAL));
    assert_eq!(attribute::set(Object::datatype(Handle(datatype::INT)), key, 1), Err(Error::KEYVAL));
    assert_eq!(attribute::delete(at(WORLD), key), Err(Error::KEYVAL));
    attribute::free_key(Kind::Communicator, key)?;
    assert_eq!(attribute::free_key(Kind::Communicator, key), Err(Error::KEYVAL));
    assert_eq!(attribute::free_key(Kind::Communicator, of_types), Err(Error::KEYVAL));
    assert_eq!(attribute::set(at(WORLD), key, 1), Err(Error::KEYVAL));
    assert_eq!(attribute::get(at(WORLD), 77), Err(Error::KEYVAL));
    Ok(())
}

/// Parts by hardware are what the job page says.
fn by_hardware() -> Result<()> {
    let size_of =
        |made: Option<Handle>| made.map(|made| with(|engine| engine.communicators.size(made))).transpose();
    let split = |kind, hints: &Info| with(|engine| engine.split_type(WORLD, kind, 0, hints));
    let (node, _) = split(topology::SHARED, &Info::new())?;
    assert_eq!(size_of(node)?, Some(job().size()));
    let mine = job().my_place();
    for level in hardware::LEVELS {
        let mut hints = Info::new();
        hints.set(hardware::RESOURCE_KEY, level.name().as_bytes())?;
        let (part, _) = split(topology::HW_GUIDED, &hints)?;
        let together = job().places().iter().filter(|place| match level {
            Level::Node => true,
            Level::Package => place.package == mine.package,
            Level::Memory => place.memory_node == mine.memory_node,
            Level::LastCache => place.l3 == mine.l3,
            Level::SecondCache => place.l2 == mine.l2,
            Level::Core => place.physical_core == mine.physical_core,
            Level::Thread => place.core == mine.core,
        });
        assert_eq!(size_of(part)?, Some(together.count() as u32), "{level:?}");
    }
    let mut hints = Info::new();
    hints.set(hardware::RESOURCE_KEY, b"moon")?;
    assert_eq!(split(topology::HW_GUIDED, &hints)?.0, None);
    assert_eq!(split(topology::HW_GUIDED, &Info::new())?.0, None);
    hints.set(hardware::PSET_KEY, b"mpi://SELF")?;
    assert_eq!(size_of(split(topology::RESOURCE_GUIDED, &hints)?.0)?, Some(1));
    // Level by level until nothing divides any more: each part is smaller than the one before.
    let mut whole = WORLD;
    loop {
        let (part, level) = with(|engine| engine.split_type(whole, topology::HW_UNGUIDED, 0, &Info::new()))?;
        let Some(part) = part else { break };
        assert!(level.is_some() && size_of(Some(part))? < size_of(Some(whole))?);
        whole = part;
    }
    assert_eq!(split(topology::CART, &Info::new()).map(drop), Err(Error::ARG));
    Ok(())
}

/// Wrong arguments that no other MPI need name alike.
fn arguments() -> Result<()> {
    let size = with(|engine| engine.communicators.size(WORLD))? as i32;
    assert_eq!(with(|engine| engine.split(SELF, -5, 0)), Err(Error::ARG));
    assert_eq!(with(|engine| engine.communicators.remote_size(WORLD)), Err(Error::COMM));
    assert_eq!(with(|engine| engine.merge(WORLD, false)), Err(Error::COMM));
    let group = with(|engine| engine.group_of(WORLD))?;
    let alone = with(|engine| engine.group_of(SELF))?;
    if size > 1 {
        // The world's group has others than the members of the communicator of this rank alone.
        assert_eq!(with(|engine| engine.create(SELF, group)), Err(Error::GROUP));
        assert_eq!(with(|engine| engine.create_group(SELF, group, 0)), Err(Error::GROUP));
    }
    assert_eq!(with(|engine| engine.create_group(SELF, alone, -1)), Err(Error::TAG));
    assert_eq!(with(|engine| engine.create_from_group(alone, &[b'x'; 1024])), Err(Error::ARG));
    // A leader's mistake reaches its whole group: all ranks name a remote leader that does not exist.
    assert_eq!(with(|engine| engine.create_inter(WORLD, 0, WORLD, size, 0)), Err(Error::RANK));
    assert_eq!(
        with(|engine| engine.create_inter(WORLD, size - 1, Handle(COMM_NULL), 0, 0)),
        Err(Error::COMM)
    );
    assert_eq!(with(|engine| engine.create_inter(WORLD, size, WORLD, 0, 0)), Err(Error::RANK));
    assert_eq!(with(|engine| engine.create_inter(WORLD, 0, WORLD, 0, -1)), Err(Error::TAG));
    // Groups with a rank in common.
    assert_eq!(with(|engine| engine.create_inter(SELF, 0, SELF, 0, 0)), Err(Error::COMM));
    assert_eq!(with(|engine| engine.cart_create(WORLD, &[size + 1], &[false])), Err(Error::DIMS));
    assert_eq!(with(|engine| engine.cart_create(WORLD, &[0], &[false])), Err(Error::DIMS));
    assert_eq!(with(|engine| engine.graph_create(WORLD, &[1], &[size])), Err(Error::ARG));
    let beyond = DistributedGraph { sources: [size].to_vec(), ..DistributedGraph::none() };
    assert_eq!(with(|engine| engine.dist_graph_create_adjacent(WORLD, beyond)), Err(Error::RANK));
    assert_eq!(with(|engine| engine.dist_graph_create(WORLD, &[[0, 0, -1]], true)), Err(Error::ARG));
    assert_eq!(with(|engine| engine.cart_sub(WORLD, &[])), Err(Error::TOPOLOGY));
    // A grid of no dimensions is one rank.
    let none = with(|engine| engine.cart_create(WORLD, &[], &[]))?;
    assert_eq!(none.is_some(), job().rank().0 == 0);
    // All dimensions gone: every rank is its own grid.
    let Some(grid) = with(|engine| engine.cart_create(WORLD, &[size], &[true]))? else {
        return Err(Error::INTERN);
    };
    let point = with(|engine| engine.cart_sub(grid, &[false]))?;
    assert_eq!(
        with(|engine| Ok((
            engine.communicators.size(point)?,
            engine.communicators.cartesian(point)?.dims().len()
        ))),
        Ok((1, 0))
    );
    Ok(())
}

/// The last rank leaves with status 0 while the others wait for it: the job ends.
fn leave() {
    let last = job().size() - 1;
    if job().rank().0 == last {
        start::exit(0);
    }
    // It never sends, so this never returns.
    let nothing = SendArguments {
        address: core::ptr::null(),
        count: 0,
        datatype: datatype::BYTE,
        target: last as i32,
        tag: 0,
        communicator: WORLD,
    };
    // SAFETY: no bytes.
    let _ = with(|engine| unsafe { engine.send(&nothing, Mode::Synchronous) });
    let _ = with(|engine| engine.barrier_on(WORLD));
}
