/* Fortran bindings of the functions in margay/datatypes.h. See fortran.h. */
#include "fortran.h"

FORTRAN(get_address, (const void *location, MPI_Aint *address, MPI_Fint *ierror))
{
    *ierror = MPI_Get_address(BUFFER(location), address);
}

FORTRAN(get_count, (const MPI_Fint *status, const MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror))
{
    *ierror = MPI_Get_count((const MPI_Status *)status, MPI_Type_f2c(*datatype), count);
}

FORTRAN(get_elements, (const MPI_Fint *status, const MPI_Fint *datatype, MPI_Fint *count, MPI_Fint *ierror))
{
    *ierror = MPI_Get_elements((const MPI_Status *)status, MPI_Type_f2c(*datatype), count);
}

FORTRAN(get_elements_x, (const MPI_Fint *status, const MPI_Fint *datatype, MPI_Count *count, MPI_Fint *ierror))
{
    *ierror = MPI_Get_elements_x((const MPI_Status *)status, MPI_Type_f2c(*datatype), count);
}

FORTRAN(pack, (const void *inbuf, const MPI_Fint *incount, const MPI_Fint *datatype, void *outbuf,
        const MPI_Fint *outsize, MPI_Fint *position, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Pack(BUFFER(inbuf), *incount, MPI_Type_f2c(*datatype), BUFFER(outbuf), *outsize, position,
        MPI_Comm_f2c(*comm));
}

FORTRAN(pack_size, (const MPI_Fint *incount, const MPI_Fint *datatype, const MPI_Fint *comm, MPI_Fint *size,
        MPI_Fint *ierror))
{
    *ierror = MPI_Pack_size(*incount, MPI_Type_f2c(*datatype), MPI_Comm_f2c(*comm), size);
}

FORTRAN(status_set_elements, (MPI_Fint *status, const MPI_Fint *datatype, const MPI_Fint *count, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_elements(STATUS(status), MPI_Type_f2c(*datatype), *count);
}

FORTRAN(status_set_elements_x, (MPI_Fint *status, const MPI_Fint *datatype, const MPI_Count *count, MPI_Fint *ierror))
{
    *ierror = MPI_Status_set_elements_x(STATUS(status), MPI_Type_f2c(*datatype), *count);
}

FORTRAN(type_commit, (MPI_Fint *datatype, MPI_Fint *ierror))
{
    MPI_Datatype c_datatype = MPI_Type_f2c(*datatype);
    *ierror = MPI_Type_commit(&c_datatype);
    PUT_BACK(Type, datatype, c_datatype);
}

FORTRAN(type_contiguous, (const MPI_Fint *count, const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_contiguous(*count, MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_darray, (const MPI_Fint *size, const MPI_Fint *rank, const MPI_Fint *ndims,
        const MPI_Fint *array_of_gsizes, const MPI_Fint *array_of_distribs, const MPI_Fint *array_of_dargs,
        const MPI_Fint *array_of_psizes, const MPI_Fint *order, const MPI_Fint *oldtype, MPI_Fint *newtype,
        MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_darray(*size, *rank, *ndims, array_of_gsizes, array_of_distribs, array_of_dargs,
        array_of_psizes, *order, MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_f90_complex, (const MPI_Fint *p, const MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_f90_complex(*p, *r, &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_f90_integer, (const MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_f90_integer(*r, &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_f90_real, (const MPI_Fint *p, const MPI_Fint *r, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_f90_real(*p, *r, &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_hindexed, (const MPI_Fint *count, const MPI_Fint *array_of_blocklengths,
        const MPI_Aint *array_of_displacements, const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_hindexed(*count, array_of_blocklengths, array_of_displacements, MPI_Type_f2c(*oldtype),
        &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_hindexed_block, (const MPI_Fint *count, const MPI_Fint *blocklength,
        const MPI_Aint *array_of_displacements, const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_hindexed_block(*count, *blocklength, array_of_displacements, MPI_Type_f2c(*oldtype),
        &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_hvector, (const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Aint *stride,
        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_hvector(*count, *blocklength, *stride, MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_indexed_block, (const MPI_Fint *count, const MPI_Fint *blocklength,
        const MPI_Fint *array_of_displacements, const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_indexed_block(*count, *blocklength, array_of_displacements, MPI_Type_f2c(*oldtype),
        &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_resized, (const MPI_Fint *oldtype, const MPI_Aint *lb, const MPI_Aint *extent, MPI_Fint *newtype,
        MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_resized(MPI_Type_f2c(*oldtype), *lb, *extent, &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_create_subarray, (const MPI_Fint *ndims, const MPI_Fint *array_of_sizes,
        const MPI_Fint *array_of_subsizes, const MPI_Fint *array_of_starts, const MPI_Fint *order,
        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_create_subarray(*ndims, array_of_sizes, array_of_subsizes, array_of_starts, *order,
        MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_delete_attr, (const MPI_Fint *datatype, const MPI_Fint *type_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Type_delete_attr(MPI_Type_f2c(*datatype), *type_keyval);
}

FORTRAN(type_dup, (const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_dup(MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_free, (MPI_Fint *datatype, MPI_Fint *ierror))
{
    MPI_Datatype c_datatype = MPI_Type_f2c(*datatype);
    *ierror = MPI_Type_free(&c_datatype);
    PUT_BACK(Type, datatype, c_datatype);
}

FORTRAN(type_free_keyval, (MPI_Fint *type_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Type_free_keyval(type_keyval);
}

FORTRAN(type_get_envelope, (const MPI_Fint *datatype, MPI_Fint *num_integers, MPI_Fint *num_addresses,
        MPI_Fint *num_datatypes, MPI_Fint *combiner, MPI_Fint *ierror))
{
    *ierror = MPI_Type_get_envelope(MPI_Type_f2c(*datatype), num_integers, num_addresses, num_datatypes, combiner);
}

FORTRAN(type_get_extent, (const MPI_Fint *datatype, MPI_Aint *lb, MPI_Aint *extent, MPI_Fint *ierror))
{
    *ierror = MPI_Type_get_extent(MPI_Type_f2c(*datatype), lb, extent);
}

FORTRAN(type_get_extent_x, (const MPI_Fint *datatype, MPI_Count *lb, MPI_Count *extent, MPI_Fint *ierror))
{
    *ierror = MPI_Type_get_extent_x(MPI_Type_f2c(*datatype), lb, extent);
}

FORTRAN(type_get_true_extent, (const MPI_Fint *datatype, MPI_Aint *true_lb, MPI_Aint *true_extent, MPI_Fint *ierror))
{
    *ierror = MPI_Type_get_true_extent(MPI_Type_f2c(*datatype), true_lb, true_extent);
}

FORTRAN(type_get_true_extent_x, (const MPI_Fint *datatype, MPI_Count *true_lb, MPI_Count *true_extent,
        MPI_Fint *ierror))
{
    *ierror = MPI_Type_get_true_extent_x(MPI_Type_f2c(*datatype), true_lb, true_extent);
}

FORTRAN(type_get_value_index, (const MPI_Fint *value_type, const MPI_Fint *index_type, MPI_Fint *pair_type,
        MPI_Fint *ierror))
{
    MPI_Datatype c_pair_type = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_get_value_index(MPI_Type_f2c(*value_type), MPI_Type_f2c(*index_type), &c_pair_type);
    PUT(Type, pair_type, c_pair_type);
}

FORTRAN(type_indexed, (const MPI_Fint *count, const MPI_Fint *array_of_blocklengths,
        const MPI_Fint *array_of_displacements, const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_indexed(*count, array_of_blocklengths, array_of_displacements, MPI_Type_f2c(*oldtype),
        &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(type_match_size, (const MPI_Fint *typeclass, const MPI_Fint *size, MPI_Fint *datatype, MPI_Fint *ierror))
{
    MPI_Datatype c_datatype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_match_size(*typeclass, *size, &c_datatype);
    PUT(Type, datatype, c_datatype);
}

FORTRAN(type_size, (const MPI_Fint *datatype, MPI_Fint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Type_size(MPI_Type_f2c(*datatype), size);
}

FORTRAN(type_size_x, (const MPI_Fint *datatype, MPI_Count *size, MPI_Fint *ierror))
{
    *ierror = MPI_Type_size_x(MPI_Type_f2c(*datatype), size);
}

FORTRAN(type_vector, (const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Fint *stride,
        const MPI_Fint *oldtype, MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype c_newtype = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_vector(*count, *blocklength, *stride, MPI_Type_f2c(*oldtype), &c_newtype);
    PUT(Type, newtype, c_newtype);
}

FORTRAN(unpack, (const void *inbuf, const MPI_Fint *insize, MPI_Fint *position, void *outbuf,
        const MPI_Fint *outcount, const MPI_Fint *datatype, const MPI_Fint *comm, MPI_Fint *ierror))
{
    *ierror = MPI_Unpack(BUFFER(inbuf), *insize, position, BUFFER(outbuf), *outcount, MPI_Type_f2c(*datatype),
        MPI_Comm_f2c(*comm));
}
