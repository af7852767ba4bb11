//! Fetch-and-op and compare-and-swap: updates of one element (MPI-5.0, sections 12.3.4.2 and 12.3.4.3). On words, one locked instruction
//! or a loop around one.

use crate::Windows;
use crate::beside::Manner;
use crate::element::{How, word_of};
use crate::locate::Reached;
use crate::{Buffer, TargetBuffer};
use lwk_copy::copy;
use lwk_copy::{Word, update};
use lwk_datatype::{Basic, Group, Predefined};
use lwk_mpi_core::abi::{datatype as number, op};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::buffer::is_none;

/// The longest element that is compared: a 128-bit integer.
pub(super) const COMPARED_BYTES: usize = 16;

impl Windows {
    /// Combines one element into the target's, and what was there into the result (`MPI_FETCH_AND_OP`). Errors: as for
    /// [`Windows::get_accumulate`]; `TYPE` for a derived type.
    ///
    /// # Safety
    /// The origin must be readable unless the operation is `MPI_NO_OP`, the result writable, each for one
    /// element; no two of origin, result and target overlap.
    #[expect(clippy::too_many_arguments, reason = "the standard's list")]
    #[inline]
    pub unsafe fn fetch_and_op(
        &mut self,
        origin: *const u8,
        result: *mut u8,
        datatype: u64,
        rank: i32,
        displacement: i64,
        operation: u64,
        window: Handle,
    ) -> Result<()> {
        let buffer = |address| Buffer { address, count: 1, datatype };
        let place = TargetBuffer { rank, displacement, count: 1, datatype };
        // SAFETY: the origin is readable unless the operation is `MPI_NO_OP`, the result writable, for one
        // element (this function's contract).
        if unsafe { self.update_word(origin, Some(result), &place, operation, window) } {
            return Ok(());
        }
        if Predefined::from_handle(datatype as usize).is_none() {
            self.window(window)?;
            return Err(Error::TYPE);
        }
        // SAFETY: the origin, if looked at, is readable, the result writable, for one element; no two sides
        // overlap (this function's contract).
        unsafe { self.get_accumulate(&buffer(origin.cast_mut()), &buffer(result), &place, operation, window) }
    }

    /// The commonest updates: one aligned number of 4 or 8 bytes, to which others have access too, by an operation that is one instruction or
    /// little more; what was there goes to `result`, if there is one. False if nothing has happened, for whatever reason.
    ///
    /// # Safety
    /// The origin must be readable unless the operation is `MPI_NO_OP`, the result writable, each for one
    /// element; no two of origin, result and target overlap.
    #[inline(always)]
    pub(super) unsafe fn update_word(
        &self,
        origin: *const u8,
        result: Option<*mut u8>,
        place: &TargetBuffer,
        operation: u64,
        window: Handle,
    ) -> bool {
        let Some(sort) = word_sort(place.datatype) else { return false };
        let Some(block) = self.direct(1, place.datatype, place, window) else { return false };
        let nowhere = (is_none(origin) && operation != op::NO_OP) || result.is_some_and(|it| is_none(it));
        if nowhere || !block.address.addr().is_multiple_of(block.bytes) {
            return false;
        }
        // SAFETY: origin and result hold one element (this function's contract); the block is an aligned word
        // in the target's part (checked above).
        let combine = || unsafe {
            match sort {
                WordSort::Long => combine_word::<u64>(origin, result, block.address.cast(), operation),
                WordSort::Int => combine_word::<u32>(origin, result, block.address.cast(), operation),
                WordSort::Double => {
                    combine_real(origin, result, block.address.cast(), operation, |one: u64, other| {
                        (f64::from_bits(one) + f64::from_bits(other)).to_bits()
                    })
                }
                WordSort::Float => {
                    combine_real(origin, result, block.address.cast(), operation, |one: u32, other| {
                        (f32::from_bits(one) + f32::from_bits(other)).to_bits()
                    })
                }
            }
        };
        if block.is_single() {
            return combine();
        }
        // Others may be updating many elements, this one among them.
        block.in_bulk().is_some_and(|beside| beside.locked(combine))
    }

