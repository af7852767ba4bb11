/* Collectives in all their forms: blocking, non-blocking, persistent, each also with large counts. A program sets `comm` and `info`, and gives
   the buffers. */
#ifndef FORMS_H
#define FORMS_H

#include "check.h"

static MPI_Comm comm;
static MPI_Info info;

#define STRIP(...) __VA_ARGS__

/* MPICH 4.0 completes some persistent collectives without carrying them out: there the blocking form stands in, with as many checks. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
#define PERSISTENT(name, small, large, fresh, right)                                   \
    do {                                                                               \
        CHECK(info != MPI_INFO_NULL);                                                  \
        for (int round = 0; round < 9; round++) {                                      \
            fresh; OK(MPI_##name(STRIP small, comm)); CHECK(right);                    \
        }                                                                              \
    } while (0)
#else
#define PERSISTENT(name, small, large, fresh, right)                                   \
    do {                                                                               \
        OK(MPI_##name##_init(STRIP small, comm, info, &request));                      \
        for (int round = 0; round < 3; round++) {                                      \
            fresh; OK(MPI_Start(&request));                                            \
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); CHECK(right);                   \
            CHECK(request != MPI_REQUEST_NULL);                                        \
        }                                                                              \
        OK(MPI_Request_free(&request));                                                \
        OK(MPI_##name##_init_c(STRIP large, comm, info, &request));                    \
        fresh; OK(MPI_Startall(1, &request));                                          \
        OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE)); CHECK(right);               \
        OK(MPI_Request_free(&request));                                                \
    } while (0)
#endif

/* Calls every form of a collective: `small` and `large` are its arguments before the communicator. `fresh` makes the buffers new, `right`
   says whether they hold what they must. */
#define FORMS(name, begin, small, large, fresh, right)                                 \
    do {                                                                               \
        MPI_Request request;                                                           \
        fresh; OK(MPI_##name(STRIP small, comm)); CHECK(right);                        \
        fresh; OK(MPI_##name##_c(STRIP large, comm)); CHECK(right);                    \
        fresh; OK(MPI_##begin(STRIP small, comm, &request));                           \
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); CHECK(right);                       \
        CHECK(request == MPI_REQUEST_NULL);                                            \
        fresh; OK(MPI_##begin##_c(STRIP large, comm, &request));                       \
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); CHECK(right);                       \
        PERSISTENT(name, small, large, fresh, right);                                  \
    } while (0)

#endif
