/* A program that knows nothing of the profiler it is linked with, but says when it wants to be looked at. It calls what the profiler has
   replaced, and what it has not. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, ranks, value = 1, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    for (int i = 0; i < 3; i++) {
        double out[5] = {0}, in[5];
        int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
        MPI_Isend(out, 5, MPI_DOUBLE, next, i, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 5, MPI_DOUBLE, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(&value, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum != ranks;
}
