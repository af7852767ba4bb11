/* Fortran bindings of functions that name process sets, and of those that make communicators from groups. See fortran.h. */
#include "fortran.h"

/* In C a length counts the zero behind the text, in Fortran it does not. */
FORTRAN(session_get_nth_pset, (const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n, MPI_Fint *length, char *name,
                               MPI_Fint *ierror, size_t room))
{
    char text[MPI_MAX_PSET_NAME_LEN] = "";
    int bytes = sizeof text;
    *ierror = MPI_Session_get_nth_pset(MPI_Session_f2c(*session), MPI_Info_f2c(*info), *n, &bytes, text);
    if (*ierror == MPI_SUCCESS)
        margay_text_part(name, room, text, bytes, length);
}

FORTRAN(session_get_pset_info, (const MPI_Fint *session, const char *name, MPI_Fint *info, MPI_Fint *ierror, size_t bytes))
{
    MPI_Info c_info = MPI_INFO_NULL;
    WITH_TEXT(name, bytes, MPI_Session_get_pset_info(MPI_Session_f2c(*session), text, &c_info));
    PUT(Info, info, c_info);
}

FORTRAN(group_from_session_pset, (const MPI_Fint *session, const char *name, MPI_Fint *group, MPI_Fint *ierror, size_t bytes))
{
    MPI_Group c_group = MPI_GROUP_NULL;
    WITH_TEXT(name, bytes, MPI_Group_from_session_pset(MPI_Session_f2c(*session), text, &c_group));
    PUT(Group, group, c_group);
}

FORTRAN(comm_create_from_group, (const MPI_Fint *group, const char *tag, const MPI_Fint *info, const MPI_Fint *errhandler, MPI_Fint *comm,
                                 MPI_Fint *ierror, size_t bytes))
{
    MPI_Comm c_comm = MPI_COMM_NULL;
    WITH_TEXT(tag, bytes,
              MPI_Comm_create_from_group(MPI_Group_f2c(*group), text, MPI_Info_f2c(*info), MPI_Errhandler_f2c(*errhandler),
                  &c_comm));
    PUT(Comm, comm, c_comm);
}

FORTRAN(intercomm_create_from_groups, (const MPI_Fint *local, const MPI_Fint *local_leader, const MPI_Fint *remote,
                                       const MPI_Fint *remote_leader, const char *tag, const MPI_Fint *info, const MPI_Fint *errhandler,
                                       MPI_Fint *comm, MPI_Fint *ierror, size_t bytes))
{
    MPI_Comm c_comm = MPI_COMM_NULL;
    WITH_TEXT(tag, bytes,
              MPI_Intercomm_create_from_groups(MPI_Group_f2c(*local), *local_leader, MPI_Group_f2c(*remote), *remote_leader,
                  text, MPI_Info_f2c(*info), MPI_Errhandler_f2c(*errhandler), &c_comm));
    PUT(Comm, comm, c_comm);
}
