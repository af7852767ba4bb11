//! Generalized requests (MPI-5.0, section "Generalized Requests"): operations that the program carries out itself and tells when
//! they are complete. What it has to say of them are callbacks, which may call the library, and so run while no call has the engine:
//! that is why completion of requests for programs goes through the functions of [`crate::completion`].

use crate::engine::{Engine, with};
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Operation, Request, State};
use crate::status::Status;
use alloc::boxed::Box;
use alloc::vec::Vec;

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
pub(crate) struct GeneralizedOperation {
    callbacks: Option<Box<dyn Generalized>>,
    queried: bool,
}

/// Generalized requests of this rank.
#[derive(Default)]
pub(crate) struct Pending {
    /// How many there are.
    alive: usize,
    /// Those whose requests are gone, and that must still be told.
    ended: Vec<Box<dyn Generalized>>,
}

impl Engine {
    /// A request that is complete when [`grequest_complete`] says so (`MPI_GREQUEST_START`).
    pub fn grequest_start(&mut self, callbacks: Box<dyn Generalized>) -> Handle {
        self.generalized.alive += 1;
        let operation = GeneralizedOperation { callbacks: Some(callbacks), queried: false };
        let operation = Operation::Generalized(operation);
        self.requests.insert(Request { state: State::Active, ..Request::new(operation) })
    }

    /// Whether any request of this kind is there, so that their callbacks must be thought of.
    #[inline(always)]
    pub(crate) fn has_generalized(&self) -> bool {
        self.generalized.alive > 0
    }

    pub(crate) fn end_generalized(&mut self, operation: GeneralizedOperation) {
        self.generalized.alive -= 1;
        self.generalized.ended.extend(operation.callbacks);
    }

    /// Takes a request's callbacks out if `wanted` says so of whether it is complete and whether it has been queried. `None` also for
    /// other requests.
    fn take_callbacks(
        &mut self,
        request: Handle,
        wanted: impl Fn(bool, bool) -> bool,
    ) -> Option<(Box<dyn Generalized>, bool)> {
        let it = self.requests.get_mut(request)?;
        let complete = it.state == State::Complete;
        let Operation::Generalized(operation) = &mut it.operation else { return None };
        if !wanted(complete, operation.queried) {
            return None;
        }
        operation.callbacks.take().map(|callbacks| (callbacks, complete))
    }

    /// Puts them back, with the outcome if they have told it.
    fn put_callbacks(&mut self, request: Handle, callbacks: Box<dyn Generalized>, status: Option<Status>) {
        match self.requests.get_mut(request) {
            Some(Request { operation: Operation::Generalized(operation), status: told, .. }) => {
                operation.callbacks = Some(callbacks);
                if let Some(status) = status {
                    operation.queried = true;
                    *told = status;
                }
            }
            // A callback has freed its own request.
            _ => self.generalized.ended.push(callbacks),
        }
    }
}

/// Tells that a generalized request is complete (`MPI_GREQUEST_COMPLETE`). Errors: `REQUEST` if it is not one, or complete already;
/// the program's own, if the request had been freed.
pub fn grequest_complete(request: Handle) -> Result<()> {
    with(|engine| match engine.requests.get(request) {
        Some(Request { operation: Operation::Generalized(_), state: State::Active, .. }) => {
            engine.complete(request, Status::EMPTY);
            Ok(())
        }
        _ => Err(Error::REQUEST),
    })?;
    free_ended()
}

/// Asks the generalized requests among these that are complete for their outcome, once.
pub(crate) fn query(requests: &[Handle]) -> Result<()> {
    for request in requests {
        let taken =
            with(|engine| Ok(engine.take_callbacks(*request, |complete, queried| complete && !queried)))?;
        if let Some((mut callbacks, _)) = taken {
            let status = callbacks.query();
            with(|engine| {
                engine.put_callbacks(*request, callbacks, Some(status));
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Tells a generalized request that it shall be cancelled; false if it is another kind of request. Errors: the program's.
pub(crate) fn cancel(request: Handle) -> Result<bool> {
    let taken = with(|engine| Ok(engine.take_callbacks(request, |_, _| true)))?;
    let Some((mut callbacks, complete)) = taken else { return Ok(false) };
    let outcome = callbacks.cancel(complete);
    with(|engine| {
        engine.put_callbacks(request, callbacks, None);
        Ok(())
    })?;
    outcome.map(|()| true)
}

/// Tells the generalized requests that are gone. Errors: the first of the program's.
pub(crate) fn free_ended() -> Result<()> {
    let mut outcome = Ok(());
    while let Some(callbacks) = with(|engine| Ok(engine.generalized.ended.pop()))? {
        outcome = outcome.and(callbacks.free());
    }
    outcome
}
