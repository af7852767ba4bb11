! Files from Fortran: opening, views, pointers, transfers of every kind, errors (MPI-5.0, chapter 14); and what else has texts or addresses.
module noted
  use mpi
  implicit none
  integer :: handled = 0, last_code = 0

contains

  subroutine handler(file, code)
    integer :: file, code
    handled = handled + 1
    last_code = code
  end subroutine handler
end module noted

program filing
  use noted
  implicit none
  character(*), parameter :: self = 'filing'
  integer, parameter :: each = 10
  integer :: rank, ranks, checks = 0, failures = 0
  integer :: code, number
  character(40) :: name

  call begin
  ! A name of this run's own.
  number = getpid()
  call MPI_Bcast(number, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
  write (name, '(a,i0)') '/tmp/filing-', number
  call transfers
  call shared
  call split
  call properties
  call errors
  call names
  call finish

contains

  include 'check.inc'

  subroutine open_all(file)
    integer, intent(out) :: file
    call MPI_File_open(MPI_COMM_WORLD, name, ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), MPI_INFO_NULL, &
                       file, code)
    call check(code == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'open')
  end subroutine open_all

  subroutine close_all(file)
    integer, intent(inout) :: file
    call MPI_File_close(file, code)
    call check(code == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'close')
  end subroutine close_all

  ! Every rank writes its block behind the one before and reads the next rank's.
  subroutine transfers
    integer :: file, out(each), in(each), status(MPI_STATUS_SIZE), request, count, i, next
    integer(kind=MPI_OFFSET_KIND) :: place, there
    next = mod(rank + 1, ranks)
    out = (/ (100 * rank + i, i = 1, each) /)
    place = 4 * each * rank
    there = 4 * each * next
    call open_all(file)
    call MPI_File_write_at(file, place, out, each, MPI_INTEGER, status, code)
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call check(count == each, 'written at an offset')
    call MPI_File_sync(file, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call MPI_File_read_at_all(file, there, in, each, MPI_INTEGER, status, code)
    call check(all(in == (/ (100 * next + i, i = 1, each) /)), 'read by all at an offset')
    in = 0
    call MPI_File_iread_at(file, there, in, each, MPI_INTEGER, request, code)
    call MPI_Wait(request, status, code)
    call check(in(each) == 100 * next + each, 'read at an offset without waiting')
    call MPI_File_seek(file, place, MPI_SEEK_SET, code)
    in = 0
    call MPI_File_read(file, in, each, MPI_INTEGER, MPI_STATUS_IGNORE, code)
    call check(all(in == out), 'read where the pointer is')
    call MPI_File_get_position(file, there, code)
    call check(there == place + 4 * each, 'where the pointer is then')
    call close_all(file)
  end subroutine transfers

  ! A view in which each rank sees its own columns, and the shared pointer.
  subroutine shared
    integer :: file, column, kind, seen, out(3), in(3 * ranks), i, status(MPI_STATUS_SIZE)
    integer(kind=MPI_OFFSET_KIND) :: place
    character(MPI_MAX_DATAREP_STRING) :: how
    out = (/ 1, 2, 3 /) + 10 * rank
    call open_all(file)
    call MPI_Type_vector(3, 1, ranks, MPI_INTEGER, column, code)
    call MPI_Type_commit(column, code)
    place = 4 * rank
    call MPI_File_set_view(file, place, MPI_INTEGER, column, 'native', MPI_INFO_NULL, code)
    call check(code == MPI_SUCCESS, 'a view')
    call MPI_File_get_view(file, place, kind, seen, how, code)
    call check(place == 4 * rank .and. kind == MPI_INTEGER .and. how == 'native', 'what the view is')
    call MPI_File_write_all(file, out, 3, MPI_INTEGER, status, code)
    call MPI_File_sync(file, code)
    call MPI_Barrier(MPI_COMM_WORLD, code)
    place = 0
    call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, code)
    call MPI_File_read_at(file, place, in, 3 * ranks, MPI_INTEGER, status, code)
    call check(all(in == (/ (i / ranks + 1 + 10 * mod(i, ranks), i = 0, 3 * ranks - 1) /)), 'columns of all ranks')
    call MPI_Type_free(column, code)
    call MPI_File_seek_shared(file, place, MPI_SEEK_SET, code)
    call MPI_File_write_ordered(file, out, 1, MPI_INTEGER, status, code)
    call MPI_File_get_position_shared(file, place, code)
    call check(place == ranks, 'the shared pointer, in integers')
    call close_all(file)
  end subroutine shared

  subroutine split
    integer :: file, out(each), in(each), i, status(MPI_STATUS_SIZE), count
    integer(kind=MPI_OFFSET_KIND) :: place
    out = (/ (1000 * rank + i, i = 1, each) /)
    place = 4 * each * rank
    call open_all(file)
    call MPI_File_write_at_all_begin(file, place, out, each, MPI_INTEGER, code)
    call check(code == MPI_SUCCESS, 'begun')
    call MPI_File_write_at_all_end(file, out, status, code)
    call MPI_Get_count(status, MPI_INTEGER, count, code)
    call check(count == each, 'ended')
    call MPI_File_seek(file, place, MPI_SEEK_SET, code)
    call MPI_File_read_all_begin(file, in, each, MPI_INTEGER, code)
    call MPI_File_read_all_end(file, in, status, code)
    call check(all(in == out), 'begun and ended')
    call close_all(file)
  end subroutine split

  subroutine properties
    integer :: file, amode, group, size, info
    integer(kind=MPI_OFFSET_KIND) :: bytes
    integer(kind=MPI_ADDRESS_KIND) :: extent
    logical :: atomic
    call open_all(file)
    bytes = 1000
    call MPI_File_set_size(file, bytes, code)
    bytes = 0
    call MPI_File_get_size(file, bytes, code)
    call check(bytes == 1000, 'size')
    call MPI_File_get_amode(file, amode, code)
    call check(iand(amode, MPI_MODE_RDWR) /= 0, 'mode')
    call MPI_File_get_group(file, group, code)
    call MPI_Group_size(group, size, code)
    call check(size == ranks, 'group')
    call MPI_Group_free(group, code)
    call MPI_File_set_atomicity(file, .true., code)
    call MPI_File_get_atomicity(file, atomic, code)
    call check(atomic, 'atomicity')
    call MPI_File_get_type_extent(file, MPI_DOUBLE_PRECISION, extent, code)
    call check(extent == 8, 'extent')
    call MPI_File_get_info(file, info, code)
    call check(code == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'info')
    call MPI_File_set_info(file, info, code)
    call MPI_Info_free(info, code)
    call close_all(file)
  end subroutine properties

  subroutine errors
    integer :: file, mine, class
    call MPI_File_open(MPI_COMM_SELF, trim(name) // '-none', MPI_MODE_RDONLY, MPI_INFO_NULL, file, code)
    call MPI_Error_class(code, class, code)
    call check(class == MPI_ERR_NO_SUCH_FILE, 'no such file')
    call MPI_File_delete(trim(name) // '-none', MPI_INFO_NULL, code)
    call check(code /= MPI_SUCCESS, 'nothing to delete')
    call open_all(file)
    call MPI_File_create_errhandler(handler, mine, code)
    call MPI_File_set_errhandler(file, mine, code)
    call MPI_File_call_errhandler(file, MPI_ERR_IO, code)
    call check(handled == 1 .and. last_code == MPI_ERR_IO, 'a handler of a file')
    call MPI_Errhandler_free(mine, code)
    call close_all(file)
  end subroutine errors

  subroutine names
    integer :: type, win, info, length, memory(4)
    character(MPI_MAX_OBJECT_NAME) :: text
    character(MPI_MAX_INFO_KEY) :: key
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: first, second
    call MPI_Type_contiguous(2, MPI_INTEGER, type, code)
    call MPI_Type_set_name(type, 'a pair', code)
    call MPI_Type_get_name(type, text, length, code)
    call check(length == 6 .and. text == 'a pair', 'name of a datatype')
    call MPI_Type_free(type, code)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Win_set_name(win, 'a window', code)
    call MPI_Win_get_name(win, text, length, code)
    call check(length == 8 .and. text == 'a window', 'name of a window')
    call MPI_Win_free(win, code)
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, 'colour', 'green', code)
    call MPI_Info_get_nthkey(info, 0, key, code)
    call check(key == 'colour', 'key')
    call MPI_Info_get_valuelen(info, 'colour', length, flag, code)
    call check(flag .and. length == 5, 'length of a value')
    call MPI_Info_delete(info, 'colour', code)
    call MPI_Info_get_valuelen(info, 'colour', length, flag, code)
    call check(.not. flag, 'deleted')
    call MPI_Info_free(info, code)
    call MPI_Get_address(memory(1), first, code)
    call MPI_Get_address(memory(3), second, code)
    call check(MPI_Aint_diff(second, first) == 8 .and. MPI_Aint_add(first, 8_MPI_ADDRESS_KIND) == second, 'addresses')
    call MPI_Pcontrol(1)
  end subroutine names
end program filing
