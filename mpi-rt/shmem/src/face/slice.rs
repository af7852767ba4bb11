//! Plain data in the symmetric heap.

use super::{Error, Pe, Shmem};
use crate::engine;
use bytemuck::Pod;
use core::marker::PhantomData;
use core::ops::Range;

/// A slice of plain data that every PE has at the same address, zero at first.
///
/// Making and dropping one is collective: all PEs must do it in the same order. Peers reach it at any time, which no type can
/// see, so what touches the data is `unsafe`, with one promise: *no other PE uses those elements at the same time, unless all
/// only read them, and accesses of different PEs are ordered by a barrier, a collective call, or `fence` and a flag*.
pub struct SymSlice<'s, T: Pod> {
    start: *mut T,
    length: usize,
    /// Dropped before the library is finalized.
    _shmem: PhantomData<&'s Shmem>,
}

impl Shmem {
    /// A slice of `length` zero elements in all PEs. Collective.
    ///
    /// Errors: the symmetric heap has no room for it.
    pub fn slice<T: Pod>(&self, length: usize) -> Result<SymSlice<'_, T>, Error> {
        let full = Error::HeapFull { bytes: length.saturating_mul(size_of::<T>()) };
        // An empty slice takes room too: it is freed like any other.
        let start = engine::calloc(length.max(1), size_of::<T>().max(1)).cast::<T>();
        if start.is_null() || !start.is_aligned() {
            return Err(full);
        }
        Ok(SymSlice { start, length, _shmem: PhantomData })
    }
}

impl<T: Pod> Drop for SymSlice<'_, T> {
    fn drop(&mut self) {
        engine::free(self.start.cast());
    }
}

#[expect(clippy::len_without_is_empty, reason = "a slice of a fixed extent, not a collection")]
impl<T: Pod> SymSlice<'_, T> {
    /// How many elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// The symmetric address.
    #[inline]
    pub fn as_ptr(&self) -> *mut T {
        self.start
    }

    #[inline]
    fn range(&self, start: usize, count: usize) -> Result<*mut T, Error> {
        if start <= self.length && count <= self.length - start {
            Ok(self.start.wrapping_add(start))
        } else {
            Err(Error::OutOfRange { start, count, length: self.length })
        }
    }

    /// Copies `values` to the elements of PE `pe` from `start` on.
    ///
    /// Errors: they do not fit.
    ///
    /// # Safety
    /// The type's promise, for those elements of that PE; `values` must not overlap them.
    #[inline]
    pub unsafe fn put(&self, pe: Pe, start: usize, values: &[T]) -> Result<(), Error> {
        let target = self.range(start, values.len())?;
        // SAFETY: `target` is symmetric for as many elements as `values` has (`range`); nobody else uses
        // them, and `values` is disjoint (this function's contract).
        unsafe { engine::put(target, values.as_ptr(), values.len(), pe.raw()) };
        Ok(())
    }

    /// Copies the elements of PE `pe` from `start` on to `values`.
    ///
    /// Errors: there are not that many.
    ///
    /// # Safety
    /// The type's promise, for those elements of that PE; `values` must not overlap them.
    #[inline]
    pub unsafe fn get(&self, pe: Pe, start: usize, values: &mut [T]) -> Result<(), Error> {
        let source = self.range(start, values.len())?;
        // SAFETY: `source` is symmetric for as many elements as `values` has (`range`); nobody writes them,
        // and `values` is disjoint (this function's contract). Any bytes are a value of a `Pod` type.
        unsafe { engine::get(values.as_mut_ptr(), source, values.len(), pe.raw()) };
        Ok(())
    }

    /// Stores one element of PE `pe`.
    ///
    /// Errors: there is no such element.
    ///
    /// # Safety
    /// The type's promise, for that element of that PE.
    #[inline]
    pub unsafe fn put_one(&self, pe: Pe, index: usize, value: T) -> Result<(), Error> {
        let target = self.range(index, 1)?;
        // SAFETY: `target` is symmetric for one element (`range`), which nobody else uses (this function's
        // contract); `Pod` has no padding.
        unsafe { engine::p(target, value, pe.raw()) };
        Ok(())
    }

    /// Loads one element of PE `pe`.
    ///
    /// Errors: there is no such element.
    ///
    /// # Safety
    /// The type's promise, for that element of that PE.
    #[inline]
    pub unsafe fn get_one(&self, pe: Pe, index: usize) -> Result<T, Error> {
        let source = self.range(index, 1)?;
        // SAFETY: `source` is symmetric for one element (`range`), which nobody writes (this function's
        // contract); any bytes are a value of a `Pod` type.
        Ok(unsafe { engine::g(source, pe.raw()) })
    }

    /// This PE's elements, for reading.
    ///
    /// # Safety
    /// The type's promise, as long as the reference is used; nor may this PE write those elements meanwhile.
    #[inline]
    pub unsafe fn local(&self) -> &[T] {
        // SAFETY: `start` is aligned and holds `length` zeroed elements (the constructor's checks); nobody
        // writes them while the reference is used (this function's contract).
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    /// This PE's elements, for writing.
    ///
    /// # Safety
    /// The type's promise, as long as the reference is used; nor may this PE use those elements by other
    /// means meanwhile.
    #[inline]
    pub unsafe fn local_mut(&mut self) -> &mut [T] {
        // SAFETY: `start` is aligned and holds `length` zeroed elements (the constructor's checks); nobody
        // else uses them while the reference is used (this function's contract).
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// The elements of a range, checked, for collective calls.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<*mut T, Error> {
        self.range(range.start, range.end.saturating_sub(range.start))
    }
}
