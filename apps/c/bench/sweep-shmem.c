/* The curves by which OpenSHMEM libraries are compared on one node: every operation by sizes
 *
 * OpenSHMEM 1.4 only: compiled unchanged by any oshcc. Output and repetitions as in sweep.c: microseconds for one operation, and for one put of a window of puts.
 * All buffers are in the symmetric heap, which every library reaches directly, and not all do for static variables. compare-shmem.c checks that data arrives; here
 * only time is taken.
 *
 * Usage: sweep-shmem [-q] [-m BYTES] [OPERATION ...]     as sweep.c */
#define _GNU_SOURCE
#include "sweep_times.h"

#include <shmem.h>
#include <time.h>

enum { WINDOW = 64, LINE = 64, ODD = 3 };

static size_t most = 4 * MIB;
static int is_quick, me, pes;

/* In the symmetric heap: buffers, a line each for two words, and what collectives work in, two of each, since a call may still be using the one before. */
static char *out, *in;
static long *flag, *word;
static double *told, *root;
static char *work;
static long *sync_sets[2];
static long turn;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static long *sync_set(void)
{
    static int which;
    which ^= 1;
    return sync_sets[which];
}

/* PE 0 acts on PE 1. */

static void put(int bytes)
{
    if (me == 0) {
        shmem_putmem(in, out, (size_t)bytes, 1);
        shmem_quiet();
    }
}
static void put_odd(int bytes)
{
    if (me == 0) {
        shmem_putmem(in + ODD, out + ODD, (size_t)bytes, 1);
        shmem_quiet();
    }
}
static void put_window(int bytes)
{
    if (me == 0) {
        for (int i = 0; i < WINDOW; i++)
            shmem_putmem_nbi(in, out, (size_t)bytes, 1);
        shmem_quiet();
    }
}
static void get(int bytes)
{
    if (me == 0)
        shmem_getmem(in, out, (size_t)bytes, 1);
}
static void get_window(int bytes)
{
    if (me == 0) {
        for (int i = 0; i < WINDOW; i++)
            shmem_getmem_nbi(in, out, (size_t)bytes, 1);
        shmem_quiet();
    }
}
/* Every other word. */
static void put_strided(int bytes)
{
    if (me == 0) {
        shmem_iput64(in, out, 2, 2, (size_t)bytes / 8, 1);
        shmem_quiet();
    }
}
/* There and back: a put, and a word behind it that the other waits for. */
static void put_wait(int bytes)
{
    turn++;
    if (me > 1)
        return;
    if (me == 1)
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    shmem_putmem(in, out, (size_t)bytes, 1 - me);
    shmem_fence();
    shmem_long_p(flag, turn, 1 - me);
    if (me == 0)
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
}
static void p_wait(int unused)
{
    (void)unused;
    turn++;
    if (me > 1)
        return;
    if (me == 0)
        shmem_long_p(flag, turn, 1);
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    if (me == 1)
        shmem_long_p(flag, turn, 0);
}

#define ATOMIC(name, call)           \
    static void name(int unused)     \
    {                                \
        (void)unused;                \
        if (me == 0) {               \
            call;                    \
        }                            \
    }
ATOMIC(add, shmem_long_atomic_add(word, 1, 1); shmem_quiet())
ATOMIC(set, shmem_long_atomic_set(word, 1, 1); shmem_quiet())
ATOMIC(fetch, (void)shmem_long_atomic_fetch(word, 1))
ATOMIC(fetch_add, (void)shmem_long_atomic_fetch_add(word, 1, 1))
ATOMIC(swap, (void)shmem_long_atomic_swap(word, 1, 1))
ATOMIC(compare_swap, (void)shmem_long_atomic_compare_swap(word, 0, 1, 1))

/* Of all PEs. */

#define COLLECTIVE(name, call)               \
    static void name(int bytes)              \
    {                                        \
        const size_t n = (size_t)bytes / 8;  \
        (void)n;                             \
        call;                                \
    }
#define ALL 0, 0, pes
COLLECTIVE(barrier, shmem_barrier_all())
COLLECTIVE(sync_all, shmem_sync_all())
/* The root may not begin the next one while others are in the last. */
COLLECTIVE(broadcast, shmem_broadcast64(in, out, n, 0, ALL, sync_set()); shmem_sync_all())
COLLECTIVE(collect, shmem_collect64(in, out, n, ALL, sync_set()))
COLLECTIVE(fcollect, shmem_fcollect64(in, out, n, ALL, sync_set()))
COLLECTIVE(alltoall, shmem_alltoall64(in, out, n, ALL, sync_set()))
/* Of `of` bytes each. */
#define REDUCTION(name, type, of, operation)                                                                                     \
    static void name(int bytes)                                                                                                  \
    {                                                                                                                            \
        shmem_##type##_##operation##_to_all((void *)in, (void *)out, bytes / of, ALL, (void *)work, sync_set());                 \
    }
REDUCTION(sum_double, double, 8, sum)
REDUCTION(sum_long, long, 8, sum)
REDUCTION(sum_float, float, 4, sum)
REDUCTION(max_float, float, 4, max)
REDUCTION(and_int, int, 4, and)

