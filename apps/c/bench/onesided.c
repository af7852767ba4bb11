/* Benchmarks of MPI's one-sided communication: put, get, accumulate, fetch-and-op, compare-and-swap.
 *
 * Put and get are followed by flush or by fence, or are inside lock and unlock. Rank 0 acts on rank 1; bandwidth in windows of 64. */
#include "mpi_bench.h"

#define WINDOW 64

enum target { PUT, GET, ACCUMULATE, FETCH, COMPARE };
enum epoch { FLUSH, FENCE, LOCK, MANY };

static char *local, *base;
static MPI_Win window;

static void act(enum target what, size_t size)
{
    static int64_t one = 1, old, zero;
    switch (what) {
    case PUT: MPI_Put(local, (int)size, MPI_CHAR, 1, 0, (int)size, MPI_CHAR, window); break;
    case GET: MPI_Get(local, (int)size, MPI_CHAR, 1, 0, (int)size, MPI_CHAR, window); break;
    case ACCUMULATE:
        MPI_Accumulate(local, (int)(size / 8), MPI_INT64_T, 1, 0, (int)(size / 8), MPI_INT64_T, MPI_SUM, window);
        break;
    case FETCH: MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, window); break;
    case COMPARE: MPI_Compare_and_swap(&one, &zero, &old, MPI_INT64_T, 1, 0, window); break;
    }
}

static void repeat(enum target what, enum epoch epoch, size_t size, long count)
{
    if (epoch == FENCE) {
        for (long i = 0; i < count; i++) {
            if (rank == 0)
                act(what, size);
            MPI_Win_fence(0, window);
        }
        return;
    }
    if (rank != 0)
        return;
    if (epoch != LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    for (long i = 0; i < count; i++) {
        if (epoch == LOCK)
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        for (int k = 0; k < (epoch == MANY ? WINDOW : 1); k++)
            act(what, size);
        if (epoch == LOCK)
            MPI_Win_unlock(1, window);
        else
            MPI_Win_flush(1, window);
    }
    if (epoch != LOCK)
        MPI_Win_unlock(1, window);
}

static int right(enum target what, size_t size)
{
    int good = 1;
    if (what != PUT && what != GET)
        return 1;
    fill(base, size, 7);
    fill(local, size, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, window);
    if (rank == 0)
        act(what, size);
    MPI_Win_fence(0, window);
    if (what == PUT && rank == 1)
        good = filled(base, size, 3);
    if (what == GET && rank == 0)
        good = filled(local, size, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    return good;
}

static void measure(enum target what, enum epoch epoch, const char *title)
{
    if (ranks < 2)
        fail("this test takes at least 2 ranks");
    size_t most = options.most < 64 ? 64 : options.most;
    local = buffer(most);
    MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    memset(base, 0, most);
    memset(local, 0, most);
    head(title);
    if ((what == ACCUMULATE || !current->sized) && options.least < 8)
        options.least = 8;
    if (!current->sized)
        options.most = options.least;
    MPI_Win_fence(0, window);
    FOR_SIZES(size)
    {
        if (options.check)
            verify(right(what, size));
        long count = epoch == MANY ? iterations(size) / 8 + 1 : iterations(size);
        repeat(what, epoch, size, skipped(size));
        MPI_Barrier(MPI_COMM_WORLD);
        double started = MPI_Wtime();
        repeat(what, epoch, size, count);
        double seconds = MPI_Wtime() - started;
        MPI_Barrier(MPI_COMM_WORLD);
        result(size, epoch == MANY ? (double)(count * WINDOW) * (double)size / seconds / 1e6 : seconds * 1e6 / (double)count);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

#define TEST(name, what, epoch, title) \
    static void name(void) { measure(what, epoch, title); }
TEST(put_flush, PUT, FLUSH, "MPI put and flush")
TEST(put_fence, PUT, FENCE, "MPI put and fence")
TEST(put_lock, PUT, LOCK, "MPI lock, put, unlock")
TEST(put_bw, PUT, MANY, "MPI put bandwidth: 64 puts and a flush")
TEST(get_flush, GET, FLUSH, "MPI get and flush")
TEST(get_fence, GET, FENCE, "MPI get and fence")
TEST(get_lock, GET, LOCK, "MPI lock, get, unlock")
TEST(get_bw, GET, MANY, "MPI get bandwidth: 64 gets and a flush")
TEST(acc, ACCUMULATE, FLUSH, "MPI accumulate of 64-bit integers and flush")
TEST(fop, FETCH, FLUSH, "MPI fetch-and-add of a 64-bit integer and flush")
TEST(cas, COMPARE, FLUSH, "MPI compare-and-swap of a 64-bit integer and flush")

static const struct test tests[] = {
    {"put_latency", put_flush, "us", 1}, {"put_fence", put_fence, "us", 1}, {"put_lock", put_lock, "us", 1},
    {"put_bw", put_bw, "MB/s", 1},       {"get_latency", get_flush, "us", 1}, {"get_fence", get_fence, "us", 1},
    {"get_lock", get_lock, "us", 1},     {"get_bw", get_bw, "MB/s", 1},     {"acc", acc, "us", 1},
    {"fop", fop, "us", 0},               {"cas", cas, "us", 0},
};

int main(int argc, char **argv)
{
    return run(argc, argv, tests, sizeof tests / sizeof *tests);
}
