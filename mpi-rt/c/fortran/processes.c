/* Fortran bindings of the functions in margay/processes.h. See fortran.h. */
#include "fortran.h"

FORTRAN(comm_disconnect, (MPI_Fint *comm, MPI_Fint *ierror))
{
    MPI_Comm c_comm = MPI_Comm_f2c(*comm);
    *ierror = MPI_Comm_disconnect(&c_comm);
    PUT_BACK(Comm, comm, c_comm);
}

FORTRAN(comm_get_parent, (MPI_Fint *parent, MPI_Fint *ierror))
{
    MPI_Comm c_parent = MPI_COMM_NULL;
    *ierror = MPI_Comm_get_parent(&c_parent);
    PUT(Comm, parent, c_parent);
}
