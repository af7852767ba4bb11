/* Making and meeting other processes (MPI-5.0, chapter 11): a job cannot grow, so these answer MPI_ERR_UNSUPPORTED_OPERATION.
   Included by mpi.h; every line declares a function under its MPI_ and its PMPI_ name. */

MARGAY_MPI(int, Close_port, (const char *port_name))
MARGAY_MPI(int, Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm))
MARGAY_MPI(int, Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm))
MARGAY_MPI(int, Comm_disconnect, (MPI_Comm *comm))
MARGAY_MPI(int, Comm_get_parent, (MPI_Comm *parent))
MARGAY_MPI(int, Comm_join, (int fd, MPI_Comm *intercomm))
MARGAY_MPI(int, Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]))
MARGAY_MPI(int, Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
    MPI_Comm *intercomm, int array_of_errcodes[]))
MARGAY_MPI(int, Lookup_name, (const char *service_name, MPI_Info info, char *port_name))
MARGAY_MPI(int, Open_port, (MPI_Info info, char *port_name))
MARGAY_MPI(int, Publish_name, (const char *service_name, MPI_Info info, const char *port_name))
MARGAY_MPI(int, Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name))
