//! The size of a file (MPI-5.0, sections 14.2.4 to 14.2.6). Sizes are bytes.

use crate::Files;
use crate::opened::Opened;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;

impl Files {
    /// Bytes of the file (`MPI_File_get_size`). Errors: `FILE`, and the classes of `lseek(2)`.
    pub fn file_size(&mut self, file: Handle) -> Result<i64> {
        let opened = self.file(file)?.opened.clone();
        self.size_of_file(&opened).map(|bytes| bytes as i64)
    }

    /// Cuts the file to a size, or makes it longer with zeros; all its ranks must call it. Errors: `FILE`, `ARG` for a negative size,
    /// `READ_ONLY`, `UNSUPPORTED_OPERATION` for a sequential file, `NOT_SAME`, `NO_SPACE` and others of the system.
    pub fn file_set_size(&mut self, file: Handle, bytes: i64) -> Result<()> {
        self.resize(file, bytes, Files::set_size_of)
    }

    /// Makes sure that there is space for the first bytes of a file, which is then at least as long; all its ranks must call it. Errors: as for
    /// [`Files::file_set_size`].
    pub fn file_preallocate(&mut self, file: Handle, bytes: i64) -> Result<()> {
        self.resize(file, bytes, Files::allocate_of)
    }

    fn resize(
        &mut self,
        file: Handle,
        bytes: i64,
        how: fn(&mut Files, &Opened, u64) -> Result<()>,
    ) -> Result<()> {
        let it = self.file(file)?;
        let (communicator, opened) = (it.communicator.clone(), it.opened.clone());
        let bytes = u64::try_from(bytes)
            .map_err(|_| Error::ARG)
            .and_then(|bytes| it.mode.check_writable().and(it.mode.check_random()).map(|()| bytes));
        self.agree(&communicator, bytes)?;
        let bytes = bytes?;
        self.first_does(&communicator, |files| how(files, &opened, bytes))
    }
}
