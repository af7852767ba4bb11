/* The world's communicator while there is a session and no world model: an error, like any communicator that is none */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    int rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "here", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    /* What needs no communicator needs no world. */
    if (MPI_Imrecv(&rank, 0, MPI_INT, &message, &request) != MPI_SUCCESS || MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return 1;
    MPI_Barrier(comm);
    if (rank == 0)
        printf("the session works\n");
    fflush(stdout);
    MPI_Barrier(comm);
    return MPI_Barrier(MPI_COMM_WORLD);
}
