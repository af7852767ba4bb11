/* An error on a communicator whose handler is MPI_ERRORS_ARE_FATAL ends the job with a message; what has been printed before is not lost
   (MPI-5.0, section 9.3). The argument says how the error comes: a call's own, or one that the program raises. */
#include "../check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank_ == size_ - 1) {
        printf("buffered");
        if (argc > 1 && strcmp(argv[1], "raised") == 0)
            NEVER_RETURNS(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO));
        else
            NEVER_RETURNS(MPI_Send(&rank_, 1, MPI_INT, size_, 0, MPI_COMM_WORLD));
    }
    /* Nobody comes. */
    MPI_Recv(&rank_, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return finish("fatal");
}
