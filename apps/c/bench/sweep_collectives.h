/* Collectives by sizes: see sweep.c. */
#ifndef SWEEP_COLLECTIVES_H
#define SWEEP_COLLECTIVES_H

#include "sweep_world.h"

#define COLLECTIVE(name, call)       \
    static void name(int bytes)      \
    {                                \
        const int n = bytes / 8;     \
        (void)n;                     \
        call;                        \
    }
COLLECTIVE(barrier, MPI_Barrier(ALL))
COLLECTIVE(bcast, MPI_Bcast(in, bytes, MPI_CHAR, 0, ALL))
COLLECTIVE(reduce, MPI_Reduce(out, in, n, MPI_DOUBLE, MPI_SUM, 0, ALL))
COLLECTIVE(allreduce, MPI_Allreduce(out, in, n, MPI_DOUBLE, MPI_SUM, ALL))
COLLECTIVE(allreduce_float, MPI_Allreduce(out, in, 2 * n, MPI_FLOAT, MPI_SUM, ALL))
COLLECTIVE(allreduce_max_float, MPI_Allreduce(out, in, 2 * n, MPI_FLOAT, MPI_MAX, ALL))
COLLECTIVE(allreduce_int, MPI_Allreduce(out, in, 2 * n, MPI_INT, MPI_SUM, ALL))
COLLECTIVE(allreduce_long, MPI_Allreduce(out, in, n, MPI_INT64_T, MPI_SUM, ALL))
COLLECTIVE(reduce_float, MPI_Reduce(out, in, 2 * n, MPI_FLOAT, MPI_SUM, 0, ALL))
COLLECTIVE(reduce_scatter_block, MPI_Reduce_scatter_block(out, in, n, MPI_DOUBLE, MPI_SUM, ALL))
COLLECTIVE(reduce_scatter, MPI_Reduce_scatter(out, in, counts, MPI_INT8_T, MPI_SUM, ALL))
COLLECTIVE(scan, MPI_Scan(out, in, n, MPI_DOUBLE, MPI_SUM, ALL))
COLLECTIVE(exscan, MPI_Exscan(out, in, n, MPI_DOUBLE, MPI_SUM, ALL))
COLLECTIVE(gather, MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL))
COLLECTIVE(gatherv, MPI_Gatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, 0, ALL))
COLLECTIVE(scatter, MPI_Scatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL))
COLLECTIVE(scatterv, MPI_Scatterv(out, counts, places, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL))
COLLECTIVE(allgather, MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL))
COLLECTIVE(allgatherv, MPI_Allgatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, ALL))
COLLECTIVE(alltoall, MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL))
COLLECTIVE(alltoallv, MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, ALL))
COLLECTIVE(alltoallw, MPI_Alltoallw(out, counts, places_in_bytes, types, in, counts, places_in_bytes, types, ALL))
COLLECTIVE(bcast_odd, MPI_Bcast(odd_in, bytes, MPI_CHAR, 0, ALL))
COLLECTIVE(allgather_odd, MPI_Allgather(odd_out, bytes, MPI_CHAR, odd_in, bytes, MPI_CHAR, ALL))
COLLECTIVE(alltoall_odd, MPI_Alltoall(odd_out, bytes, MPI_CHAR, odd_in, bytes, MPI_CHAR, ALL))
COLLECTIVE(neighbor_allgather, MPI_Neighbor_allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, neighbours))
COLLECTIVE(neighbor_allgatherv, MPI_Neighbor_allgatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, neighbours))
COLLECTIVE(neighbor_alltoall, MPI_Neighbor_alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, neighbours))
COLLECTIVE(neighbor_alltoallv, MPI_Neighbor_alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, neighbours))

COLLECTIVE(neighbor_alltoallw, MPI_Neighbor_alltoallw(out, counts, far_places, types, in, counts, far_places, types, neighbours))

/* Non-blocking ones: begun and waited for, and the same with a computation between that takes as long as the bytes might. */

static void compute(int bytes)
{
    double x = 1;
    for (int i = 0; i < 1000 + bytes / 4; i++)
        x = x * 1.0000001 + 1e-9;
    __asm__ volatile("" : : "x"(x));
}
#define BEGUN(name, call)                                    \
    static void name(int bytes)                              \
    {                                                        \
        const int n = bytes / 8;                             \
        (void)n;                                             \
        call;                                                \
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);           \
    }                                                        \
    static void name##_overlap(int bytes)                    \
    {                                                        \
        const int n = bytes / 8;                             \
        (void)n;                                             \
        call;                                                \
        compute(bytes);                                      \
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);           \
    }