    /// Replaces the target's element by the origin's if it equals `compare`; the result is what was there (`MPI_COMPARE_AND_SWAP`). Errors: as for
    /// [`Windows::put`]; `TYPE` for types other than integers, logicals, bytes, and the standard's own numbers.
    ///
    /// # Safety
    /// Origin and `compare` must be readable, the result writable, each for one element; none overlaps the
    /// target's.
    #[expect(clippy::too_many_arguments, reason = "the standard's list")]
    #[inline]
    pub unsafe fn compare_and_swap(
        &mut self,
        origin: *const u8,
        compare: *const u8,
        result: *mut u8,
        datatype: u64,
        rank: i32,
        displacement: i64,
        window: Handle,
    ) -> Result<()> {
        let place = TargetBuffer { rank, displacement, count: 1, datatype };
        let Some(basic) = comparable(datatype) else {
            self.window(window)?;
            return Err(Error::TYPE);
        };
        let is_nowhere = is_none(origin) || is_none(compare) || is_none(result);
        if !is_nowhere && let Some(block) = self.direct(1, datatype, &place, window) {
            // SAFETY: the buffers hold an element (this function's contract); the target's lies in its part (`direct`), and is plain only if it
            // is this rank's alone.
            unsafe { swap(basic, origin, compare, result, block.address, block.how()) };
            return Ok(());
        }
        let Some(items) = self.locate(&place, window)? else { return Ok(()) };
        if is_nowhere {
            return Err(Error::BUFFER);
        }
        match items.reached {
            Reached::Mapped { beside, alone, .. } => {
                let how = if alone { How::Plain } else { How::Beside(&beside) };
                // SAFETY: the buffers hold an element (this function's contract); the target's lies in its part (`locate`), and is plain only if it is
                // this rank's alone.
                unsafe { swap(basic, origin, compare, result, items.address, how) };
                Ok(())
            }
            // SAFETY: the buffers hold an element (this function's contract).
            Reached::Away(away) => unsafe { self.swap_away(&away, basic, origin, compare, result) },
        }
    }
}

/// [`Windows::compare_and_swap`] in memory that can be loaded and stored.
///
/// # Safety
/// As there; the element at `address` lies in the target's part. [`How::Beside`] is the target's, and [`How::Plain`] only if no other rank accesses it.
#[inline(always)]
pub(super) unsafe fn swap(
    basic: Basic,
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
    address: *mut u8,
    how: How<'_>,
) {
    // SAFETY: the buffers hold an element (this function's contract); the target's lies in its part,
    // aligned if it is a word (`word_of`). Elements that are no words are locked or this rank's alone.
    unsafe {
        let swap = || swap_bytes(origin, compare, result, address, basic.size());
        let How::Beside(beside) = how else { return swap() };
        let Some(word) = word_of(basic.into(), address.addr()) else { return beside.locked(swap) };
        let swap = || match word.size() {
            8 => swap_word::<u64>(origin, compare, result, address),
            4 => swap_word::<u32>(origin, compare, result, address),
            2 => swap_word::<u16>(origin, compare, result, address),
            _ => swap_word::<u8>(origin, compare, result, address),
        };
        if beside.manner(1) == Manner::Singly { swap() } else { beside.locked(swap) }
    }
}

/// What an element of the commonest types is.
#[derive(Clone, Copy)]
enum WordSort {
    /// Integers of 8 and of 4 bytes.
    Long,
    Int,
    Double,
    Float,
}

/// The language's integers and reals of 4 and 8 bytes; `None` for anything else.
#[inline(always)]
fn word_sort(datatype: u64) -> Option<WordSort> {
    use number::*;
    match datatype {
        LONG | UNSIGNED_LONG | LONG_LONG | UNSIGNED_LONG_LONG | INT64 | UINT64 => Some(WordSort::Long),
        INT | UNSIGNED | INT32 | UINT32 => Some(WordSort::Int),
        DOUBLE => Some(WordSort::Double),
        FLOAT => Some(WordSort::Float),
        _ => None,
    }
}

