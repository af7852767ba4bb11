//! Data access of files (MPI-5.0, section 14.4): the same transfer at explicit offsets, at individual pointers and at the shared one, blocking,
//! non-blocking, collective and split.

use crate::files::{File, Offset};
use crate::mpi;
use crate::one_sided::buffer;
use crate::types::{Datatype, Request, Status, give};
use core::ffi::c_void;
use lwk_mpi_file::Direction::{Read, Write};
use lwk_mpi_file::{AccessPosition, Buffer, Direction, with};
use lwk_mpi_rt::{Error, Handle, Result};

/// # Safety
/// The buffer's items must be readable to write them, writable to read into them; `status` null or writable.
unsafe fn transfer(
    file: File,
    way: Direction,
    place: AccessPosition,
    buffer: Buffer,
    status: *mut Status,
) -> Result<()> {
    // SAFETY: the items are readable or writable, as `way` needs, and `status` null or writable (this
    // function's contract).
    unsafe {
        let outcome = with(|files| files.file_transfer(Handle(file), way, place, &buffer))?;
        Status::store(status, &outcome);
    }
    Ok(())
}

/// # Safety
/// The buffer's items must be readable to write them, writable to read into them; `request` null or writable.
unsafe fn start(
    file: File,
    way: Direction,
    place: AccessPosition,
    buffer: Buffer,
    request: *mut Request,
) -> Result<()> {
    if request.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: the items are readable or writable, as `way` needs, and `request` writable, not being null
    // (this function's contract).
    unsafe { give(request, with(|files| files.file_start(Handle(file), way, place, &buffer))?.0) }
}

/// # Safety
/// The buffer's items must be readable to write them, writable to read into them.
unsafe fn begin(file: File, way: Direction, place: AccessPosition, buffer: Buffer) -> Result<()> {
    // SAFETY: the items are readable or writable, as `way` needs (this function's contract).
    unsafe { with(|files| files.file_begin(Handle(file), way, place, &buffer)) }
}

/// # Safety
/// `status` must be null or writable.
unsafe fn end(file: File, way: Direction, place: AccessPosition, status: *mut Status) -> Result<()> {
    let outcome = with(|files| files.file_end(Handle(file), way, place))?;
    // SAFETY: `status` is null or writable (this function's contract).
    unsafe { Status::store(status, &outcome) };
    Ok(())
}

/// Blocking transfers at a pointer.
macro_rules! at_pointer {
    ($($name:ident $large:ident $way:ident $place:ident,)*) => {
        mpi! {
            $(
                fn $name + $large<N>(file: File, buf: *mut c_void, count: N, datatype: Datatype, status: *mut Status) on File(file) {
                    transfer(file, $way, AccessPosition::$place, buffer(buf, count, datatype), status)
                }
            )*
        }
    };
}

/// Blocking transfers at an offset.
macro_rules! at_offset {
    ($($name:ident $large:ident $way:ident,)*) => {
        mpi! {
            $(
                fn $name + $large<N>(
                    file: File, offset: Offset, buf: *mut c_void, count: N, datatype: Datatype, status: *mut Status,
                ) on File(file) {
                    transfer(file, $way, AccessPosition::At(offset), buffer(buf, count, datatype), status)
                }
            )*
        }
    };
}

/// Non-blocking transfers at a pointer.
macro_rules! start_at_pointer {
    ($($name:ident $large:ident $way:ident $place:ident,)*) => {
        mpi! {
            $(
                fn $name + $large<N>(file: File, buf: *mut c_void, count: N, datatype: Datatype, request: *mut Request) on File(file) {
                    start(file, $way, AccessPosition::$place, buffer(buf, count, datatype), request)
                }
            )*
        }
    };
}

/// Non-blocking transfers at an offset.
macro_rules! start_at_offset {
    ($($name:ident $large:ident $way:ident,)*) => {
        mpi! {
            $(
                fn $name + $large<N>(
                    file: File, offset: Offset, buf: *mut c_void, count: N, datatype: Datatype, request: *mut Request,
                ) on File(file) {
                    start(file, $way, AccessPosition::At(offset), buffer(buf, count, datatype), request)
                }
            )*
        }
    };
}

/// Split collectives at a pointer: both halves.
macro_rules! split_at_pointer {
    ($($begin:ident $large:ident $end:ident $way:ident $place:ident,)*) => {
        mpi! {
            $(
                fn $begin + $large<N>(file: File, buf: *mut c_void, count: N, datatype: Datatype) on File(file) {
                    begin(file, $way, AccessPosition::$place, buffer(buf, count, datatype))
                }

                fn $end(file: File, _buf: *mut c_void, status: *mut Status) on File(file) {
                    end(file, $way, AccessPosition::$place, status)
                }
            )*
        }
    };
}

/// Split collectives at an offset: both halves.
macro_rules! split_at_offset {
    ($($begin:ident $large:ident $end:ident $way:ident,)*) => {
        mpi! {
            $(
                fn $begin + $large<N>(file: File, offset: Offset, buf: *mut c_void, count: N, datatype: Datatype) on File(file) {
                    begin(file, $way, AccessPosition::At(offset), buffer(buf, count, datatype))
                }

                fn $end(file: File, _buf: *mut c_void, status: *mut Status) on File(file) {
                    end(file, $way, AccessPosition::At(0), status)
                }
            )*
        }
    };
}

at_pointer! {
    File_read File_read_c Read Individual,
    File_read_all File_read_all_c Read Individual,
    File_read_shared File_read_shared_c Read Shared,
    File_read_ordered File_read_ordered_c Read Ordered,
    File_write File_write_c Write Individual,
    File_write_all File_write_all_c Write Individual,
    File_write_shared File_write_shared_c Write Shared,
    File_write_ordered File_write_ordered_c Write Ordered,
}

at_offset! {
    File_read_at File_read_at_c Read,
    File_read_at_all File_read_at_all_c Read,
    File_write_at File_write_at_c Write,
    File_write_at_all File_write_at_all_c Write,
}

start_at_pointer! {
    File_iread File_iread_c Read Individual,
    File_iread_all File_iread_all_c Read Individual,
    File_iread_shared File_iread_shared_c Read Shared,
    File_iwrite File_iwrite_c Write Individual,
    File_iwrite_all File_iwrite_all_c Write Individual,
    File_iwrite_shared File_iwrite_shared_c Write Shared,
}

start_at_offset! {
    File_iread_at File_iread_at_c Read,
    File_iread_at_all File_iread_at_all_c Read,
    File_iwrite_at File_iwrite_at_c Write,
    File_iwrite_at_all File_iwrite_at_all_c Write,
}

split_at_pointer! {
    File_read_all_begin File_read_all_begin_c File_read_all_end Read Individual,
    File_read_ordered_begin File_read_ordered_begin_c File_read_ordered_end Read Ordered,
    File_write_all_begin File_write_all_begin_c File_write_all_end Write Individual,
    File_write_ordered_begin File_write_ordered_begin_c File_write_ordered_end Write Ordered,
}

split_at_offset! {
    File_read_at_all_begin File_read_at_all_begin_c File_read_at_all_end Read,
    File_write_at_all_begin File_write_at_all_begin_c File_write_at_all_end Write,
}
