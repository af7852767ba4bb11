/* Fortran bindings of the functions in margay/one_sided.h. See fortran.h. */
#include "fortran.h"

FORTRAN(accumulate, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Accumulate(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank,
        *target_disp, *target_count, MPI_Type_f2c(*target_datatype), MPI_Op_f2c(*op), MPI_Win_f2c(*win));
}

FORTRAN(compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
        const MPI_Fint *datatype, const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *win,
        MPI_Fint *ierror))
{
    *ierror = MPI_Compare_and_swap(BUFFER(origin_addr), BUFFER(compare_addr), BUFFER(result_addr),
        MPI_Type_f2c(*datatype), *target_rank, *target_disp, MPI_Win_f2c(*win));
}

FORTRAN(fetch_and_op, (const void *origin_addr, void *result_addr, const MPI_Fint *datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *op, const MPI_Fint *win,
        MPI_Fint *ierror))
{
    *ierror = MPI_Fetch_and_op(BUFFER(origin_addr), BUFFER(result_addr), MPI_Type_f2c(*datatype), *target_rank,
        *target_disp, MPI_Op_f2c(*op), MPI_Win_f2c(*win));
}

FORTRAN(get, (void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Get(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank, *target_disp,
        *target_count, MPI_Type_f2c(*target_datatype), MPI_Win_f2c(*win));
}

FORTRAN(get_accumulate, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        void *result_addr, const MPI_Fint *result_count, const MPI_Fint *result_datatype, const MPI_Fint *target_rank,
        const MPI_Aint *target_disp, const MPI_Fint *target_count, const MPI_Fint *target_datatype,
        const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Get_accumulate(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype),
        BUFFER(result_addr), *result_count, MPI_Type_f2c(*result_datatype), *target_rank, *target_disp, *target_count,
        MPI_Type_f2c(*target_datatype), MPI_Op_f2c(*op), MPI_Win_f2c(*win));
}

FORTRAN(put, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Put(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank, *target_disp,
        *target_count, MPI_Type_f2c(*target_datatype), MPI_Win_f2c(*win));
}

