//! Requests: operations of a scope that have begun (MPI-5.0, section 3.7). One that is dropped goes on, and the scope waits for it.

use super::scope::{Pending, exists};
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::Result;
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::status::Status;
use lwk_mpi_rt::wait::{Any, DONE, NULL};

/// References that are lent to an operation. (As `MaybeUninit`: while it is moved about, nobody asserts that what it refers to is not written.)
pub(super) struct Lent<B>(MaybeUninit<B>);

impl<B> Lent<B> {
    #[inline]
    pub fn new(references: B) -> Lent<B> {
        Lent(MaybeUninit::new(references))
    }

    /// The references, to take addresses from before the operation begins, or while it is not under way.
    #[inline]
    pub fn get(&mut self) -> &mut B {
        // SAFETY: initialised by `new`, and never taken out but by value.
        unsafe { self.0.assume_init_mut() }
    }

    #[inline]
    fn give_back(self) -> B {
        // SAFETY: initialised by `new`, and never taken out but by value, here.
        unsafe { self.0.assume_init() }
    }
}

/// An operation that has begun, and the buffers that it uses: they come back with [`Request::finish`], or when the scope ends.
pub struct Request<'scope, B = ()> {
    handle: Handle,
    pending: &'scope Pending,
    lent: Lent<B>,
}

impl<'scope, B> Request<'scope, B> {
    #[inline]
    pub(super) fn new(handle: Handle, pending: &'scope Pending, lent: Lent<B>) -> Self {
        Request { handle, pending, lent }
    }

    /// Waits. Errors: the operation's own.
    #[inline]
    pub fn wait(self) -> Result<Status> {
        self.finish().map(|(_, status)| status)
    }

    /// Waits, and gives the buffers back before the scope ends. Errors: the operation's own; then the scope keeps the buffers.
    #[inline]
    pub fn finish(mut self) -> Result<(B, Status)> {
        let outcome = with(|engine| engine.wait(self.handle));
        self.settle(outcome.is_ok());
        outcome.map(|status| (self.lent.give_back(), status))
    }

    /// Completes it if it can be completed now; its status, which later calls do not know any more. Errors: the operation's own.
    pub fn test(&mut self) -> Result<Option<Status>> {
        let outcome = with(|engine| engine.test(self.handle));
        self.settle(matches!(outcome, Ok(Some(_))));
        outcome
    }

    /// What the status will be, if it is complete; it stays to be waited for. Errors: `REQUEST`.
    pub fn status(&self) -> Result<Option<Status>> {
        with(|engine| engine.request_status(self.handle))
    }

    /// Takes back a receive that no message has matched, or a send whose message nobody has: it then completes as cancelled. In any case waiting for it
    /// depends on nobody else any more (MPI-5.0, section 3.8.4).
    pub fn cancel(&mut self) -> Result<()> {
        with(|engine| if self.handle == NULL { Ok(()) } else { engine.cancel(self.handle) })
    }

    /// The same request without its buffers, which come back when the scope ends: for lists of different ones.
    #[inline]
    pub fn plain(self) -> Request<'scope> {
        Request { handle: self.handle, pending: self.pending, lent: Lent::new(()) }
    }

    /// Notes that it is complete, if it is: said so, or seen by its handle's being void.
    #[inline]
    fn settle(&mut self, complete: bool) {
        if self.handle == NULL || !complete && exists(self.handle) != Ok(false) {
            return;
        }
        if self.handle != DONE {
            self.pending.close();
        }
        self.handle = NULL;
    }
}

/// Waits for all of them, also if one fails; their statuses in order. Errors: the first one's.
pub fn wait_all<'s, B>(requests: impl IntoIterator<Item = Request<'s, B>>) -> Result<Vec<Status>> {
    let mut statuses = Vec::new();
    let mut outcome = Ok(());
    for request in requests {
        match request.wait() {
            Ok(status) => statuses.push(status),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome.map(|()| statuses)
}

/// Whether all are complete; if so, they are completed, and their statuses are in order. Errors: `IN_STATUS` if one has failed.
pub fn test_all<B>(requests: &mut [Request<'_, B>]) -> Result<Option<Vec<Status>>> {
    let mut statuses = Vec::new();
    let all =
        among(requests, |engine, handles| engine.test_all(handles, |_, status| statuses.push(*status)))?;
    Ok(all.then_some(statuses))
}

/// Waits for one of them: its index and status. `None` if all have been completed before. Errors: the operation's own.
pub fn wait_any<B>(requests: &mut [Request<'_, B>]) -> Result<Option<(usize, Status)>> {
    among(requests, |engine, handles| engine.wait_any(handles))
}

/// Completes one that can be completed now. Errors: as for [`wait_any`].
pub fn test_any<B>(requests: &mut [Request<'_, B>]) -> Result<Any> {
    among(requests, |engine, handles| engine.test_any(handles))
}

/// Waits for at least one; indices and statuses of those that are complete. `None` if all have been completed before. Errors: `IN_STATUS` if one
/// has failed.
pub fn wait_some<B>(requests: &mut [Request<'_, B>]) -> Result<Option<Vec<(usize, Status)>>> {
    let mut done = Vec::new();
    let number = among(requests, |engine, handles| {
        engine.wait_some(handles, |index, status| done.push((index, *status)))
    })?;
    Ok(number.map(|_| done))
}

/// Completes those that can be completed now. `None` and errors: as for [`wait_some`].
pub fn test_some<B>(requests: &mut [Request<'_, B>]) -> Result<Option<Vec<(usize, Status)>>> {
    let mut done = Vec::new();
    let number = among(requests, |engine, handles| {
        engine.test_some(handles, |index, status| done.push((index, *status)))
    })?;
    Ok(number.map(|_| done))
}

/// Lets a call of the engine look at the handles, and notes which of them it has completed.
fn among<B, R>(
    requests: &mut [Request<'_, B>],
    call: impl FnOnce(&mut lwk_mpi_rt::engine::Engine, &mut [Handle]) -> Result<R>,
) -> Result<R> {
    let mut handles: Vec<Handle> = requests.iter().map(|request| request.handle).collect();
    let outcome = with(|engine| call(engine, &mut handles));
    for (request, handle) in requests.iter_mut().zip(handles) {
        request.settle(handle == NULL);
    }
    outcome
}
