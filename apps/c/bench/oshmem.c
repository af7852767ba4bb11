/* Benchmarks of OpenSHMEM: put and get, atomics, barrier, reductions.
 *
 * PE 0 acts on PE 1; `p_wait` is a ping-pong of 8 bytes by put and wait. Nothing newer than OpenSHMEM 1.4 but for what the library itself says it has. */
#define _POSIX_C_SOURCE 199309L
#include <shmem.h>
#include <time.h>

#include "bench.h"

static int me, n;
static char *remote, *local;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    fprintf(stderr, "PE %d: %s\n", me, what);
    shmem_global_exit(1);
}

static void prepare(void)
{
    if (n < 2)
        fail("this test takes at least 2 PEs");
    size_t bytes = options.most < 64 ? 64 : options.most;
    remote = shmem_malloc(bytes);
    local = malloc(bytes);
    if (remote == NULL || local == NULL)
        fail("no memory for buffers; take a smaller -m, or a greater SHMEM_SYMMETRIC_SIZE");
    memset(remote, 0, bytes);
    memset(local, 0, bytes);
    shmem_barrier_all();
}

static void put(size_t size)
{
    shmem_putmem(remote, local, size, 1);
    shmem_quiet();
}
static void get(size_t size)
{
    shmem_getmem(local, remote, size, 1);
}
static void add(size_t size)
{
    (void)size;
    shmem_long_atomic_add((long *)remote, 1, 1);
    shmem_quiet();
}
static void fetch_add(size_t size)
{
    (void)size;
    shmem_long_atomic_fetch_add((long *)remote, 1, 1);
}
static void compare_swap(size_t size)
{
    (void)size;
    shmem_long_atomic_compare_swap((long *)remote, 0, 1, 1);
}
static void swap(size_t size)
{
    (void)size;
    shmem_long_atomic_swap((long *)remote, 1, 1);
}

static void check_block(void (*act)(size_t), size_t size)
{
    fill(remote, size, 7);
    fill(local, size, 3);
    shmem_barrier_all();
    if (me == 0)
        act(size);
    shmem_barrier_all();
    if (act == put && me == 1 && !filled(remote, size, 3))
        fail("wrong data");
    if (act == get && me == 0 && !filled(local, size, 7))
        fail("wrong data");
    shmem_barrier_all();
}

/* One PE acts; the others wait. */
static void one_acts(void (*act)(size_t), const char *title)
{
    prepare();
    head(title);
    if (!current->sized)
        options.least = options.most = 8;
    FOR_SIZES(size)
    {
        if (options.check)
            check_block(act, size);
        long count = iterations(size);
        double started = 0, seconds = 0;
        if (me == 0) {
            for (long i = 0; i < skipped(size); i++)
                act(size);
            started = now();
            for (long i = 0; i < count; i++)
                act(size);
            seconds = now() - started;
        }
        shmem_barrier_all();
        result(size, seconds * 1e6 / (double)count);
    }
}

static void p_wait(void)
{
    prepare();
    head("OpenSHMEM put of 8 bytes and wait: half a round trip");
    long *word = (long *)remote, count = iterations(8), warm = skipped(8);
    double started = 0;
    if (me < 2)
        for (long i = 1; i <= warm + count; i++) {
            if (i == warm + 1)
                started = now();
            if (me == 0) {
                shmem_long_p(word, i, 1);
                shmem_long_wait_until(word, SHMEM_CMP_EQ, i);
            } else {
                shmem_long_wait_until(word, SHMEM_CMP_EQ, i);
                shmem_long_p(word, i, 0);
            }
        }
    result(8, (now() - started) * 1e6 / (double)count / 2);
    shmem_barrier_all();
}

static void put_latency(void)
{
    one_acts(put, "OpenSHMEM put and quiet");
}
static void get_latency(void)
{
    one_acts(get, "OpenSHMEM get");
}
static void atomic_add(void)
{
    one_acts(add, "OpenSHMEM atomic add and quiet");
}
static void atomic_fetch_add(void)
{
    one_acts(fetch_add, "OpenSHMEM atomic fetch-and-add");
}
static void atomic_compare_swap(void)
{
    one_acts(compare_swap, "OpenSHMEM atomic compare-and-swap");
}
static void atomic_swap(void)
{
    one_acts(swap, "OpenSHMEM atomic swap");
}

static void barrier(void)
{
    head("OpenSHMEM barrier of all PEs");
    long count = iterations(0);
    for (long i = 0; i < skipped(0); i++)
        shmem_barrier_all();
    double started = now();
    for (long i = 0; i < count; i++)
        shmem_barrier_all();
    result(0, (now() - started) * 1e6 / (double)count);
}

/* Sums of doubles: over the world's team where there are teams, over the active set of all PEs before. */
static void sum(void)
{
    static long sync_array[SHMEM_REDUCE_SYNC_SIZE];
    size_t bytes = options.most < 8 ? 8 : options.most, work_elements = bytes / 16 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    double *source = shmem_malloc(bytes), *dest = shmem_malloc(bytes), *work = shmem_malloc(work_elements * sizeof *work);
    if (source == NULL || dest == NULL || work == NULL)
        fail("no memory for buffers; take a smaller -m, or a greater SHMEM_SYMMETRIC_SIZE");
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_array[i] = SHMEM_SYNC_VALUE;
    (void)sync_array;
    for (size_t i = 0; i < bytes / 8; i++)
        source[i] = me + (double)(i % 7);
    shmem_barrier_all();
    head("OpenSHMEM sum of doubles over all PEs");
    if (options.least < 8)
        options.least = 8;
    FOR_SIZES(size)
    {
        int elements = (int)(size / 8);
        long count = iterations(size), warm = skipped(size);
        double started = 0;
        for (long i = 0; i < warm + count; i++) {
            if (i == warm)
                started = now();
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
            shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)elements);
#else
            shmem_double_sum_to_all(dest, source, elements, 0, 0, n, work, sync_array);
            shmem_barrier_all();
#endif
        }
        double each = (now() - started) * 1e6 / (double)count;
        for (int i = 0; options.check && i < elements; i++)
            if (dest[i] != n * (n - 1) / 2 + n * (double)(i % 7))
                fail("wrong data");
        shmem_barrier_all();
        result(size, each);
    }
}

static const struct test tests[] = {
    {"put", put_latency, "us", 1},
    {"get", get_latency, "us", 1},
    {"p_wait", p_wait, "us", 0},
    {"add", atomic_add, "us", 0},
    {"fetch_add", atomic_fetch_add, "us", 0},
    {"cswap", atomic_compare_swap, "us", 0},
    {"swap", atomic_swap, "us", 0},
    {"barrier", barrier, "us", 0},
    {"sum", sum, "us", 1},
};

int main(int argc, char **argv)
{
    int status;
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    speaker = me == 0;
    const struct test *test = choose(argc, argv, tests, sizeof tests / sizeof *tests, &status);
    if (test != NULL) {
        status = 0;
        test->run();
    }
    shmem_finalize();
    return status;
}
