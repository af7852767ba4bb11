/* Barriers in a row: args [COUNT].
 *
 * Rank 0 prints how many all ranks have passed together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    for (int round = 0; round < count; round++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&count, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("barriers: %d ranks passed %d in all\n", ranks, sum);
    MPI_Finalize();
    return 0;
}