FORTRAN(raccumulate, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *request,
        MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Raccumulate(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank,
        *target_disp, *target_count, MPI_Type_f2c(*target_datatype), MPI_Op_f2c(*op), MPI_Win_f2c(*win), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(rget, (void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Rget(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank, *target_disp,
        *target_count, MPI_Type_f2c(*target_datatype), MPI_Win_f2c(*win), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(rget_accumulate, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        void *result_addr, const MPI_Fint *result_count, const MPI_Fint *result_datatype, const MPI_Fint *target_rank,
        const MPI_Aint *target_disp, const MPI_Fint *target_count, const MPI_Fint *target_datatype,
        const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Rget_accumulate(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype),
        BUFFER(result_addr), *result_count, MPI_Type_f2c(*result_datatype), *target_rank, *target_disp, *target_count,
        MPI_Type_f2c(*target_datatype), MPI_Op_f2c(*op), MPI_Win_f2c(*win), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(rput, (const void *origin_addr, const MPI_Fint *origin_count, const MPI_Fint *origin_datatype,
        const MPI_Fint *target_rank, const MPI_Aint *target_disp, const MPI_Fint *target_count,
        const MPI_Fint *target_datatype, const MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror))
{
    MPI_Request c_request = MPI_REQUEST_NULL;
    *ierror = MPI_Rput(BUFFER(origin_addr), *origin_count, MPI_Type_f2c(*origin_datatype), *target_rank, *target_disp,
        *target_count, MPI_Type_f2c(*target_datatype), MPI_Win_f2c(*win), &c_request);
    PUT(Request, request, c_request);
}

FORTRAN(win_allocate, (const MPI_Aint *size, const MPI_Fint *disp_unit, const MPI_Fint *info, const MPI_Fint *comm,
        void *baseptr, MPI_Fint *win, MPI_Fint *ierror))
{
    MPI_Win c_win = MPI_WIN_NULL;
    *ierror = MPI_Win_allocate(*size, *disp_unit, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), baseptr, &c_win);
    PUT(Win, win, c_win);
}

FORTRAN(win_allocate_shared, (const MPI_Aint *size, const MPI_Fint *disp_unit, const MPI_Fint *info,
        const MPI_Fint *comm, void *baseptr, MPI_Fint *win, MPI_Fint *ierror))
{
    MPI_Win c_win = MPI_WIN_NULL;
    *ierror = MPI_Win_allocate_shared(*size, *disp_unit, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), baseptr, &c_win);
    PUT(Win, win, c_win);
}

FORTRAN(win_attach, (const MPI_Fint *win, void *base, const MPI_Aint *size, MPI_Fint *ierror))
{
    *ierror = MPI_Win_attach(MPI_Win_f2c(*win), BUFFER(base), *size);
}

FORTRAN(win_call_errhandler, (const MPI_Fint *win, const MPI_Fint *errorcode, MPI_Fint *ierror))
{
    *ierror = MPI_Win_call_errhandler(MPI_Win_f2c(*win), *errorcode);
}

FORTRAN(win_complete, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_complete(MPI_Win_f2c(*win));
}

FORTRAN(win_create, (void *base, const MPI_Aint *size, const MPI_Fint *disp_unit, const MPI_Fint *info,
        const MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror))
{
    MPI_Win c_win = MPI_WIN_NULL;
    *ierror = MPI_Win_create(BUFFER(base), *size, *disp_unit, MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), &c_win);
    PUT(Win, win, c_win);
}

FORTRAN(win_create_dynamic, (const MPI_Fint *info, const MPI_Fint *comm, MPI_Fint *win, MPI_Fint *ierror))
{
    MPI_Win c_win = MPI_WIN_NULL;
    *ierror = MPI_Win_create_dynamic(MPI_Info_f2c(*info), MPI_Comm_f2c(*comm), &c_win);
    PUT(Win, win, c_win);
}

FORTRAN(win_delete_attr, (const MPI_Fint *win, const MPI_Fint *win_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Win_delete_attr(MPI_Win_f2c(*win), *win_keyval);
}

FORTRAN(win_detach, (const MPI_Fint *win, const void *base, MPI_Fint *ierror))
{
    *ierror = MPI_Win_detach(MPI_Win_f2c(*win), BUFFER(base));
}

FORTRAN(win_fence, (const MPI_Fint *assert, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_fence(*assert, MPI_Win_f2c(*win));
}

FORTRAN(win_flush, (const MPI_Fint *rank, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_flush(*rank, MPI_Win_f2c(*win));
}

FORTRAN(win_flush_all, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_flush_all(MPI_Win_f2c(*win));
}

FORTRAN(win_flush_local, (const MPI_Fint *rank, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_flush_local(*rank, MPI_Win_f2c(*win));
}

FORTRAN(win_flush_local_all, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_flush_local_all(MPI_Win_f2c(*win));
}

FORTRAN(win_free, (MPI_Fint *win, MPI_Fint *ierror))
{
    MPI_Win c_win = MPI_Win_f2c(*win);
    *ierror = MPI_Win_free(&c_win);
    PUT_BACK(Win, win, c_win);
}

FORTRAN(win_free_keyval, (MPI_Fint *win_keyval, MPI_Fint *ierror))
{
    *ierror = MPI_Win_free_keyval(win_keyval);
}

FORTRAN(win_get_errhandler, (const MPI_Fint *win, MPI_Fint *errhandler, MPI_Fint *ierror))
{
    MPI_Errhandler c_errhandler = MPI_ERRHANDLER_NULL;
    *ierror = MPI_Win_get_errhandler(MPI_Win_f2c(*win), &c_errhandler);
    PUT(Errhandler, errhandler, c_errhandler);
}

FORTRAN(win_get_group, (const MPI_Fint *win, MPI_Fint *group, MPI_Fint *ierror))
{
    MPI_Group c_group = MPI_GROUP_NULL;
    *ierror = MPI_Win_get_group(MPI_Win_f2c(*win), &c_group);
    PUT(Group, group, c_group);
}

FORTRAN(win_get_info, (const MPI_Fint *win, MPI_Fint *info_used, MPI_Fint *ierror))
{
    MPI_Info c_info_used = MPI_INFO_NULL;
    *ierror = MPI_Win_get_info(MPI_Win_f2c(*win), &c_info_used);
    PUT(Info, info_used, c_info_used);
}

FORTRAN(win_lock, (const MPI_Fint *lock_type, const MPI_Fint *rank, const MPI_Fint *assert, const MPI_Fint *win,
        MPI_Fint *ierror))
{
    *ierror = MPI_Win_lock(*lock_type, *rank, *assert, MPI_Win_f2c(*win));
}

FORTRAN(win_lock_all, (const MPI_Fint *assert, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_lock_all(*assert, MPI_Win_f2c(*win));
}

FORTRAN(win_post, (const MPI_Fint *group, const MPI_Fint *assert, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_post(MPI_Group_f2c(*group), *assert, MPI_Win_f2c(*win));
}

FORTRAN(win_set_errhandler, (const MPI_Fint *win, const MPI_Fint *errhandler, MPI_Fint *ierror))
{
    *ierror = MPI_Win_set_errhandler(MPI_Win_f2c(*win), MPI_Errhandler_f2c(*errhandler));
}

FORTRAN(win_set_info, (const MPI_Fint *win, const MPI_Fint *info, MPI_Fint *ierror))
{
    *ierror = MPI_Win_set_info(MPI_Win_f2c(*win), MPI_Info_f2c(*info));
}

FORTRAN(win_shared_query, (const MPI_Fint *win, const MPI_Fint *rank, MPI_Aint *size, MPI_Fint *disp_unit,
        void *baseptr, MPI_Fint *ierror))
{
    *ierror = MPI_Win_shared_query(MPI_Win_f2c(*win), *rank, size, disp_unit, baseptr);
}

FORTRAN(win_start, (const MPI_Fint *group, const MPI_Fint *assert, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_start(MPI_Group_f2c(*group), *assert, MPI_Win_f2c(*win));
}

FORTRAN(win_sync, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_sync(MPI_Win_f2c(*win));
}

FORTRAN(win_test, (const MPI_Fint *win, MPI_Fint *flag, MPI_Fint *ierror))
{
    *ierror = MPI_Win_test(MPI_Win_f2c(*win), flag);
}

FORTRAN(win_unlock, (const MPI_Fint *rank, const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_unlock(*rank, MPI_Win_f2c(*win));
}

FORTRAN(win_unlock_all, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_unlock_all(MPI_Win_f2c(*win));
}

FORTRAN(win_wait, (const MPI_Fint *win, MPI_Fint *ierror))
{
    *ierror = MPI_Win_wait(MPI_Win_f2c(*win));
}
