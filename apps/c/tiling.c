/* Data tiling: args [TILE [BYTES [ROUNDS]]].
 *
 * The experiment of figure 2.6 in L. Chai's dissertation (section 2.2.4). Ranks stand in a ring. In a round each computes on its BYTES of
 * data and sends them to the next rank, TILE bytes at a time: a tile that fits a cache is there when it is sent, and what has come is there
 * when it is computed on. With TILE as large as BYTES all is computed on first, and then sent. The result does not depend on TILE. */
#include "args.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG 1
#define WORD ((long)sizeof(uint64_t))

/* Word `at` of the data with which a rank begins. */
static uint64_t first(int rank, long at)
{
    return (uint64_t)rank << 40 | (uint64_t)at;
}

/* Computes on `words` words and hands them on, `tile` at a time; what the previous rank hands on is in `come` then. */
static void hand_on(uint64_t *mine, uint64_t *come, long words, long tile, int next, int previous)
{
    for (long at = 0; at < words; at += tile) {
        int part = (int)(words - at < tile ? words - at : tile);
        MPI_Request sent;
        for (long i = at; i < at + part; i++)
            mine[i]++;
        MPI_Isend(mine + at, part, MPI_UINT64_T, next, TAG, MPI_COMM_WORLD, &sent);
        MPI_Recv(come + at, part, MPI_UINT64_T, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, faults;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long tile = argument(argc, argv, 1, 64 << 10, WORD, 1L << 30);
    long bytes = argument(argc, argv, 2, 1 << 20, WORD, 1L << 30);
    long rounds = argument(argc, argv, 3, 8, 1, 1000000);
    if (argc > 4 || tile < 0 || bytes < 0 || rounds < 0 || tile % WORD != 0 || bytes % WORD != 0) {
        if (rank == 0)
            fprintf(stderr, "usage: tiling [TILE [BYTES [ROUNDS]]], multiples of %ld bytes up to 2^30, 1 to 1000000 rounds\n", WORD);
        MPI_Finalize();
        return 2;
    }
    long words = bytes / WORD;
    uint64_t *mine = malloc((size_t)bytes), *come = malloc((size_t)bytes);
    if (mine == NULL || come == NULL) {
        fprintf(stderr, "tiling: no memory for two times %ld bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (long i = 0; i < words; i++) {
        mine[i] = first(rank, i);
        come[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double started = MPI_Wtime();
    for (long round = 0; round < rounds; round++) {
        hand_on(mine, come, words, tile / WORD, (rank + 1) % ranks, (rank + ranks - 1) % ranks);
        uint64_t *spare = mine;
        mine = come;
        come = spare;
    }
    double seconds = MPI_Wtime() - started, longest;
    /* So many ranks back these data have begun, and in each round one has been added. */
    int origin = (int)(((long)rank - rounds % ranks + ranks) % ranks);
    for (long i = 0; i < words; i++)
        wrong += mine[i] != first(origin, i) + (uint64_t)rounds;
    MPI_Allreduce(&wrong, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("tiling: %ld rounds of %ld bytes by tiles of %ld, %s\n", rounds, bytes, tile, faults == 0 ? "right" : "WRONG");
        if (getenv("TIMES") != NULL)
            printf("tiling: %d ranks, %.3f ms a round\n", ranks, 1e3 * longest / (double)rounds);
    }
    free(mine);
    free(come);
    MPI_Finalize();
    return faults != 0;
}
