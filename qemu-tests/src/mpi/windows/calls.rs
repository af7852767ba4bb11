//! Short forms of the engine's calls on windows, for elements of predefined types.

use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Element;
use lwk_mpi_rt::abi::COMM_WORLD;
use lwk_mpi_rt::{Handle, Result};
use lwk_mpi_window::{Buffer, LockKind, TargetBuffer, Windows, with};

pub const WORLD: Handle = Handle(COMM_WORLD);

/// Lets `call` use the engine.
pub fn engine<R>(call: impl FnOnce(&mut Windows) -> Result<R>) -> Result<R> {
    with(call)
}

/// A buffer of the caller's.
pub fn buffer<T: Element>(values: &[T]) -> Buffer {
    Buffer { address: values.as_ptr().cast_mut().cast(), count: values.len() as i64, datatype: T::DATATYPE }
}

/// `count` elements at a target.
pub fn place<T: Element>(rank: u32, displacement: i64, count: usize) -> TargetBuffer {
    TargetBuffer { rank: rank as i32, displacement, count: count as i64, datatype: T::DATATYPE }
}

/// A window, and where this rank's part of it is.
#[derive(Clone, Copy)]
pub struct Win {
    pub handle: Handle,
    pub base: *mut u8,
}

impl Win {
    /// With `bytes` bytes of new memory in this rank.
    pub fn allocate(bytes: usize, unit: i64) -> Result<Win> {
        let (handle, base) = engine(|engine| engine.win_allocate(bytes as i64, unit, WORLD))?;
        Ok(Win { handle, base })
    }

    /// Element `index` of this rank's part.
    pub fn load<T: Element>(&self, index: usize) -> T {
        // SAFETY: in this rank's memory; tests look when epochs allow it. Volatile, since peers write it.
        unsafe { self.base.cast::<T>().add(index).read_volatile() }
    }

    /// Sets element `index` of this rank's part.
    pub fn store<T: Element>(&self, index: usize, value: T) {
        // SAFETY: as in `load`.
        unsafe { self.base.cast::<T>().add(index).write_volatile(value) }
    }

    pub fn put<T: Element>(&self, values: &[T], rank: u32, displacement: i64) -> Result<()> {
        let place = place::<T>(rank, displacement, values.len());
        // SAFETY: the values are borrowed for the call, in which a put is complete.
        engine(|engine| unsafe { engine.put(&buffer(values), &place, self.handle) })
    }

    pub fn get<T: Element + Default>(&self, count: usize, rank: u32, displacement: i64) -> Result<Vec<T>> {
        let values = vec![T::default(); count];
        let place = place::<T>(rank, displacement, count);
        // SAFETY: the buffer is this function's, and a get is complete when it returns.
        engine(|engine| unsafe { engine.get(&buffer(&values), &place, self.handle) })?;
        Ok(values)
    }

    pub fn accumulate<T: Element>(
        &self,
        values: &[T],
        rank: u32,
        displacement: i64,
        operation: u64,
    ) -> Result<()> {
        let place = place::<T>(rank, displacement, values.len());
        // SAFETY: as in `put`.
        engine(|engine| unsafe { engine.accumulate(&buffer(values), &place, operation, self.handle) })
    }

    pub fn get_accumulate<T: Element + Default>(
        &self,
        values: &[T],
        rank: u32,
        displacement: i64,
        operation: u64,
    ) -> Result<Vec<T>> {
        let result = vec![T::default(); values.len()];
        let place = place::<T>(rank, displacement, values.len());
        // SAFETY: as in `put` and `get`.
        engine(|engine| unsafe {
            engine.get_accumulate(&buffer(values), &buffer(&result), &place, operation, self.handle)
        })?;
        Ok(result)
    }

    pub fn fetch_and_op<T: Element + Default>(
        &self,
        value: T,
        rank: u32,
        displacement: i64,
        operation: u64,
    ) -> Result<T> {
        let mut result = T::default();
        let (origin, into) = ((&raw const value).cast(), (&raw mut result).cast());
        // SAFETY: both are variables of this function.
        engine(|engine| unsafe {
            let (kind, rank) = (T::DATATYPE, rank as i32);
            engine.fetch_and_op(origin, into, kind, rank, displacement, operation, self.handle)
        })?;
        Ok(result)
    }

    pub fn compare_and_swap<T: Element + Default>(
        &self,
        value: T,
        compare: T,
        rank: u32,
        displacement: i64,
    ) -> Result<T> {
        let mut result = T::default();
        let (origin, with) = ((&raw const value).cast(), (&raw const compare).cast());
        let into = (&raw mut result).cast();
        // SAFETY: all are variables of this function.
        engine(|engine| unsafe {
            engine.compare_and_swap(origin, with, into, T::DATATYPE, rank as i32, displacement, self.handle)
        })?;
        Ok(result)
    }

    pub fn fence(&self, assertions: i32) -> Result<()> {
        engine(|engine| engine.win_fence(assertions, self.handle))
    }

    pub fn lock(&self, kind: LockKind, rank: u32) -> Result<()> {
        engine(|engine| engine.win_lock(kind, rank as i32, 0, self.handle))
    }

    pub fn unlock(&self, rank: u32) -> Result<()> {
        engine(|engine| engine.win_unlock(rank as i32, self.handle))
    }

    pub fn lock_all(&self) -> Result<()> {
        engine(|engine| engine.win_lock_all(0, self.handle))
    }

    pub fn unlock_all(&self) -> Result<()> {
        engine(|engine| engine.win_unlock_all(self.handle))
    }

    pub fn flush(&self, rank: u32) -> Result<()> {
        engine(|engine| engine.win_flush(rank as i32, self.handle))
    }

    pub fn free(self) -> Result<()> {
        lwk_mpi_window::free(self.handle)
    }
}
