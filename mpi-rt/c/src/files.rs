//! Files (MPI-5.0, chapter 14): opening, sizes, views, pointers, consistency. What moves data is in `files_access`, data representations of the
//! program's in `files_representation`.

use crate::types::{Comm, Datatype, Group, Info, give, give_number, give_text, text, value};
use crate::{conversions, mpi};
use core::ffi::{c_char, c_int};
use lwk_mpi_file::{self as file, MAX_NAME, with};
use lwk_mpi_rt::abi::FILE_NULL;
use lwk_mpi_rt::info;
use lwk_mpi_rt::{Error, Handle};

/// `MPI_File`: a handle.
pub type File = u64;
/// `MPI_Offset`.
pub type Offset = i64;

/// The file at an address that a program has passed.
///
/// # Safety
/// `file` is null or readable.
unsafe fn named(file: *const File) -> File {
    // SAFETY: null, or readable (this function's contract).
    unsafe { value(file) }.unwrap_or(FILE_NULL)
}

mpi! {
    fn File_open(comm: Comm, filename: *const c_char, amode: c_int, info: Info, file: *mut File) on File(FILE_NULL) {
        let hints = info::hints(Handle(info))?;
        if file.is_null() {
            return Err(Error::ARG);
        }
        give(file, file::open(Handle(comm), text(filename)?, amode, &hints)?.0)
    }

    fn File_close(file: *mut File) on File({
        // SAFETY: null, or readable as the standard asks.
        unsafe { named(file) }
    }) {
        let handle = value(file)?;
        let outcome = file::close(Handle(handle));
        if outcome != Err(Error::FILE) {
            conversions::forget(handle);
            give(file, FILE_NULL)?;
        }
        outcome
    }

    fn File_delete(filename: *const c_char, info: Info) on File(FILE_NULL) {
        info::hints(Handle(info))?;
        file::delete(text(filename)?)
    }

    fn File_set_size(file: File, size: Offset) on File(file) {
        with(|files| files.file_set_size(Handle(file), size))
    }

    fn File_preallocate(file: File, size: Offset) on File(file) {
        with(|files| files.file_preallocate(Handle(file), size))
    }

    fn File_get_size(file: File, size: *mut Offset) on File(file) {
        give(size, with(|files| files.file_size(Handle(file)))?)
    }

    fn File_get_group(file: File, group: *mut Group) on File(file) {
        if group.is_null() {
            return Err(Error::ARG);
        }
        give(group, with(|files| files.file_group(Handle(file)))?.0)
    }

    fn File_get_amode(file: File, amode: *mut c_int) on File(file) {
        give(amode, with(|files| files.file_mode(Handle(file)))?)
    }

    fn File_set_info(file: File, info: Info) on File(file) {
        info::content(Handle(info))?;
        with(|files| files.file_set_info(Handle(file)))
    }

    fn File_get_info(file: File, info_used: *mut Info) on File(file) {
        if info_used.is_null() {
            return Err(Error::ARG);
        }
        let used = with(|files| files.file_info(Handle(file)).cloned())?;
        give(info_used, info::insert(used)?.0)
    }

    fn File_set_view(
        file: File, disp: Offset, etype: Datatype, filetype: Datatype, datarep: *const c_char, info: Info,
    ) on File(file) {
        info::hints(Handle(info))?;
        let representation = text(datarep)?;
        with(|files| files.file_set_view(Handle(file), disp, etype, filetype, representation))
    }

    fn File_get_view(
        file: File, disp: *mut Offset, etype: *mut Datatype, filetype: *mut Datatype, datarep: *mut u8,
    ) on File(file) {
        if disp.is_null() || etype.is_null() || filetype.is_null() || datarep.is_null() {
            return Err(Error::ARG);
        }
        let view = with(|files| files.file_view(Handle(file)))?;
        give(disp, view.displacement)?;
        give(etype, view.etype.0)?;
        give(filetype, view.filetype.0)?;
        let mut length = 0;
        give_text(datarep, &raw mut length, &view.representation, MAX_NAME)
    }

    fn File_seek(file: File, offset: Offset, whence: c_int) on File(file) {
        with(|files| files.file_seek(Handle(file), offset, whence))
    }

    fn File_get_position(file: File, offset: *mut Offset) on File(file) {
        give(offset, with(|files| files.file_position(Handle(file)))?)
    }

    fn File_seek_shared(file: File, offset: Offset, whence: c_int) on File(file) {
        with(|files| files.file_seek_shared(Handle(file), offset, whence))
    }

    fn File_get_position_shared(file: File, offset: *mut Offset) on File(file) {
        give(offset, with(|files| files.file_position_shared(Handle(file)))?)
    }

    fn File_get_byte_offset(file: File, offset: Offset, disp: *mut Offset) on File(file) {
        give(disp, with(|files| files.file_byte_offset(Handle(file), offset))?)
    }

    /// The small form gives an `MPI_Aint`, which is as wide as an `MPI_Count`.
    fn File_get_type_extent(file: File, datatype: Datatype, extent: *mut i64) on File(file) {
        give(extent, with(|files| files.file_type_extent(Handle(file), datatype))?)
    }

    fn File_get_type_extent_c(file: File, datatype: Datatype, extent: *mut i64) on File(file) {
        give_number(extent, with(|files| files.file_type_extent(Handle(file), datatype))?)
    }

    fn File_set_atomicity(file: File, flag: c_int) on File(file) {
        with(|files| files.file_set_atomicity(Handle(file), flag != 0))
    }

    fn File_get_atomicity(file: File, flag: *mut c_int) on File(file) {
        give(flag, with(|files| files.file_atomicity(Handle(file)))? as c_int)
    }

    fn File_sync(file: File) on File(file) {
        with(|files| files.file_sync(Handle(file)))
    }
}
