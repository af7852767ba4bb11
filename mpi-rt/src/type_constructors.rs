//! Making datatypes from others, by handle (MPI-5.0, chapter "Datatypes").
//!
//! Counts and displacements are 64 bits wide in all of them; [`Form`] says which form the program called, which only decoding
//! shows. Lists have one entry a block. A new type is not committed. Errors: `TYPE` for an old type that is none, `COUNT` for a
//! negative count, `DIMS`, `ARG` for any other argument, `VALUE_TOO_LARGE` if a size or bound does not fit 64 bits.

use crate::abi::datatype as number;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use alloc::vec::Vec;
use lwk_datatype::{Datatype, Distribution, Form, Order, TypeClass};

/// Constructors of one old type, as those of [`Datatype`].
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident as $make:ident($($argument:ident: $type:ty),*);)*) => {
        impl Engine {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, form: Form, $($argument: $type,)* old: u64) -> Result<Handle> {
                    self.make_type(old, |old| Datatype::$make(form, $($argument,)* old))
                }
            )*
        }
    };
}

constructors! {
    /// `count` items, one after another (`MPI_TYPE_CONTIGUOUS`).
    type_contiguous as contiguous_of(count: i64);
    /// `count` blocks of `length` items, `stride` items apart (`MPI_TYPE_VECTOR`).
    type_vector as vector(count: i64, length: i64, stride: i64);
    /// `count` blocks of `length` items, `stride` bytes apart (`MPI_TYPE_CREATE_HVECTOR`).
    type_hvector as hvector(count: i64, length: i64, stride: i64);
    /// Blocks of `lengths` items at `displacements` items (`MPI_TYPE_INDEXED`).
    type_indexed as indexed(lengths: &[i64], displacements: &[i64]);
    /// Blocks of `lengths` items at `displacements` bytes (`MPI_TYPE_CREATE_HINDEXED`).
    type_hindexed as hindexed(lengths: &[i64], displacements: &[i64]);
    /// Blocks of `length` items at `displacements` items (`MPI_TYPE_CREATE_INDEXED_BLOCK`).
    type_indexed_block as indexed_block(length: i64, displacements: &[i64]);
    /// Blocks of `length` items at `displacements` bytes (`MPI_TYPE_CREATE_HINDEXED_BLOCK`).
    type_hindexed_block as hindexed_block(length: i64, displacements: &[i64]);
}

impl Engine {
    fn make_type(
        &mut self,
        old: u64,
        make: impl FnOnce(&Datatype) -> lwk_datatype::Result<Datatype>,
    ) -> Result<Handle> {
        let made = make(self.datatype(old)?)?;
        Ok(self.add_datatype(made))
    }

    /// The same type under another handle (`MPI_TYPE_DUP`), as committed as the old one.
    pub fn type_dup(&mut self, old: u64) -> Result<Handle> {
        self.make_type(old, |old| Ok(old.dup()))
    }

    /// `lengths` items of each of `types` at `displacements` bytes (`MPI_TYPE_CREATE_STRUCT`). Errors: also `NO_MEM`.
    pub fn type_struct(
        &mut self,
        form: Form,
        lengths: &[i64],
        displacements: &[i64],
        types: &[u64],
    ) -> Result<Handle> {
        let mut members = Vec::new();
        members.try_reserve_exact(types.len()).map_err(|_| Error::NO_MEM)?;
        for datatype in types {
            members.push(self.datatype(*datatype)?.clone());
        }
        let made = Datatype::structure(form, lengths, displacements, &members)?;
        Ok(self.add_datatype(made))
    }

