//! What a program may ask about the binary interface (MPI-5.0, section 20.5). Fortran's part is gfortran's, which the bindings in `fortran/`
//! are made for: it is set from the start, and setting it again is `MPI_ERR_ABI`.

use crate::mpi;
use crate::types::{Info as Handle, give};
use alloc::format;
use core::ffi::c_int;
use core::mem::size_of;
use lwk_datatype::Predefined;
use lwk_mpi_rt::info::{self, Info};
use lwk_mpi_rt::{Error, Result};

/// The version of the binary interface.
const ABI: (c_int, c_int) = (1, 0);
/// `MPI_INFO_NULL`.
const INFO_NULL: Handle = 0x130;

/// Fortran's basic types whose sizes are told: key and bytes.
const SIZES: [(&str, usize); 4] = [
    ("mpi_logical_size", 4),
    ("mpi_integer_size", 4),
    ("mpi_real_size", 4),
    ("mpi_double_precision_size", 8),
];

/// Fortran's sized types, by the number of their handle: are they there?
const SIZED: [(&str, usize); 19] = [
    ("mpi_logical1_supported", 0x2c0),
    ("mpi_logical2_supported", 0x2c8),
    ("mpi_logical4_supported", 0x2d0),
    ("mpi_logical8_supported", 0x2d8),
    ("mpi_logical16_supported", 0x2e0),
    ("mpi_integer1_supported", 0x2c1),
    ("mpi_integer2_supported", 0x2c9),
    ("mpi_integer4_supported", 0x2d1),
    ("mpi_integer8_supported", 0x2d9),
    ("mpi_integer16_supported", 0x2e1),
    ("mpi_real2_supported", 0x2ca),
    ("mpi_real4_supported", 0x2d2),
    ("mpi_real8_supported", 0x2da),
    ("mpi_real16_supported", 0x2e2),
    ("mpi_complex4_supported", 0x2d3),
    ("mpi_complex8_supported", 0x2db),
    ("mpi_complex16_supported", 0x2e3),
    ("mpi_complex32_supported", 0x2eb),
    ("mpi_double_complex_supported", 0x21d),
];

/// A logical of a size, as gfortran stores it.
///
/// # Safety
/// `place` must be null or writable for `bytes` bytes: 1, 2, 4 or 8.
unsafe fn store_logical(place: *mut u8, bytes: c_int, value: u8) {
    if place.is_null() {
        return;
    }
    // SAFETY: `place` is not null (checked above), so it is writable for `bytes`, at least 1 (this function's
    // contract).
    unsafe {
        place.write_bytes(0, bytes as usize);
        place.write(value);
    }
}

/// What is told of Fortran's types cannot be told again. Errors: `INFO` for what is no info object, else `ABI`.
fn refuse(info: Handle) -> Result<()> {
    if info == INFO_NULL {
        return Err(Error::INFO);
    }
    info::content(lwk_mpi_rt::Handle(info))?;
    Err(Error::ABI)
}

mpi! {
    fn Abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) on Nothing {
        give(abi_major, ABI.0)?;
        give(abi_minor, ABI.1)
    }

    /// Sizes of the interface's own integers. The caller frees the result.
    fn Abi_get_info(place: *mut Handle) on Nothing {
        let mut told = Info::default();
        let sizes = [("mpi_aint_size", size_of::<isize>()), ("mpi_count_size", size_of::<i64>()), ("mpi_offset_size", size_of::<i64>())];
        for (key, bytes) in sizes {
            told.set(key.as_bytes(), format!("{bytes}").as_bytes())?;
        }
        give(place, info::insert(told)?.0)
    }

    fn Abi_get_fortran_info(place: *mut Handle) on Nothing {
        let mut told = Info::default();
        for (key, bytes) in SIZES {
            told.set(key.as_bytes(), format!("{bytes}").as_bytes())?;
        }
        for (key, number) in SIZED {
            let there = Predefined::from_handle(number).is_some();
            told.set(key.as_bytes(), if there { b"true" } else { b"false" })?;
        }
        give(place, info::insert(told)?.0)
    }

    fn Abi_set_fortran_info(info: Handle) on Nothing {
        refuse(info)
    }

    fn Abi_get_fortran_booleans(size: c_int, logical_true: *mut u8, logical_false: *mut u8, is_set: *mut c_int) on Nothing {
        let known = matches!(size, 1 | 2 | 4 | 8);
        if known {
            store_logical(logical_true, size, 1);
            store_logical(logical_false, size, 0);
        }
        give(is_set, known as c_int)
    }

    fn Abi_set_fortran_booleans(size: c_int, _logical_true: *const u8, _logical_false: *const u8) on Nothing {
        if !matches!(size, 1 | 2 | 4 | 8 | 16) {
            return Err(Error::ARG);
        }
        Err(Error::ABI)
    }
}
