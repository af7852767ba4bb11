//! The face for Rust programs: windows of typed elements, and epochs as values that end when they are dropped.
//!
//! A window's memory is the runtime's and is reached by copies only, never by reference, and every bit pattern is a value of its type. So ranks
//! that access the same elements at once, against the standard's rules, see values that are old, new or mixed, and nothing worse.

use super::{Buffer, LockKind, Place};
use crate::engine::with;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::mpi::{Communicator, Element, Mpi, Operation};
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A window with as many elements in each rank as the rank has asked for.
pub struct Window<'mpi, T: Element> {
    handle: Handle,
    base: *mut T,
    length: usize,
    mpi: PhantomData<&'mpi Mpi>,
}

impl<'mpi, T: Element> Window<'mpi, T> {
    /// A window with `length` elements of zeroes here; all ranks of the communicator must call it. Errors: `NO_MEM`.
    pub fn allocate(communicator: &Communicator<'mpi>, length: usize) -> Result<Window<'mpi, T>> {
        let bytes = length.checked_mul(size_of::<T>()).and_then(|bytes| i64::try_from(bytes).ok());
        // A size that does not exist makes the call fail in all ranks.
        let bytes = bytes.unwrap_or(i64::MAX);
        let unit = size_of::<T>() as i64;
        let (handle, base) = with(|engine| engine.win_allocate(bytes, unit, communicator.handle()))?;
        Ok(Window { handle, base: base.cast(), length, mpi: PhantomData })
    }

    /// Elements here.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Frees it; all its ranks must call it. One that is dropped instead stays until the job ends. Errors: `RMA_SYNC` in an epoch.
    pub fn free(self) -> Result<()> {
        super::free(self.handle)
    }

    /// Element `index` of this rank's; `None` if there is none.
    pub fn load(&self, index: usize) -> Option<T> {
        // SAFETY: in the window's memory, which lives; volatile, since peers may write it.
        (index < self.length).then(|| unsafe { self.base.add(index).read_volatile() })
    }

    /// Sets element `index` of this rank's. Errors: `RMA_RANGE` if there is none.
    pub fn store(&self, index: usize, value: T) -> Result<()> {
        if index >= self.length {
            return Err(Error::RMA_RANGE);
        }
        // SAFETY: as in `load`.
        unsafe { self.base.add(index).write_volatile(value) };
        Ok(())
    }

    /// Stores values from element `at` of a rank on. Errors: `RANK`, `RMA_RANGE`, `RMA_SYNC` outside an epoch.
    #[inline]
    pub fn put(&self, values: &[T], rank: i32, at: usize) -> Result<()> {
        let (origin, place) = self.sides(values.as_ptr().cast_mut(), values.len(), rank, at)?;
        // SAFETY: the values are borrowed for the call; they are not the window's memory, to which there are no references.
        with(|engine| unsafe { engine.put(&origin, &place, self.handle) })
    }

    /// Loads values from element `at` of a rank on. Errors: as for [`Window::put`].
    #[inline]
    pub fn get(&self, values: &mut [T], rank: i32, at: usize) -> Result<()> {
        let (origin, place) = self.sides(values.as_mut_ptr(), values.len(), rank, at)?;
        // SAFETY: as in `put`; any bits are values.
        with(|engine| unsafe { engine.get(&origin, &place, self.handle) })
    }

    /// Combines values into those from element `at` of a rank on, each atomically. Errors: as for [`Window::put`]; `OP`.
    pub fn accumulate(&self, values: &[T], rank: i32, at: usize, operation: Operation) -> Result<()> {
        let (origin, place) = self.sides(values.as_ptr().cast_mut(), values.len(), rank, at)?;
        // SAFETY: as in `put`.
        with(|engine| unsafe { engine.accumulate(&origin, &place, operation as u64, self.handle) })
    }

    /// Combines a value into element `at` of a rank atomically; what was there. Errors: as for [`Window::accumulate`].
    pub fn fetch_and_op(&self, value: T, rank: i32, at: usize, operation: Operation) -> Result<T> {
        let mut result = value;
        let (origin, place) = self.sides((&raw const value).cast_mut(), 1, rank, at)?;
        let result_side = Buffer { address: (&raw mut result).cast(), ..origin };
        // SAFETY: both are variables of this function.
        with(|engine| unsafe {
            engine.get_accumulate(&origin, &result_side, &place, operation as u64, self.handle)
        })?;
        Ok(result)
    }

    /// Replaces element `at` of a rank by `new` if it is `old`; what was there. Errors: as for [`Window::put`]; `TYPE` for reals.
    pub fn compare_and_swap(&self, new: T, old: T, rank: i32, at: usize) -> Result<T> {
        let mut result = old;
        let at = i64::try_from(at).map_err(|_| Error::RMA_RANGE)?;
        let (origin, compare) = ((&raw const new).cast(), (&raw const old).cast());
        let into = (&raw mut result).cast();
        // SAFETY: all are variables of this function.
        with(|engine| unsafe {
            engine.compare_and_swap(origin, compare, into, T::DATATYPE, rank, at, self.handle)
        })?;
        Ok(result)
    }

    /// Ends the epoch of the fence before and begins one; all ranks must call it. Errors: `RMA_SYNC` in another epoch.
    pub fn fence(&self) -> Result<()> {
        with(|engine| engine.win_fence(0, self.handle))
    }

    /// Exposes this rank's elements to the given ranks, until all of them have ended their access. Errors: `GROUP`, `RMA_SYNC`.
    pub fn expose(&self, to: &[u32]) -> Result<Exposure<'_, 'mpi, T>> {
        let group = self.group(to)?;
        with(|engine| engine.win_post(&group, 0, self.handle))?;
        Ok(Exposure(self))
    }

    /// Begins access to the given ranks, after they have exposed their elements. Errors: `GROUP`, `RMA_SYNC`.
    pub fn access(&self, of: &[u32]) -> Result<Access<'_, 'mpi, T>> {
        let group = self.group(of)?;
        with(|engine| engine.win_start(&group, 0, self.handle))?;
        Ok(Access(self))
    }

    /// Locks a rank's elements. Errors: `RANK`, `RMA_SYNC`.
    pub fn lock(&self, kind: LockKind, rank: i32) -> Result<Lock<'_, 'mpi, T>> {
        with(|engine| engine.win_lock(kind, rank, 0, self.handle))?;
        Ok(Lock { window: self, rank })
    }

    /// Begins shared access to all ranks' elements. Errors: `RMA_SYNC`.
    pub fn lock_all(&self) -> Result<LockAll<'_, 'mpi, T>> {
        with(|engine| engine.win_lock_all(0, self.handle))?;
        Ok(LockAll(self))
    }

    fn sides(&self, address: *mut T, count: usize, rank: i32, at: usize) -> Result<(Buffer, Place)> {
        let (count, datatype) = (count as i64, T::DATATYPE);
        let displacement = i64::try_from(at).map_err(|_| Error::RMA_RANGE)?;
        let place = Place { rank, displacement, count, datatype };
        Ok((Buffer { address: address.cast(), count, datatype }, place))
    }

    /// Node ranks of ranks of the window. Errors: `GROUP`.
    fn group(&self, ranks: &[u32]) -> Result<Vec<u32>> {
        with(|engine| {
            let members = engine.win_members(self.handle)?;
            ranks.iter().map(|rank| members.get(*rank as usize).copied().ok_or(Error::GROUP)).collect()
        })
    }
}

/// Exposure to other ranks; dropping it waits until they have ended their access.
#[must_use = "exposure ends where this is dropped"]
pub struct Exposure<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> Drop for Exposure<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no exposure to end.
        let _ = with(|engine| engine.win_wait(self.0.handle));
    }
}

