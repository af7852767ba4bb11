/* The functions behind MPI_Sizeof of the module mpi, one for each type and kind of gfortran's. See fortran.h. */
#include "fortran.h"

#define SIZEOF(name, bytes)                                                                   \
    void margay_sizeof_##name##_(const void *x, MPI_Fint *size, MPI_Fint *ierror);            \
    void margay_sizeof_##name##_(const void *x, MPI_Fint *size, MPI_Fint *ierror)             \
    {                                                                                         \
        (void)x;                                                                              \
        *size = (bytes);                                                                      \
        *ierror = MPI_SUCCESS;                                                                \
    }

SIZEOF(integer1, 1)
SIZEOF(integer2, 2)
SIZEOF(integer4, 4)
SIZEOF(integer8, 8)
SIZEOF(integer16, 16)
SIZEOF(real4, 4)
SIZEOF(real8, 8)
SIZEOF(real10, 16)
SIZEOF(real16, 16)
SIZEOF(complex4, 8)
SIZEOF(complex8, 16)
SIZEOF(complex10, 32)
SIZEOF(complex16, 32)
SIZEOF(logical1, 1)
SIZEOF(logical2, 2)
SIZEOF(logical4, 4)
SIZEOF(logical8, 8)
SIZEOF(logical16, 16)
