/* MPI and OpenSHMEM in one program: numbers agree, and calls of the two take turns. */
#include <mpi.h>

#include "check.h"

int main(int argc, char **argv)
{
    static long word;
    int rank, size;
    MPI_Init(&argc, &argv);
    begin();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank == me && size == n);
    for (long round = 1; round <= 20; round++) {
        long sum = 0, mine = me + round;
        shmem_long_p(&word, mine, next);
        shmem_barrier_all();
        CHECK(word == previous + round);
        MPI_Allreduce(&word, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == n * round + n * (n - 1L) / 2);
        if (n > 1) {
            MPI_Status status;
            long got = -1;
            MPI_Sendrecv(&mine, 1, MPI_LONG, next, 1, &got, 1, MPI_LONG, previous, 1, MPI_COMM_WORLD, &status);
            CHECK(got == previous + round);
        }
        shmem_barrier_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int status = finish("shmem-with-mpi");
    MPI_Finalize();
    return status;
}
