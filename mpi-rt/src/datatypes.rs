//! Datatypes by handle: the predefined ones by their numbers in the binary interface, others as the program makes them
//! (MPI-5.0, chapter "Datatypes"). The types themselves are `lwk-datatype`'s.
//!
//! What most messages use is found without a memory access beyond one byte: a predefined type without holes is looked up in
//! [`DENSE`], and its buffer is a block. All others are references into [`Datatypes`].

use crate::abi::datatype as number;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::request::Keeps;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::OnceCell;
use lwk_datatype::{Basic, Combiner, Contents, Datatype, Form, Pair, Predefined};
use lwk_path::SHORT;
use lwk_path::region::Region;

/// Predefined datatypes have the numbers from [`number::NULL`] up to this many more.
const PREDEFINED: usize = 256;

/// Bytes of each predefined type that has no holes, by its number; 0 for all others.
static DENSE: [u8; PREDEFINED] = dense();

const fn dense() -> [u8; PREDEFINED] {
    let mut bytes = [0; PREDEFINED];
    let mut index = 0;
    while index < Basic::ALL.len() {
        let basic = Basic::ALL[index];
        bytes[basic.handle() as usize - number::NULL as usize] = basic.size() as u8;
        index += 1;
    }
    index = 0;
    while index < Pair::ALL.len() {
        let pair = Pair::ALL[index];
        let size = pair.value().size() + pair.index().size();
        if size == pair.extent() {
            bytes[pair.handle() as usize - number::NULL as usize] = size as u8;
        }
        index += 1;
    }
    bytes
}

/// Bytes of a predefined type without holes; 0 for any other handle.
#[inline(always)]
pub fn dense_bytes(handle: u64) -> usize {
    match DENSE.get(handle.wrapping_sub(number::NULL) as usize) {
        Some(bytes) => *bytes as usize,
        None => 0,
    }
}

/// Bytes of `count` items, if they lie in one block of at most [`SHORT`] bytes; no errors are found here.
#[inline(always)]
pub(crate) fn short_bytes(count: i64, datatype: u64) -> Option<usize> {
    let bytes = dense_bytes(datatype);
    // A negative count is a large one here; of those that are not too large the product fits.
    let all = (count as u64 <= SHORT as u64).then(|| count as usize * bytes)?;
    (bytes != 0 && all <= SHORT).then_some(all)
}

/// Bytes of `count` items, if they lie in one block that is not empty; no errors are found here.
#[inline(always)]
pub(crate) fn block_bytes(count: i64, datatype: u64) -> Option<usize> {
    // A negative count is a large one here, and too many bytes are an error.
    let bytes = (count as u64).checked_mul(dense_bytes(datatype) as u64)?;
    (1..=isize::MAX as u64).contains(&bytes).then_some(bytes as usize)
}

/// All datatypes of this rank.
pub(crate) struct Datatypes {
    /// By number, made when first asked for.
    predefined: Box<[OnceCell<Datatype>]>,
    derived: Table<Datatype>,
    /// Without data: what no items are of. Made when first asked for.
    nothing: OnceCell<Datatype>,
    /// Handles of Fortran's parameterized types: the same arguments give the same type.
    parameterized: Vec<(Combiner, Vec<i32>, Handle)>,
}

impl Datatypes {
    pub fn new() -> Datatypes {
        let predefined = (0..PREDEFINED).map(|_| OnceCell::new()).collect();
        Datatypes {
            predefined,
            derived: Table::of(Kind::Datatype),
            nothing: OnceCell::new(),
            parameterized: Vec::new(),
        }
    }

    /// Errors: `TYPE`.
    pub fn get(&self, handle: u64) -> Result<&Datatype> {
        if let Some(datatype) = self.derived.get(Handle(handle)) {
            return Ok(datatype);
        }
        let place = usize::try_from(handle.wrapping_sub(number::NULL)).map_err(|_| Error::TYPE)?;
        let cell = self.predefined.get(place).ok_or(Error::TYPE)?;
        if let Some(datatype) = cell.get() {
            return Ok(datatype);
        }
        let predefined = Predefined::from_handle(handle as usize).ok_or(Error::TYPE)?;
        Ok(cell.get_or_init(|| Datatype::predefined(predefined)))
    }
}

impl Engine {
    /// The datatype with that handle, committed or not. Cloning it is taking a reference. Errors: `TYPE`.
    pub fn datatype(&self, handle: u64) -> Result<&Datatype> {
        self.datatypes.get(handle)
    }

    /// The same of `count` items: where there are none, programs pass `MPI_DATATYPE_NULL`, and other libraries take it. Errors: `TYPE`.
    pub fn datatype_of(&self, count: i64, handle: u64) -> Result<&Datatype> {
        if (count, handle) != (0, number::NULL) {
            return self.datatype(handle);
        }
        if let Some(nothing) = self.datatypes.nothing.get() {
            return Ok(nothing);
        }
        let nothing = Datatype::contiguous_of(Form::Int, 0, &Datatype::predefined(Basic::Byte))?;
        nothing.commit();
        Ok(self.datatypes.nothing.get_or_init(|| nothing))
    }

    /// The bytes of a buffer of this rank: `count` items of a datatype at `address`, which may be `MPI_BOTTOM`. Valid as long as the
    /// datatype lives. `MPI_DATATYPE_NULL` will do for no items. Errors: `COUNT`, `TYPE` also for a datatype that is not committed,
    /// `VALUE_TOO_LARGE` if no address space holds them.
    #[inline(always)]
    pub fn region(&self, address: *const u8, count: i64, datatype: u64) -> Result<Region> {
        let bytes = dense_bytes(datatype);
        if bytes == 0 {
            return self.region_of_items(address, count, datatype);
        }
        let count = usize::try_from(count).map_err(|_| Error::COUNT)?;
        Ok(Region::block(address, count.checked_mul(bytes).ok_or(Error::VALUE_TOO_LARGE)?))
    }

