//! An open file as a rank has it: by a descriptor of its own where the job's files are, else by the keeper's ([`crate::keeper`]).

use crate::Files;
use crate::access_mode::AccessMode;
use crate::keeper::{FILES, KEEPER, PIECE, what};
use crate::system::{self, Descriptor};
use alloc::vec::Vec;
use lwk_mpi_asking::{Query, ask, ask_into};
use lwk_mpi_core::error::{Error, Result};
use lwk_path::Reach;
use lwk_path::region::Region;
use lwk_user::job;

/// See the module.
pub(super) enum Opened {
    /// Closed when dropped.
    Here(Descriptor),
    /// Under that number at the keeper, until [`Files::close_opened`].
    Kept(u64),
}

/// Whether this rank's node has the job's files.
fn are_here() -> bool {
    job().nodes() <= 1 || job().node() == 0
}

/// Bytes as the body of a question. Errors: `NO_MEM`.
fn body_of(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    body.try_reserve_exact(bytes.len()).map_err(|_| Error::NO_MEM)?;
    body.extend_from_slice(bytes);
    Ok(body)
}

impl Files {
    /// Opens a file, and makes it if the mode says so and `create` does; its path ends with a NUL. Errors: as for [`Descriptor::open`]; `BAD_FILE` for what is no
    /// regular file.
    pub(super) fn open_path(
        &mut self,
        path: &[u8],
        mode: AccessMode,
        create: bool,
        permissions: u32,
    ) -> Result<Opened> {
        if are_here() {
            return Descriptor::open(path, mode, create, permissions).map(Opened::Here);
        }
        let arguments = [mode.bits() as u64, u64::from(create), u64::from(permissions), 0, 0, 0];
        let query = Query { what: what::OPEN, arguments, body: body_of(path)? };
        self.call_keeper(query).map(Opened::Kept)
    }

    /// Asks the keeper for what needs a call before it.
    fn call_keeper(&mut self, query: Query) -> Result<u64> {
        self.call(KEEPER);
        ask(self, KEEPER, FILES, query)
    }

    fn ask_of_kept(&mut self, what: u64, number: u64, argument: u64) -> Result<u64> {
        let arguments = [number, argument, 0, 0, 0, 0];
        ask(self, KEEPER, FILES, Query { what, arguments, body: Vec::new() })
    }

    /// This rank has the file no longer open; a descriptor of its own goes when it is dropped. Errors: those of asking.
    pub(super) fn close_opened(&mut self, opened: &Opened) -> Result<()> {
        match opened {
            Opened::Here(descriptor) => {
                descriptor.hide();
                Ok(())
            }
            Opened::Kept(number) => self.ask_of_kept(what::CLOSE, *number, 0).map(drop),
        }
    }

    /// Removes the name of a file that no rank of the job has open, as far as can be known. Errors: as for [`system::delete`].
    pub(super) fn delete_path(&mut self, path: &[u8]) -> Result<()> {
        if are_here() {
            return system::delete(path, |rank| self.reach(rank) == Reach::Mapped);
        }
        let query = Query { body: body_of(path)?, ..Query::new(what::DELETE, 0) };
        self.call_keeper(query).map(drop)
    }

    /// Removes a file's name. Errors: as for [`system::unlink`].
    pub(super) fn unlink_path(&mut self, path: &[u8]) -> Result<()> {
        if are_here() {
            return system::unlink(path);
        }
        let query = Query { body: body_of(path)?, ..Query::new(what::UNLINK, 0) };
        self.call_keeper(query).map(drop)
    }

    /// The file's number, the same for all ranks. Errors: `BAD_FILE` for what is no regular file.
    pub(super) fn identity_of(&mut self, opened: &Opened) -> Result<u64> {
        match opened {
            Opened::Here(descriptor) => descriptor.number(),
            Opened::Kept(number) => self.ask_of_kept(what::IDENTIFY, *number, 0),
        }
    }

    /// Lets all ranks see that this one has the file open. Errors: as for [`Descriptor::show`].
    pub(super) fn show_opened(&mut self, opened: &Opened) -> Result<()> {
        match opened {
            Opened::Here(descriptor) => descriptor.show(),
            // The keeper has shown it.
            Opened::Kept(_) => Ok(()),
        }
    }

