/* Benchmarks of MPI's collectives: the mean time of a call over all ranks.
 *
 * Reductions are sums of floats; sizes are those of one rank's part. */
#include "mpi_bench.h"

static char *out, *in;
static int *counts, *places;

typedef void call(size_t size);

static void barrier(size_t size)
{
    (void)size;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(size_t size)
{
    MPI_Bcast(out, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void reduce(size_t size)
{
    MPI_Reduce(out, in, (int)(size / sizeof(float)), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(size_t size)
{
    MPI_Allreduce(out, in, (int)(size / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter(size_t size)
{
    MPI_Reduce_scatter_block(out, in, (int)(size / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(size_t size)
{
    MPI_Scan(out, in, (int)(size / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(size_t size)
{
    MPI_Gather(out, (int)size, MPI_CHAR, in, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void scatter(size_t size)
{
    MPI_Scatter(out, (int)size, MPI_CHAR, in, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void allgather(size_t size)
{
    MPI_Allgather(out, (int)size, MPI_CHAR, in, (int)size, MPI_CHAR, MPI_COMM_WORLD);
}
static void alltoall(size_t size)
{
    MPI_Alltoall(out, (int)size, MPI_CHAR, in, (int)size, MPI_CHAR, MPI_COMM_WORLD);
}
static void allgatherv(size_t size)
{
    MPI_Allgatherv(out, (int)size, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
}
static void alltoallv(size_t size)
{
    (void)size;
    MPI_Alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, MPI_COMM_WORLD);
}

/* What a call must leave, in a pass of its own. */
static int right(call *what, size_t size)
{
    size_t floats = size / sizeof(float), parts = (size_t)ranks;
    float *from = (float *)out, *to = (float *)in;
    int sums = what == reduce || what == allreduce || what == reduce_scatter || what == scan, good = 1;
    memset(in, 0, size * parts);
    if (sums)
        for (size_t i = 0; i < floats * parts; i++)
            from[i] = (float)(rank + 1 + (int)(i % 5));
    else
        fill(out, size * parts, rank);
    what(size);
    if (sums && (what != reduce || rank == 0)) {
        int members = what == scan ? rank + 1 : ranks;
        size_t first = what == reduce_scatter ? (size_t)rank * floats : 0;
        for (size_t i = 0; i < floats; i++)
            good &= to[i] == (float)(members * (members + 1) / 2 + members * (int)((first + i) % 5));
    }
    if (what == bcast)
        good = filled(out, size, 0);
    if (what == allgather || what == allgatherv || (what == gather && rank == 0))
        for (int r = 0; r < ranks; r++)
            good &= filled(in + (size_t)r * size, size, r);
    if (what == scatter)
        for (size_t i = 0; i < size; i++)
            good &= in[i] == pattern(0, (size_t)rank * size + i);
    if (what == alltoall || what == alltoallv)
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < size; i++)
                good &= in[(size_t)r * size + i] == pattern(r, (size_t)rank * size + i);
    return good;
}

static void measure(call *what, size_t size)
{
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)size;
        places[r] = r * (int)size;
    }
    if (options.check)
        verify(right(what, size));
    memset(out, 0, size * (size_t)ranks);
    for (long i = 0; i < skipped(size); i++)
        what(size);
    MPI_Barrier(MPI_COMM_WORLD);
    double started = MPI_Wtime();
    for (long i = 0; i < iterations(size); i++)
        what(size);
    result(size, mean((MPI_Wtime() - started) * 1e6 / (double)iterations(size)));
}

static void sizes(call *what, size_t least)
{
    size_t all = options.most * (size_t)ranks;
    out = buffer(all);
    in = buffer(all);
    counts = malloc(2 * (size_t)ranks * sizeof *counts);
    if (counts == NULL || all > 1UL << 30)
        fail("no memory for all ranks' parts; take a smaller -m");
    places = counts + ranks;
    head("MPI collective: mean time of a call over all ranks");
    options.least = options.least < least ? least : options.least;
    if (!current->sized)
        measure(what, 0);
    else
        FOR_SIZES(size)
        measure(what, size);
}

#define TEST(name, least) \
    static void test_##name(void) { sizes(name, least); }
TEST(barrier, 0)
TEST(bcast, 1)
TEST(reduce, 4)
TEST(allreduce, 4)
TEST(reduce_scatter, 4)
TEST(scan, 4)
TEST(gather, 1)
TEST(scatter, 1)
TEST(allgather, 1)
TEST(allgatherv, 1)
TEST(alltoall, 1)
TEST(alltoallv, 1)

static const struct test tests[] = {
    {"barrier", test_barrier, "us", 0},       {"bcast", test_bcast, "us", 1},           {"reduce", test_reduce, "us", 1},
    {"allreduce", test_allreduce, "us", 1},   {"reduce_scatter", test_reduce_scatter, "us", 1},
    {"scan", test_scan, "us", 1},             {"gather", test_gather, "us", 1},         {"scatter", test_scatter, "us", 1},
    {"allgather", test_allgather, "us", 1},   {"allgatherv", test_allgatherv, "us", 1}, {"alltoall", test_alltoall, "us", 1},
    {"alltoallv", test_alltoallv, "us", 1},
};

int main(int argc, char **argv)
{
    return run(argc, argv, tests, sizeof tests / sizeof *tests);
}