    /// The same with [`number::LB`] and [`number::UB`] among the types, as before MPI-3 (`MPI_TYPE_STRUCT`): the lowest lower marker and the highest upper one, those of
    /// the members included, are the bounds.
    pub fn type_struct_with_bounds(
        &mut self,
        lengths: &[i64],
        displacements: &[i64],
        types: &[u64],
    ) -> Result<Handle> {
        let marked = |marker: u64| {
            let places = types.iter().zip(lengths).zip(displacements);
            places
                .filter(move |((datatype, length), _)| **datatype == marker && **length > 0)
                .map(|(_, place)| *place)
        };
        let (lower, upper) = (marked(number::LB).min(), marked(number::UB).max());
        let is_marker = |datatype: u64| datatype == number::LB || datatype == number::UB;
        let mut members = (Vec::new(), Vec::new(), Vec::new());
        for ((datatype, length), place) in types.iter().zip(lengths).zip(displacements) {
            if is_marker(*datatype) {
                continue;
            }
            members.0.push(*length);
            members.1.push(*place);
            members.2.push(self.datatype(*datatype)?.clone());
        }
        let data = Datatype::structure(Form::Int, &members.0, &members.1, &members.2)?;
        if lower.is_none() && upper.is_none() {
            return Ok(self.add_datatype(data));
        }
        let has_markers = data.has_markers();
        let lb = lower.map_or(data.lb(), |lb| if has_markers { lb.min(data.lb()) } else { lb });
        let ub = upper.map_or(data.ub(), |ub| if has_markers { ub.max(data.ub()) } else { ub });
        let extent = ub.checked_sub(lb).ok_or(Error::ARG)?;
        let made = Datatype::resized(Form::Int, lb, extent, &data)?;
        Ok(self.add_datatype(made))
    }

    /// A part of an array (`MPI_TYPE_CREATE_SUBARRAY`); `order` is the binary interface's number.
    pub fn type_subarray(
        &mut self,
        form: Form,
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i32,
        old: u64,
    ) -> Result<Handle> {
        let order = Order::from_abi(order.into())?;
        self.make_type(old, |old| Datatype::subarray(form, sizes, subsizes, starts, order, old))
    }

    /// A rank's share of a distributed array (`MPI_TYPE_CREATE_DARRAY`).
    pub fn type_darray(&mut self, form: Form, array: &Distribution, old: u64) -> Result<Handle> {
        self.make_type(old, |old| Datatype::darray(form, array, old))
    }

    /// The same data with another lower bound and extent, in bytes (`MPI_TYPE_CREATE_RESIZED`).
    pub fn type_resized(&mut self, form: Form, lb: i64, extent: i64, old: u64) -> Result<Handle> {
        self.make_type(old, |old| Datatype::resized(form, lb, extent, old))
    }

    /// The predefined type of a class (the binary interface's number) and a size in bytes (`MPI_TYPE_MATCH_SIZE`). Errors: `ARG`.
    pub fn type_match_size(&self, class: i32, size: i64) -> Result<Handle> {
        let basic = lwk_datatype::match_size(TypeClass::from_abi(class.into())?, size)?;
        Ok(Handle(basic.handle().into()))
    }

    /// The predefined pair of a value and an index type, or the null datatype (`MPI_TYPE_GET_VALUE_INDEX`). Errors: `TYPE`.
    pub fn type_value_index(&self, value: u64, index: u64) -> Result<Handle> {
        let pair = lwk_datatype::value_index(self.datatype(value)?, self.datatype(index)?);
        Ok(Handle(pair.map_or(number::NULL, |pair| pair.handle().into())))
    }

    /// Fortran's integer of at least `range` digits (`MPI_TYPE_CREATE_F90_INTEGER`), predefined and committed. Errors: `ARG`.
    pub fn type_f90_integer(&mut self, range: i32) -> Result<Handle> {
        let made = lwk_datatype::f90_integer(range.into())?;
        Ok(self.parameterized(made))
    }

    /// Fortran's real of at least that precision and range (`MPI_TYPE_CREATE_F90_REAL`), either of which may be undefined. Errors:
    /// `ARG`.
    pub fn type_f90_real(&mut self, precision: i32, range: i32) -> Result<Handle> {
        let made = lwk_datatype::f90_real(precision.into(), range.into())?;
        Ok(self.parameterized(made))
    }

    /// The complex of two such reals (`MPI_TYPE_CREATE_F90_COMPLEX`). Errors: `ARG`.
    pub fn type_f90_complex(&mut self, precision: i32, range: i32) -> Result<Handle> {
        let made = lwk_datatype::f90_complex(precision.into(), range.into())?;
        Ok(self.parameterized(made))
    }
}
