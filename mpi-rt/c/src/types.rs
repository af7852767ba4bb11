//! C types of the binary interface (MPI-5.0, sections 20.2 and 20.3). Handles are pointers to incomplete types in C and integers here;
//! both travel in the same registers.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};
use core::mem::MaybeUninit;
use lwk_datatype::Form;
use lwk_mpi_rt::collective::Numbers;
use lwk_mpi_rt::status::Status as Outcome;
use lwk_mpi_rt::{Handle, abi};

/// Handles, each named as its type in C is. The predefined ones have the values of the binary interface, the others are the engine's.
pub type Comm = u64;
pub type Request = u64;
pub type Datatype = u64;
pub type Op = u64;
pub type Message = u64;
pub type Info = u64;
pub type Group = u64;
pub type Session = u64;
pub type Errhandler = u64;
pub type Win = u64;

/// Numbers that exist as `int` and, in the functions whose names end in `_c`, as `MPI_Count`.
pub trait Number: Copy {
    /// Which form of a datatype constructor it belongs to.
    const FORM: Form;

    /// As the engine takes it; negative numbers stay so.
    fn wide(self) -> i64;
    /// `None` if it does not fit.
    fn narrow(value: i64) -> Option<Self>;
    /// An `int` as this type.
    fn from_int(value: c_int) -> Self;
    /// An array of them, as the engine's collectives take it.
    fn numbers(list: &[Self]) -> Numbers<'_>;
}

impl Number for c_int {
    const FORM: Form = Form::Int;

    #[inline(always)]
    fn wide(self) -> i64 {
        self as i64
    }

    fn narrow(value: i64) -> Option<c_int> {
        c_int::try_from(value).ok()
    }

    fn from_int(value: c_int) -> c_int {
        value
    }

    fn numbers(list: &[c_int]) -> Numbers<'_> {
        Numbers::Int(list)
    }
}

impl Number for i64 {
    const FORM: Form = Form::Large;

    #[inline(always)]
    fn wide(self) -> i64 {
        self
    }

    fn narrow(value: i64) -> Option<i64> {
        Some(value)
    }

    fn from_int(value: c_int) -> i64 {
        value as i64
    }

    fn numbers(list: &[i64]) -> Numbers<'_> {
        Numbers::Wide(list)
    }
}

/// `MPI_Status`. What has no name in the standard is this library's: the length of the message in bytes, and whether the operation was
/// cancelled.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Status {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    pub bytes: [u32; 2],
    pub cancelled: c_int,
    unused: [c_int; 2],
}

// MPI-5.0, section 20.2.1: eight integers.
const _: () = assert!(size_of::<Status>() == 32);

impl Status {
    /// One that says nothing yet, for a callback to fill in.
    pub fn empty() -> Status {
        let (source, tag) = (abi::ANY_SOURCE, abi::ANY_TAG);
        Status { source, tag, error: 0, bytes: [0; 2], cancelled: 0, unused: [0; 2] }
    }

    /// Bytes of the message.
    pub fn length(&self) -> u64 {
        self.bytes[0] as u64 | (self.bytes[1] as u64) << 32
    }

    /// Notes the message's length, in bytes.
    pub fn set_length(&mut self, bytes: u64) {
        self.bytes = halves(bytes);
    }

    /// Writes an outcome for calls that complete one operation, which leave `MPI_ERROR` as it is (MPI-5.0, section 3.2.5), unless the status is
    /// empty (section 3.7.3).
    ///
    /// # Safety
    /// `status` must be null, for `MPI_STATUS_IGNORE`, or writable.
    #[inline]
    pub unsafe fn store(status: *mut Status, outcome: &Outcome) {
        if status.is_null() {
            return;
        }
        // SAFETY: `status` is not null (checked above), so it is writable (this function's contract); no reference to it is made, since
        // it may hold nothing yet.
        unsafe {
            (&raw mut (*status).source).write(outcome.source);
            (&raw mut (*status).tag).write(outcome.tag);
            (&raw mut (*status).bytes).write(halves(outcome.bytes));
            (&raw mut (*status).cancelled).write(outcome.cancelled as c_int);
            if outcome.empty {
                (&raw mut (*status).error).write(0);
            }
        }
    }

    /// As [`Status::store`], for one of several: with the operation's own error.
    ///
    /// # Safety
    /// As for [`Status::store`].
    pub unsafe fn store_with_error(status: *mut Status, outcome: &Outcome) {
        if status.is_null() {
            return;
        }
        // SAFETY: `status` is not null (checked above), so it is writable (this function's contract).
        unsafe {
            Status::store(status, outcome);
            (&raw mut (*status).error).write(outcome.error.map_or(0, |error| error.code()));
        }
    }
}

/// The low and the high half of a length.
fn halves(bytes: u64) -> [u32; 2] {
    [bytes as u32, (bytes >> 32) as u32]
}

/// Writes a result where the caller wants it. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `place` must be null or writable.
#[inline(always)]
pub unsafe fn give<T>(place: *mut T, value: T) -> lwk_mpi_rt::Result<()> {
    if place.is_null() {
        return Err(lwk_mpi_rt::Error::ARG);
    }
    // SAFETY: `place` is not null (checked above), so it is writable (this function's contract).
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a number that may be too large for the caller's `int`. Errors: `VALUE_TOO_LARGE`, and `ARG` for a null pointer.
///
/// # Safety
/// As for [`give`].
pub unsafe fn give_number<N: Number>(place: *mut N, value: i64) -> lwk_mpi_rt::Result<()> {
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, N::narrow(value).ok_or(lwk_mpi_rt::Error::VALUE_TOO_LARGE)?) }
}

