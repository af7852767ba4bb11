/* bench.h for MPI programs: start, end, buffers, timing over ranks. */
#ifndef MPI_BENCH_H
#define MPI_BENCH_H

#include <mpi.h>

#include "bench.h"

static int rank, ranks;

static inline void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Memory for a buffer, on a page of its own, written once so that it is there. */
static inline char *buffer(size_t bytes)
{
    char *memory = malloc(bytes + 2 * PAGE);
    if (memory == NULL)
        fail("no memory for a buffer; take a smaller -m");
    char *aligned = (char *)(((uintptr_t)memory + PAGE - 1) / PAGE * PAGE);
    memset(aligned, 0, bytes);
    return aligned;
}

/* The mean of all ranks' values, at rank 0. */
static inline double mean(double mine)
{
    double sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum / ranks;
}

/* Ends the job if a check fails anywhere. */
static inline void verify(int good)
{
    if (!good)
        fail("wrong data");
}

static inline int run(int argc, char **argv, const struct test *tests, size_t count)
{
    int status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    speaker = rank == 0;
    const struct test *test = choose(argc, argv, tests, count, &status);
    if (test != NULL) {
        status = 0;
        test->run();
    }
    MPI_Finalize();
    return status;
}

#endif