/// Access to ranks that have exposed their elements, until it is dropped.
#[must_use = "access ends where this is dropped"]
pub struct Access<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> Drop for Access<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no access to end.
        let _ = with(|engine| engine.win_complete(self.0.handle));
    }
}

/// The lock of a rank's elements, until it is dropped.
#[must_use = "the lock ends where this is dropped"]
pub struct Lock<'w, 'mpi, T: Element> {
    window: &'w Window<'mpi, T>,
    rank: i32,
}

impl<T: Element> Lock<'_, '_, T> {
    /// Completes all operations on that rank there.
    #[inline]
    pub fn flush(&self) -> Result<()> {
        with(|engine| engine.win_flush(self.rank, self.window.handle))
    }
}

impl<T: Element> Drop for Lock<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no lock.
        let _ = with(|engine| engine.win_unlock(self.rank, self.window.handle));
    }
}

/// The lock of all ranks' elements, until it is dropped.
#[must_use = "the locks end where this is dropped"]
pub struct LockAll<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> LockAll<'_, '_, T> {
    /// Completes all operations on all ranks there.
    #[inline]
    pub fn flush(&self) -> Result<()> {
        with(|engine| engine.win_flush_all(self.0.handle))
    }
}

impl<T: Element> Drop for LockAll<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no lock.
        let _ = with(|engine| engine.win_unlock_all(self.0.handle));
    }
}
