//! Functions that MPI-3.0 has removed and old programs still call (MPI-2.2, chapter 15): other names of others, and bounds one by one.

use crate::datatypes::make;
use crate::errors;
use crate::mpi;
use crate::types::{Comm, Datatype, Errhandler, Number, give, list};
use alloc::vec::Vec;
use core::ffi::c_int;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::error_handler::{self, UserFunction};
use lwk_mpi_rt::object::{Kind, Object};
use lwk_mpi_rt::{Handle, Result};

/// Lower bound and extent of a datatype. Errors: `TYPE`.
fn bounds(datatype: Datatype) -> Result<(i64, i64)> {
    with(|engine| engine.datatype(datatype).map(|it| (it.lb(), it.extent())))
}

mpi! {
    fn Address(location: *const u8, address: *mut isize) on Nothing {
        give(address, location.expose_provenance() as isize)
    }

    fn Type_hvector(count: c_int, blocklength: c_int, stride: i64, oldtype: Datatype, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_hvector(c_int::FORM, count.wide(), blocklength.wide(), stride, oldtype))
    }

    fn Type_hindexed(
        count: c_int, lengths: *const c_int, displacements: *const i64, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let (lengths, displacements) = (list(lengths, count.wide())?, list(displacements, count.wide())?);
        make(newtype, |engine| engine.type_hindexed(c_int::FORM, &lengths, &displacements, oldtype))
    }

    /// As `MPI_Type_create_struct`, with markers of bounds among the types.
    fn Type_struct(
        count: c_int, lengths: *const c_int, displacements: *const i64, types: *const Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let (lengths, displacements) = (list(lengths, count.wide())?, list(displacements, count.wide())?);
        let types: Vec<u64> = list(types.cast::<i64>(), count.wide())?.into_iter().map(|handle| handle as u64).collect();
        make(newtype, |engine| engine.type_struct_with_bounds(&lengths, &displacements, &types))
    }

    fn Type_extent(datatype: Datatype, extent: *mut i64) on Nothing {
        give(extent, bounds(datatype)?.1)
    }

    fn Type_lb(datatype: Datatype, displacement: *mut i64) on Nothing {
        give(displacement, bounds(datatype)?.0)
    }

    fn Type_ub(datatype: Datatype, displacement: *mut i64) on Nothing {
        let (lb, extent) = bounds(datatype)?;
        give(displacement, lb.wrapping_add(extent))
    }

    fn Errhandler_create(function: Option<UserFunction>, errhandler: *mut Errhandler) on Nothing {
        errors::create(Kind::Communicator, function, errhandler)
    }

    fn Errhandler_set(comm: Comm, errhandler: Errhandler) on Comm(comm) {
        error_handler::set(Object::communicator(Handle(comm)), Handle(errhandler))
    }

    fn Errhandler_get(comm: Comm, errhandler: *mut Errhandler) on Comm(comm) {
        errors::get(Object::communicator(Handle(comm)), errhandler)
    }
}
