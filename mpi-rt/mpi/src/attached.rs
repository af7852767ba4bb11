//! Buffers for buffered sends (MPI-5.0, section 3.6), in memory of the runtime.

use super::Mpi;
use super::communicator::Communicator;
use alloc::vec::Vec;
use core::marker::PhantomData;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::request::Owner;

/// A buffer for buffered sends. Dropping it waits until all its messages are gone.
pub struct AttachedBuffer<'mpi> {
    owner: Owner,
    mpi: PhantomData<&'mpi Mpi>,
}

impl Mpi {
    /// Gives the process a buffer of so many bytes. Errors: `BUFFER` if it has one, `NO_MEM`.
    pub fn attach_buffer(&self, bytes: usize) -> Result<AttachedBuffer<'_>> {
        attach(Owner::Process, bytes)
    }
}

impl<'mpi> Communicator<'mpi> {
    /// Gives the communicator a buffer of its own of so many bytes. Errors: `BUFFER` if it has one, `COMM`, `NO_MEM`.
    pub fn attach_buffer(&self, bytes: usize) -> Result<AttachedBuffer<'mpi>> {
        attach(Owner::Communicator(self.handle()), bytes)
    }
}

fn attach<'mpi>(owner: Owner, bytes: usize) -> Result<AttachedBuffer<'mpi>> {
    let mut memory: Vec<u8> = Vec::new();
    memory.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
    // All that there is, which may be more than was asked for: the capacity by which the memory is taken back.
    let (address, size) = (memory.as_mut_ptr(), i64::try_from(memory.capacity()).map_err(|_| Error::NO_MEM)?);
    // SAFETY: the memory is leaked below, and taken back when the runtime has given it up.
    with(|engine| unsafe { engine.attach(owner, address, size) })?;
    core::mem::forget(memory);
    Ok(AttachedBuffer { owner, mpi: PhantomData })
}

impl AttachedBuffer<'_> {
    /// Waits until all its messages are gone. Errors: `BUFFER` if its communicator has been freed.
    pub fn flush(&self) -> Result<()> {
        with(|engine| engine.flush(self.owner))
    }
}

impl Drop for AttachedBuffer<'_> {
    fn drop(&mut self) {
        // Where the runtime does not know it any more it does not say where it was: then the memory stays taken.
        if let Ok((address, bytes)) = with(|engine| engine.detach(self.owner)) {
            // SAFETY: the memory of `attach`: a vector of bytes of that capacity, and nobody uses it any more.
            drop(unsafe { Vec::from_raw_parts(address, 0, bytes) });
        }
    }
}
