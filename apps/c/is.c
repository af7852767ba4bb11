/* An integer sort by buckets: args [KEYS].
 *
 * Key i of the KEYS is a hash of i, so every number of ranks sorts the same keys. A rank counts how many of its keys belong to each
 * rank's range, tells them by MPI_Alltoall, sends them by MPI_Alltoallv, and sorts what it has got. The checksum weighs each key with its
 * place in the sorted whole. */
#include "args.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RANGE_BITS 20

/* SplitMix64 (Steele, Lea, Flood 2014), of which the upper bits are taken. */
static uint32_t key(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> (64 - RANGE_BITS));
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void *allocate(size_t count, size_t bytes)
{
    void *memory = malloc(count * bytes + 1);
    if (memory == NULL) {
        fprintf(stderr, "is: no memory for %zu keys\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long keys = argument(argc, argv, 1, 100000, 1, 1L << 30);
    if (argc > 2 || keys < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: is [KEYS], 1 to 2^30 of them\n");
        MPI_Finalize();
        return 2;
    }
    long first = keys * rank / ranks, mine = keys * (rank + 1) / ranks - first;
    int *counts = allocate((size_t)ranks * 4, sizeof *counts);
    int *starts = counts + ranks, *incoming = counts + 2 * ranks, *places = counts + 3 * ranks;
    uint32_t *outbox = allocate((size_t)mine, sizeof *outbox);
    double started = MPI_Wtime();
    for (int r = 0; r < ranks; r++)
        counts[r] = 0;
    for (long i = 0; i < mine; i++)
        counts[(uint64_t)key((uint64_t)(first + i)) * (uint64_t)ranks >> RANGE_BITS]++;
    for (int r = 0, at = 0; r < ranks; at += counts[r++])
        starts[r] = places[r] = at;
    for (long i = 0; i < mine; i++) {
        uint32_t k = key((uint64_t)(first + i));
        outbox[places[(uint64_t)k * (uint64_t)ranks >> RANGE_BITS]++] = k;
    }
    MPI_Alltoall(counts, 1, MPI_INT, incoming, 1, MPI_INT, MPI_COMM_WORLD);
    long long got = 0;
    for (int r = 0; r < ranks; r++) {
        places[r] = (int)got;
        got += incoming[r];
    }
    uint32_t *sorted = allocate((size_t)got, sizeof *sorted);
    MPI_Alltoallv(outbox, counts, starts, MPI_UINT32_T, sorted, incoming, places, MPI_UINT32_T, MPI_COMM_WORLD);
    qsort(sorted, (size_t)got, sizeof *sorted, compare);
    double seconds = MPI_Wtime() - started;

    /* In order within the rank, and behind the greatest key of all ranks before. */
    long long before = 0;
    int32_t greatest = -1, least = got > 0 ? (int32_t)sorted[0] : INT32_MAX, last = got > 0 ? (int32_t)sorted[got - 1] : -1;
    MPI_Exscan(&got, &before, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&last, &greatest, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        before = 0;
        greatest = -1;
    }
    int wrong = least < greatest;
    uint64_t sum = 0, all;
    for (long long i = 0; i < got; i++) {
        wrong += i > 0 && sorted[i] < sorted[i - 1];
        sum += (uint64_t)(before + i + 1) * sorted[i];
    }
    int faults;
    long long total;
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&got, &total, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("is: %lld keys %s, checksum %016llx\n", total, faults == 0 && total == keys ? "sorted" : "NOT SORTED",
               (unsigned long long)all);
        if (getenv("TIMES") != NULL)
            printf("is: %d ranks, %.3f s\n", ranks, seconds);
    }
    free(sorted);
    free(outbox);
    free(counts);
    MPI_Finalize();
    return faults != 0 || total != keys;
}
