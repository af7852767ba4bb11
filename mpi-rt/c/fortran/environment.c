/* Fortran bindings of the functions in margay/environment.h. See fortran.h. */
#include "fortran.h"

FORTRAN(abi_get_fortran_info, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_Abi_get_fortran_info(&c_info);
    PUT(Info, info, c_info);
}

FORTRAN(abi_get_info, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_Abi_get_info(&c_info);
    PUT(Info, info, c_info);
}

FORTRAN(abi_get_version, (MPI_Fint *abi_major, MPI_Fint *abi_minor, MPI_Fint *ierror))
{
    *ierror = MPI_Abi_get_version(abi_major, abi_minor);
}

FORTRAN(abi_set_fortran_info, (const MPI_Fint *info, MPI_Fint *ierror))
{
    *ierror = MPI_Abi_set_fortran_info(MPI_Info_f2c(*info));
}

FORTRAN(abort, (const MPI_Fint *comm, const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Abort(MPI_Comm_f2c(*comm), *errorcode);
}

FORTRAN(add_error_class, (MPI_Fint *errorclass, MPI_Fint *ierror))
{
    *ierror = MPI_Add_error_class(errorclass);
}

FORTRAN(add_error_code, (const MPI_Fint *errorclass, MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Add_error_code(*errorclass, errorcode);
}

FORTRAN(alloc_mem, (const MPI_Aint *size, const MPI_Fint *info, void *baseptr, MPI_Fint *ierror))
{
    *ierror = MPI_Alloc_mem(*size, MPI_Info_f2c(*info), baseptr);
}

FORTRAN(comm_call_errhandler, (const MPI_Fint *comm, const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_call_errhandler(MPI_Comm_f2c(*comm), *errorcode);
}

FORTRAN(comm_get_errhandler, (const MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
    *ierror = MPI_Comm_get_errhandler(MPI_Comm_f2c(*comm), &c_errhandler);
    PUT(Errhandler, errhandler, c_errhandler);
}

FORTRAN(comm_set_errhandler, (const MPI_Fint *comm, const MPI_Fint *errhandler, MPI_Fint *ierror))
{
    *ierror = MPI_Comm_set_errhandler(MPI_Comm_f2c(*comm), MPI_Errhandler_f2c(*errhandler));
}

FORTRAN(errhandler_free, (MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler c_errhandler = MPI_Errhandler_f2c(*errhandler);
    /* The number may still be in use: MPI_Errhandler_free knows. */
    *ierror = MPI_Errhandler_free(&c_errhandler);
    PUT(Errhandler, errhandler, c_errhandler);
}

FORTRAN(error_class, (const MPI_Fint *errorcode, MPI_Fint *errorclass, MPI_Fint *ierror))
{
    *ierror = MPI_Error_class(*errorcode, errorclass);
}

FORTRAN(finalize, (MPI_Fint *ierror))
{
    *ierror = MPI_Finalize();
}

FORTRAN(finalized, (MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Finalized(flag);
}

FORTRAN(free_mem, (void *base, MPI_Fint *ierror))
{
    *ierror = MPI_Free_mem(BUFFER(base));
}

FORTRAN(get_hw_resource_info, (MPI_Fint *hw_info, MPI_Fint *ierror))
{
    MPI_Info c_hw_info = MPI_INFO_NULL;
    *ierror = MPI_Get_hw_resource_info(&c_hw_info);
    PUT(Info, hw_info, c_hw_info);
}

FORTRAN(get_version, (MPI_Fint *version, MPI_Fint *subversion, MPI_Fint *ierror))
{
    *ierror = MPI_Get_version(version, subversion);
}

FORTRAN(grequest_complete, (const MPI_Fint *request, MPI_Fint *ierror))
{
    *ierror = MPI_Grequest_complete(MPI_Request_f2c(*request));
}

FORTRAN(info_create, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_INFO_NULL;
    *ierror = MPI_Info_create(&c_info);
    PUT(Info, info, c_info);
}

FORTRAN(info_dup, (const MPI_Fint *info, MPI_Fint *newinfo, MPI_Fint *ierror))
{
    MPI_Info c_newinfo = MPI_INFO_NULL;
    *ierror = MPI_Info_dup(MPI_Info_f2c(*info), &c_newinfo);
    PUT(Info, newinfo, c_newinfo);
}

FORTRAN(info_free, (MPI_Fint *info, MPI_Fint *ierror))
{
    MPI_Info c_info = MPI_Info_f2c(*info);
    *ierror = MPI_Info_free(&c_info);
    PUT_BACK(Info, info, c_info);
}

FORTRAN(info_get_nkeys, (const MPI_Fint *info, MPI_Fint *nkeys, MPI_Fint *ierror))
{
    *ierror = MPI_Info_get_nkeys(MPI_Info_f2c(*info), nkeys);
}

FORTRAN(initialized, (MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Initialized(flag);
}

FORTRAN(is_thread_main, (MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Is_thread_main(flag);
}

FORTRAN(query_thread, (MPI_Fint *provided, MPI_Fint *ierror))
{
    *ierror = MPI_Query_thread(provided);
}

FORTRAN(remove_error_class, (const MPI_Fint *errorclass, MPI_Fint *ierror))
{
    *ierror = MPI_Remove_error_class(*errorclass);
}

FORTRAN(remove_error_code, (const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Remove_error_code(*errorcode);
}

FORTRAN(remove_error_string, (const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Remove_error_string(*errorcode);
}

FORTRAN(session_call_errhandler, (const MPI_Fint *session, const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Session_call_errhandler(MPI_Session_f2c(*session), *errorcode);
}

FORTRAN(session_finalize, (MPI_Fint *session, MPI_Fint *ierror))
{
    MPI_Session c_session = MPI_Session_f2c(*session);
    *ierror = MPI_Session_finalize(&c_session);
    PUT_BACK(Session, session, c_session);
}

FORTRAN(session_get_errhandler, (const MPI_Fint *session, MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
    *ierror = MPI_Session_get_errhandler(MPI_Session_f2c(*session), &c_errhandler);
    PUT(Errhandler, errhandler, c_errhandler);
}

FORTRAN(session_get_info, (const MPI_Fint *session, MPI_Fint *info_used, MPI_Fint *ierror))
{
    MPI_Info c_info_used = MPI_INFO_NULL;
    *ierror = MPI_Session_get_info(MPI_Session_f2c(*session), &c_info_used);
    PUT(Info, info_used, c_info_used);
}

FORTRAN(session_get_num_psets, (const MPI_Fint *session, const MPI_Fint *info, MPI_Fint *npset_names,
        MPI_Fint *ierror))
{
    *ierror = MPI_Session_get_num_psets(MPI_Session_f2c(*session), MPI_Info_f2c(*info), npset_names);
}

FORTRAN(session_init, (const MPI_Fint *info, const MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror))
{
    MPI_Session c_session = MPI_SESSION_NULL;
    *ierror = MPI_Session_init(MPI_Info_f2c(*info), MPI_Errhandler_f2c(*errhandler), &c_session);
    PUT(Session, session, c_session);
}

FORTRAN(session_set_errhandler, (const MPI_Fint *session, const MPI_Fint *errhandler, MPI_Fint *ierror))
{
    *ierror = MPI_Session_set_errhandler(MPI_Session_f2c(*session), MPI_Errhandler_f2c(*errhandler));
}
