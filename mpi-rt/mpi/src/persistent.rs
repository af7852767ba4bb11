//! Persistent requests: operations that are started again and again (MPI-5.0, section 3.9). Their buffers can be used while they are not active.

use super::request::Lent;
use core::marker::PhantomData;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_rt::status::Status;

/// An operation that can be started. It ends with its scope.
pub struct Persistent<'scope, B> {
    handle: Handle,
    lent: Lent<B>,
    scope: PhantomData<&'scope ()>,
}

impl<B> Persistent<'_, B> {
    pub(super) fn new(handle: Handle, lent: Lent<B>) -> Self {
        Persistent { handle, lent, scope: PhantomData }
    }

    /// Starts it. Errors: `REQUEST` if it is active; the operation's own are those of [`Persistent::wait`].
    pub fn start(&mut self) -> Result<()> {
        with(|engine| engine.start(self.handle))
    }

    /// Waits until it is not active; an empty status if it has not been started. Errors: the operation's own.
    pub fn wait(&mut self) -> Result<Status> {
        with(|engine| engine.wait(self.handle))
    }

    /// Completes it if it can be completed now. Errors: the operation's own.
    pub fn test(&mut self) -> Result<Option<Status>> {
        with(|engine| engine.test(self.handle))
    }

    /// As [`Request::cancel`](super::request::Request::cancel), of what has been started.
    pub fn cancel(&mut self) -> Result<()> {
        with(|engine| engine.cancel(self.handle))
    }

    /// The buffers, if it is not active. Errors: `REQUEST`.
    fn idle(&mut self) -> Result<&mut B> {
        if with(|engine| engine.is_active(self.handle))? { Err(Error::REQUEST) } else { Ok(self.lent.get()) }
    }
}

// By reborrowing only: whoever got the reference itself could keep it while the operation is started again.

impl<X: ?Sized> Persistent<'_, &mut X> {
    /// The buffer. Errors: `REQUEST` if the operation is active.
    pub fn buffer(&mut self) -> Result<&mut X> {
        self.idle().map(|buffer| &mut **buffer)
    }
}

impl<S: ?Sized, R: ?Sized> Persistent<'_, (&mut S, &mut R)> {
    /// What is sent and what is received. Errors: `REQUEST` if the operation is active.
    pub fn buffers(&mut self) -> Result<(&mut S, &mut R)> {
        self.idle().map(|(send, receive)| (&mut **send, &mut **receive))
    }
}
