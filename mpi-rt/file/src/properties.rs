//! What a file says of itself: access mode, group, hints, view, atomicity (MPI-5.0, sections 14.2.7, 14.2.8, 14.3 and 14.6.1).

use crate::Files;
use crate::fingerprint;
use crate::representation::Representation;
use crate::view::View;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_datatype::Datatype;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::info::Info;
use lwk_mpi_rt::group::Group;

/// The hint on a new file's permissions, an octal number, and what they are without it.
const PERMISSIONS: &[u8] = b"file_perm";
const DEFAULT_PERMISSIONS: u32 = 0o666;
/// The file's name, which is told and not asked for.
const FILE_NAME: &[u8] = b"filename";

/// `MPI_DISPLACEMENT_CURRENT`.
const DISPLACEMENT_CURRENT: i64 = -1;

/// Errors: `INFO_VALUE` for a hint that is no octal number of permissions.
pub(super) fn permissions(hints: &Info) -> Result<u32> {
    let Some(text) = hints.get(PERMISSIONS)? else { return Ok(DEFAULT_PERMISSIONS) };
    let number = core::str::from_utf8(text).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
    number.filter(|number| *number <= 0o777).ok_or(Error::INFO_VALUE)
}

/// The hints that hold for a file that has just been opened under `name`. A name that is too long for an info object is not told.
pub(super) fn initial_hints(hints: &Info, name: &[u8]) -> Result<Info> {
    let mut holding = hints.only(&[PERMISSIONS]);
    if name.len() < lwk_mpi_core::info::MAX_VALUE {
        holding.set(FILE_NAME, name)?;
    }
    Ok(holding)
}

/// A view as it is told.
pub struct Told {
    pub displacement: i64,
    /// Predefined, or new handles that the caller frees.
    pub etype: Handle,
    pub filetype: Handle,
    pub representation: Vec<u8>,
}

impl Files {
    /// `amode`, as the file was opened. Errors: `FILE`.
    pub fn file_mode(&self, file: Handle) -> Result<i32> {
        Ok(self.file(file)?.mode.bits())
    }

    /// A new group of the ranks that have opened the file. Errors: `FILE`.
    pub fn file_group(&mut self, file: Handle) -> Result<Handle> {
        let members = self.file(file)?.communicator.members.clone();
        Ok(self.groups.insert(Group::new(members)))
    }

    /// The hints that hold. Errors: `FILE`.
    pub fn file_info(&self, file: Handle) -> Result<&Info> {
        Ok(&self.file(file)?.hints)
    }

    /// Takes new hints. None of those that are known has a meaning for a file that is open, so nothing changes, as the standard allows. Errors:
    /// `FILE`.
    pub fn file_set_info(&mut self, file: Handle) -> Result<()> {
        self.file(file).map(drop)
    }

    /// Whether accesses are atomic. Errors: `FILE`.
    pub fn file_atomicity(&self, file: Handle) -> Result<bool> {
        Ok(self.file(file)?.atomic)
    }

    /// Makes accesses atomic, or not; all ranks of the file must call it. Errors: `FILE`, `NOT_SAME`.
    pub fn file_set_atomicity(&mut self, file: Handle, atomic: bool) -> Result<()> {
        let communicator = self.file(file)?.communicator.clone();
        self.agree(&communicator, Ok(atomic as u64))?;
        self.file_mut(file)?.atomic = atomic;
        Ok(())
    }

    /// Gives a file a view and puts its pointers to the beginning; all ranks of the file must call it. `displacement` in bytes.
    ///
    /// Errors: `FILE`, `TYPE`, `UNSUPPORTED_DATAREP`; `ARG` for a displacement that is negative, or the current one of a file that is not
    /// sequential, and for types that are none of a view; `NOT_SAME` if the ranks' representations or extents of etypes differ; those of a program's
    /// representation. If any rank has one, all have, and the view stays as it was.
    pub fn file_set_view(
        &mut self,
        file: Handle,
        displacement: i64,
        etype: u64,
        filetype: u64,
        representation: &[u8],
    ) -> Result<()> {
        let it = self.file(file)?;
        let communicator = it.communicator.clone();
        if it.mode.check_random().is_err() {
            // Nobody moves the shared pointer any more when this rank looks where it is.
            self.barrier(&communicator)?;
        }
        let view = self.make_view(file, displacement, (etype, filetype), representation);
        let told = |(view, extent): &(View, i64)| {
            fingerprint(view.representation.name().iter().copied().chain(extent.to_le_bytes()))
        };
        self.agree(&communicator, view.as_ref().map(told).map_err(|error| *error))?;
        let view = view?.0;
        let shared = self.file(file)?.shared;
        self.first_does(&communicator, |files| files.set_pointer(shared, 0))?;
        let it = self.file_mut(file)?;
        it.view = Rc::new(view);
        it.position = 0;
        Ok(())
    }

    /// A view, and the extent of its etype in the file.
    fn make_view(
        &mut self,
        file: Handle,
        displacement: i64,
        (etype, filetype): (u64, u64),
        representation: &[u8],
    ) -> Result<(View, i64)> {
        let representation = Representation::named(representation)?;
        let committed = |datatype: &Datatype| if datatype.is_committed() { Ok(()) } else { Err(Error::TYPE) };
        let (etype, filetype) = (self.datatype(etype)?.clone(), self.datatype(filetype)?.clone());
        committed(&etype)?;
        committed(&filetype)?;
        let in_file =
            (self.type_in_file(&representation, &etype)?, self.type_in_file(&representation, &filetype)?);
        let it = self.file(file)?;
        let (shared, sequential) = (it.shared, it.mode.check_random().is_err());
        let current = if sequential { self.pointer_position(shared)? } else { 0 };
        let it = self.file(file)?;
        let displacement = match displacement {
            DISPLACEMENT_CURRENT if sequential => it.view.byte_offset(it.view.position(current)?)?,
            // A sequential file goes on where it is.
            _ if sequential => return Err(Error::ARG),
            _ => u64::try_from(displacement).map_err(|_| Error::ARG)?,
        };
        let writable = it.mode.check_writable().is_ok();
        let extent = in_file.0.extent();
        let view =
            View::new(displacement, (etype, filetype), (&in_file.0, in_file.1), representation, writable)?;
        Ok((view, extent))
    }

    /// The view of a file. Errors: `FILE`.
    pub fn file_view(&mut self, file: Handle) -> Result<Told> {
        let view = self.file(file)?.view.clone();
        Ok(Told {
            displacement: view.displacement() as i64,
            etype: self.handle_of(view.etype.clone()),
            filetype: self.handle_of(view.filetype.clone()),
            representation: view.representation.name().to_vec(),
        })
    }

    /// Bytes from one item of a datatype to the next in the file. Errors: `FILE`, `TYPE`, those of a program's representation.
    pub fn file_type_extent(&mut self, file: Handle, datatype: u64) -> Result<i64> {
        let view = self.file(file)?.view.clone();
        let datatype = self.datatype(datatype)?.clone();
        Ok(self.type_in_file(&view.representation, &datatype)?.extent())
    }

    /// What has been written is where it belongs. Errors: `FILE`, `IO`.
    pub fn file_sync(&mut self, file: Handle) -> Result<()> {
        let opened = self.file(file)?.opened.clone();
        self.sync_opened(&opened)
    }
}
