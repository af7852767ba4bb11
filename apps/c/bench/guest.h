/* What the programs of `cargo lwk bench linux-guest` share: their buffers, how a call of MPI is timed, and the calls.
 *
 * Each figure is a line `@name value`, from rank 0. Times are medians of REPETITIONS, each long enough for the clock; data is checked before it is timed.
 * With the argument `shortest` they are the shortest of more and shorter ones: of a machine whose cores have others to serve, what is left between two turns. */
#ifndef GUEST_H
#define GUEST_H

#include "figures.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITIONS = 5, SHORT_REPETITIONS = 12, LARGE = 64 << 10 };

/* A repetition takes at least this long, in seconds. */
static const double LONG_ENOUGH = 0.02, SHORT_ENOUGH = 0.004;
/* And has so many calls at first: more than what can be under way, so that none is measured which only gives. */
enum { CALLS = 16, SHORT_CALLS = 64 };

static int rank, ranks, shortest;
static char *out, *in;

static inline void say(const char *name, double value)
{
    if (rank == 0)
        printf("@%s %.6g\n", name, value);
}

/* The median, or shortest, time of one call, in microseconds; all ranks make as many. */
static inline double time_of(void (*call)(int), int bytes)
{
    double times[SHORT_REPETITIONS], enough = shortest ? SHORT_ENOUGH : LONG_ENOUGH;
    int calls = shortest ? SHORT_CALLS : CALLS, repetitions = shortest ? SHORT_REPETITIONS : REPETITIONS;
    for (int again = 1; again; calls *= 4) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(bytes);
        again = MPI_Wtime() - start < enough;
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    calls /= 4;
    for (int repetition = 0; repetition < repetitions; repetition++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(bytes);
        times[repetition] = (MPI_Wtime() - start) / calls * 1e6;
    }
    qsort(times, repetitions, sizeof *times, ascending);
    return times[shortest ? 0 : repetitions / 2];
}

static inline void ping_pong(int bytes)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static inline void barrier(int unused)
{
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void broadcast(int bytes)
{
    MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline void reduce(int bytes)
{
    MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static inline void allreduce(int bytes)
{
    MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static inline void alltoall(int bytes)
{
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

/* Whether a message and a reduction of the largest size arrive as they were sent. */
static inline void check(void)
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

/* Starts MPI, and takes memory for buffers of so many bytes. */
static inline void begin(int *argc, char ***argv, size_t bytes)
{
    MPI_Init(argc, argv);
    shortest = *argc > 1 && strcmp((*argv)[1], "shortest") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (bytes < (size_t)LARGE * ranks)
        bytes = (size_t)LARGE * ranks;
    out = malloc(bytes);
    in = malloc(bytes);
    if (ranks < 2 || !out || !in) {
        fprintf(stderr, "the program needs 2 ranks or more, and memory for their buffers\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check();
}

static inline void end(void)
{
    free(out);
    free(in);
    MPI_Finalize();
}

#endif
