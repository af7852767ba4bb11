/* An error of a call without a communicator, while MPI_COMM_WORLD returns errors: by MPI-5.0, section 9.3, it is MPI_COMM_SELF's and ends the job;
   with MARGAY_ERRORS_ON=world it is MPI_COMM_WORLD's, as before MPI-4. */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Comm none = MPI_COMM_NULL;
    int value = 0;
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_Type_commit(NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(none, &value));
    return finish("nowhere");
}
