//! Data access (MPI-5.0, section 14.4): where a transfer begins, and what becomes of the pointers.
//!
//! Explicit offsets, individual pointers and the shared pointer, collective or not, are one function: nothing that one rank moves depends on
//! another, but for ordered access, where each rank's part follows those of the ranks before it.

use crate::File;
use crate::Files;
use crate::opened::Opened;
use crate::shared::SharedWords;
use crate::view::View;
use alloc::rc::Rc;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::buffer::Buffer;
use lwk_mpi_rt::communicator::Communicator;
use lwk_place::CommRank;

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Read,
    Write,
}

/// Where in the view it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessPosition {
    /// At an etype.
    At(i64),
    /// At the individual pointer, which moves on by what was moved.
    Individual,
    /// At the shared pointer, which moves on by what was to be moved.
    Shared,
    /// The same, in the order of the ranks; all of them must take part.
    Ordered,
}

/// What a transfer uses of a file.
#[derive(Clone)]
pub(super) struct Open {
    pub opened: Rc<Opened>,
    pub view: Rc<View>,
    pub shared: SharedWords,
    pub atomic: bool,
}

impl File {
    pub(super) fn open_file(&self) -> Open {
        let File { opened, view, shared, atomic, .. } = self;
        Open { opened: opened.clone(), view: view.clone(), shared: *shared, atomic: *atomic }
    }

    /// Errors: `READ_ONLY`, `ACCESS`; `UNSUPPORTED_OPERATION` for random access to a sequential file.
    fn check(&self, direction: Direction, place: AccessPosition) -> Result<()> {
        match direction {
            Direction::Read => self.mode.check_readable()?,
            Direction::Write => self.mode.check_writable()?,
        }
        match place {
            AccessPosition::At(_) | AccessPosition::Individual => self.mode.check_random(),
            AccessPosition::Shared | AccessPosition::Ordered => Ok(()),
        }
    }
}

impl Files {
    /// Reads or writes; the status has the bytes of the buffer that were moved, fewer when reading reaches the end of the file.
    ///
    /// Errors: `FILE`, `COUNT`, `TYPE`, `ARG` for a negative offset; `READ_ONLY`, `ACCESS`, `UNSUPPORTED_OPERATION` if the access mode does not allow
    /// it; `IO` if the data is no whole number of etypes; `NO_SPACE` and others of the system; `CONVERSION` and others of a program's
    /// representation; `NO_MEM`.
    ///
    /// # Safety
    /// The buffer's items must be writable for a read, and readable for a write.
    pub unsafe fn file_transfer(
        &mut self,
        file: Handle,
        direction: Direction,
        place: AccessPosition,
        buffer: &Buffer,
    ) -> Result<Status> {
        // Who waits for others may call an operation of the program's that frees the datatype: it has a handle of this call's own.
        let kept = if place == AccessPosition::Ordered { self.kept(buffer.datatype) } else { None };
        let own = kept.map(|datatype| self.add_datatype(datatype));
        let buffer = Buffer { datatype: own.map_or(buffer.datatype, |own| own.0), ..*buffer };
        // SAFETY: the items of `buffer` are writable for a read, readable for a write (this function's
        // contract).
        let outcome = unsafe { self.transfer_kept(file, direction, place, &buffer) };
        if let Some(own) = own {
            self.forget_datatype(own);
        }
        outcome
    }

    /// # Safety
    /// As for [`Files::file_transfer`].
    unsafe fn transfer_kept(
        &mut self,
        file: Handle,
        direction: Direction,
        place: AccessPosition,
        buffer: &Buffer,
    ) -> Result<Status> {
        let wanted = self.prepare(file, direction, place, buffer);
        // Others wait for this rank's part of an ordered transfer, even if it is none.
        let after = match place {
            AccessPosition::Ordered => {
                Some(self.ordered_start(file, wanted.map_or(0, |(_, etypes)| etypes))?)
            }
            _ => None,
        };
        let (bytes, etypes) = wanted?;
        let start = match after {
            Some(start) => start,
            None => self.first_etype(file, place, etypes)?,
        };
        let open = self.file(file)?.open_file();
        let position = open.view.position(start)?;
        // SAFETY: the items of `buffer` are writable for a read, readable for a write (this function's
        // contract).
        let moved = unsafe { self.move_data(&open, direction, buffer, position, bytes)? };
        if place == AccessPosition::Individual {
            self.file_mut(file)?.position = start + open.view.etypes_up(moved.in_file);
        }
        Ok(Status { bytes: moved.in_memory, ..Status::EMPTY })
    }

    /// As [`Files::file_transfer`], as a request. It is complete: the system calls have moved everything.
    ///
    /// # Safety
    /// As for [`Files::file_transfer`].
    pub unsafe fn file_start(
        &mut self,
        file: Handle,
        direction: Direction,
        place: AccessPosition,
        buffer: &Buffer,
    ) -> Result<Handle> {
        // SAFETY: the items of `buffer` are writable for a read, readable for a write (this function's
        // contract).
        let status = unsafe { self.file_transfer(file, direction, place, buffer)? };
        Ok(self.insert_complete(status))
    }

    /// Checks everything that can be checked before data is moved; bytes and etypes that it is in the file.
    fn prepare(
        &mut self,
        file: Handle,
        direction: Direction,
        place: AccessPosition,
        buffer: &Buffer,
    ) -> Result<(u64, u64)> {
        let it = self.file(file)?;
        it.check(direction, place)?;
        let view = it.view.clone();
        let bytes = self.size_in_file(&view.representation, buffer)?;
        Ok((bytes, view.etypes(bytes)?))
    }

    /// The etype at which a transfer of so many begins. Errors: `ARG` for a negative one, or a shared pointer beyond all files.
    fn first_etype(&mut self, file: Handle, place: AccessPosition, etypes: u64) -> Result<u64> {
        let it = self.file(file)?;
        let (position, shared) = (it.position, it.shared);
        match place {
            AccessPosition::At(offset) => u64::try_from(offset).map_err(|_| Error::ARG),
            AccessPosition::Individual => Ok(position),
            AccessPosition::Shared | AccessPosition::Ordered => self.advance_pointer(shared, etypes),
        }
    }

    /// The etype at which this rank's part of an ordered transfer begins: behind those of the ranks before it.
    fn ordered_start(&mut self, file: Handle, etypes: u64) -> Result<u64> {
        let it = self.file(file)?;
        let (communicator, shared): (Rc<Communicator>, _) = (it.communicator.clone(), it.shared);
        let rank = communicator.rank;
        let (mut before, mut all) = (0u64, 0u64);
        self.exchange_words(&communicator, [etypes as i32, (etypes >> 32) as i32], |other, [low, high]| {
            let part = u64::from(low as u32) | u64::from(high as u32) << 32;
            all = all.saturating_add(part);
            if other < rank {
                before = before.saturating_add(part);
            }
        })?;
        let share = if rank == CommRank::FIRST { self.advance_pointer(shared, all) } else { Ok(0) };
        let starts = self.exchange_outcomes(&communicator, share)?;
        let start = starts.first().copied().ok_or(Error::INTERN)?;
        start.checked_add(before).ok_or(Error::ARG)
    }
}
