//! `external32`: data in the standard's portable form, whose representation "external32" `MPI_PACK_EXTERNAL` names.
//!
//! MPI 5.0, "External Data Representation": big-endian two's complement and IEEE formats, no alignment, lengths by a fixed
//! table. Where the machine's type is longer (`long`, `wchar_t`), the least significant bytes go out and the sign comes back;
//! values beyond the shorter form are the program's mistake and are cut. `long double` becomes IEEE binary128, which holds
//! every value of x87's format, and comes back rounded to nearest. Truth values become 0 and 1.

#![allow(unsafe_code)]

use rustc_apfloat::ieee::{Quad, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert};

use crate::basic::{Basic, Scalar};
use crate::cursor::Cursor;
use crate::datatype::Datatype;
use crate::error::{Class, Error, Result};
use crate::layout::corrupt;
use crate::memory::{load, store};
use crate::signature::Runs;

/// How one number is converted; complex numbers are two.
#[derive(Clone, Copy)]
enum Form {
    Signed,
    /// Also IEEE formats, whose bytes are only reversed, and bytes without meaning.
    Unsigned,
    Truth,
    Extended,
}

/// The numbers of one value of a basic type: form, number of them, bytes of one here, bytes of one in `external32`.
fn numbers(basic: Basic) -> (Form, usize, usize, usize) {
    use Scalar::*;
    let (form, parts) = match basic.scalar() {
        I8 | I16 | I32 | I64 | I128 => (Form::Signed, 1),
        U8 | U16 | U32 | U64 | F16 | F32 | F64 | F128 | Raw => (Form::Unsigned, 1),
        C16 | C32 | C64 | C128 => (Form::Unsigned, 2),
        L8 | L16 | L32 | L64 | L128 | Bool => (Form::Truth, 1),
        F80 => (Form::Extended, 1),
        C80 => (Form::Extended, 2),
    };
    (form, parts, basic.size() / parts, basic.external_size() / parts)
}

/// Writes `items` items at `base` to `out` as `external32` and returns the bytes written,
/// [`Datatype::pack_external_size`]. Class `Truncate` if `room` is less, and those of [`Datatype::region`].
///
/// # Safety
/// The items' data at `base` is valid for reading and `room` bytes at `out` for writing; they do not overlap and nobody else
/// writes the one or accesses the other meanwhile.
pub unsafe fn pack_external(
    datatype: &Datatype,
    base: usize,
    items: i64,
    out: usize,
    room: u64,
) -> Result<u64> {
    check_room(datatype, items, room)?;
    let mut at = out;
    for_each_number(datatype, base, items, room, |form, here, size, external| {
        // SAFETY: `here` is a number of the message, readable; `at` and `external` bytes lie within the
        // writable `room`, as the total has been checked (this function's contract).
        unsafe { write_big_endian(at, external, outward(form, read_native(here, size), size)) };
        at = at.wrapping_add(external);
    })?;
    Ok(at.wrapping_sub(out) as u64)
}

/// Reads `items` items from `data` in `external32` to `base` and returns the bytes read. Class `Truncate` if there are fewer
/// than `bytes`, and those of [`Datatype::region`].
///
/// # Safety
/// The items' data at `base` is valid for writing and `bytes` bytes at `data` for reading; they do not
/// overlap, the items' data does not overlap itself, and nobody else accesses the one or writes the other
/// meanwhile.
pub unsafe fn unpack_external(
    datatype: &Datatype,
    base: usize,
    items: i64,
    data: usize,
    bytes: u64,
) -> Result<u64> {
    check_room(datatype, items, bytes)?;
    // SAFETY: the items at `base` are writable, `bytes` at `data` readable, and they do not overlap (this
    // function's contract).
    unsafe { unpack_external_part(datatype, base, items, data, bytes).map(|(read, _)| read) }
}

/// As [`unpack_external`], for data that may end before the message does: reads the whole values that are there and returns the bytes
/// read and the bytes of the message that they have become. Errors: those of [`Datatype::region`].
///
/// # Safety
/// As [`unpack_external`].
pub unsafe fn unpack_external_part(
    datatype: &Datatype,
    base: usize,
    items: i64,
    data: usize,
    bytes: u64,
) -> Result<(u64, u64)> {
    let (mut at, mut native) = (data, 0);
    for_each_number(datatype, base, items, bytes, |form, here, size, external| {
        // SAFETY: `at` is within the readable `bytes` at `data`, since only whole values of it are visited;
        // `here` is a number of the message, writable (this function's contract).
        unsafe { write_native(here, size, inward(form, read_big_endian(at, external), external)) };
        at = at.wrapping_add(external);
        native += size as u64;
    })?;
    Ok((at.wrapping_sub(data) as u64, native))
}

