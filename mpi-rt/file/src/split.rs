//! Split collectives (MPI-5.0, section 14.4.5): the first half moves the data, the second tells how it went.

use crate::Files;
use crate::access::{AccessPosition, Direction};
use core::mem::{Discriminant, discriminant};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::buffer::Buffer;

/// A split collective that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    direction: Direction,
    place: Discriminant<AccessPosition>,
    status: Status,
}

impl Files {
    /// The first half. Errors: as for [`Files::file_transfer`], and then nothing has begun; `IO` if one is under way already.
    ///
    /// # Safety
    /// As for [`Files::file_transfer`].
    pub unsafe fn file_begin(
        &mut self,
        file: Handle,
        direction: Direction,
        place: AccessPosition,
        buffer: &Buffer,
    ) -> Result<()> {
        if self.file(file)?.split.is_some() {
            return Err(Error::IO);
        }
        // SAFETY: the items of `buffer` are writable for a read, readable for a write (this function's
        // contract).
        let status = unsafe { self.file_transfer(file, direction, place, buffer)? };
        self.file_mut(file)?.split = Some(Begun { direction, place: discriminant(&place), status });
        Ok(())
    }

    /// The second half; `place` is of the same kind as the first's. Errors: `FILE`; `IO` if none of this kind has begun.
    pub fn file_end(&mut self, file: Handle, direction: Direction, place: AccessPosition) -> Result<Status> {
        let split = &mut self.file_mut(file)?.split;
        let ends = |begun: &Begun| begun.direction == direction && begun.place == discriminant(&place);
        split.take_if(|begun| ends(begun)).map(|begun| begun.status).ok_or(Error::IO)
    }
}
