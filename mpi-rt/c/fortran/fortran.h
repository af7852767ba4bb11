/* How the Fortran bindings are written: a function for each procedure of mpif.h, under the name that gfortran gives an external procedure
   (lower case, with an underscore), once as mpi_x_, which a tool may replace, and once as pmpi_x_. Arguments are addresses; handles are
   the integers of MPI_Comm_c2f and its like (MPI-5.0, section 19.3.4).

   Most are made of mpi-rt/c/description (tools/bindings); those in this folder are more than a conversion of each argument. libmpifort.a is made of
   both by the C compiler when the wrappers are installed on a machine with gfortran. */
#ifndef MARGAY_FORTRAN_H
#define MARGAY_FORTRAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

#define FORTRAN(name, arguments)                                                    \
    void pmpi_##name##_ arguments;                                                  \
    void mpi_##name##_ arguments __attribute__((weak, alias("pmpi_" #name "_"))); \
    void pmpi_##name##_ arguments

/* Constants that are known by their addresses: common blocks of mpif.h. */
extern MPI_Fint margay_bottom_, margay_in_place_, margay_buffer_automatic_, margay_unweighted_, margay_weights_empty_;
extern MPI_Fint margay_errcodes_ignore_;
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
#define ERRCODES(address) ((address) == &margay_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : (address))
/* A status is the same eight integers in both languages. */
#define STATUS(address) ((address) == margay_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)(address))
#define STATUSES(address) ((address) == margay_statuses_ignore_ ? MPI_STATUSES_IGNORE : (MPI_Status *)(address))

/* The number's handle has been freed: it may be used for another (the library's own, not part of MPI). */
void margay_forget(MPI_Fint number);

/* As MPI_Op_create and MPI_Op_create_c, for a Fortran function, which is given the number of the datatype (the library's own, not part of MPI). */
typedef void margay_fortran_function(void *invec, void *inoutvec, MPI_Fint *len, MPI_Fint *datatype);
typedef void margay_fortran_function_c(void *invec, void *inoutvec, MPI_Count *len, MPI_Fint *datatype);
int margay_op_create(margay_fortran_function *function, int commute, MPI_Op *op);
int margay_op_create_c(margay_fortran_function_c *function, int commute, MPI_Op *op);
/* As MPI_Comm_create_errhandler (kind 0) and those of windows, files and sessions (1 to 3), for a Fortran function, which is given the number of
   the object (the library's own, not part of MPI). */
typedef void margay_fortran_handler(MPI_Fint *object, MPI_Fint *code, ...);
int margay_errhandler_create(int kind, margay_fortran_handler *function, MPI_Errhandler *errhandler);

/* In lists.c. Copies of arrays of handles, to be freed; NULL if there is no memory. */
MPI_Request *margay_requests_in(MPI_Count count, const MPI_Fint *numbers);
void margay_requests_out(MPI_Count count, MPI_Fint *numbers, const MPI_Request *requests);
MPI_Datatype *margay_types_in(MPI_Count count, const MPI_Fint *numbers);
/* Fortran counts elements from one. */
void margay_from_one(MPI_Fint *index);
/* How many datatypes a collective operation is given: ranks (of the other group), or neighbours that are received from and sent to; none for a buffer
   that is MPI_IN_PLACE, and where there is no such thing, which the call itself then says. */
int margay_ranks(MPI_Comm comm, const void *buffer);
int margay_sources(MPI_Comm comm, const void *buffer);
int margay_destinations(MPI_Comm comm, const void *buffer);

/* In by_hand.c, and used elsewhere. Texts: Fortran's are filled with blanks and have their length as a last, hidden argument; what comes in is
   a copy without them, to be freed, or NULL if there is no memory. */
char *margay_text_in(const char *text, size_t bytes);
void margay_text_out(char *place, size_t room, const char *text, MPI_Fint *length);
/* As much of a text as `*length` asks for, nothing if that is 0; then the length of all of it, `bytes` with the zero behind it. */
void margay_text_part(char *place, size_t room, char *text, int bytes, MPI_Fint *length);

/* A call that uses `text`: what C has for a Fortran text of so many bytes. */
#define WITH_TEXT(fortran, bytes, call)                 \
    do {                                                \
        char *text = margay_text_in(fortran, bytes);    \
        *ierror = text ? (call) : MPI_ERR_NO_MEM;       \
        free(text);                                     \
    } while (0)

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
