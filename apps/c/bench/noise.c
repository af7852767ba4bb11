/* Interruptions of a program that computes, on every core: three loops (noise.h), all ranks at once
 *
 * `cargo lwk bench noise` compiles it for Margay and for Linux. Rank 0 prints what all have seen, in ticks: a line `core`, `detour`, `work` or `time` each,
 * as arch/bare.c does, and as `@name value` the counter's frequency and, where the system counts them, interrupts. */
#define _GNU_SOURCE
#include "figures.h"
#include "noise.h"

#include <mpi.h>
#include <stdio.h>

static struct noise seen;

static void print_samples(const char *name, int rank, const uint64_t *samples)
{
    for (int i = 0; i < SAMPLES; i++) {
        if (i % IN_A_LINE == 0)
            printf("%s%s %d", i ? "\n" : "", name, rank);
        printf(" %llu", (unsigned long long)samples[i]);
    }
    printf("\n");
}

static void print(int rank)
{
    printf("core %d %llu %llu %llu %llu\n", rank, (unsigned long long)seen.shortest, (unsigned long long)seen.gaps,
        (unsigned long long)seen.elapsed, (unsigned long long)seen.detours);
    for (uint64_t i = 0; i < seen.detours && i < DETOURS; i++)
        printf("detour %d %llu %llu\n", rank, (unsigned long long)seen.detour[i].start, (unsigned long long)seen.detour[i].length);
    print_samples("work", rank, seen.work);
    print_samples("time", rank, seen.time);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* So that no page is touched for the first time while it is measured. */
    memset(&seen, 1, sizeof seen);
    double clock = MPI_Wtime();
    uint64_t counter = ticks();
    while (MPI_Wtime() - clock < 0.1)
        ;
    double hz = (ticks() - counter) / (MPI_Wtime() - clock);
    MPI_Bcast(&hz, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    long long interrupts = number_in("/proc/stat", "intr ");
    measure_noise(&seen, (uint64_t)hz);
    if (interrupts >= 0)
        interrupts = number_in("/proc/stat", "intr ") - interrupts;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("@hz %.9g\n", hz);
        if (interrupts >= 0)
            printf("@interrupts %lld\n", interrupts);
        print(0);
        for (int peer = 1; peer < ranks; peer++) {
            MPI_Recv(&seen, sizeof seen, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            print(peer);
        }
    } else {
        MPI_Send(&seen, sizeof seen, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
