/* Data representations of files of a Fortran program's own (MPI-5.0, section 14.5.3), with ordinary and with large counts. See fortran.h. */
#include "fortran.h"

typedef void extent_function(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror);

/* For the counts of one kind. A representation is never given back: the library never forgets it. `null_` stands for no conversion; nobody calls it. */
#define REPRESENTATIONS(Count, kind, null_, Null, name_, Register)                                                                         \
    typedef void convert##kind(void *userbuf, MPI_Fint *type, Count *count, void *filebuf, MPI_Offset *position, MPI_Aint *extra,           \
                               MPI_Fint *ierror);                                                                                           \
    struct representation##kind {                                                                                                           \
        convert##kind *read, *write;                                                                                                        \
        extent_function *extent;                                                                                                            \
        MPI_Aint extra;                                                                                                                     \
    };                                                                                                                                      \
    void null_(void *, MPI_Fint *, Count *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *);                                                  \
    void null_(void *userbuf, MPI_Fint *type, Count *count, void *filebuf, MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror)         \
    {                                                                                                                                       \
        (void)userbuf, (void)type, (void)count, (void)filebuf, (void)position, (void)extra;                                                 \
        *ierror = MPI_ERR_CONVERSION;                                                                                                       \
    }                                                                                                                                       \
    static int read##kind(void *userbuf, MPI_Datatype type, Count count, void *filebuf, MPI_Offset position, void *extra)                   \
    {                                                                                                                                       \
        struct representation##kind *its = extra;                                                                                           \
        MPI_Fint number = MPI_Type_c2f(type), ierror = MPI_SUCCESS;                                                                         \
        its->read(userbuf, &number, &count, filebuf, &position, &its->extra, &ierror);                                                      \
        return ierror;                                                                                                                      \
    }                                                                                                                                       \
    static int write##kind(void *userbuf, MPI_Datatype type, Count count, void *filebuf, MPI_Offset position, void *extra)                  \
    {                                                                                                                                       \
        struct representation##kind *its = extra;                                                                                           \
        MPI_Fint number = MPI_Type_c2f(type), ierror = MPI_SUCCESS;                                                                         \
        its->write(userbuf, &number, &count, filebuf, &position, &its->extra, &ierror);                                                     \
        return ierror;                                                                                                                      \
    }                                                                                                                                       \
    static int extent##kind(MPI_Datatype type, MPI_Aint *extent, void *extra)                                                               \
    {                                                                                                                                       \
        struct representation##kind *its = extra;                                                                                           \
        MPI_Fint number = MPI_Type_c2f(type), ierror = MPI_SUCCESS;                                                                         \
        its->extent(&number, extent, &its->extra, &ierror);                                                                                 \
        return ierror;                                                                                                                      \
    }                                                                                                                                       \
    FORTRAN(name_, (const char *name, convert##kind *read, convert##kind *write, extent_function *extent, const MPI_Aint *extra,            \
                    MPI_Fint *ierror, size_t bytes))                                                                                        \
    {                                                                                                                                       \
        struct representation##kind *its = malloc(sizeof *its);                                                                             \
        char *text = margay_text_in(name, bytes);                                                                                           \
        *ierror = MPI_ERR_NO_MEM;                                                                                                           \
        if (its && text) {                                                                                                                  \
            *its = (struct representation##kind){read, write, extent, *extra};                                                              \
            *ierror = Register(text, read == null_ ? Null : read##kind, write == null_ ? Null : write##kind, extent##kind, its);            \
        }                                                                                                                                   \
        if (*ierror != MPI_SUCCESS)                                                                                                         \
            free(its);                                                                                                                      \
        free(text);                                                                                                                         \
    }

REPRESENTATIONS(MPI_Fint, _small, mpi_conversion_fn_null_, MPI_CONVERSION_FN_NULL, register_datarep, MPI_Register_datarep)
REPRESENTATIONS(MPI_Count, _large, mpi_conversion_fn_null_c_, MPI_CONVERSION_FN_NULL_C, register_datarep_c, MPI_Register_datarep_c)
