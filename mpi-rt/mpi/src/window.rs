//! Windows of elements, and epochs as values that end when they are dropped (MPI-5.0, chapter 12).
//!
//! A window's memory is reached by copies only, never by reference, and every bit pattern is a value of its type. So ranks that access the same
//! elements at once, against the standard's rules, see values that are old, new or mixed, and nothing worse. (Elements may be values with
//! padding: what is read is written nowhere but into such values.) On one node every access is complete when its call returns.

use super::Mpi;
use super::communicator::Communicator;
use super::element::Element;
use super::operation::Operation;
use alloc::vec::Vec;
use core::marker::PhantomData;
use lwk_mpi_rt::abi::mode;
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::handle::Handle;
use lwk_mpi_window::{self as window, Buffer, LockKind, TargetBuffer, with};
use lwk_place::WorldRank;

/// A window with as many elements in each rank as the rank has asked for. One that is dropped instead of [freed](Window::free) stays, with its
/// memory, until the job ends.
pub struct Window<'mpi, T: Element> {
    handle: Handle,
    base: *mut T,
    length: usize,
    /// Room for so many elements in memory that a vector has brought.
    brought: Option<usize>,
    mpi: PhantomData<&'mpi Mpi>,
}

impl<'mpi, T: Element> Window<'mpi, T> {
    /// A window with `length` elements of zeroes here; all ranks of the communicator must call it. Errors: `NO_MEM`.
    pub fn allocate(communicator: &Communicator<'mpi>, length: usize) -> Result<Window<'mpi, T>> {
        let (bytes, unit) = (bytes_of::<T>(length), size_of::<T>() as i64);
        let (handle, base) = with(|windows| windows.win_allocate(bytes, unit, communicator.handle()))?;
        Ok(Window { handle, base: base.cast(), length, brought: None, mpi: PhantomData })
    }

    /// The same, in memory that all ranks can load from and store to: [`Window::load_of`]. Errors: `NO_MEM`; `NOT_SAME` in all ranks if their elements
    /// have different sizes: one rank's part begins where the one before ends, and would not be aligned.
    pub fn allocate_shared(communicator: &Communicator<'mpi>, length: usize) -> Result<Window<'mpi, T>> {
        let (bytes, unit) = (bytes_of::<T>(length), size_of::<T>() as i64);
        let (handle, base) =
            with(|windows| windows.win_allocate_shared(bytes, unit, false, communicator.handle()))?;
        let is_own = |rank| with(|windows| Ok(windows.win_shared_query(handle, rank)?.unit == unit as u64));
        for rank in 0..communicator.size()? as i32 {
            // All ranks see the same units, so that all or none are one of several.
            if !is_own(rank)? {
                window::free(handle)?;
                return Err(Error::NOT_SAME);
            }
        }
        Ok(Window { handle, base: base.cast(), length, brought: None, mpi: PhantomData })
    }

    /// A window of elements that there are; [`Window::free`] gives them back. All ranks of the communicator must call it. Errors: `NO_MEM`.
    pub fn create(communicator: &Communicator<'mpi>, values: Vec<T>) -> Result<Window<'mpi, T>> {
        let mut values = core::mem::ManuallyDrop::new(values);
        let (base, length, room) = (values.as_mut_ptr(), values.len(), values.capacity());
        let (bytes, unit) = (bytes_of::<T>(length), size_of::<T>() as i64);
        // SAFETY: the vector's memory, which nobody else uses until `free` has taken the window down in all ranks.
        let handle =
            with(|windows| unsafe { windows.win_create(base.cast(), bytes, unit, communicator.handle()) });
        match handle {
            Ok(handle) => Ok(Window { handle, base, length, brought: Some(room), mpi: PhantomData }),
            Err(error) => {
                drop(core::mem::ManuallyDrop::into_inner(values));
                Err(error)
            }
        }
    }

    /// Elements here.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Frees it, when all its ranks have called this; the elements that it was created of, if it was. Errors: `RMA_SYNC` in an epoch, and then it
    /// stays.
    pub fn free(self) -> Result<Vec<T>> {
        window::free(self.handle)?;
        Ok(match self.brought {
            // SAFETY: the parts of the vector of `create`, which no rank reaches any more.
            Some(room) => unsafe { Vec::from_raw_parts(self.base, self.length, room) },
            None => Vec::new(),
        })
    }

    /// Element `index` of a rank's part of shared memory, by a load; `None` if there is none. Errors: `RANK`; `RMA_FLAVOR` if the window is not shared.
    pub fn load_of(&self, rank: i32, index: usize) -> Result<Option<T>> {
        let element = self.shared_element(rank, index)?;
        // SAFETY: in the window's memory, which lives; volatile, since peers may write it.
        Ok(element.map(|element| unsafe { element.read_volatile() }))
    }

    /// Sets element `index` of a rank's part of shared memory, by a store. Errors: as for [`Window::load_of`]; `RMA_RANGE` if there is none.
    pub fn store_of(&self, rank: i32, index: usize, value: T) -> Result<()> {
        let element = self.shared_element(rank, index)?.ok_or(Error::RMA_RANGE)?;
        // SAFETY: `element` lies in the window's memory (`shared_element` has checked `index`), which lives;
        // volatile, since peers may use it.
        unsafe { element.write_volatile(value) };
        Ok(())
    }

    fn shared_element(&self, rank: i32, index: usize) -> Result<Option<*mut T>> {
        if rank < 0 {
            return Err(Error::RANK);
        }
        let part = with(|windows| windows.win_shared_query(self.handle, rank))?;
        let within = index.checked_add(1).is_some_and(|end| bytes_of::<T>(end) as u64 <= part.size);
        let base: *mut T = part.base.cast();
        Ok(within.then(|| base.wrapping_add(index)))
    }

    /// Makes this rank's loads and stores, and those of others, seen by each other. Errors: `RMA_SYNC` outside of an epoch of locks.
    pub fn sync(&self) -> Result<()> {
        with(|windows| windows.win_sync(self.handle))
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
        // SAFETY: `index` is below `length`, so it lies in the window's memory, which lives; volatile, since
        // peers may use it.
        unsafe { self.base.add(index).write_volatile(value) };
        Ok(())
    }

    /// Stores values from element `at` of a rank on. Errors: `RANK`, `RMA_RANGE`, `RMA_SYNC` outside an epoch.
    #[inline]
    pub fn put(&self, values: &[T], rank: i32, at: usize) -> Result<()> {
        let (origin, place) = self.both_buffers(values.as_ptr().cast_mut(), values.len(), rank, at)?;
        // SAFETY: the values are borrowed for the call; they are not the window's memory, to which there are no references.
        with(|windows| unsafe { windows.put(&origin, &place, self.handle) })
    }

    /// Loads values from element `at` of a rank on. Errors: as for [`Window::put`].
    #[inline]
    pub fn get(&self, values: &mut [T], rank: i32, at: usize) -> Result<()> {
        let (origin, place) = self.both_buffers(values.as_mut_ptr(), values.len(), rank, at)?;
        // SAFETY: the values are borrowed exclusively for the call, and any bits are values; they are not the
        // window's memory, to which there are no references.
        with(|windows| unsafe { windows.get(&origin, &place, self.handle) })
    }

    /// Combines values into those from element `at` of a rank on, each atomically. Errors: as for [`Window::put`]; `OP`.
    pub fn accumulate(&self, values: &[T], rank: i32, at: usize, operation: Operation) -> Result<()> {
        let (origin, place) = self.both_buffers(values.as_ptr().cast_mut(), values.len(), rank, at)?;
        // SAFETY: the values are borrowed for the call; they are not the window's memory, to which there are
        // no references.
        with(|windows| unsafe { windows.accumulate(&origin, &place, operation as u64, self.handle) })
    }

    /// The same; what was there. Errors: as for [`Window::accumulate`]; `COUNT` if lengths differ.
    pub fn get_accumulate(
        &self,
        values: &[T],
        before: &mut [T],
        rank: i32,
        at: usize,
        operation: Operation,
    ) -> Result<()> {
        if values.len() != before.len() {
            return Err(Error::COUNT);
        }
        let (origin, place) = self.both_buffers(values.as_ptr().cast_mut(), values.len(), rank, at)?;
        let result = Buffer { address: before.as_mut_ptr().cast(), ..origin };
        // SAFETY: both slices are borrowed for the call, `before` exclusively and as long as `values`
        // (checked); neither is the window's memory, to which there are no references.
        with(|windows| unsafe {
            windows.get_accumulate(&origin, &result, &place, operation as u64, self.handle)
        })
    }

    /// Combines a value into element `at` of a rank atomically; what was there. Errors: as for [`Window::accumulate`].
    pub fn fetch_and_op(&self, value: T, rank: i32, at: usize, operation: Operation) -> Result<T> {
        let mut result = value;
        let at = i64::try_from(at).map_err(|_| Error::RMA_RANGE)?;
        let (origin, into) = ((&raw const value).cast(), (&raw mut result).cast());
        // SAFETY: both are variables of this function.
        with(|windows| unsafe {
            windows.fetch_and_op(origin, into, T::DATATYPE, rank, at, operation as u64, self.handle)
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
        with(|windows| unsafe {
            windows.compare_and_swap(origin, compare, into, T::DATATYPE, rank, at, self.handle)
        })?;
        Ok(result)
    }

    /// Ends the epoch of the fence before and begins one; all ranks must call it. Errors: `RMA_SYNC` in another epoch.
    pub fn fence(&self) -> Result<()> {
        with(|windows| windows.win_fence(0, self.handle))
    }

    /// A fence that begins an epoch, which ends with another where it is dropped. All ranks must do both. Errors: `RMA_SYNC` in another epoch.
    pub fn fenced(&self) -> Result<Fence<'_, 'mpi, T>> {
        with(|windows| windows.win_fence(mode::NOPRECEDE, self.handle))?;
        Ok(Fence(self))
    }

    /// Exposes this rank's elements to the given ranks, until all of them have ended their access. Errors: `GROUP`, `RMA_SYNC`.
    pub fn expose(&self, to: &[u32]) -> Result<Exposure<'_, 'mpi, T>> {
        let group = self.group(to)?;
        with(|windows| windows.win_post(&group, 0, self.handle))?;
        Ok(Exposure(self))
    }

    /// Begins access to the given ranks, after they have exposed their elements. Errors: `GROUP`, `RMA_SYNC`.
    pub fn access(&self, of: &[u32]) -> Result<Access<'_, 'mpi, T>> {
        let group = self.group(of)?;
        with(|windows| windows.win_start(&group, 0, self.handle))?;
        Ok(Access(self))
    }

    /// Locks a rank's elements. Errors: `RANK`, `RMA_SYNC`.
    pub fn lock(&self, kind: LockKind, rank: i32) -> Result<Lock<'_, 'mpi, T>> {
        with(|windows| windows.win_lock(kind, rank, 0, self.handle))?;
        Ok(Lock { window: self, rank })
    }

    /// Begins shared access to all ranks' elements. Errors: `RMA_SYNC`.
    pub fn lock_all(&self) -> Result<LockAll<'_, 'mpi, T>> {
        with(|windows| windows.win_lock_all(0, self.handle))?;
        Ok(LockAll(self))
    }

    fn both_buffers(
        &self,
        address: *mut T,
        count: usize,
        rank: i32,
        at: usize,
    ) -> Result<(Buffer, TargetBuffer)> {
        let (count, datatype) = (count as i64, T::DATATYPE);
        let displacement = i64::try_from(at).map_err(|_| Error::RMA_RANGE)?;
        let place = TargetBuffer { rank, displacement, count, datatype };
        Ok((Buffer { address: address.cast(), count, datatype }, place))
    }

    /// Node ranks of ranks of the window. Errors: `GROUP`.
    fn group(&self, ranks: &[u32]) -> Result<Vec<WorldRank>> {
        with(|windows| {
            let members = windows.win_members(self.handle)?;
            ranks.iter().map(|rank| members.get(*rank as usize).copied().ok_or(Error::GROUP)).collect()
        })
    }
}

/// Bytes of so many elements. A size that does not exist is one that there is no memory for: the call fails in all ranks.
fn bytes_of<T>(length: usize) -> i64 {
    length.checked_mul(size_of::<T>()).and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(i64::MAX)
}

/// An epoch between two fences.
#[must_use = "the epoch ends where this is dropped"]
pub struct Fence<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> Drop for Fence<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no epoch to end.
        let _ = with(|windows| windows.win_fence(mode::NOSUCCEED, self.0.handle));
    }
}

/// Exposure to other ranks; dropping it waits until they have ended their access.
#[must_use = "exposure ends where this is dropped"]
pub struct Exposure<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> Exposure<'_, '_, T> {
    /// Whether all of them have ended their access; if so the exposure has ended. Errors: `RMA_SYNC` if it had before.
    pub fn test(&self) -> Result<bool> {
        with(|windows| windows.win_test(self.0.handle))
    }
}

impl<T: Element> Drop for Exposure<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no exposure to end: `test` may have ended it.
        let _ = with(|windows| windows.win_wait(self.0.handle));
    }
}

/// Access to ranks that have exposed their elements, until it is dropped.
#[must_use = "access ends where this is dropped"]
pub struct Access<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> Drop for Access<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no access to end.
        let _ = with(|windows| windows.win_complete(self.0.handle));
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
        with(|windows| windows.win_flush(self.rank, self.window.handle))
    }

    /// Completes all operations on that rank here: their buffers are free.
    #[inline]
    pub fn flush_local(&self) -> Result<()> {
        with(|windows| windows.win_flush_local(self.rank, self.window.handle))
    }
}

impl<T: Element> Drop for Lock<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no lock.
        let _ = with(|windows| windows.win_unlock(self.rank, self.window.handle));
    }
}

/// The lock of all ranks' elements, until it is dropped.
#[must_use = "the locks end where this is dropped"]
pub struct LockAll<'w, 'mpi, T: Element>(&'w Window<'mpi, T>);

impl<T: Element> LockAll<'_, '_, T> {
    /// Completes all operations on all ranks there.
    #[inline]
    pub fn flush(&self) -> Result<()> {
        with(|windows| windows.win_flush_all(self.0.handle))
    }

    /// Completes all operations on one rank there. Errors: `RANK`.
    #[inline]
    pub fn flush_rank(&self, rank: i32) -> Result<()> {
        with(|windows| windows.win_flush(rank, self.0.handle))
    }

    /// Completes all operations here: their buffers are free.
    #[inline]
    pub fn flush_local(&self) -> Result<()> {
        with(|windows| windows.win_flush_local_all(self.0.handle))
    }
}

impl<T: Element> Drop for LockAll<'_, '_, T> {
    fn drop(&mut self) {
        // It can only fail if there is no lock.
        let _ = with(|windows| windows.win_unlock_all(self.0.handle));
    }
}
