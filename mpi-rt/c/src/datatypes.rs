//! Making and describing datatypes (MPI-5.0, sections 5.1 and 3.2.5).

use crate::types::{Datatype, Number, Status, UNDEFINED, give, give_number, list};
use crate::{conversions, mpi, statuses};
use alloc::vec::Vec;
use core::ffi::c_int;
use lwk_datatype::{Combiner, Contents, Distribution, Order};
use lwk_mpi_rt::abi::{FIRST_DYNAMIC_HANDLE, datatype as number};
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::object::{self, Object};
use lwk_mpi_rt::{Error, Handle, Result, attribute};

/// Calls the engine for a new datatype and gives its handle out.
///
/// # Safety
/// `newtype` must be null or writable.
pub(crate) unsafe fn make(
    newtype: *mut Datatype,
    how: impl FnOnce(&mut Engine) -> Result<Handle>,
) -> Result<()> {
    if newtype.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `newtype` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(newtype, with(how)?.0) }
}

/// Writes a number; one that does not fit becomes `MPI_UNDEFINED`, as for all functions that describe types and messages (MPI-5.0,
/// section 5.1.5).
///
/// # Safety
/// `place` must be null or writable.
unsafe fn give_or_undefined<N: Number>(place: *mut N, value: Option<i64>) -> Result<()> {
    let undefined = N::narrow(UNDEFINED as i64).ok_or(Error::INTERN)?;
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, value.and_then(N::narrow).unwrap_or(undefined)) }
}

