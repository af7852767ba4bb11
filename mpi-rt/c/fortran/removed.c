/* Fortran bindings of the functions in margay/removed.h: addresses are default integers here, and one that does not fit is MPI_ERR_ARG, as is the
   address of anything beyond 2 GiB. See fortran.h. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "fortran.h"

#include <limits.h>

/* Hands a number of an address's size out. */
static void give(MPI_Fint *place, MPI_Aint value, MPI_Fint *ierror)
{
    if (*ierror != MPI_SUCCESS)
        return;
    if (value < INT_MIN || value > INT_MAX)
        *ierror = MPI_ERR_ARG;
    else
        *place = (MPI_Fint)value;
}

/* Displacements as C takes them, to be freed; NULL if there is no memory, and then that is the error. */
static MPI_Aint *wide(MPI_Fint count, const MPI_Fint *numbers, MPI_Fint *ierror)
{
    size_t some = count > 0 ? (size_t)count : 0;
    MPI_Aint *list = malloc((some + 1) * sizeof *list);
    if (!list)
        *ierror = MPI_ERR_NO_MEM;
    for (size_t i = 0; list && i < some; i++)
        list[i] = numbers[i];
    return list;
}

FORTRAN(address, (const void *location, MPI_Fint *address, MPI_Fint *ierror))
{
    MPI_Aint place = 0;
    *ierror = MPI_Get_address(BUFFER(location), &place);
    give(address, place, ierror);
}

FORTRAN(type_extent, (const MPI_Fint *type, MPI_Fint *extent, MPI_Fint *ierror))
{
    MPI_Aint value = 0;
    *ierror = MPI_Type_extent(MPI_Type_f2c(*type), &value);
    give(extent, value, ierror);
}

FORTRAN(type_lb, (const MPI_Fint *type, MPI_Fint *displacement, MPI_Fint *ierror))
{
    MPI_Aint value = 0;
    *ierror = MPI_Type_lb(MPI_Type_f2c(*type), &value);
    give(displacement, value, ierror);
}

FORTRAN(type_ub, (const MPI_Fint *type, MPI_Fint *displacement, MPI_Fint *ierror))
{
    MPI_Aint value = 0;
    *ierror = MPI_Type_ub(MPI_Type_f2c(*type), &value);
    give(displacement, value, ierror);
}

FORTRAN(type_hvector, (const MPI_Fint *count, const MPI_Fint *blocklength, const MPI_Fint *stride, const MPI_Fint *oldtype, MPI_Fint *newtype,
                       MPI_Fint *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    *ierror = MPI_Type_hvector(*count, *blocklength, *stride, MPI_Type_f2c(*oldtype), &made);
    PUT(Type, newtype, made);
}

FORTRAN(type_hindexed, (const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements, const MPI_Fint *oldtype,
                        MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Aint *places = wide(*count, displacements, ierror);
    if (!places)
        return;
    *ierror = MPI_Type_hindexed(*count, lengths, places, MPI_Type_f2c(*oldtype), &made);
    PUT(Type, newtype, made);
    free(places);
}

FORTRAN(type_struct, (const MPI_Fint *count, const MPI_Fint *lengths, const MPI_Fint *displacements, const MPI_Fint *numbers,
                      MPI_Fint *newtype, MPI_Fint *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    size_t some = *count > 0 ? (size_t)*count : 0;
    MPI_Aint *places = wide(*count, displacements, ierror);
    if (!places)
        return;
    MPI_Datatype *types = malloc((some + 1) * sizeof *types);
    if (types) {
        for (size_t i = 0; i < some; i++)
            types[i] = MPI_Type_f2c(numbers[i]);
        *ierror = MPI_Type_struct(*count, lengths, places, types, &made);
        PUT(Type, newtype, made);
    } else {
        *ierror = MPI_ERR_NO_MEM;
    }
    free(types);
    free(places);
}

FORTRAN(errhandler_create, (margay_fortran_handler *function, MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    *ierror = margay_errhandler_create(0, function, &made);
    PUT(Errhandler, errhandler, made);
}
