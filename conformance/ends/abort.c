/* MPI_Abort ends the job with its code as the status, whatever the communicator and whoever else waits;
   what the rank has printed is not lost (MPI-5.0, section 9.7). */
#include "../check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank_ == size_ - 1) {
        printf("buffered");
        NEVER_RETURNS(MPI_Abort(MPI_COMM_SELF, 7));
    }
    /* Nobody comes. */
    MPI_Recv(&rank_, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return finish("abort");
}