    #[inline(never)]
    fn region_of_items(&self, address: *const u8, count: i64, datatype: u64) -> Result<Region> {
        let datatype = self.datatype_of(count, datatype)?;
        let count = u64::try_from(count).map_err(|_| Error::COUNT)?;
        Ok(Region::items(address, count, datatype.layout()?)?)
    }

    /// What keeps the layout of a region alive, if it has one.
    #[inline(always)]
    pub fn layout_of(&self, datatype: u64, region: &Region) -> Keeps {
        if region.contiguous().is_some() {
            return Keeps::Nothing;
        }
        self.datatype(datatype).map_or(Keeps::Nothing, |datatype| Keeps::Layout(datatype.clone()))
    }

    /// The datatype, to be kept while it is used, unless it is one that is never freed. Errors are found elsewhere.
    #[inline(always)]
    pub fn kept(&self, datatype: u64) -> Option<Datatype> {
        if dense_bytes(datatype) != 0 { None } else { self.datatype(datatype).ok().cloned() }
    }

    /// Gives a datatype a handle.
    pub fn add_datatype(&mut self, datatype: Datatype) -> Handle {
        self.datatypes.derived.insert(datatype)
    }

    /// Forgets a handle of the library's own, of [`Engine::add_datatype`].
    pub fn forget_datatype(&mut self, own: Handle) {
        self.datatypes.derived.remove(own);
    }

    /// Makes a datatype usable for communication (`MPI_TYPE_COMMIT`). Errors: `TYPE`.
    pub fn type_commit(&mut self, datatype: u64) -> Result<()> {
        self.datatype(datatype).map(Datatype::commit)
    }

    /// Gives a datatype up; communication and datatypes that use it are not affected (`MPI_TYPE_FREE`). Errors: `TYPE`, also for
    /// predefined ones.
    pub fn type_free(&mut self, datatype: u64) -> Result<()> {
        let derived = self.datatypes.derived.get(Handle(datatype)).ok_or(Error::TYPE)?;
        if is_predefined(derived) {
            return Err(Error::TYPE);
        }
        self.datatypes.derived.remove(Handle(datatype)).map(drop).ok_or(Error::TYPE)
    }

    /// The constructor of a datatype and its arguments (`MPI_TYPE_GET_ENVELOPE`). Errors: `TYPE`.
    pub fn type_envelope(&self, datatype: u64) -> Result<&Contents> {
        self.datatype(datatype).map(Datatype::contents)
    }

    /// Handles of the datatypes that a constructor was given (`MPI_TYPE_GET_CONTENTS`): predefined ones by number; others are new
    /// handles, which the caller frees. Errors: `TYPE`, also for predefined types, which have no contents.
    pub fn type_contents(&mut self, datatype: u64) -> Result<Vec<Handle>> {
        let datatypes = {
            let contents = self.type_envelope(datatype)?;
            if contents.combiner == Combiner::Named {
                return Err(Error::TYPE);
            }
            contents.datatypes.clone()
        };
        Ok(datatypes.into_iter().map(|it| self.handle_of(it)).collect())
    }

    /// A handle of a datatype: the predefined number, or a new one.
    pub fn handle_of(&mut self, datatype: Datatype) -> Handle {
        let contents = datatype.contents();
        match contents.predefined {
            Some(predefined) if contents.combiner == Combiner::Named => Handle(predefined.handle() as u64),
            Some(_) => self.parameterized(datatype),
            None => self.add_datatype(datatype),
        }
    }

    /// The handle of one of Fortran's parameterized types, which are predefined: made once, never freed.
    pub(crate) fn parameterized(&mut self, datatype: Datatype) -> Handle {
        let (combiner, arguments) = (datatype.contents().combiner, datatype.contents().integers.clone());
        let known = |it: &&(Combiner, Vec<i32>, Handle)| it.0 == combiner && it.1 == arguments;
        if let Some((_, _, handle)) = self.datatypes.parameterized.iter().find(known) {
            return *handle;
        }
        let handle = self.add_datatype(datatype);
        self.datatypes.parameterized.push((combiner, arguments, handle));
        handle
    }
}

/// Whether a program may not free it.
fn is_predefined(datatype: &Datatype) -> bool {
    datatype.as_predefined().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_types_are_those_whose_items_follow_each_other() {
        for handle in 0..0x400 {
            let dense = Predefined::from_handle(handle).map_or(0, |predefined| {
                let datatype = Datatype::predefined(predefined);
                let (one, two) = (datatype.size(), datatype.contiguous(2));
                if two == Some((0, 2 * one as u64)) { one } else { 0 }
            });
            assert_eq!(dense_bytes(handle as u64) as i64, dense, "{handle:#x}");
        }
        assert_eq!(dense_bytes(u64::MAX), 0);
        assert_eq!(
            [0, 10, 11, -1, i64::MIN].map(|count| short_bytes(count, number::INT)),
            [Some(0), Some(40), None, None, None]
        );
        assert_eq!([number::NULL, number::SHORT_INT].map(|handle| short_bytes(0, handle)), [None, None]);
    }

    #[test]
    fn numbers_that_are_no_datatype_name_none() {
        let datatypes = Datatypes::new();
        for handle in [0, number::NULL, 0x1ff, 0x300, 0x1000, u64::MAX] {
            assert_eq!(datatypes.get(handle).err(), Some(Error::TYPE), "{handle:#x}");
        }
        assert_eq!(datatypes.get(number::SHORT_INT).map(Datatype::size), Ok(6));
    }
}
