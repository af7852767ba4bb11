/* What a node is like for a program: system calls, interruptions, page tables, basic times of MPI
 *
 * `cargo lwk bench linux-guest` compiles it for Margay and for Linux and prints both beside each other.
 *
 * Each figure is a line `@name value`, from rank 0. What the system does not tell (a file of /proc that is not there) is left out.
 * Times are medians of REPETITIONS, each long enough for the clock; data is checked before it is timed. */
#define _GNU_SOURCE
#include "figures.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REPETITIONS = 5, LARGE = 64 << 10, GIB = 1 << 30 };

/* A repetition takes at least this long, in seconds. */
static const double LONG_ENOUGH = 0.02;

static int rank, ranks;
static char *out, *in;

static void say(const char *name, double value)
{
    if (rank == 0)
        printf("@%s %.6g\n", name, value);
}

/* The median time of one call, in microseconds; all ranks make as many. */
static double time_of(void (*call)(int), int bytes)
{
    double times[REPETITIONS];
    int calls = 16;
    for (int again = 1; again; calls *= 4) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(bytes);
        again = MPI_Wtime() - start < LONG_ENOUGH;
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    calls /= 4;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(bytes);
        times[repetition] = (MPI_Wtime() - start) / calls * 1e6;
    }
    qsort(times, REPETITIONS, sizeof *times, ascending);
    return times[REPETITIONS / 2];
}

static void system_call(int unused)
{
    (void)unused;
    syscall(SYS_getpid);
}

static void ping_pong(int bytes)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void barrier(int unused)
{
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcast(int bytes)
{
    MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void reduce(int bytes)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(int bytes)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

/* Whether a message and a reduction of the largest size arrive as they were sent. */
static void check(void)
{
    int wrong = 0;
    for (int i = 0; i < LARGE; i++)
        out[i] = (char)(i * 7 + rank);
    ping_pong(LARGE);
    for (int i = 0; rank < 2 && i < LARGE; i++)
        wrong += in[i] != (char)(i * 7 + 1 - rank);
    for (int i = 0; i < LARGE / 8; i++)
        ((double *)out)[i] = i + rank;
    allreduce(LARGE);
    for (int i = 0; i < LARGE / 8; i++)
        wrong += ((double *)in)[i] != (double)i * ranks + ranks * (ranks - 1) / 2.0;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong) {
        if (rank == 0)
            fprintf(stderr, "%d bytes or numbers arrived wrong\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* All ranks compute for a second. */
static void noise(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long long interrupts = number_in("/proc/stat", "intr "), switches = number_in("/proc/stat", "ctxt ");
    double start = MPI_Wtime(), before = start, longest = 0;
    while (before - start < 1) {
        double now = MPI_Wtime();
        if (now - before > longest)
            longest = now - before;
        before = now;
    }
    if (interrupts >= 0)
        say("interrupts", number_in("/proc/stat", "intr ") - interrupts);
    if (switches >= 0)
        say("switches", number_in("/proc/stat", "ctxt ") - switches);
    say("longest_gap_us", longest * 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the tables of 1 GiB of memory in use take. */
static void page_tables(void)
{
    long long before = number_in("/proc/self/status", "VmPTE:");
    if (rank != 0 || before < 0)
        return;
    char *memory = malloc(GIB);
    if (!memory) {
        fprintf(stderr, "no memory of 1 GiB: page tables are not measured\n");
        return;
    }
    for (long i = 0; i < GIB; i += 4096)
        memory[i] = 1;
    say("page_table_bytes", (number_in("/proc/self/status", "VmPTE:") - before) * 1024.0);
    free(memory);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*call)(int); int bytes; int halves; } TIMES[] = {
        {"latency_0_us", ping_pong, 0, 2},   {"latency_8_us", ping_pong, 8, 2},   {"latency_64k_us", ping_pong, LARGE, 2},
        {"barrier_us", barrier, 0, 1},       {"bcast_8_us", broadcast, 8, 1},     {"bcast_64k_us", broadcast, LARGE, 1},
        {"reduce_8_us", reduce, 8, 1},       {"reduce_64k_us", reduce, LARGE, 1}, {"allreduce_8_us", allreduce, 8, 1},
        {"allreduce_64k_us", allreduce, LARGE, 1}, {"alltoall_8_us", alltoall, 8, 1}, {"alltoall_64k_us", alltoall, LARGE, 1},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = malloc((size_t)LARGE * ranks);
    in = malloc((size_t)LARGE * ranks);
    if (ranks < 2 || !out || !in) {
        fprintf(stderr, "guest needs 2 ranks or more, and memory for their buffers\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check();
    say("system_call_us", time_of(system_call, 0));
    noise();
    page_tables();
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
        say(TIMES[i].name, time_of(TIMES[i].call, TIMES[i].bytes) / TIMES[i].halves);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
