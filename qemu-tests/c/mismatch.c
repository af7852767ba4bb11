/* Collective calls of two ranks that do not match: both ranks' error handlers get the class.
 *
 * What these calls are is wrong by the standard; no other MPI has to notice. */
#include "check.h"
#include <mpi.h>

static int rank, handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &handled);
}

/* A communicator with the handler, after calls that match. */
static MPI_Comm made(void)
{
    static MPI_Errhandler both;
    MPI_Comm comm;
    int one = 1, sum;
    if (!both)
        MPI_Comm_create_errhandler(handler, &both);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, both);
    for (int i = 0; i < 100; i++) {
        MPI_Bcast(&one, 1, MPI_INT, i % 2, comm);
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % 2, comm);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    THAT(sum == 2);
    handled = MPI_SUCCESS;
    return comm;
}

/* This rank has been told by the handler and by what the call has answered; so it is in the next call. */
static void told(MPI_Comm comm, int answer, int class)
{
    int of_answer;
    MPI_Error_class(answer, &of_answer);
    THAT(of_answer == class);
    THAT(handled == class);
    handled = MPI_SUCCESS;
    THAT(MPI_Barrier(comm) != MPI_SUCCESS);
    THAT(handled == class);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int numbers[16] = {0}, results[16], all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    /* The other operation. */
    MPI_Comm comm = made();
    told(comm, rank == 0 ? MPI_Barrier(comm) : MPI_Allreduce(numbers, results, 2, MPI_INT, MPI_SUM, comm), MPI_ERR_NOT_SAME);

    /* A root that does not wait is told in the next call. */
    comm = made();
    if (rank == 0) {
        THAT(MPI_Bcast(numbers, 1, MPI_INT, 0, comm) == MPI_SUCCESS);
        told(comm, MPI_Barrier(comm), MPI_ERR_NOT_SAME);
    } else {
        told(comm, MPI_Reduce(numbers, results, 1, MPI_INT, MPI_SUM, 1, comm), MPI_ERR_NOT_SAME);
    }

    /* Another root, for which both wait. */
    comm = made();
    told(comm, MPI_Bcast(numbers, 4, MPI_INT, 1 - rank, comm), MPI_ERR_ROOT);

    /* Other counts: in a line, and in what is copied for all to read. */
    comm = made();
    told(comm, MPI_Allreduce(numbers, results, 3 + rank, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    static double large[2][120];
    comm = made();
    told(comm, MPI_Allreduce(large[0], large[1], 100 + 20 * rank, MPI_DOUBLE, MPI_SUM, comm), MPI_ERR_COUNT);

    /* The world is as it was. */
    THAT(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && all == 1);
    MPI_Finalize();
    return report("mismatch");
}
