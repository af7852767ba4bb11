//! File pointers (MPI-5.0, sections 14.4.3 and 14.4.4), in etypes of the view.

use crate::Files;
use crate::fingerprint;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;

/// Where a seek starts from, numbered as in the binary interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whence {
    Current,
    End,
    Set,
}

impl Whence {
    fn from_number(number: i32) -> Result<Whence> {
        match number {
            401 => Ok(Whence::Current),
            402 => Ok(Whence::End),
            403 => Ok(Whence::Set),
            _ => Err(Error::ARG),
        }
    }
}

impl Files {
    /// Where a pointer gets to. Errors: `ARG` for what is before the beginning of the view or no place in a file.
    fn pointer_target(&mut self, file: Handle, offset: i64, whence: i32, current: u64) -> Result<u64> {
        let it = self.file(file)?;
        let (view, opened) = (it.view.clone(), it.opened.clone());
        let from = match Whence::from_number(whence)? {
            Whence::Current => current,
            Whence::End => view.end(self.size_of_file(&opened)?)?,
            Whence::Set => 0,
        };
        let target = from.checked_add_signed(offset).ok_or(Error::ARG)?;
        view.position(target).map(|_| target)
    }

    /// Moves the individual pointer. Errors: `FILE`; `ARG` for a place before the beginning; `UNSUPPORTED_OPERATION` for a sequential file.
    pub fn file_seek(&mut self, file: Handle, offset: i64, whence: i32) -> Result<()> {
        let it = self.file(file)?;
        it.mode.check_random()?;
        let current = it.position;
        let target = self.pointer_target(file, offset, whence, current)?;
        self.file_mut(file)?.position = target;
        Ok(())
    }

    /// Where the individual pointer is. Errors: `FILE`, `UNSUPPORTED_OPERATION` for a sequential file.
    pub fn file_position(&self, file: Handle) -> Result<i64> {
        let it = self.file(file)?;
        it.mode.check_random()?;
        Ok(it.position as i64)
    }

    /// Moves the shared pointer; all ranks of the file must call it. Errors: as for [`Files::file_seek`]; `NOT_SAME`.
    pub fn file_seek_shared(&mut self, file: Handle, offset: i64, whence: i32) -> Result<()> {
        let it = self.file(file)?;
        let (communicator, shared) = (it.communicator.clone(), it.shared);
        let checked = it.mode.check_random().and(Whence::from_number(whence));
        let arguments = offset.to_le_bytes().into_iter().chain(whence.to_le_bytes());
        self.agree(&communicator, checked.map(|_| fingerprint(arguments)))?;
        self.first_does(&communicator, |files| {
            let position = files.pointer_position(shared)?;
            let target = files.pointer_target(file, offset, whence, position)?;
            files.set_pointer(shared, target)
        })
    }

    /// Where the shared pointer is. Errors: `FILE`, `UNSUPPORTED_OPERATION` for a sequential file.
    pub fn file_position_shared(&mut self, file: Handle) -> Result<i64> {
        let it = self.file(file)?;
        it.mode.check_random()?;
        let shared = it.shared;
        self.pointer_position(shared).map(|position| position as i64)
    }

    /// The place in the file, in bytes, of an etype. Errors: `FILE`, `UNSUPPORTED_OPERATION` for a sequential file, `ARG` for a negative offset.
    pub fn file_byte_offset(&self, file: Handle, etypes: i64) -> Result<i64> {
        let it = self.file(file)?;
        it.mode.check_random()?;
        let etypes = u64::try_from(etypes).map_err(|_| Error::ARG)?;
        it.view.byte_offset(it.view.position(etypes)?).map(|offset| offset as i64)
    }
}
