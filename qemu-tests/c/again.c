/* Communicators one after the other, with the same context each time: the first operation of the second must not be taken for that of the
   first, of which every structure still has the number. Rank 0, the root of a barrier in the SMARTMAP paper's form, comes late. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 20 };

int main(int argc, char **argv)
{
    int me, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int time = 0; time < TIMES; time++) {
        MPI_Comm again;
        MPI_Comm_dup(MPI_COMM_WORLD, &again);
        for (double start = MPI_Wtime(); me == 0 && MPI_Wtime() - start < 1e-3;)
            ;
        MPI_Barrier(again);
        MPI_Comm_free(&again);
        /* Both have left it when the next is made, by messages: a collective would write to the structure. */
        if (me == 1)
            MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (me == 0)
        printf("%d communicators\n", TIMES);
    MPI_Finalize();
    return 0;
}
