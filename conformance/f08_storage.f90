! Fortran 2008 with the module mpi_f08: windows, files, operations of the program's own.
module f08_storage_functions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: queried = 0, freed = 0, cancelled = 0

contains

  ! A file has the numbers negated.
  subroutine negate(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    user(position + 1:position + count) = -file
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, extra_state == 8 .and. datatype == MPI_INTEGER)
  end subroutine negate

  subroutine back(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [count])
    file = -user(position + 1:position + count)
    ierror = merge(MPI_SUCCESS, MPI_ERR_CONVERSION, extra_state == 8 .and. datatype == MPI_INTEGER)
  end subroutine back

  subroutine extent(datatype, extent_, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent_, extra_state
    integer :: ierror
    extent_ = 4
    ierror = merge(MPI_SUCCESS, MPI_ERR_TYPE, extra_state == 8 .and. datatype == MPI_INTEGER)
  end subroutine extent

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queried = queried + 1
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 3
    call MPI_Status_set_elements(status, MPI_INTEGER, 2)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == 6) freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine release

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (extra_state == 6 .and. .not. complete) cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  end subroutine cancel
end module f08_storage_functions

program f08_storage
  use mpi_f08
  use f08_storage_functions
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  character(*), parameter :: self = 'f08_storage'
  integer :: rank, ranks, next, previous, checks = 0, failures = 0
  integer :: code
  integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2
  integer(MPI_ADDRESS_KIND), parameter :: zero = 0
  type(MPI_Comm) :: world

  call begin
  world = MPI_COMM_WORLD
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call windows
  call allocated
  call shared
  call dynamic
  call files
  call views
  call representations
  call operations
  call finish