/// Writes a text and its length into a buffer of `room` bytes, cut to what fits with the closing zero. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `place` must be null or writable for `room` bytes, which is at least 1; `length` null or writable.
pub unsafe fn give_text(
    place: *mut u8,
    length: *mut c_int,
    text: &[u8],
    room: usize,
) -> lwk_mpi_rt::Result<()> {
    if place.is_null() {
        return Err(lwk_mpi_rt::Error::ARG);
    }
    let text = &text[..text.len().min(room - 1)];
    // SAFETY: `place` is not null (checked above), so it is writable for `room` bytes; text and zero, cut
    // above, are at most that. `length` is null or writable (this function's contract).
    unsafe {
        place.copy_from_nonoverlapping(text.as_ptr(), text.len());
        place.add(text.len()).write(0);
        give(length, text.len() as c_int)
    }
}

/// An array that is read. Errors: `COUNT` for a negative length, `ARG` for a null pointer to some elements.
///
/// # Safety
/// `start` must be null or readable for `count` elements, as long as `'a`.
pub unsafe fn array<'a, T>(start: *const T, count: impl TryInto<usize>) -> lwk_mpi_rt::Result<&'a [T]> {
    match elements(start, count)? {
        0 => Ok(&[]),
        // SAFETY: `start` is not null (`elements` has checked), so it is readable for `count` elements during
        // `'a` (this function's contract).
        count => Ok(unsafe { core::slice::from_raw_parts(start, count) }),
    }
}

/// An array that is written, whatever it holds. Errors: `COUNT` for a negative length, `ARG` for a null pointer.
///
/// # Safety
/// `start` must be null or writable for `count` elements, as long as `'a`.
pub unsafe fn output<'a, T>(start: *mut T, count: c_int) -> lwk_mpi_rt::Result<&'a mut [MaybeUninit<T>]> {
    // SAFETY: `start` is null or writable for `count` elements during `'a` (this function's contract), and what they hold is not looked at.
    unsafe { array_mut(start.cast::<MaybeUninit<T>>(), count) }
}

/// An array of the caller's that is read and written. Errors: `COUNT` for a negative length, `ARG` for a null pointer.
///
/// # Safety
/// `start` must be null or hold `count` elements that are writable and nobody else's, as long as `'a`.
pub unsafe fn array_mut<'a, T>(start: *mut T, count: c_int) -> lwk_mpi_rt::Result<&'a mut [T]> {
    match elements(start, count)? {
        0 => Ok(&mut []),
        // SAFETY: `start` is not null (`elements` has checked), so it holds `count` elements that are writable during
        // `'a`, and nobody else's (this function's contract).
        count => Ok(unsafe { core::slice::from_raw_parts_mut(start, count) }),
    }
}

/// The elements of an array of the caller's. Errors: `COUNT` for a negative length, `ARG` for a null pointer to any.
fn elements<T>(start: *const T, count: impl TryInto<usize>) -> lwk_mpi_rt::Result<usize> {
    let count = count.try_into().map_err(|_| lwk_mpi_rt::Error::COUNT)?;
    if count > 0 && start.is_null() { Err(lwk_mpi_rt::Error::ARG) } else { Ok(count) }
}

/// A list of the caller's, widened. Errors: `COUNT` for a negative length, `ARG` for a null pointer, `NO_MEM`.
///
/// # Safety
/// `start` must be null or readable for `count` elements.
pub unsafe fn list<N: Number>(start: *const N, count: i64) -> lwk_mpi_rt::Result<Vec<i64>> {
    let count = usize::try_from(count).map_err(|_| lwk_mpi_rt::Error::COUNT)?;
    if count > 0 && start.is_null() {
        return Err(lwk_mpi_rt::Error::ARG);
    }
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| lwk_mpi_rt::Error::NO_MEM)?;
    // SAFETY: `start` is not null (checked above), so it is readable for `count` elements.
    list.extend((0..count).map(|index| unsafe { start.add(index).read() }.wide()));
    Ok(list)
}

/// Handles of requests as the engine takes them.
///
/// # Safety
/// As for [`array_mut`].
pub unsafe fn requests<'a>(start: *mut Request, count: c_int) -> lwk_mpi_rt::Result<&'a mut [Handle]> {
    // SAFETY: `start` is null or writable for `count` elements during `'a` (this function's contract); a
    // `Handle` is a `u64`.
    unsafe { array_mut(start.cast::<Handle>(), count) }
}

/// The same of requests that are only asked about.
///
/// # Safety
/// As for [`array()`].
pub unsafe fn requests_to_ask<'a>(start: *const Request, count: c_int) -> lwk_mpi_rt::Result<&'a [Handle]> {
    // SAFETY: `start` is null or readable for `count` elements during `'a` (this function's contract); a
    // `Handle` is a `u64`.
    unsafe { array(start.cast::<Handle>(), count) }
}

/// A text of the caller's, without its zero. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `text` must be null or lead to a text that ends with a zero and that nobody writes during `'a`.
pub unsafe fn text<'a>(text: *const c_char) -> lwk_mpi_rt::Result<&'a [u8]> {
    if text.is_null() {
        return Err(lwk_mpi_rt::Error::ARG);
    }
    // SAFETY: `text` is not null (checked above), so it is readable up to a zero, during `'a` (this
    // function's contract).
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The value of an argument that is passed by its address. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `place` must be null or readable.
pub unsafe fn value<T: Copy>(place: *const T) -> lwk_mpi_rt::Result<T> {
    // SAFETY: `place` is null or readable (this function's contract).
    unsafe { place.as_ref() }.copied().ok_or(lwk_mpi_rt::Error::ARG)
}

/// `MPI_UNDEFINED`.
pub const UNDEFINED: c_int = abi::UNDEFINED;