fn check_room(datatype: &Datatype, items: i64, room: u64) -> Result<()> {
    if datatype.pack_external_size(items)? > room {
        return Err(Error::new(Class::Truncate, "the external32 buffer is too small for the data"));
    }
    Ok(())
}

/// Visits the numbers of a message in order: form, address, bytes here, bytes in `external32`. Ends before the first value that `room` bytes
/// of `external32` have no place for.
fn for_each_number(
    datatype: &Datatype,
    base: usize,
    items: i64,
    mut room: u64,
    mut visit: impl FnMut(Form, usize, usize, usize),
) -> Result<()> {
    let region = datatype.region(base, items)?;
    let mut cursor = Cursor::new(region.layout, region.count, 0)?;
    for (basic, count) in Runs::new(datatype.inner().sig.as_ref(), region.count) {
        let (form, parts, size, external) = numbers(basic);
        let value = (parts * external) as u64;
        let fitting = room.checked_div(value).map_or(count, |fitting| fitting.min(count));
        room -= fitting * value;
        for _ in 0..fitting * parts as u64 {
            // Blocks are made of whole values, so a number lies within one.
            let piece = cursor.peek()?.filter(|piece| piece.block >= size as u64).ok_or_else(corrupt)?;
            visit(form, base.wrapping_add_signed(piece.disp as isize), size, external);
            cursor.advance(size as u64);
        }
        if fitting < count {
            break;
        }
    }
    Ok(())
}

/// The bits of a number of `size` bytes as they go out.
fn outward(form: Form, bits: u128, size: usize) -> u128 {
    match form {
        Form::Signed => sign_extended(bits, size),
        Form::Unsigned => bits,
        Form::Truth => u128::from(bits != 0),
        Form::Extended => {
            // The padding above 80 bits is not looked at.
            let value = X87DoubleExtended::from_bits(bits);
            let quad: Quad = value.convert(&mut false).value;
            quad.to_bits()
        }
    }
}

/// The bits that came in, `external` bytes of them, as they are kept.
fn inward(form: Form, bits: u128, external: usize) -> u128 {
    match form {
        Form::Extended => {
            let value: X87DoubleExtended = Quad::from_bits(bits).convert(&mut false).value;
            value.to_bits()
        }
        _ => outward(form, bits, external),
    }
}

fn sign_extended(bits: u128, size: usize) -> u128 {
    let unused = 128 - 8 * size as u32;
    ((bits << unused).cast_signed() >> unused).cast_unsigned()
}

/// # Safety
/// `size` bytes at `address` are readable.
unsafe fn read_native(address: usize, size: usize) -> u128 {
    // SAFETY: `size` bytes at `address` are readable (this function's contract).
    unsafe { (0..size).rev().fold(0, |bits, i| bits << 8 | u128::from(load::<u8>(address.wrapping_add(i)))) }
}

/// # Safety
/// `size` bytes at `address` are readable.
unsafe fn read_big_endian(address: usize, size: usize) -> u128 {
    // SAFETY: `size` bytes at `address` are readable (this function's contract).
    unsafe { (0..size).fold(0, |bits, i| bits << 8 | u128::from(load::<u8>(address.wrapping_add(i)))) }
}

/// # Safety
/// `size` bytes at `address` are writable.
unsafe fn write_native(address: usize, size: usize, bits: u128) {
    for i in 0..size {
        // SAFETY: `size` bytes at `address` are writable (this function's contract), and `i` is less.
        unsafe { store(address.wrapping_add(i), (bits >> (8 * i)) as u8) };
    }
}

/// # Safety
/// `size` bytes at `address` are writable.
unsafe fn write_big_endian(address: usize, size: usize, bits: u128) {
    for i in 0..size {
        // SAFETY: `size` bytes at `address` are writable (this function's contract), and `i` is less.
        unsafe { store(address.wrapping_add(size - 1 - i), (bits >> (8 * i)) as u8) };
    }
}
