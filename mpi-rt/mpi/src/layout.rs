//! Derived datatypes (MPI-5.0, section 5.1) over elements or records, and memory seen through them. All strides and displacements count items of the
//! type that is built upon; what lies outside of the memory is refused before any call sees it.

use super::buffer::{Buffer, BufferMut};
use super::element::Element;
use super::record::Record;
use alloc::vec::Vec;
use core::marker::PhantomData;
use lwk_datatype::Form;
use lwk_mpi_rt::collective::BufferArgument;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::error::{Error, Result};
use lwk_mpi_rt::handle::Handle;

/// `MPI_ORDER_C`.
const ORDER_C: i32 = 0xc;

/// A layout of values of `T` in memory. What is under way when it is dropped is not affected.
pub struct Datatype<T: Copy> {
    handle: u64,
    item: PhantomData<T>,
}

impl<T: Element> Datatype<T> {
    /// One element. Errors: `OTHER` if the runtime is not running.
    pub fn element() -> Result<Datatype<T>> {
        Self::make(|engine| engine.type_dup(T::DATATYPE))
    }
}

impl<T: Record> Datatype<T> {
    /// One record, with its padding left out. Errors: as for [`Datatype::element`].
    pub fn record() -> Result<Datatype<T>> {
        let fields = T::FIELDS;
        let lengths: Vec<i64> = fields.iter().map(|field| field.count as i64).collect();
        let places: Vec<i64> = fields.iter().map(|field| field.offset as i64).collect();
        let types: Vec<u64> = fields.iter().map(|field| field.datatype).collect();
        let packed: Datatype<T> =
            Self::make(|engine| engine.type_struct(Form::Large, &lengths, &places, &types))?;
        Self::make(|engine| engine.type_resized(Form::Large, 0, size_of::<T>() as i64, packed.handle))
    }
}

impl<T: Copy> Datatype<T> {
    /// Commits what `make` makes. Errors: its own; `OTHER` if the runtime is not running.
    fn make(make: impl FnOnce(&mut Engine) -> Result<Handle>) -> Result<Datatype<T>> {
        let handle = with(|engine| {
            let made = make(engine)?;
            engine.type_commit(made.0).map(|()| made.0)
        })?;
        Ok(Datatype { handle, item: PhantomData })
    }

    /// So many of this one after another. Errors: `COUNT` if it has more bytes than 63 bits count.
    pub fn contiguous(&self, count: usize) -> Result<Datatype<T>> {
        let count = number(count)?;
        Self::make(|engine| engine.type_contiguous(Form::Large, count, self.handle))
    }

    /// Blocks of `length`, from one to the next `stride`. Counted in items of this. Errors: as for [`Datatype::contiguous`].
    pub fn vector(&self, count: usize, length: usize, stride: isize) -> Result<Datatype<T>> {
        let (count, length) = (number(count)?, number(length)?);
        Self::make(|engine| engine.type_vector(Form::Large, count, length, stride as i64, self.handle))
    }

    /// Blocks: displacement and length of each. Counted as in [`Datatype::vector`]. Errors: as for [`Datatype::contiguous`].
    pub fn indexed(&self, blocks: &[(isize, usize)]) -> Result<Datatype<T>> {
        let lengths: Result<Vec<i64>> = blocks.iter().map(|block| number(block.1)).collect();
        let places: Vec<i64> = blocks.iter().map(|block| block.0 as i64).collect();
        let lengths = lengths?;
        Self::make(|engine| engine.type_indexed(Form::Large, &lengths, &places, self.handle))
    }

    /// A part of an array of several dimensions, the last of which is the fastest. Errors: `ARG` if it does not lie within.
    pub fn subarray(&self, sizes: &[usize], parts: &[usize], starts: &[usize]) -> Result<Datatype<T>> {
        if sizes.len() != parts.len() || sizes.len() != starts.len() {
            return Err(Error::ARG);
        }
        let wide = |numbers: &[usize]| -> Result<Vec<i64>> { numbers.iter().map(|it| number(*it)).collect() };
        let (sizes, parts, starts) = (wide(sizes)?, wide(parts)?, wide(starts)?);
        Self::make(|engine| engine.type_subarray(Form::Large, &sizes, &parts, &starts, ORDER_C, self.handle))
    }

