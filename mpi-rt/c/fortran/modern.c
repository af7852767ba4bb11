/* Procedures of module mpi_f08 that are not made of the description: those that hand out the address of a buffer, MPI_F_sync_reg, and
   conversions of statuses. See sections.h. */
#include "sections.h"

#include <string.h>

/* Detaches a buffer: from the calling process, from a communicator, from a session. */
#define DETACHED(name, parameters, call)          \
    F08(name, parameters)                         \
    {                                             \
        MARGAY_CODE;                              \
        *ierror = call;                           \
    }

#define OF(Count, ...) (__VA_ARGS__ void **address, Count *size, MPI_Fint *ierror)
#define COMM const MPI_Fint *comm,
#define SESSION const MPI_Fint *session,

DETACHED(buffer_detach, OF(MPI_Fint, ), MPI_Buffer_detach(address, size))
DETACHED(buffer_detach_c, OF(MPI_Count, ), MPI_Buffer_detach_c(address, size))
DETACHED(comm_detach_buffer, OF(MPI_Fint, COMM), MPI_Comm_detach_buffer(MPI_Comm_f2c(*comm), address, size))
DETACHED(comm_detach_buffer_c, OF(MPI_Count, COMM), MPI_Comm_detach_buffer_c(MPI_Comm_f2c(*comm), address, size))
DETACHED(session_detach_buffer, OF(MPI_Fint, SESSION), MPI_Session_detach_buffer(MPI_Session_f2c(*session), address, size))
DETACHED(session_detach_buffer_c, OF(MPI_Count, SESSION), MPI_Session_detach_buffer_c(MPI_Session_f2c(*session), address, size))

/* For a compiler that it may have changed the buffer is all that it does. */
FORTRAN(f_sync_reg, (void *buffer))
{
    (void)buffer;
}

F08(f_sync_reg, (CFI_cdesc_t *buffer))
{
    (void)buffer;
}

/* Statuses are the same eight integers in both. */
#define CONVERTED(name, From, To)                                          \
    FORTRAN(name, (const From *from, To *to, MPI_Fint *ierror))            \
    {                                                                      \
        memcpy(to, from, sizeof(MPI_F08_status));                          \
        *ierror = MPI_SUCCESS;                                             \
    }                                                                      \
    F08(name, (const From *from, To *to, MPI_Fint *ierror))                \
    {                                                                      \
        MARGAY_CODE;                                                       \
        pmpi_##name##_(from, to, ierror);                                  \
    }

CONVERTED(status_f2f08, MPI_Fint, MPI_F08_status)
CONVERTED(status_f082f, MPI_F08_status, MPI_Fint)
