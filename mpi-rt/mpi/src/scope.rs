//! Scopes of operations that go on: whatever is begun in one is complete when it ends, so buffers that live longer than the scope can be lent to
//! it without trust in anybody's dropping a request.
//!
//! A scope lends for `'scope`, a lifetime that its body cannot name: nothing that the body itself owns lives that long, and what was
//! borrowed outside of it is not free before [`Communicator::scope`] returns. The scope keeps the handles of what has begun and has not been waited
//! for. At its end it waits for them; after an error or a panic it first cancels receives that no message has matched.

use super::communicator::Communicator;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::local::RankLocal;
use lwk_mpi_rt::wait::DONE;

/// Where operations begin that go on. It is handed to the body of [`Communicator::scope`].
#[derive(Clone, Copy)]
pub struct Scope<'scope, 'env: 'scope> {
    pub(super) communicator: Handle,
    pub(super) pending: &'scope Pending,
    /// Neither lifetime may be taken for a shorter one, or for a longer.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What a scope has begun.
pub(super) struct Pending {
    /// Handles of requests, some of which may be complete and void by now.
    handles: RefCell<Vec<Handle>>,
    /// Requests that have not been waited for.
    open: Cell<usize>,
}

/// An empty list with room, left by the scope before.
static SPARE: RankLocal<Vec<Handle>> = RankLocal::new(Vec::new());

impl<'mpi> Communicator<'mpi> {
    /// Runs `body`, which may begin operations on this and other communicators that borrow what they use until the scope ends. Waits for
    /// everything that was begun. If `body` fails or panics, receives that no message has matched are cancelled first. Errors: those of `body`, then
    /// the first one of an operation that `body` has not waited for.
    pub fn scope<'env, R>(
        &self,
        body: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let pending = Pending::new();
        let end = End(&pending);
        let scope =
            Scope { communicator: self.handle(), pending: &pending, scope: PhantomData, env: PhantomData };
        let outcome = body(scope);
        core::mem::forget(end);
        let finished = pending.finish(outcome.is_err());
        outcome.and_then(|value| finished.map(|()| value))
    }
}

/// Ends a scope whose body panics.
struct End<'a>(&'a Pending);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // There is a panic already: nobody asks for the operations' errors.
        let _ = self.0.finish(true);
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// The same scope, for operations on another communicator.
    pub fn on(&self, communicator: &Communicator) -> Scope<'scope, 'env> {
        Scope { communicator: communicator.handle(), ..*self }
    }

    /// Begins an operation that the scope will wait for. Errors: those of `begin`; `NO_MEM`, and then it is complete.
    #[inline]
    pub(super) fn begin(&self, begin: impl FnOnce(&mut Engine) -> Result<Handle>) -> Result<Handle> {
        let handle = with(begin)?;
        // One that was complete when it began needs nothing.
        if handle != DONE {
            self.pending.add(handle)?;
        }
        Ok(handle)
    }
}

impl Pending {
    fn new() -> Pending {
        let handles = SPARE.try_with(core::mem::take).unwrap_or_default();
        Pending { handles: RefCell::new(handles), open: Cell::new(0) }
    }

    /// Keeps the handle of what has begun. Errors: `NO_MEM`, and then it has been waited for.
    #[inline]
    fn add(&self, handle: Handle) -> Result<()> {
        let mut handles = self.handles.borrow_mut();
        if self.open.get() == 0 {
            handles.clear();
        }
        if handles.len() == handles.capacity() && make_room(&mut handles).is_err() {
            complete(&[handle], true)?;
            return Err(Error::NO_MEM);
        }
        handles.push(handle);
        self.open.set(self.open.get() + 1);
        Ok(())
    }

    /// One that has begun is complete and gone.
    #[inline]
    pub(super) fn close(&self) {
        self.open.set(self.open.get() - 1);
    }

    /// Completes everything. Errors: the first one of an operation.
    #[inline]
    fn finish(&self, failed: bool) -> Result<()> {
        let mut handles = self.handles.take();
        let outcome = if self.open.get() == 0 { Ok(()) } else { complete(&handles, failed) };
        handles.clear();
        // An inner call cannot be using it.
        let _ = SPARE.try_with(|spare| *spare = handles);
        outcome
    }
}

/// Makes a full list shorter, or gives it room. Errors: `NO_MEM`.
#[cold]
fn make_room(handles: &mut Vec<Handle>) -> Result<()> {
    // Most of a long list are complete: it grows with what is under way at once, not with what has ever been.
    handles.retain(|handle| exists(*handle) != Ok(false));
    let more = handles.len() + 1;
    handles.try_reserve(more).map_err(|_| Error::NO_MEM)
}

/// Whether there is such a request.
pub(super) fn exists(handle: Handle) -> Result<bool> {
    with(|engine| Ok(engine.has_request(handle)))
}

/// Completes and frees those requests that still exist.
#[cold]
fn complete(handles: &[Handle], failed: bool) -> Result<()> {
    let mut outcome: Result<()> = Ok(());
    if failed {
        // Those that are void by now cannot be cancelled, and need not.
        for handle in handles {
            let _ = with(|engine| Ok(engine.cancel_receive(*handle)));
        }
    }
    for handle in handles {
        let gone = with(|engine| {
            if !engine.has_request(*handle) {
                return Ok(true);
            }
            outcome = outcome.and(engine.wait(*handle).map(drop));
            // Persistent ones remain until they are freed.
            if engine.has_request(*handle) {
                engine.free_request(*handle)?;
            }
            Ok(!engine.has_request(*handle))
        });
        // Otherwise the runtime was ended inside the scope, past this face, and peers could write what was lent for ever.
        assert!(gone == Ok(true), "a scope ends after its operations, in a running runtime");
    }
    outcome
}
