/* Rank 0 waits for a message of rank 1, on another node, which never sends it and never waits: the job is to end when that node is lost.
 *
 * Both have talked before. The last message is rank 1's, and tells of all that has come from rank 0: what is under way to a node that is lost is another case. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts("rank 0 waits");
        fflush(stdout);
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts("rank 0 has got a message");
    }
    for (volatile int on = 1; on;) {
    }
    MPI_Finalize();
    return 0;
}