/* How an operation is measured: what its time is divided by, and its sizes from least to most (0: the greatest). */
static const struct operation {
    const char *name;
    action *run;
    double parts;
    int least, most;
} operations[] = {
    {"shmem_put", put, 1, 1, 0},
    {"shmem_put_odd", put_odd, 1, 1, 0},
    {"shmem_put_window", put_window, WINDOW, 1, 0},
    {"shmem_put_strided", put_strided, 1, 8, MIB},
    {"shmem_put_wait", put_wait, 2, 1, 0},
    {"shmem_p_wait", p_wait, 2, 8, NO_SIZES},
    {"shmem_get", get, 1, 1, 0},
    {"shmem_get_window", get_window, WINDOW, 1, 0},
    {"shmem_add", add, 1, 8, NO_SIZES},
    {"shmem_set", set, 1, 8, NO_SIZES},
    {"shmem_fetch", fetch, 1, 8, NO_SIZES},
    {"shmem_fetch_add", fetch_add, 1, 8, NO_SIZES},
    {"shmem_swap", swap, 1, 8, NO_SIZES},
    {"shmem_compare_swap", compare_swap, 1, 8, NO_SIZES},
    {"shmem_barrier", barrier, 1, 0, NO_SIZES},
    {"shmem_sync", sync_all, 1, 0, NO_SIZES},
    {"shmem_broadcast", broadcast, 1, 8, 0},
    {"shmem_collect", collect, 1, 8, 0},
    {"shmem_fcollect", fcollect, 1, 8, 0},
    {"shmem_alltoall", alltoall, 1, 8, 0},
    {"shmem_sum_double", sum_double, 1, 8, 0},
    {"shmem_sum_long", sum_long, 1, 8, 0},
    {"shmem_sum_float", sum_float, 1, 8, 0},
    {"shmem_max_float", max_float, 1, 8, 0},
    {"shmem_and_int", and_int, 1, 8, 0},
};

static double of_root(double value)
{
    *root = *told = value;
    shmem_barrier_all();
    shmem_broadcast64(told, root, 1, 0, ALL, sync_set());
    shmem_barrier_all();
    return me == 0 ? value : *told;
}

static void meet(void)
{
    shmem_barrier_all();
}

/* There and back by plain loads and stores; for two PEs, each on a core of its own. */
static void line(int unused)
{
    volatile long *theirs = shmem_ptr(flag, me ^ 1), *mine = flag;
    (void)unused;
    turn++;
    if (me == 0)
        *theirs = turn;
    while (*mine != turn)
        __builtin_ia32_pause();
    if (me == 1)
        *theirs = turn;
}

static void probe(void)
{
    if (pes > 2)
        return;
    double took = median_of(line, 0, HANDOVERS) / 2;
    if (me == 0) {
        printf("@line_us %.6g\n", took);
        fflush(stdout);
    }
}

static void sweep(const struct operation *it)
{
    size_t last = it->most > 0 && (size_t)it->most < most ? (size_t)it->most : most;
    for (size_t bytes = (size_t)it->least; bytes <= last; bytes *= is_quick ? 16 : 2) {
        double took = time_of(it->run, (int)bytes) / it->parts;
        if (me == 0) {
            printf("@%s.%zu %.6g\n", it->name, bytes, took);
            fflush(stdout);
        }
        if (it->most == NO_SIZES)
            break;
    }
    probe();
}

static void *symmetric(size_t bytes)
{
    void *memory = shmem_align(4096, bytes);
    if (!memory) {
        fprintf(stderr, "sweep-shmem: no memory for %zu bytes in the symmetric heap\n", bytes);
        shmem_global_exit(2);
    }
    memset(memory, 0, bytes);
    return memory;
}

static void prepare(void)
{
    /* Strided puts take up twice their data. */
    size_t parts = pes > 2 ? (size_t)pes : 2;
    int syncs = SHMEM_REDUCE_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE;
    out = symmetric(most * parts + LINE);
    in = symmetric(most * parts + LINE);
    work = symmetric(most / 2 + 8 * (1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE));
    flag = symmetric(LINE);
    word = symmetric(LINE);
    told = symmetric(LINE);
    root = symmetric(LINE);
    for (int set = 0; set < 2; set++) {
        sync_sets[set] = symmetric((size_t)syncs * sizeof(long));
        for (int i = 0; i < syncs; i++)
            sync_sets[set][i] = SHMEM_SYNC_VALUE;
    }
    if (pes == 2 && !shmem_ptr(flag, me ^ 1)) {
        fprintf(stderr, "this library gives no address of a peer's memory: the floor cannot be measured\n");
        shmem_global_exit(2);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (!strcmp(argv[first], "-q")) {
            is_quick = 1;
            long_enough /= 20;
            most = 64 << 10;
        } else if (!strcmp(argv[first], "-m") && first + 1 < argc) {
            most = strtoul(argv[++first], NULL, 10);
        }
    }
    wanted = argv + first;
    wanted_count = argc > first ? argc - first : 0;
    if (pes < 2 || most > 64 * MIB) {
        if (me == 0)
            fprintf(stderr, "sweep-shmem needs 2 PEs or more (start it with -n 2), and sizes up to 64 MiB\n");
        shmem_global_exit(2);
    }
    prepare();
    probe();
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (is_wanted(operations[i].name))
            sweep(&operations[i]);
    shmem_finalize();
    return 0;
}
