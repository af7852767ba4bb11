//! Generalized requests (MPI-5.0, section "Generalized Requests"): operations that the program carries out itself and tells when
//! they are complete. What it has to say of them are callbacks, which may call the library, and so run while no call has the engine:
//! that is why completion of requests for programs goes through the functions of [`completion`].
//!
//! Per rank: how many generalized requests there are, and callbacks of those that are gone. Nothing is per thread or per communicator.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod completion;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::request::Calls;
use lwk_mpi_rt::subsystem::State;

/// What a program has to say of an operation of its own.
pub trait Generalized {
    /// The outcome, after it has been told complete (`query_fn`).
    fn query(&mut self) -> Status;

    /// It shall be cancelled; whether it was complete already (`cancel_fn`). Errors: the program's.
    fn cancel(&mut self, complete: bool) -> Result<()>;

    /// The request goes (`free_fn`). Errors: the program's.
    fn free(self: Box<Self>) -> Result<()>;
}

/// A request's part: taken out while its callbacks run.
struct GeneralizedOperation {
    callbacks: Option<Box<dyn Generalized>>,
    queried: bool,
}

/// Generalized requests of this rank.
struct Pending {
    /// How many there are.
    alive: usize,
    /// Those whose requests are gone, and that must still be told.
    ended: Vec<Box<dyn Generalized>>,
}

static PENDING: State<Pending> = State::new(Pending { alive: 0, ended: Vec::new() });

/// What the engine asks of generalized requests. They are not started: their program has begun.
static CALLS: Calls = Calls { start: |_, _| (), end };

/// A request that is complete when [`grequest_complete`] says so (`MPI_GREQUEST_START`).
pub fn grequest_start(engine: &mut Engine, callbacks: Box<dyn Generalized>) -> Handle {
    PENDING.of_mut(engine).alive += 1;
    engine.insert_active(GeneralizedOperation { callbacks: Some(callbacks), queried: false }, &CALLS)
}

fn end(engine: &mut Engine, operation: Box<dyn Any>) {
    let callbacks = operation.downcast::<GeneralizedOperation>().ok().and_then(|it| it.callbacks);
    let pending = PENDING.of_mut(engine);
    pending.alive -= 1;
    pending.ended.extend(callbacks);
}

/// Whether any request of this kind is there, so that their callbacks must be thought of.
#[inline(always)]
fn has_generalized(engine: &Engine) -> bool {
    PENDING.of(engine).alive > 0
}

/// Takes a request's callbacks out if `wanted` says so of whether it is complete and whether it has been queried. `None` also for
/// other requests.
fn take_callbacks(
    engine: &mut Engine,
    request: Handle,
    wanted: impl Fn(bool, bool) -> bool,
) -> Option<(Box<dyn Generalized>, bool)> {
    let complete = !engine.is_going_on(request);
    let operation: &mut GeneralizedOperation = engine.activity_mut(request)?;
    if !wanted(complete, operation.queried) {
        return None;
    }
    operation.callbacks.take().map(|callbacks| (callbacks, complete))
}

/// Puts them back, with the outcome if they have told it.
fn put_callbacks(
    engine: &mut Engine,
    request: Handle,
    callbacks: Box<dyn Generalized>,
    status: Option<Status>,
) {
    let operation: Option<&mut GeneralizedOperation> = engine.activity_mut(request);
    let Some(operation) = operation else {
        // A callback has freed its own request.
        return PENDING.of_mut(engine).ended.push(callbacks);
    };
    operation.callbacks = Some(callbacks);
    if let Some(status) = status {
        operation.queried = true;
        engine.set_status(request, status);
    }
}

/// Tells that a generalized request is complete (`MPI_GREQUEST_COMPLETE`). Errors: `REQUEST` if it is not one, or complete already;
/// the program's own, if the request had been freed.
pub fn grequest_complete(request: Handle) -> Result<()> {
    with(|engine| {
        let is_one = engine.activity::<GeneralizedOperation>(request).is_some();
        if !is_one || !engine.is_going_on(request) {
            return Err(Error::REQUEST);
        }
        engine.complete(request, Status::EMPTY);
        Ok(())
    })?;
    free_ended()
}

/// Asks the generalized requests among these that are complete for their outcome, once.
fn query(requests: &[Handle]) -> Result<()> {
    for request in requests {
        let taken =
            with(|engine| Ok(take_callbacks(engine, *request, |complete, queried| complete && !queried)))?;
        if let Some((mut callbacks, _)) = taken {
            let status = callbacks.query();
            with(|engine| {
                put_callbacks(engine, *request, callbacks, Some(status));
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Tells a generalized request that it shall be cancelled; false if it is another kind of request. Errors: the program's.
fn cancel(request: Handle) -> Result<bool> {
    let taken = with(|engine| Ok(take_callbacks(engine, request, |_, _| true)))?;
    let Some((mut callbacks, complete)) = taken else { return Ok(false) };
    let outcome = callbacks.cancel(complete);
    with(|engine| {
        put_callbacks(engine, request, callbacks, None);
        Ok(())
    })?;
    outcome.map(|()| true)
}

/// Tells the generalized requests that are gone. Errors: the first of the program's.
fn free_ended() -> Result<()> {
    let mut outcome = Ok(());
    while let Some(callbacks) = with(|engine| Ok(PENDING.of_mut(engine).ended.pop()))? {
        outcome = outcome.and(callbacks.free());
    }
    outcome
}
