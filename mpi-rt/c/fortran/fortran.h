/* How the Fortran bindings are written: a function for each procedure of mpif.h, under the name that gfortran gives an external procedure
   (lower case, with an underscore), once as mpi_x_, which a tool may replace, and once as pmpi_x_. Arguments are addresses; handles are
   the integers of MPI_Comm_c2f and its like (MPI-5.0, section 19.3.4).

   libmpifort.a is made of these files by the C compiler when the wrappers are installed on a machine with gfortran. */
#ifndef MARGAY_FORTRAN_H
#define MARGAY_FORTRAN_H

#include <mpi.h>

#define FORTRAN(name, arguments)                                                    \
    void pmpi_##name##_ arguments;                                                  \
    void mpi_##name##_ arguments __attribute__((weak, alias("pmpi_" #name "_"))); \
    void pmpi_##name##_ arguments

/* Constants that are known by their addresses: common blocks of mpif.h. */
extern MPI_Fint margay_bottom_, margay_in_place_, margay_buffer_automatic_, margay_unweighted_, margay_weights_empty_;
extern MPI_Fint margay_status_ignore_[MPI_F_STATUS_SIZE], margay_statuses_ignore_[MPI_F_STATUS_SIZE];

static inline void *margay_buffer(const void *address)
{
    if (address == &margay_bottom_)
        return MPI_BOTTOM;
    if (address == &margay_in_place_)
        return MPI_IN_PLACE;
    if (address == &margay_buffer_automatic_)
        return MPI_BUFFER_AUTOMATIC;
    return (void *)address;
}

static inline int *margay_weights(const MPI_Fint *address)
{
    if (address == &margay_unweighted_)
        return MPI_UNWEIGHTED;
    if (address == &margay_weights_empty_)
        return MPI_WEIGHTS_EMPTY;
    return (MPI_Fint *)address;
}

#define BUFFER(address) margay_buffer(address)
#define WEIGHTS(address) margay_weights(address)
/* A status is the same eight integers in both languages. */
#define STATUS(address) ((address) == margay_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)(address))
#define STATUSES(address) ((address) == margay_statuses_ignore_ ? MPI_STATUSES_IGNORE : (MPI_Status *)(address))

/* The number's handle has been freed: it may be used for another (the library's own, not part of MPI). */
void margay_forget(MPI_Fint number);

/* Hands a handle out. */
#define PUT(kind, place, handle)                 \
    do {                                         \
        if (*ierror == MPI_SUCCESS)              \
            *(place) = MPI_##kind##_c2f(handle); \
    } while (0)
/* Hands one out that came in: if it has become another, the old one is gone. */
#define PUT_BACK(kind, place, handle)                \
    do {                                             \
        MPI_Fint number = MPI_##kind##_c2f(handle);  \
        if (number != *(place))                      \
            margay_forget(*(place));                 \
        *(place) = number;                           \
    } while (0)

#endif