/// The same of a real, of which sums are made by `sum`, from and to its bits.
///
/// # Safety
/// As for [`combine_word`].
#[inline(always)]
unsafe fn combine_real<W: Word>(
    origin: *const u8,
    result: Option<*mut u8>,
    target: *mut W,
    operation: u64,
    sum: impl Fn(W, W) -> W,
) -> bool {
    match operation {
        op::SUM => {}
        // SAFETY: this function's contract. Bits that are not looked at are as good as an integer's.
        op::REPLACE | op::NO_OP => return unsafe { combine_word(origin, result, target, operation) },
        _ => return false,
    }
    // SAFETY: `origin` is readable for a word, `result` writable, aligned or not; at `target` is an aligned word that ranks update atomically (this function's
    // contract).
    unsafe {
        let value = origin.cast::<W>().read_unaligned();
        let old = update(target, |old| sum(value, old));
        if let Some(result) = result {
            result.cast::<W>().write_unaligned(old);
        }
    }
    true
}

/// # Safety
/// As for [`Windows::update_word`]; at `target`, aligned, is a word.
#[inline(always)]
unsafe fn combine_word<W: Word>(
    origin: *const u8,
    result: Option<*mut u8>,
    target: *mut W,
    operation: u64,
) -> bool {
    // SAFETY: unless the operation is `MPI_NO_OP`, which does not come here, `origin` is readable for a word
    // (this function's contract).
    let value = || unsafe { origin.cast::<W>().read_unaligned() };
    // SAFETY: at `target` is an aligned word that ranks update atomically (this function's contract).
    // Integers of either sign have the same sums.
    let old = unsafe {
        match operation {
            op::SUM => W::add(target, value()),
            op::REPLACE if result.is_none() => {
                W::store(target, value());
                return true;
            }
            op::REPLACE => W::swap(target, value()),
            op::NO_OP => W::load(target),
            op::BOR => W::or(target, value()),
            op::BAND => W::and(target, value()),
            op::BXOR => W::xor(target, value()),
            _ => return false,
        }
    };
    if let Some(result) = result {
        // SAFETY: `result` is writable for a word, aligned or not (this function's contract).
        unsafe { result.cast::<W>().write_unaligned(old) };
    }
    true
}

/// The type, if it can be compared: by the standard, or as other libraries have it.
#[inline]
fn comparable(datatype: u64) -> Option<Basic> {
    use Group::*;
    match Predefined::from_handle(datatype as usize)? {
        Predefined::Basic(basic)
            if matches!(basic.group(), CInteger | FortranInteger | Logical | MultiLanguage | Byte)
                // As reductions do (`Op::allows`).
                || matches!(basic, Basic::Char | Basic::Character) =>
        {
            Some(basic)
        }
        _ => None,
    }
}

/// # Safety
/// As for [`Windows::compare_and_swap`]; at `target`, aligned, is a word.
#[inline(always)]
unsafe fn swap_word<W: Word>(origin: *const u8, compare: *const u8, result: *mut u8, target: *mut u8) {
    // SAFETY: origin and `compare` are readable and `result` is writable for a word; `target` is an aligned
    // one (this function's contract).
    unsafe {
        let new = origin.cast::<W>().read_unaligned();
        let old = compare.cast::<W>().read_unaligned();
        result.cast::<W>().write_unaligned(W::compare_exchange(target.cast(), old, new));
    }
}

/// # Safety
/// As for [`Windows::compare_and_swap`], for elements of `bytes` bytes that nobody else updates meanwhile.
unsafe fn swap_bytes(origin: *const u8, compare: *const u8, result: *mut u8, target: *mut u8, bytes: usize) {
    let (mut old, mut expected) = ([0u8; COMPARED_BYTES], [0u8; COMPARED_BYTES]);
    let bytes = bytes.min(COMPARED_BYTES);
    // SAFETY: the buffers hold `bytes`, nobody else updates the target's (this function's contract); the
    // arrays hold the longest element.
    unsafe {
        copy(target, old.as_mut_ptr(), bytes);
        copy(compare, expected.as_mut_ptr(), bytes);
        if old == expected {
            copy(origin, target, bytes);
        }
        copy(old.as_ptr(), result, bytes);
    }
}
