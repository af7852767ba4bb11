! Functions that a Fortran program gives the library: of attributes, error handlers, reductions, and operations of its own (MPI-5.0, sections
! 7.7, 9.3, 6.9.5 and 13.2).
module counted
  use mpi
  implicit none
  integer :: copies = 0, deletes = 0, handled = 0, last_comm = 0, last_code = 0, last_type = 0
  integer :: queries = 0, frees = 0, cancels = 0
  integer(kind=MPI_ADDRESS_KIND) :: last_value = 0, last_extra = 0

contains

  subroutine copy(comm, key, extra, in, out, flag, code)
    integer :: comm, key, code
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    integer :: size
    ! The library may be called from here.
    call MPI_Comm_size(comm, size, code)
    copies = copies + 1
    last_extra = extra
    out = in + 1
    flag = size > 0
    code = MPI_SUCCESS
  end subroutine copy

  subroutine never(comm, key, extra, in, out, flag, code)
    integer :: comm, key, code
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    copies = copies + 1
    flag = .false.
    code = MPI_SUCCESS
  end subroutine never

  subroutine refuse(comm, key, extra, in, out, flag, code)
    integer :: comm, key, code
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    flag = .false.
    code = MPI_ERR_INTERN
  end subroutine refuse

  subroutine delete(object, key, value, extra, code)
    integer :: object, key, code
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deletes = deletes + 1
    last_value = value
    last_extra = extra
    code = MPI_SUCCESS
  end subroutine delete

  subroutine old_copy(comm, key, extra, in, out, flag, code)
    integer :: comm, key, extra, in, out, code
    logical :: flag
    out = in + extra
    flag = .true.
    code = MPI_SUCCESS
  end subroutine old_copy

  subroutine old_delete(comm, key, value, extra, code)
    integer :: comm, key, value, extra, code
    deletes = deletes + 1
    last_value = value
    code = MPI_SUCCESS
  end subroutine old_delete

  subroutine handler(object, code)
    integer :: object, code
    handled = handled + 1
    last_comm = object
    last_code = code
  end subroutine handler

  subroutine other_handler(object, code)
    integer :: object, code
    handled = handled + 100
  end subroutine other_handler

  ! Changes the code, and so what the call returns.
  subroutine answering(object, code)
    integer :: object, code
    handled = handled + 1
    last_comm = object
    last_code = code
    code = MPI_ERR_PORT
  end subroutine answering

  ! Counts in the program's own variable, which it is given.
  subroutine counting_query(extra, status, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), code
    extra = extra + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 1, code)
    call MPI_Status_set_cancelled(status, .false., code)
  end subroutine counting_query

  subroutine counting_release(extra, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: code
    extra = extra * 10
    code = MPI_SUCCESS
  end subroutine counting_release

  subroutine counting_cancel(extra, complete, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: code
    extra = extra + 100
    code = MPI_SUCCESS
  end subroutine counting_cancel

  ! Left and right of a product that is not commutative: maps x -> m x + c as pairs.
  subroutine after(in, inout, count, type)
    integer :: count, type
    integer :: in(2, count), inout(2, count)
    integer :: i, m, c
    last_type = type
    do i = 1, count
      m = in(1, i) * inout(1, i)
      c = in(2, i) * inout(1, i) + inout(2, i)
      inout(1, i) = m
      inout(2, i) = c
    end do
  end subroutine after

  subroutine larger(in, inout, count, type)
    integer :: count, type
    integer :: in(count), inout(count)
    last_type = type
    inout = max(in, inout)
  end subroutine larger

  subroutine query(extra, status, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), code
    queries = queries + 1
    status(MPI_SOURCE) = 3
    status(MPI_TAG) = 4
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), code)
    call MPI_Status_set_cancelled(status, .false., code)
  end subroutine query

  subroutine release(extra, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: code
    frees = frees + 1
    last_extra = extra
    code = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra, complete, code)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: code
    if (.not. complete) cancels = cancels + 1
    code = MPI_SUCCESS
  end subroutine cancel
end module counted

program callbacks
  use counted
  implicit none
  character(*), parameter :: self = 'callbacks'
  integer :: rank, ranks, checks = 0, failures = 0
  integer :: code

  call begin
  call communicators
  call of_mpi_1
  call datatypes
  call windows
  call handlers
  call reductions
  call operations
  call finish