    /// Bytes of the file. Errors: as for [`Descriptor::size`].
    pub(super) fn size_of_file(&mut self, opened: &Opened) -> Result<u64> {
        match opened {
            Opened::Here(descriptor) => descriptor.size(),
            Opened::Kept(number) => self.ask_of_kept(what::SIZE, *number, 0),
        }
    }

    /// As [`Descriptor::set_size`].
    pub(super) fn set_size_of(&mut self, opened: &Opened, bytes: u64) -> Result<()> {
        match opened {
            Opened::Here(descriptor) => descriptor.set_size(bytes),
            Opened::Kept(_) if bytes > system::limit() => Err(Error::QUOTA),
            Opened::Kept(number) => self.ask_of_kept(what::SET_SIZE, *number, bytes).map(drop),
        }
    }

    /// As [`Descriptor::allocate`].
    pub(super) fn allocate_of(&mut self, opened: &Opened, bytes: u64) -> Result<()> {
        match opened {
            Opened::Here(descriptor) => descriptor.allocate(bytes),
            Opened::Kept(_) if bytes > system::limit() => Err(Error::QUOTA),
            Opened::Kept(number) => self.ask_of_kept(what::ALLOCATE, *number, bytes).map(drop),
        }
    }

    /// As [`Descriptor::sync`].
    pub(super) fn sync_opened(&mut self, opened: &Opened) -> Result<()> {
        match opened {
            Opened::Here(descriptor) => descriptor.sync(),
            Opened::Kept(number) => self.ask_of_kept(what::SYNC, *number, 0).map(drop),
        }
    }

    /// As [`Descriptor::read`].
    ///
    /// # Safety
    /// `bytes` bytes must be writable at `target`, and nobody else may use them until this returns.
    pub(super) unsafe fn read_opened(
        &mut self,
        opened: &Opened,
        target: *mut u8,
        bytes: u64,
        offset: u64,
    ) -> Result<u64> {
        let number = match opened {
            // SAFETY: `target` is writable for `bytes` (this function's contract).
            Opened::Here(descriptor) => return unsafe { descriptor.read(target, bytes, offset) },
            Opened::Kept(number) => *number,
        };
        let mut done = 0;
        while done < bytes {
            let piece = (bytes - done).min(PIECE);
            let arguments = [number, offset + done, piece, 0, 0, 0];
            let query = Query { what: what::READ, arguments, body: Vec::new() };
            let into = Region::block(target.wrapping_add(done as usize), piece as usize);
            // SAFETY: `target` has as many bytes more from `done` on, which are nobody else's (this function's contract).
            let read = unsafe { ask_into(self, KEEPER, FILES, query, &into)? };
            done += read;
            if read < piece {
                break;
            }
        }
        Ok(done)
    }

    /// As [`Descriptor::write`].
    ///
    /// # Safety
    /// `bytes` bytes must be readable at `source`, and nobody may write them until this returns.
    pub(super) unsafe fn write_opened(
        &mut self,
        opened: &Opened,
        source: *const u8,
        bytes: u64,
        offset: u64,
    ) -> Result<()> {
        let number = match opened {
            // SAFETY: `source` is readable for `bytes` (this function's contract).
            Opened::Here(descriptor) => return unsafe { descriptor.write(source, bytes, offset) },
            Opened::Kept(number) => *number,
        };
        // As the system does: what the rank may have in a file is written, and then there is an error.
        let granted = bytes.min(system::limit().saturating_sub(offset));
        let mut done = 0;
        while done < granted {
            let piece = (granted - done).min(PIECE);
            let start = source.wrapping_add(done as usize);
            // SAFETY: `source` has as many bytes more from `done` on, which nobody writes (this function's contract).
            let body = body_of(unsafe { core::slice::from_raw_parts(start, piece as usize) })?;
            let arguments = [number, offset + done, 0, 0, 0, 0];
            ask(self, KEEPER, FILES, Query { what: what::WRITE, arguments, body })?;
            done += piece;
        }
        if granted < bytes { Err(Error::QUOTA) } else { Ok(()) }
    }
}