#define REQUEST &requests[0]
BEGUN(ibarrier, MPI_Ibarrier(ALL, REQUEST))
BEGUN(ibcast, MPI_Ibcast(in, bytes, MPI_CHAR, 0, ALL, REQUEST))
BEGUN(ireduce, MPI_Ireduce(out, in, n, MPI_DOUBLE, MPI_SUM, 0, ALL, REQUEST))
BEGUN(iallreduce, MPI_Iallreduce(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, REQUEST))
BEGUN(ireduce_scatter_block, MPI_Ireduce_scatter_block(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, REQUEST))
BEGUN(ireduce_scatter, MPI_Ireduce_scatter(out, in, counts, MPI_INT8_T, MPI_SUM, ALL, REQUEST))
BEGUN(iexscan, MPI_Iexscan(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, REQUEST))
BEGUN(iscan, MPI_Iscan(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, REQUEST))
BEGUN(igather, MPI_Igather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL, REQUEST))
BEGUN(igatherv, MPI_Igatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, 0, ALL, REQUEST))
BEGUN(iscatter, MPI_Iscatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL, REQUEST))
BEGUN(iscatterv, MPI_Iscatterv(out, counts, places, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL, REQUEST))
BEGUN(iallgather, MPI_Iallgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL, REQUEST))
BEGUN(iallgatherv, MPI_Iallgatherv(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, ALL, REQUEST))
BEGUN(ialltoall, MPI_Ialltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL, REQUEST))
BEGUN(ialltoallv, MPI_Ialltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, ALL, REQUEST))
BEGUN(ialltoallw, MPI_Ialltoallw(out, counts, places_in_bytes, types, in, counts, places_in_bytes, types, ALL, REQUEST))
BEGUN(ineighbor_allgather, MPI_Ineighbor_allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, neighbours, REQUEST))
BEGUN(ineighbor_alltoallv,
      MPI_Ineighbor_alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, neighbours, REQUEST))
BEGUN(ineighbor_alltoall, MPI_Ineighbor_alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, neighbours, REQUEST))

/* Persistent ones, where the library has MPI-4: made before the time is taken. */

#if MPI_VERSION >= 4
#define KEPT(name, call)                                     \
    static void open_##name(int bytes)                       \
    {                                                        \
        const int n = bytes / 8;                             \
        (void)n;                                             \
        call;                                                \
    }
#define KEPT_REQUEST MPI_INFO_NULL, &kept
KEPT(bcast_init, MPI_Bcast_init(in, bytes, MPI_CHAR, 0, ALL, KEPT_REQUEST))
KEPT(reduce_init, MPI_Reduce_init(out, in, n, MPI_DOUBLE, MPI_SUM, 0, ALL, KEPT_REQUEST))
KEPT(allreduce_init, MPI_Allreduce_init(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, KEPT_REQUEST))
KEPT(barrier_init, MPI_Barrier_init(ALL, KEPT_REQUEST))
KEPT(reduce_scatter_block_init, MPI_Reduce_scatter_block_init(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, KEPT_REQUEST))
KEPT(scan_init, MPI_Scan_init(out, in, n, MPI_DOUBLE, MPI_SUM, ALL, KEPT_REQUEST))
KEPT(allgatherv_init, MPI_Allgatherv_init(out, bytes, MPI_CHAR, in, counts, places, MPI_CHAR, ALL, KEPT_REQUEST))
KEPT(alltoallv_init, MPI_Alltoallv_init(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, ALL, KEPT_REQUEST))
KEPT(gather_init, MPI_Gather_init(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, ALL, KEPT_REQUEST))
KEPT(allgather_init, MPI_Allgather_init(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL, KEPT_REQUEST))
KEPT(alltoall_init, MPI_Alltoall_init(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, ALL, KEPT_REQUEST))
KEPT(neighbor_alltoall_init, MPI_Neighbor_alltoall_init(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, neighbours, KEPT_REQUEST))
static void start_kept(int bytes)
{
    (void)bytes;
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
}
static void close_kept(void)
{
    MPI_Request_free(&kept);
}
#endif

#endif
