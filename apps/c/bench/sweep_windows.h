/* One-sided communication by sizes: see sweep.c. */
#ifndef SWEEP_WINDOWS_H
#define SWEEP_WINDOWS_H

#include "sweep_world.h"

/* One-sided: rank 0 acts on rank 1 */

static void put(int bytes)
{
    MPI_Put(out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
}
static void get(int bytes)
{
    MPI_Get(in, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
}
static void put_odd(int bytes)
{
    MPI_Put(odd_out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
}
static void get_odd(int bytes)
{
    MPI_Get(odd_in, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
}
static void accumulate(int bytes)
{
    MPI_Accumulate(out, bytes / 8, MPI_DOUBLE, 1, 0, bytes / 8, MPI_DOUBLE, MPI_SUM, window);
}
static void get_accumulate(int bytes)
{
    MPI_Get_accumulate(out, bytes / 8, MPI_INT64_T, in, bytes / 8, MPI_INT64_T, 1, 0, bytes / 8, MPI_INT64_T, MPI_SUM, window);
}
static void fetch_and_op(int bytes)
{
    (void)bytes;
    MPI_Fetch_and_op(out, in, MPI_INT64_T, 1, 0, MPI_SUM, window);
}
static void compare_and_swap(int bytes)
{
    (void)bytes;
    MPI_Compare_and_swap(out, out + 8, in, MPI_INT64_T, 1, 0, window);
}

#define WITH_FLUSH(what)                                                         \
    static void what##_flush(int bytes)                                          \
    {                                                                            \
        if (rank == 0) {                                                         \
            what(bytes);                                                         \
            MPI_Win_flush(1, window);                                            \
        }                                                                        \
    }
#define WITH_EPOCHS(what)                                                        \
    WITH_FLUSH(what)                                                             \
    static void what##_fence(int bytes)                                          \
    {                                                                            \
        if (rank == 0)                                                           \
            what(bytes);                                                         \
        MPI_Win_fence(0, window);                                                \
    }                                                                            \
    static void what##_lock(int bytes)                                           \
    {                                                                            \
        if (rank == 0) {                                                         \
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);                         \
            what(bytes);                                                         \
            MPI_Win_unlock(1, window);                                           \
        }                                                                        \
    }
/* Post and start: rank 1 exposes its part, rank 0 acts on it. */
static MPI_Group peer;
#define WITH_POST(what)                                                          \
    static void what##_post(int bytes)                                           \
    {                                                                            \
        if (rank == 0) {                                                         \
            MPI_Win_start(peer, 0, window);                                      \
            what(bytes);                                                         \
            MPI_Win_complete(window);                                            \
        } else if (rank == 1) {                                                  \
            MPI_Win_post(peer, 0, window);                                       \
            MPI_Win_wait(window);                                                \
        }                                                                        \
    }
WITH_EPOCHS(put)
WITH_EPOCHS(get)
WITH_EPOCHS(accumulate)
WITH_EPOCHS(get_accumulate)
WITH_EPOCHS(fetch_and_op)
WITH_EPOCHS(compare_and_swap)
WITH_FLUSH(put_odd)
WITH_POST(put)
WITH_POST(get)
WITH_POST(accumulate)
WITH_POST(get_accumulate)
WITH_POST(fetch_and_op)
WITH_POST(compare_and_swap)
/* Other types, and another operation. */
static void accumulate_float(int bytes)
{
    MPI_Accumulate(out, bytes / 4, MPI_FLOAT, 1, 0, bytes / 4, MPI_FLOAT, MPI_SUM, window);
}
static void accumulate_int(int bytes)
{
    MPI_Accumulate(out, bytes / 4, MPI_INT, 1, 0, bytes / 4, MPI_INT, MPI_SUM, window);
}
static void accumulate_replace(int bytes)
{
    MPI_Accumulate(out, bytes / 8, MPI_DOUBLE, 1, 0, bytes / 8, MPI_DOUBLE, MPI_REPLACE, window);
}
WITH_FLUSH(accumulate_float)
WITH_FLUSH(accumulate_int)
WITH_FLUSH(accumulate_replace)
WITH_FLUSH(get_odd)

#endif
