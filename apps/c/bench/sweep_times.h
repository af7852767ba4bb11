/* How sweep.c and sweep-shmem.c take times of what all processes do together. Who includes it says what its library has for these: */
#ifndef SWEEP_TIMES_H
#define SWEEP_TIMES_H

#include "figures.h"

typedef void action(int bytes);

/* Waits for all. */
static void meet(void);
/* Seconds by a steady clock. */
static double now(void);
/* What the first process has measured, told to all: every process makes the same decisions. */
static double of_root(double value);

enum { REPETITIONS = 5, HANDOVERS = 1000, MIB = 1 << 20, NO_SIZES = -1 };

/* A repetition takes at least this long, in seconds. */
static double long_enough = 0.002;

static double seconds_of(action *run, int bytes, int calls)
{
    meet();
    double start = now();
    for (int i = 0; i < calls; i++)
        run(bytes);
    return now() - start;
}

/* The median time of one of so many calls, in microseconds. */
static double median_of(action *run, int bytes, int calls)
{
    double times[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++)
        times[i] = seconds_of(run, bytes, calls) / calls * 1e6;
    qsort(times, REPETITIONS, sizeof *times, ascending);
    return times[REPETITIONS / 2];
}

/* The median time of one call, in microseconds, of as many as the clock needs. */
static double time_of(action *run, int bytes)
{
    double took;
    int calls = 1;
    while ((took = of_root(seconds_of(run, bytes, calls))) < long_enough && calls < 1 << 24)
        calls *= took * 8 < long_enough ? 8 : 2;
    return of_root(median_of(run, bytes, calls));
}

#endif