contains

  include 'check.inc'

  subroutine communicators
    integer :: comm, twin, own, dup, null, none, refusing
    integer(kind=MPI_ADDRESS_KIND) :: value, extra, wide
    logical :: flag
    extra = 77
    ! Wider than a default integer.
    wide = 10_MPI_ADDRESS_KIND ** 12
    call MPI_Comm_create_keyval(copy, delete, own, extra, code)
    call check(code == MPI_SUCCESS .and. own /= MPI_KEYVAL_INVALID, 'a key')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup, extra, code)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, null, extra, code)
    call MPI_Comm_create_keyval(never, MPI_COMM_NULL_DELETE_FN, none, extra, code)
    call MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, refusing, extra, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Comm_get_attr(comm, own, value, flag, code)
    call check(.not. flag, 'nothing is set')
    call MPI_Comm_set_attr(comm, own, wide, code)
    call MPI_Comm_set_attr(comm, dup, 20_MPI_ADDRESS_KIND, code)
    call MPI_Comm_set_attr(comm, null, 30_MPI_ADDRESS_KIND, code)
    call MPI_Comm_set_attr(comm, none, 40_MPI_ADDRESS_KIND, code)
    call MPI_Comm_get_attr(comm, own, value, flag, code)
    call check(flag .and. value == wide, 'what has been set')
    call MPI_Comm_dup(comm, twin, code)
    call check(code == MPI_SUCCESS .and. copies == 2 .and. last_extra == 77, 'copied once each, with the extra state')
    call MPI_Comm_get_attr(twin, own, value, flag, code)
    call check(flag .and. value == wide + 1, 'what the copy function has made of it')
    call MPI_Comm_get_attr(twin, dup, value, flag, code)
    call check(flag .and. value == 20, 'copied as it is')
    call MPI_Comm_get_attr(twin, null, value, flag, code)
    call check(.not. flag, 'not copied')
    call MPI_Comm_get_attr(twin, none, value, flag, code)
    call check(.not. flag, 'not copied by a function')
    call MPI_Comm_delete_attr(twin, own, code)
    call check(code == MPI_SUCCESS .and. deletes == 1 .and. last_value == wide + 1, 'deleted')
    call MPI_Comm_free(twin, code)
    call check(deletes == 1, 'nothing left to delete')
    call MPI_Comm_set_attr(comm, refusing, 50_MPI_ADDRESS_KIND, code)
    call MPI_Comm_dup(comm, twin, code)
    call check(code /= MPI_SUCCESS, 'a copy function that fails')
    call MPI_Comm_delete_attr(comm, refusing, code)
    ! A key that is freed still serves what is set under it.
    call MPI_Comm_free_keyval(own, code)
    call check(own == MPI_KEYVAL_INVALID, 'freed')
    deletes = 0
    call MPI_Comm_free(comm, code)
    call check(code == MPI_SUCCESS .and. deletes == 2, 'deleted with the communicator')
    call MPI_Comm_free_keyval(dup, code)
    call MPI_Comm_free_keyval(null, code)
    call MPI_Comm_free_keyval(none, code)
    call MPI_Comm_free_keyval(refusing, code)
  end subroutine communicators

  subroutine of_mpi_1
    integer :: comm, twin, own, dup, value
    logical :: flag
    deletes = 0
    call MPI_Keyval_create(old_copy, old_delete, own, 5, code)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, dup, 0, code)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, code)
    call MPI_Attr_put(comm, own, -7, code)
    call MPI_Attr_put(comm, dup, 8, code)
    call MPI_Attr_get(comm, own, value, flag, code)
    call check(flag .and. value == -7, 'a negative value')
    call MPI_Comm_dup(comm, twin, code)
    call MPI_Attr_get(twin, own, value, flag, code)
    call check(flag .and. value == -2, 'copied with the extra state')
    call MPI_Attr_get(twin, dup, value, flag, code)
    call check(flag .and. value == 8, 'copied by the predefined function')
    call MPI_Attr_delete(twin, own, code)
    call check(deletes == 1 .and. last_value == -2, 'deleted by the old function')
    call MPI_Comm_free(twin, code)
    call MPI_Comm_free(comm, code)
    call check(deletes == 2, 'deleted with the communicator')
    call MPI_Keyval_free(own, code)
    call MPI_Keyval_free(dup, code)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, code)
    call check(flag .and. value >= 32767, 'largest tag')
  end subroutine of_mpi_1

  subroutine datatypes
    integer :: type, twin, own
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    deletes = 0
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete, own, 1_MPI_ADDRESS_KIND, code)
    call MPI_Type_contiguous(3, MPI_INTEGER, type, code)
    call MPI_Type_set_attr(type, own, 60_MPI_ADDRESS_KIND, code)
    call MPI_Type_dup(type, twin, code)
    call MPI_Type_get_attr(twin, own, value, flag, code)
    call check(flag .and. value == 60, 'of a datatype')
    call MPI_Type_free(twin, code)
    call MPI_Type_delete_attr(type, own, code)
    call check(deletes == 2 .and. last_value == 60, 'deleted with a datatype, and from one')
    call MPI_Type_free(type, code)
    call MPI_Type_free_keyval(own, code)
  end subroutine datatypes

  subroutine windows
    integer :: win, own, memory(4)
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    deletes = 0
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, own, 1_MPI_ADDRESS_KIND, code)
    call MPI_Win_set_attr(win, own, 70_MPI_ADDRESS_KIND, code)
    call MPI_Win_get_attr(win, own, value, flag, code)
    call check(flag .and. value == 70, 'of a window')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, code)
    call check(flag .and. value == 16, 'size of a window')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, code)
    call check(flag .and. value == 4, 'unit of a window')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, code)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'flavor of a window')
    call MPI_Win_free(win, code)
    call check(deletes == 1 .and. last_value == 70, 'deleted with a window')
    call MPI_Win_free_keyval(own, code)
  end subroutine windows

  subroutine handlers
    integer :: comm, child, mine, other, got, win, memory(4), class
    call MPI_Comm_create_errhandler(handler, mine, code)
    call check(code == MPI_SUCCESS, 'an error handler')
    call MPI_Comm_create_errhandler(other_handler, other, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Comm_set_errhandler(comm, mine, code)
    call MPI_Comm_get_errhandler(comm, got, code)
    call check(got == mine, 'the one that has been set')
    call MPI_Errhandler_free(got, code)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm, code)
    call MPI_Error_class(code, class, code)
    call check(handled == 1 .and. last_comm == comm .and. class == MPI_ERR_RANK, 'called with the communicator')
    call MPI_Error_class(last_code, class, code)
    call check(class == MPI_ERR_RANK, 'called with the code')
    ! Children inherit it; freed, it serves as long as they have it.
    call MPI_Comm_dup(comm, child, code)
    call MPI_Errhandler_free(mine, code)
    call check(mine == MPI_ERRHANDLER_NULL, 'freed handler')
    call MPI_Comm_call_errhandler(child, MPI_ERR_OTHER, code)
    call check(code == MPI_SUCCESS .and. handled == 2 .and. last_comm == child .and. last_code == MPI_ERR_OTHER, 'inherited')
    call MPI_Comm_set_errhandler(child, other, code)
    call MPI_Comm_call_errhandler(child, MPI_ERR_OTHER, code)
    call check(handled == 102, 'another one')
    call MPI_Errhandler_free(other, code)
    call MPI_Comm_free(child, code)
    call MPI_Comm_free(comm, code)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_create_errhandler(handler, mine, code)
    call MPI_Win_set_errhandler(win, mine, code)
    call MPI_Errhandler_free(mine, code)
    handled = 0
    call MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC, code)
    call check(handled == 1 .and. last_comm == win .and. last_code == MPI_ERR_RMA_SYNC, 'of a window')
    call MPI_Win_free(win, code)
    ! What the function makes of the code is what the call returns; errors in the making of an object go to its handler-to-be.
    handled = 0
    call MPI_Comm_create_errhandler(answering, mine, code)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Comm_set_errhandler(comm, mine, code)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, comm, code)
    call check(handled == 1 .and. code == MPI_ERR_PORT, 'answered for a communicator')
    call MPI_Comm_free(comm, code)
    call MPI_Comm_create_from_group(MPI_GROUP_NULL, 'tag', MPI_INFO_NULL, mine, comm, code)
    call MPI_Error_class(last_code, class, got)
    call check(handled == 2 .and. code == MPI_ERR_PORT .and. last_comm == MPI_COMM_NULL, 'in the making')
    call check(class == MPI_ERR_GROUP, 'what has gone wrong in the making')
    call MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, MPI_GROUP_NULL, 0, 'tag', MPI_INFO_NULL, mine, comm, code)
    call check(handled == 3 .and. code == MPI_ERR_PORT .and. last_comm == MPI_COMM_NULL, 'in the making of an intercommunicator')
    call MPI_Errhandler_free(mine, code)
    call MPI_Session_create_errhandler(answering, mine, code)
    call MPI_Session_init(mine, mine, got, code)
    call check(handled == 4 .and. code == MPI_ERR_PORT .and. last_comm == MPI_SESSION_NULL, 'in the making of a session')
    call MPI_Errhandler_free(mine, code)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_create_errhandler(answering, mine, code)
    call MPI_Win_set_errhandler(win, mine, code)
    call MPI_Win_unlock(0, win, code)
    call check(handled == 5 .and. code == MPI_ERR_PORT .and. last_comm == win, 'answered for a window')
    call MPI_Errhandler_free(mine, code)
    call MPI_Win_free(win, code)
    call MPI_File_create_errhandler(answering, mine, code)
    call MPI_File_set_errhandler(MPI_FILE_NULL, mine, code)
    call MPI_File_sync(MPI_FILE_NULL, code)
    call check(handled == 6 .and. code == MPI_ERR_PORT .and. last_comm == MPI_FILE_NULL, 'answered for files')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, code)
    call MPI_Errhandler_free(mine, code)
  end subroutine handlers

  subroutine reductions
    integer :: maps, op, in(2), out(2), m, c, i, value, most, seen
    last_type = 0
    call MPI_Type_contiguous(2, MPI_INTEGER, maps, code)
    call MPI_Type_commit(maps, code)
    call MPI_Op_create(after, .false., op, code)
    in = (/ 2 * rank + 3, 7 * rank + 1 /)
    out = 0
    call MPI_Allreduce(in, out, 1, maps, op, MPI_COMM_WORLD, code)
    m = 1
    c = 0
    do i = 0, ranks - 1
      c = c * (2 * i + 3) + 7 * i + 1
      m = m * (2 * i + 3)
    end do
    call check(code == MPI_SUCCESS .and. out(1) == m .and. out(2) == c, 'in order')
    ! Some rank has called the function, and who has knows the datatype by its number.
    seen = merge(1, 0, last_type == maps)
    call check(seen == 1 .or. last_type == 0, 'the number of the datatype')
    call MPI_Allreduce(MPI_IN_PLACE, seen, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
    call check(ranks == 1 .or. seen == 1, 'somebody has called it')
    call MPI_Op_free(op, code)
    call check(op == MPI_OP_NULL, 'freed operation')
    call MPI_Op_create(larger, .true., op, code)
    value = mod(rank * 5, ranks)
    last_type = 0
    call MPI_Allreduce(value, most, 1, MPI_INTEGER, op, MPI_COMM_WORLD, code)
    m = 0
    do i = 0, ranks - 1
      m = max(m, mod(i * 5, ranks))
    end do
    call check(most == m .and. (last_type == 0 .or. last_type == MPI_INTEGER), 'a predefined datatype')
    call MPI_Reduce_local(3, most, 1, MPI_INTEGER, op, code)
    call check(most == max(m, 3), 'in one rank')
    call MPI_Op_free(op, code)
    call MPI_Type_free(maps, code)
  end subroutine reductions

  subroutine operations
    integer :: request, again, count, status(MPI_STATUS_SIZE)
    integer(kind=MPI_ADDRESS_KIND), volatile :: state
    logical :: flag
    call MPI_Grequest_start(query, release, cancel, 6_MPI_ADDRESS_KIND, request, code)
    call MPI_Test(request, flag, status, code)
    call check(.not. flag .and. queries == 0, 'under way')
    call MPI_Cancel(request, code)
    call check(cancels == 1, 'cancelled before it was complete')
    again = request
    call MPI_Grequest_complete(again, code)
    call MPI_Wait(request, status, code)
    call check(code == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, 'complete')
    call check(queries == 1 .and. frees == 1 .and. last_extra == 6, 'asked and freed once')
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call check(count == 6 .and. status(MPI_SOURCE) == 3 .and. status(MPI_TAG) == 4, 'what it says')
    ! The functions are given the variable itself, and see what the program has put there since.
    state = 1
    call MPI_Grequest_start(counting_query, counting_release, counting_cancel, state, request, code)
    call MPI_Cancel(request, code)
    call check(state == 101, 'changed by cancelling')
    state = 7
    call MPI_Grequest_complete(request, code)
    call MPI_Wait(request, status, code)
    call check(state == 80, 'changed by the program, and by asking and freeing')
  end subroutine operations
end program callbacks