    /// The same, with so many items of `T` from one to the next. Errors: `ARG`, `COUNT` if those have more bytes than 63 bits count.
    pub fn resized(&self, items: usize) -> Result<Datatype<T>> {
        let extent = number(items)?.checked_mul(size_of::<T>() as i64).ok_or(Error::ARG)?;
        Self::make(|engine| engine.type_resized(Form::Large, 0, extent, self.handle))
    }

    /// Bytes of data in it.
    pub fn bytes(&self) -> Result<usize> {
        with(|engine| engine.datatype(self.handle).map(|it| it.size() as usize))
    }

    /// `count` of it from the beginning of `memory`. Errors: `COUNT` if they do not lie within.
    pub fn of<'a>(&'a self, memory: &'a [T], count: usize) -> Result<View<'a>> {
        let address = memory.as_ptr().cast_mut().cast();
        let part = self.within(address, size_of_val(memory), count)?;
        Ok(View { part, memory: PhantomData })
    }

    /// The same, to be written. Errors: as for [`Datatype::of`]; `ARG` if items have bytes in common, as they must not where something is received.
    pub fn of_mut<'a>(&'a self, memory: &'a mut [T], count: usize) -> Result<ViewMut<'a>> {
        let part = self.within(memory.as_mut_ptr().cast(), size_of_val(memory), count)?;
        if with(|engine| Ok(engine.datatype(self.handle)?.overlaps(count as u64)?))? {
            return Err(Error::ARG);
        }
        Ok(ViewMut { part, memory: PhantomData })
    }

    /// Errors: `COUNT`.
    fn within(&self, address: *mut u8, bytes: usize, count: usize) -> Result<BufferArgument> {
        let (bytes, items) = (i64::try_from(bytes).map_err(|_| Error::COUNT)?, number(count)?);
        let (first, last, extent) = with(|engine| {
            let it = engine.datatype(self.handle)?;
            Ok((it.true_lb(), it.true_lb() + it.true_extent(), it.extent()))
        })?;
        // The ends of the first and of the last item; the others lie between them.
        let reach = extent.checked_mul((items - 1).max(0)).ok_or(Error::COUNT)?;
        let within = |shift: i64| {
            let (low, high) = (first.checked_add(shift), last.checked_add(shift));
            low.is_some_and(|low| low >= 0) && high.is_some_and(|high| high <= bytes)
        };
        if items > 0 && !(within(0) && within(reach)) {
            return Err(Error::COUNT);
        }
        Ok(BufferArgument { address, count: items, datatype: self.handle })
    }
}

/// Errors: `COUNT` if it is beyond the library's numbers.
fn number(count: usize) -> Result<i64> {
    i64::try_from(count).map_err(|_| Error::COUNT)
}

impl<T: Copy> Drop for Datatype<T> {
    fn drop(&mut self) {
        // It can only fail if the runtime has ended, and then there is nothing to free.
        let _ = with(|engine| engine.type_free(self.handle));
    }
}

/// Memory seen through a datatype.
pub struct View<'a> {
    part: BufferArgument,
    memory: PhantomData<&'a [u8]>,
}

/// Memory seen through a datatype, to be written.
pub struct ViewMut<'a> {
    part: BufferArgument,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: `Datatype::of` has checked that the items lie in memory that is borrowed.
unsafe impl Buffer for View<'_> {
    fn part(&self) -> BufferArgument {
        self.part
    }
}

// SAFETY: `Datatype::of_mut` has checked that the items lie in memory that is borrowed.
unsafe impl Buffer for ViewMut<'_> {
    fn part(&self) -> BufferArgument {
        self.part
    }
}

// SAFETY: `Datatype::of_mut` has checked that the items lie in memory that is borrowed exclusively, and do not overlap
// each other; they are elements' bytes, which may be any.
unsafe impl BufferMut for ViewMut<'_> {
    fn part_mut(&mut self) -> BufferArgument {
        self.part
    }
}