contains

  include 'check.inc'

  subroutine windows
    integer, asynchronous, target :: place(4), got(2), old, value
    integer :: class, key
    integer(MPI_ADDRESS_KIND) :: bytes
    logical :: flag
    character(MPI_MAX_OBJECT_NAME) :: name
    type(MPI_Win) :: win
    type(MPI_Group) :: group
    type(MPI_Request) :: request
    place = rank
    call MPI_Win_create(place, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, world, win)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, win)
    call MPI_Put([rank * 10, rank * 10 + 1], 2, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(place == [rank, previous * 10, previous * 10 + 1, rank]), 'MPI_Put')
    call MPI_Get(got, two, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, two, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(got == [rank * 10, rank * 10 + 1]), 'MPI_Get of a large count')
    call MPI_Accumulate(1, one, MPI_INTEGER, 0, zero, one, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call check(rank /= 0 .or. place(1) == ranks, 'MPI_Accumulate of a large count')
    call MPI_Win_fence(0, win)
    value = 1
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    call MPI_Fetch_and_op(value, old, MPI_INTEGER, 0, zero, MPI_SUM, win)
    call MPI_Win_unlock(0, win)
    call check(old >= ranks .and. old < 2 * ranks, 'MPI_Fetch_and_op')
    call MPI_Win_lock_all(0, win)
    call MPI_Rget(got, 1, MPI_INTEGER, rank, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Compare_and_swap(7, rank, old, MPI_INTEGER, rank, 3_MPI_ADDRESS_KIND, win)
    call MPI_Win_flush_all(win)
    call MPI_Win_unlock_all(win)
    call check(got(1) == rank .and. old == rank .and. place(4) == 7, 'MPI_Compare_and_swap')
    call MPI_Put(1, 1, MPI_INTEGER, ranks, zero, 1, MPI_INTEGER, win, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_RANK, 'no such rank')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag)
    call check(flag .and. bytes == 16, 'MPI_WIN_SIZE')
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, zero)
    call MPI_Win_set_attr(win, key, 12_MPI_ADDRESS_KIND)
    call MPI_Win_get_attr(win, key, bytes, flag)
    call check(flag .and. bytes == 12, 'MPI_Win_get_attr')
    call MPI_Win_free_keyval(key)
    call MPI_Win_set_name(win, 'place')
    call MPI_Win_get_name(win, name, class)
    call check(name == 'place', 'MPI_Win_get_name')
    call MPI_Win_get_group(win, group)
    call MPI_Group_free(group)
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call check(win == MPI_WIN_NULL, 'MPI_Win_free')
  end subroutine windows

  subroutine allocated
    type(c_ptr) :: memory
    type(MPI_Win) :: win
    integer, pointer :: place(:)
    call MPI_Win_allocate(8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, world, memory, win)
    call c_f_pointer(memory, place, [2])
    place = rank
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check(all(place == [rank, previous]), 'MPI_Win_allocate')
    call MPI_Win_free(win)
    call MPI_Win_allocate(8_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND, MPI_INFO_NULL, world, memory, win)
    call c_f_pointer(memory, place, [2])
    place = 1
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call check(sum(place(1:0)) == 0 .and. win == MPI_WIN_NULL, 'MPI_Win_allocate with a large unit')
  end subroutine allocated

  subroutine shared
    type(c_ptr) :: memory, other
    type(MPI_Win) :: win
    type(MPI_Comm) :: node
    integer, pointer :: mine(:), his(:)
    integer(MPI_ADDRESS_KIND) :: bytes, unit
    integer :: small, node_rank, node_size, neighbour
    call MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
    call MPI_Comm_rank(node, node_rank)
    call MPI_Comm_size(node, node_size)
    neighbour = mod(node_rank + 1, node_size)
    call MPI_Win_allocate_shared(4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, node, memory, win)
    call c_f_pointer(memory, mine, [1])
    mine = node_rank
    call MPI_Win_fence(0, win)
    call MPI_Win_shared_query(win, neighbour, bytes, small, other)
    call MPI_Win_shared_query(win, neighbour, bytes, unit, other)
    call c_f_pointer(other, his, [1])
    call check(his(1) == neighbour .and. bytes == 4 .and. unit == 4 .and. small == 4, 'MPI_Win_shared_query')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call MPI_Comm_free(node)
  end subroutine shared

  subroutine dynamic
    integer, asynchronous, target :: place(2)
    integer(MPI_ADDRESS_KIND) :: address, addresses(1)
    type(MPI_Win) :: win
    place = -1
    call MPI_Win_create_dynamic(MPI_INFO_NULL, world, win)
    call MPI_Win_attach(win, place, 8_MPI_ADDRESS_KIND)
    call MPI_Get_address(place(2), address)
    call MPI_Sendrecv(address, 1, MPI_AINT, previous, 1, addresses, 1, MPI_AINT, next, 1, world, MPI_STATUS_IGNORE)
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, next, addresses(1), 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(place)
    call check(all(place == [-1, previous]), 'MPI_Win_attach')
    call MPI_Win_detach(win, place)
    call MPI_Win_free(win)
  end subroutine dynamic

  subroutine files
    integer, asynchronous :: in(2), matrix(2, 2)
    integer(MPI_OFFSET_KIND) :: at, bytes
    integer :: amode
    type(MPI_File) :: file
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    integer(MPI_COUNT_KIND) :: many
    call MPI_File_open(world, '/tmp/f08_storage ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
    call MPI_File_set_size(file, 0_MPI_OFFSET_KIND)
    at = 8 * rank
    call MPI_File_write_at(file, at, [rank, -rank], 2, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, many)
    call check(many == 2, 'MPI_File_write_at')
    call MPI_File_sync(file)
    call MPI_Barrier(world)
    at = 8 * next
    call MPI_File_read_at(file, at, in, two, MPI_INTEGER, status, code)
    call check(code == MPI_SUCCESS .and. all(in == [next, -next]), 'MPI_File_read_at of a large count')
    call MPI_File_iread_at(file, 8_MPI_OFFSET_KIND * rank, in, two, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call check(all(in == [rank, -rank]), 'MPI_File_iread_at of a large count')
    call MPI_File_read_at_all_begin(file, at, in, 2, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, in, status)
    call check(all(in == [next, -next]), 'MPI_File_read_at_all_begin')
    matrix = 0
    call MPI_File_read_at(file, at, matrix(2, :), 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(matrix(2, :) == [next, -next]) .and. all(matrix(1, :) == 0), 'MPI_File_read_at into a row')
    call MPI_File_seek(file, at, MPI_SEEK_SET)
    call MPI_File_read(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_get_position(file, bytes)
    call check(in(1) == next .and. bytes == at + 4, 'MPI_File_get_position')
    call MPI_File_get_size(file, bytes)
    call check(bytes == 8 * ranks, 'MPI_File_get_size')
    call MPI_File_get_amode(file, amode)
    call check(iand(amode, MPI_MODE_RDWR) /= 0, 'MPI_File_get_amode')
    call MPI_Barrier(world)
    call MPI_File_close(file)
    call check(file == MPI_FILE_NULL, 'MPI_File_close')
    call MPI_File_open(world, '/no such folder/at all', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call check(code /= MPI_SUCCESS, 'a file that is not there')
  end subroutine files

  subroutine views
    integer :: in(1)
    character(MPI_MAX_DATAREP_STRING) :: name
    integer(MPI_OFFSET_KIND) :: displacement
    type(MPI_Datatype) :: etype, filetype, got
    type(MPI_File) :: file
    integer(MPI_ADDRESS_KIND) :: bytes
    call MPI_File_open(world, '/tmp/f08_storage', MPI_MODE_RDONLY, MPI_INFO_NULL, file)
    call MPI_Type_create_resized(MPI_INTEGER, zero, 8_MPI_ADDRESS_KIND, filetype)
    call MPI_Type_commit(filetype)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL)
    call MPI_File_read_at_all(file, int(next, MPI_OFFSET_KIND), in, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(in(1) == next, 'MPI_File_set_view')
    call MPI_File_get_view(file, displacement, etype, got, name)
    call check(displacement == 0 .and. etype == MPI_INTEGER .and. name == 'native', 'MPI_File_get_view')
    call MPI_File_get_type_extent(file, filetype, bytes)
    call check(bytes == 8, 'MPI_File_get_type_extent')
    call MPI_Type_free(got)
    call MPI_Type_free(filetype)
    call MPI_File_close(file)
  end subroutine views

  subroutine representations
    integer :: in(2)
    type(MPI_File) :: file
    call MPI_Register_datarep_c('negative', negate, back, extent, 8_MPI_ADDRESS_KIND)
    call MPI_File_open(MPI_COMM_SELF, '/tmp/f08_storage' // achar(iachar('a') + rank), MPI_MODE_CREATE + MPI_MODE_RDWR + &
      MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL)
    call MPI_File_write(file, [3, 4], 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_seek(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_read(file, in, two, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(in == [3, 4]), 'a representation of the program''s own')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read(file, in, 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    call check(all(in == [-3, -4]), 'what it writes')
    call MPI_File_close(file)
    call MPI_Register_datarep('negative', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, 8_MPI_ADDRESS_KIND, code)
    call check(code /= MPI_SUCCESS, 'a name that is taken')
  end subroutine representations

  subroutine operations
    integer(MPI_ADDRESS_KIND) :: state
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: few
    state = 6
    call MPI_Grequest_start(query, release, cancel, state, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, few)
    call check(status%MPI_SOURCE == 6 .and. status%MPI_TAG == 3 .and. few == 2, 'MPI_Grequest_start')
    call check(queried == 1 .and. freed == 1 .and. cancelled == 1, 'its functions')
  end subroutine operations
end program f08_storage
