/* Data representations of files of a Fortran program's own (MPI-5.0, section 14.5.3). See fortran.h. */
#include "fortran.h"

typedef void conversion_function(void *userbuf, MPI_Fint *type, MPI_Fint *count, void *filebuf, MPI_Offset *position, MPI_Aint *extra,
                                 MPI_Fint *ierror);
typedef void extent_function(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror);

/* The library never forgets a representation, so this is never given back. */
struct representation {
    conversion_function *read, *write;
    extent_function *extent;
    MPI_Aint extra;
};

/* Stands for no conversion; nobody calls it. */
void mpi_conversion_fn_null_(void *, MPI_Fint *, MPI_Fint *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *);
void mpi_conversion_fn_null_(void *userbuf, MPI_Fint *type, MPI_Fint *count, void *filebuf, MPI_Offset *position, MPI_Aint *extra,
                             MPI_Fint *ierror)
{
    (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)extra;
    *ierror = MPI_ERR_CONVERSION;
}

static int convert(conversion_function *function, void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position,
                   struct representation *its)
{
    MPI_Fint number = MPI_Type_c2f(type), items = count, ierror = MPI_SUCCESS;
    function(userbuf, &number, &items, filebuf, &position, &its->extra, &ierror);
    return ierror;
}

static int convert_read(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *extra)
{
    struct representation *its = extra;
    return convert(its->read, userbuf, type, count, filebuf, position, its);
}

static int convert_write(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *extra)
{
    struct representation *its = extra;
    return convert(its->write, userbuf, type, count, filebuf, position, its);
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct representation *its = extra;
    MPI_Fint number = MPI_Type_c2f(type), ierror = MPI_SUCCESS;
    its->extent(&number, extent, &its->extra, &ierror);
    return ierror;
}

FORTRAN(register_datarep, (const char *name, conversion_function *read, conversion_function *write, extent_function *extent,
                           const MPI_Aint *extra, MPI_Fint *ierror, size_t bytes))
{
    struct representation *its = malloc(sizeof *its);
    char *text = margay_text_in(name, bytes);
    if (its && text) {
        *its = (struct representation){read, write, extent, *extra};
        *ierror = MPI_Register_datarep(text, read == mpi_conversion_fn_null_ ? MPI_CONVERSION_FN_NULL : convert_read,
                                       write == mpi_conversion_fn_null_ ? MPI_CONVERSION_FN_NULL : convert_write, extent_of, its);
    } else {
        *ierror = MPI_ERR_NO_MEM;
    }
    if (*ierror != MPI_SUCCESS)
        free(its);
    free(text);
}
