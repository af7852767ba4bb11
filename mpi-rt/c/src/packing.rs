//! Packing, and addresses (MPI-5.0, sections 5.1.5 and 5.2).

use crate::mpi;
use crate::types::{Comm, Datatype, Number, give, give_number};
use core::ffi::{CStr, c_char};
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::pack::Packed;
use lwk_mpi_rt::{Error, Handle, Result};

/// The packed buffer that a call describes.
///
/// # Safety
/// `position` must be null or readable.
unsafe fn packed<N: Number>(address: *const u8, bytes: N, position: *const N) -> Result<Packed> {
    // SAFETY: `position` is null or readable (this function's contract).
    let position = unsafe { position.as_ref() }.ok_or(Error::ARG)?.wide();
    Ok(Packed { address: address.cast_mut(), bytes: bytes.wide(), position })
}

/// The one data representation that can be packed into. Errors: `UNSUPPORTED_DATAREP` would be a file's; here it is `ARG`.
///
/// # Safety
/// `name` must be null or a text that ends with a zero.
unsafe fn check_external32(name: *const c_char) -> Result<()> {
    if name.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `name` is not null (checked above), so it is a text that ends with a zero (this function's
    // contract).
    if unsafe { CStr::from_ptr(name) }.to_bytes() == b"external32" { Ok(()) } else { Err(Error::ARG) }
}

mpi! {
    fn Pack + Pack_c<N>(
        inbuf: *const u8, incount: N, datatype: Datatype, outbuf: *mut u8, outsize: N, position: *mut N, comm: Comm,
    ) on Comm(comm) {
        let into = packed(outbuf, outsize, position)?;
        let end = with(|engine| {
            engine.communicators.size(Handle(comm))?;
            engine.pack(inbuf, incount.wide(), datatype, &into)
        })?;
        give_number(position, end)
    }

    fn Unpack + Unpack_c<N>(
        inbuf: *const u8, insize: N, position: *mut N, outbuf: *mut u8, outcount: N, datatype: Datatype, comm: Comm,
    ) on Comm(comm) {
        let from = packed(inbuf, insize, position)?;
        let end = with(|engine| {
            engine.communicators.size(Handle(comm))?;
            engine.unpack(&from, outbuf, outcount.wide(), datatype)
        })?;
        give_number(position, end)
    }

    fn Pack_size + Pack_size_c<N>(incount: N, datatype: Datatype, comm: Comm, size: *mut N) on Comm(comm) {
        let bytes = with(|engine| {
            engine.communicators.size(Handle(comm))?;
            engine.pack_size(incount.wide(), datatype)
        })?;
        give_number(size, bytes)
    }

    fn Pack_external + Pack_external_c<N>(
        datarep: *const c_char, inbuf: *const u8, incount: N, datatype: Datatype, outbuf: *mut u8, outsize: i64,
        position: *mut i64,
    ) on Nothing {
        check_external32(datarep)?;
        let into = packed(outbuf, outsize, position)?;
        give(position, with(|engine| engine.pack_external(inbuf, incount.wide(), datatype, &into))?)
    }

    fn Unpack_external + Unpack_external_c<N>(
        datarep: *const c_char, inbuf: *const u8, insize: i64, position: *mut i64, outbuf: *mut u8, outcount: N,
        datatype: Datatype,
    ) on Nothing {
        check_external32(datarep)?;
        let from = packed(inbuf, insize, position)?;
        give(position, with(|engine| engine.unpack_external(&from, outbuf, outcount.wide(), datatype))?)
    }

    fn Pack_external_size + Pack_external_size_c<N>(datarep: *const c_char, incount: N, datatype: Datatype, size: *mut i64)
    on Nothing {
        check_external32(datarep)?;
        give(size, with(|engine| engine.pack_external_size(incount.wide(), datatype))?)
    }

    fn Get_address(location: *const u8, address: *mut i64) on Nothing {
        give(address, location.expose_provenance() as i64)
    }

    /// An address and a distance (MPI-5.0, section 5.1.5). Addresses wrap, as the processor's do.
    fn Aint_add(base: i64, disp: i64) -> i64 {
        base.wrapping_add(disp)
    }

    fn Aint_diff(addr1: i64, addr2: i64) -> i64 {
        addr1.wrapping_sub(addr2)
    }
}