mpi! {
    fn Type_contiguous + Type_contiguous_c<N>(count: N, oldtype: Datatype, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_contiguous(N::FORM, count.wide(), oldtype))
    }

    fn Type_vector + Type_vector_c<N>(count: N, blocklength: N, stride: N, oldtype: Datatype, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| {
            engine.type_vector(N::FORM, count.wide(), blocklength.wide(), stride.wide(), oldtype)
        })
    }

    fn Type_create_hvector + Type_create_hvector_c<N>(
        count: N, blocklength: N, stride: i64, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        make(newtype, |engine| engine.type_hvector(N::FORM, count.wide(), blocklength.wide(), stride, oldtype))
    }

    fn Type_indexed + Type_indexed_c<N>(
        count: N, lengths: *const N, displacements: *const N, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let (lengths, displacements) = (list(lengths, count.wide())?, list(displacements, count.wide())?);
        make(newtype, |engine| engine.type_indexed(N::FORM, &lengths, &displacements, oldtype))
    }

    fn Type_create_hindexed + Type_create_hindexed_c<N>(
        count: N, lengths: *const N, displacements: *const i64, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let (lengths, displacements) = (list(lengths, count.wide())?, list(displacements, count.wide())?);
        make(newtype, |engine| engine.type_hindexed(N::FORM, &lengths, &displacements, oldtype))
    }

    fn Type_create_indexed_block + Type_create_indexed_block_c<N>(
        count: N, blocklength: N, displacements: *const N, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let displacements = list(displacements, count.wide())?;
        make(newtype, |engine| engine.type_indexed_block(N::FORM, blocklength.wide(), &displacements, oldtype))
    }

    fn Type_create_hindexed_block + Type_create_hindexed_block_c<N>(
        count: N, blocklength: N, displacements: *const i64, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let displacements = list(displacements, count.wide())?;
        make(newtype, |engine| engine.type_hindexed_block(N::FORM, blocklength.wide(), &displacements, oldtype))
    }

    fn Type_create_struct + Type_create_struct_c<N>(
        count: N, lengths: *const N, displacements: *const i64, types: *const Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let (lengths, displacements) = (list(lengths, count.wide())?, list(displacements, count.wide())?);
        let types: Vec<u64> = list(types.cast::<i64>(), count.wide())?.into_iter().map(|handle| handle as u64).collect();
        make(newtype, |engine| engine.type_struct(N::FORM, &lengths, &displacements, &types))
    }

    fn Type_create_subarray + Type_create_subarray_c<N>(
        ndims: c_int, sizes: *const N, subsizes: *const N, starts: *const N, order: c_int, oldtype: Datatype,
        newtype: *mut Datatype,
    ) on Nothing {
        let dimensions = dimensions(ndims)?;
        let (sizes, subsizes, starts) = (list(sizes, dimensions)?, list(subsizes, dimensions)?, list(starts, dimensions)?);
        make(newtype, |engine| engine.type_subarray(N::FORM, &sizes, &subsizes, &starts, order, oldtype))
    }

    fn Type_create_darray + Type_create_darray_c<N>(
        size: c_int, rank: c_int, ndims: c_int, global_sizes: *const N, distributions: *const c_int, arguments: *const c_int,
        process_sizes: *const c_int, order: c_int, oldtype: Datatype, newtype: *mut Datatype,
    ) on Nothing {
        let dimensions = dimensions(ndims)?;
        let global_sizes = list(global_sizes, dimensions)?;
        let (distributions, arguments) = (list(distributions, dimensions)?, list(arguments, dimensions)?);
        let process_sizes = list(process_sizes, dimensions)?;
        let array = Distribution {
            size: size.into(),
            rank: rank.into(),
            global_sizes: &global_sizes,
            distributions: &distributions,
            arguments: &arguments,
            process_sizes: &process_sizes,
            order: Order::from_abi(order.into())?,
        };
        make(newtype, |engine| engine.type_darray(N::FORM, &array, oldtype))
    }

    fn Type_create_resized + Type_create_resized_c<N>(oldtype: Datatype, lb: i64, extent: i64, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_resized(N::FORM, lb, extent, oldtype))
    }

    fn Type_create_f90_integer(range: c_int, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_f90_integer(range))
    }

    fn Type_create_f90_real(precision: c_int, range: c_int, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_f90_real(precision, range))
    }

    fn Type_create_f90_complex(precision: c_int, range: c_int, newtype: *mut Datatype) on Nothing {
        make(newtype, |engine| engine.type_f90_complex(precision, range))
    }

    fn Type_match_size(typeclass: c_int, size: c_int, datatype: *mut Datatype) on Nothing {
        make(datatype, |engine| engine.type_match_size(typeclass, size.into()))
    }

    fn Type_get_value_index(value_type: Datatype, index_type: Datatype, pair_type: *mut Datatype) on Nothing {
        make(pair_type, |engine| engine.type_value_index(value_type, index_type))
    }

    fn Type_commit(datatype: *mut Datatype) on Nothing {
        let handle = *datatype.as_ref().ok_or(Error::ARG)?;
        with(|engine| engine.type_commit(handle))
    }

    fn Type_dup(oldtype: Datatype, newtype: *mut Datatype) on Nothing {
        let from = Object::datatype(Handle(oldtype));
        let copies = attribute::copies(from)?;
        make(newtype, |engine| engine.type_dup(oldtype))?;
        attribute::adopt(Object::datatype(Handle(*newtype)), copies)
    }

    fn Type_free(datatype: *mut Datatype) on Nothing {
        let handle = *datatype.as_ref().ok_or(Error::ARG)?;
        // A predefined type is not freed, so its attributes stay.
        if handle >= FIRST_DYNAMIC_HANDLE {
            object::exists(Object::datatype(Handle(handle)))?;
            attribute::delete_all(Object::datatype(Handle(handle)))?;
        }
        with(|engine| engine.type_free(handle))?;
        lwk_mpi_rt::forget(Object::datatype(Handle(handle)));
        conversions::forget(handle);
        give(datatype, number::NULL)
    }

    /// Bytes of data (MPI-5.0, section 5.1.5).
    fn Type_size + Type_size_c<N>(datatype: Datatype, size: *mut N) on Nothing {
        give_or_undefined(size, Some(with(|engine| Ok(engine.datatype(datatype)?.size()))?))
    }

    fn Type_size_x(datatype: Datatype, size: *mut i64) on Nothing {
        give(size, with(|engine| Ok(engine.datatype(datatype)?.size()))?)
    }

    fn Type_get_extent + Type_get_extent_c<N>(datatype: Datatype, lb: *mut i64, extent: *mut i64) on Nothing {
        extent_of(datatype, lb, extent)
    }

    fn Type_get_extent_x(datatype: Datatype, lb: *mut i64, extent: *mut i64) on Nothing {
        extent_of(datatype, lb, extent)
    }

    fn Type_get_true_extent + Type_get_true_extent_c<N>(datatype: Datatype, true_lb: *mut i64, true_extent: *mut i64) on Nothing {
        true_extent_of(datatype, true_lb, true_extent)
    }

    fn Type_get_true_extent_x(datatype: Datatype, true_lb: *mut i64, true_extent: *mut i64) on Nothing {
        true_extent_of(datatype, true_lb, true_extent)
    }

    /// Whole items in a message, or `MPI_UNDEFINED` if its end is inside one (MPI-5.0, section 3.2.5).
    fn Get_count + Get_count_c<N>(status: *const Status, datatype: Datatype, count: *mut N) on Nothing {
        let bytes = statuses::read(status)?.length();
        let whole = with(|engine| Ok(engine.datatype(datatype)?.count_of(bytes)))?;
        give_or_undefined(count, whole.and_then(|whole| i64::try_from(whole).ok()))
    }

    /// Basic elements in a message (MPI-5.0, section 5.1.11).
    fn Get_elements + Get_elements_c<N>(status: *const Status, datatype: Datatype, count: *mut N) on Nothing {
        give_or_undefined(count, elements(status, datatype)?)
    }

    fn Get_elements_x(status: *const Status, datatype: Datatype, count: *mut i64) on Nothing {
        give_or_undefined(count, elements(status, datatype)?)
    }

    fn Status_set_elements + Status_set_elements_c<N>(status: *mut Status, datatype: Datatype, count: N) on Nothing {
        set_elements(status, datatype, count.wide())
    }

    fn Status_set_elements_x(status: *mut Status, datatype: Datatype, count: i64) on Nothing {
        set_elements(status, datatype, count)
    }

    /// How many arguments of each sort a type was made with (MPI-5.0, section 5.1.13). Errors: `TYPE` if there are large counts among
    /// them, which only the other form can tell.
    fn Type_get_envelope(
        datatype: Datatype, integers: *mut c_int, addresses: *mut c_int, datatypes: *mut c_int, combiner: *mut c_int,
    ) on Nothing {
        let it = envelope(datatype)?;
        if !it.large_counts.is_empty() {
            return Err(Error::TYPE);
        }
        give_number(integers, it.integers.len() as i64)?;
        give_number(addresses, it.addresses.len() as i64)?;
        give_number(datatypes, it.datatypes.len() as i64)?;
        give(combiner, it.combiner as c_int)
    }

    fn Type_get_envelope_c(
        datatype: Datatype, integers: *mut i64, addresses: *mut i64, large_counts: *mut i64, datatypes: *mut i64,
        combiner: *mut c_int,
    ) on Nothing {
        let it = envelope(datatype)?;
        give(integers, it.integers.len() as i64)?;
        give(addresses, it.addresses.len() as i64)?;
        give(large_counts, it.large_counts.len() as i64)?;
        give(datatypes, it.datatypes.len() as i64)?;
        give(combiner, it.combiner as c_int)
    }

    fn Type_get_contents(
        datatype: Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, integers: *mut c_int,
        addresses: *mut i64, datatypes: *mut Datatype,
    ) on Nothing {
        let it = envelope(datatype)?;
        if !it.large_counts.is_empty() {
            return Err(Error::TYPE);
        }
        let most = [max_integers.into(), max_addresses.into(), 0, max_datatypes.into()];
        contents(datatype, &it, most, (integers, addresses, core::ptr::null_mut(), datatypes))
    }

    fn Type_get_contents_c(
        datatype: Datatype, max_integers: i64, max_addresses: i64, max_large_counts: i64, max_datatypes: i64,
        integers: *mut c_int, addresses: *mut i64, large_counts: *mut i64, datatypes: *mut Datatype,
    ) on Nothing {
        let it = envelope(datatype)?;
        let most = [max_integers, max_addresses, max_large_counts, max_datatypes];
        contents(datatype, &it, most, (integers, addresses, large_counts, datatypes))
    }
}

