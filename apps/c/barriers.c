/* Barriers in a row: args [COUNT].
 *
 * Rank 0 prints how many all ranks have passed together. */
#include "args.h"

#include <mpi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = (int)argument(argc, argv, 1, 1000, 0, INT_MAX / ranks);
    if (argc > 2 || count < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: barriers [COUNT]; %d ranks pass at most %d each\n", ranks, INT_MAX / ranks);
        MPI_Finalize();
        return 2;
    }
    for (int round = 0; round < count; round++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&count, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("barriers: %d ranks passed %d in all\n", ranks, sum);
    MPI_Finalize();
    return 0;
}
