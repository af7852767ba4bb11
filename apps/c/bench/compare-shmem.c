/* The figures by which OpenSHMEM libraries are compared on one node
 *
 * Puts, waits, barriers, sums.
 *
 * OpenSHMEM 1.4 only: compiled unchanged by any oshcc. Output, repetitions and floors as in compare.c. What is put lies in the symmetric
 * heap, which every library reaches directly, and not all do for static variables.
 *
 * Usage: compare-shmem [-q] [NAME ...]     -q: short repetitions; NAME: only figures that begin with it */
#define _GNU_SOURCE
#include "figures.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPETITIONS = 5, HANDOVERS = 1000, LINE = 64, DOUBLES = (64 << 10) / 8 };

static double long_enough = 0.01;
static int me, pes;

/* In the symmetric heap, a line each. */
static long *flag, *word;
static long turn;
static double told, work[DOUBLES / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sync_reduce[2][SHMEM_REDUCE_SYNC_SIZE], sync_broadcast[SHMEM_BCAST_SYNC_SIZE];
static double *out, *in;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* What PE 0 measured, told to all. */
static double of_root(double value)
{
    static double from;
    from = value;
    told = value;
    shmem_barrier_all();
    shmem_broadcast64(&told, &from, 1, 0, 0, 0, pes, sync_broadcast);
    shmem_barrier_all();
    return me == 0 ? value : told;
}

/* The median time of one of `calls` calls, in microseconds. */
static double repeat(void (*call)(int), int count, int calls)
{
    double times[REPETITIONS];
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        shmem_barrier_all();
        double start = now();
        for (int i = 0; i < calls; i++)
            call(count);
        times[repetition] = (now() - start) / calls * 1e6;
    }
    qsort(times, REPETITIONS, sizeof *times, ascending);
    return of_root(times[REPETITIONS / 2]);
}

/* The median time of one call, in microseconds; all PEs make as many. */
static double time_of(void (*call)(int), int count)
{
    double took;
    int calls = 4;
    do {
        calls *= 4;
        shmem_barrier_all();
        double start = now();
        for (int i = 0; i < calls; i++)
            call(count);
        took = of_root(now() - start);
    } while (took < long_enough);
    return repeat(call, count, calls);
}

static void put_quiet(int unused)
{
    (void)unused;
    if (me == 0) {
        shmem_long_put(word, &turn, 1, 1);
        shmem_quiet();
    }
}

static void barrier(int unused)
{
    (void)unused;
    shmem_barrier_all();
}

static void sum(int count)
{
    /* Two sets of work arrays take turns: a call may still be using the one before. */
    static int which;
    which ^= 1;
    shmem_double_sum_to_all(in, out, count, 0, 0, pes, work, sync_reduce[which]);
}

/* There and back by the library. */
static void put_wait(int unused)
{
    (void)unused;
    turn++;
    if (me == 0)
        shmem_long_p(flag, turn, 1);
    if (me < 2)
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    if (me == 1)
        shmem_long_p(flag, turn, 0);
}

/* There and back by plain loads and stores. */
static void line(int unused)
{
    volatile long *theirs = shmem_ptr(flag, me ^ 1), *mine = flag;
    (void)unused;
    if (me > 1)
        return;
    turn++;
    if (me == 0)
        *theirs = turn;
    while (*mine != turn)
        __builtin_ia32_pause();
    if (me == 1)
        *theirs = turn;
}

static void check(void)
{
    int wrong = 0;
    for (int count = 1; count <= DOUBLES; count *= DOUBLES) {
        for (int i = 0; i < count; i++)
            out[i] = i + me;
        shmem_barrier_all();
        sum(count);
        for (int i = 0; i < count; i++)
            wrong += in[i] != (double)i * pes + pes * (pes - 1) / 2.0;
        shmem_barrier_all();
    }
    put_wait(0);
    wrong += me < 2 && *flag != turn;
    turn += 41;
    shmem_barrier_all();
    put_quiet(0);
    shmem_barrier_all();
    wrong += me == 1 && *word != turn;
    if (wrong) {
        fprintf(stderr, "%d values arrived wrong at PE %d\n", wrong, me);
        shmem_global_exit(1);
    }
    shmem_barrier_all();
}

static void say(const char *name, double value)
{
    if (me == 0) {
        printf("@%s %.6g\n", name, value);
        fflush(stdout);
    }
}

/* What a line takes now. */
static void probe(void)
{
    say("line_us", repeat(line, 0, HANDOVERS) / 2);
}

static void timed(const char *name, void (*call)(int), int count, double parts)
{
    if (is_wanted(name)) {
        say(name, time_of(call, count) / parts);
        probe();
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    int first = 1;
    if (argc > 1 && !strcmp(argv[1], "-q")) {
        long_enough /= 20;
        first = 2;
    }
    wanted = argv + first;
    wanted_count = argc > first ? argc - first : 0;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_reduce[0][i] = sync_reduce[1][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        sync_broadcast[i] = SHMEM_SYNC_VALUE;
    out = shmem_malloc(DOUBLES * sizeof *out);
    in = shmem_malloc(DOUBLES * sizeof *in);
    flag = shmem_align(LINE, LINE);
    word = shmem_align(LINE, LINE);
    if (pes < 2 || !out || !in || !flag || !word) {
        fprintf(stderr, "compare-shmem needs 2 PEs or more, and memory for their buffers\n");
        shmem_global_exit(2);
    }
    *flag = *word = 0;
    if (!shmem_ptr(flag, me ^ 1) && me < 2) {
        fprintf(stderr, "this library gives no address of a peer's memory: the floor cannot be measured\n");
        shmem_global_exit(2);
    }
    shmem_barrier_all();
    check();
    probe();
    timed("shmem_p_wait_us", put_wait, 0, 2);
    timed("shmem_put_quiet_us", put_quiet, 0, 1);
    timed("shmem_barrier_us", barrier, 0, 1);
    timed("shmem_sum_8_us", sum, 1, 1);
    timed("shmem_sum_64k_us", sum, DOUBLES, 1);
    shmem_free(word);
    shmem_free(flag);
    shmem_free(in);
    shmem_free(out);
    shmem_finalize();
    return 0;
}
