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

/* A job cannot grow nor meet another: these hand on what the C library says to that. What the program would be told is not converted: nobody
   gets to read it. */
FORTRAN(comm_spawn, (const char *command, const char *arguments, const MPI_Fint *most, const MPI_Fint *info, const MPI_Fint *root,
                     const MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *codes, MPI_Fint *ierror, size_t bytes, size_t argument_bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    (void)arguments, (void)argument_bytes;
    WITH_TEXT(command, bytes,
              MPI_Comm_spawn(text, MPI_ARGV_NULL, *most, MPI_Info_f2c(*info), *root, MPI_Comm_f2c(*comm), &made,
                  ERRCODES(codes)));
    PUT(Comm, intercomm, made);
}

FORTRAN(comm_spawn_multiple, (const MPI_Fint *count, const char *commands, const char *arguments, const MPI_Fint *most,
                              const MPI_Fint *infos, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *intercomm,
                              MPI_Fint *codes, MPI_Fint *ierror, size_t bytes, size_t argument_bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    (void)commands, (void)arguments, (void)infos, (void)bytes, (void)argument_bytes;
    *ierror = MPI_Comm_spawn_multiple(*count, NULL, MPI_ARGVS_NULL, most, NULL, *root, MPI_Comm_f2c(*comm), &made, ERRCODES(codes));
    PUT(Comm, intercomm, made);
}

FORTRAN(comm_accept, (const char *port, const MPI_Fint *info, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *newcomm,
                      MPI_Fint *ierror, size_t bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    WITH_TEXT(port, bytes, MPI_Comm_accept(text, MPI_Info_f2c(*info), *root, MPI_Comm_f2c(*comm), &made));
    PUT(Comm, newcomm, made);
}

FORTRAN(comm_connect, (const char *port, const MPI_Fint *info, const MPI_Fint *root, const MPI_Fint *comm, MPI_Fint *newcomm,
                       MPI_Fint *ierror, size_t bytes))
{
    MPI_Comm made = MPI_COMM_NULL;
    WITH_TEXT(port, bytes, MPI_Comm_connect(text, MPI_Info_f2c(*info), *root, MPI_Comm_f2c(*comm), &made));
    PUT(Comm, newcomm, made);
}

FORTRAN(comm_join, (const MPI_Fint *fd, MPI_Fint *intercomm, MPI_Fint *ierror))
{
    MPI_Comm made = MPI_COMM_NULL;
    *ierror = MPI_Comm_join(*fd, &made);
    PUT(Comm, intercomm, made);
}

FORTRAN(open_port, (const MPI_Fint *info, char *port, MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_PORT_NAME] = "";
    MPI_Fint length;
    *ierror = MPI_Open_port(MPI_Info_f2c(*info), text);
    if (*ierror == MPI_SUCCESS)
        margay_text_out(port, room, text, &length);
}

FORTRAN(close_port, (const char *port, MPI_Fint *ierror, size_t bytes))
{
    WITH_TEXT(port, bytes, MPI_Close_port(text));
}

FORTRAN(lookup_name, (const char *service, const MPI_Fint *info, char *port, MPI_Fint *ierror, size_t bytes, size_t room))
{
    char found[MPI_MAX_PORT_NAME] = "", *text = margay_text_in(service, bytes);
    MPI_Fint length;
    *ierror = text ? MPI_Lookup_name(text, MPI_Info_f2c(*info), found) : MPI_ERR_NO_MEM;
    if (*ierror == MPI_SUCCESS)
        margay_text_out(port, room, found, &length);
    free(text);
}

#define NAMED(name, Name)                                                                                                            \
    FORTRAN(name, (const char *service, const MPI_Fint *info, const char *port, MPI_Fint *ierror, size_t bytes, size_t port_bytes)) \
    {                                                                                                                                \
        char *text = margay_text_in(service, bytes), *port_text = margay_text_in(port, port_bytes);                                 \
        *ierror = text && port_text ? MPI_##Name(text, MPI_Info_f2c(*info), port_text) : MPI_ERR_NO_MEM;                            \
        free(text);                                                                                                                  \
        free(port_text);                                                                                                             \
    }

NAMED(publish_name, Publish_name)
NAMED(unpublish_name, Unpublish_name)