/// Errors: `ARG` for fewer than no dimensions.
fn dimensions(count: c_int) -> Result<i64> {
    if count < 0 { Err(Error::ARG) } else { Ok(count.into()) }
}

/// # Safety
/// Both must be null or writable.
unsafe fn extent_of(datatype: Datatype, lb: *mut i64, extent: *mut i64) -> Result<()> {
    let (low, bytes) = with(|engine| engine.datatype(datatype).map(|it| (it.lb(), it.extent())))?;
    // SAFETY: `lb` and `extent` are null or writable (this function's contract).
    unsafe {
        give(lb, low)?;
        give(extent, bytes)
    }
}

/// # Safety
/// Both must be null or writable.
unsafe fn true_extent_of(datatype: Datatype, lb: *mut i64, extent: *mut i64) -> Result<()> {
    let (low, bytes) = with(|engine| engine.datatype(datatype).map(|it| (it.true_lb(), it.true_extent())))?;
    // SAFETY: `lb` and `extent` are null or writable (this function's contract).
    unsafe {
        give(lb, low)?;
        give(extent, bytes)
    }
}

/// # Safety
/// `status` must be null or readable.
unsafe fn elements(status: *const Status, datatype: Datatype) -> Result<Option<i64>> {
    // SAFETY: `status` is null or readable (this function's contract); the borrow ends here.
    let bytes = unsafe { statuses::read(status)? }.length();
    let elements = with(|engine| Ok(engine.datatype(datatype)?.elements_of(bytes)))?;
    Ok(elements.and_then(|elements| i64::try_from(elements).ok()))
}

/// Makes a status say that a message had so many elements (MPI-5.0, section 13.3).
///
/// # Safety
/// `status` must be null or writable.
unsafe fn set_elements(status: *mut Status, datatype: Datatype, count: i64) -> Result<()> {
    let count = u64::try_from(count).map_err(|_| Error::COUNT)?;
    let bytes = with(|engine| Ok(engine.datatype(datatype)?.bytes_of(count)))?;
    // SAFETY: `status` is null or writable (this function's contract); the borrow ends here.
    unsafe { statuses::write(status)? }.set_length(bytes.ok_or(Error::VALUE_TOO_LARGE)?);
    Ok(())
}

fn envelope(datatype: Datatype) -> Result<Contents> {
    with(|engine| engine.type_envelope(datatype).cloned())
}

/// Writes the arguments of a constructor. Errors: `TYPE` for predefined types, which have none; `ARG` if there are more than there is room
/// for.
///
/// # Safety
/// Each array must be writable for as many elements as `most` says, null only for none: integers, addresses,
/// large counts, datatypes.
unsafe fn contents(
    datatype: Datatype,
    it: &Contents,
    most: [i64; 4],
    arrays: (*mut c_int, *mut i64, *mut i64, *mut Datatype),
) -> Result<()> {
    if it.combiner == Combiner::Named {
        return Err(Error::TYPE);
    }
    let lengths = [it.integers.len(), it.addresses.len(), it.large_counts.len(), it.datatypes.len()];
    if lengths.iter().zip(most).any(|(length, most)| *length as i64 > most) {
        return Err(Error::ARG);
    }
    let handles = with(|engine| engine.type_contents(datatype))?;
    let (integers, addresses, large_counts, datatypes) = arrays;
    // SAFETY: each array is writable for `most` elements (this function's contract), at least its list's
    // length (checked above); there is a handle for each of the type's datatypes.
    unsafe {
        integers.copy_from_nonoverlapping(it.integers.as_ptr(), it.integers.len());
        addresses.copy_from_nonoverlapping(it.addresses.as_ptr(), it.addresses.len());
        large_counts.copy_from_nonoverlapping(it.large_counts.as_ptr(), it.large_counts.len());
        datatypes.copy_from_nonoverlapping(handles.as_ptr().cast::<u64>(), handles.len());
    }
    Ok(())
}
