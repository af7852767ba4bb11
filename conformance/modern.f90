! Fortran with the module mpi: messages, requests, collectives, datatypes, texts and attributes.
program modern
  use mpi
  implicit none
  character(*), parameter :: self = 'modern'
  integer :: rank, ranks, next, previous, checks = 0, failures = 0
  integer :: code

  call begin
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call messages
  call requests
  call collectives
  call datatypes
  call surroundings
  call sizes
  call named
  call finish

contains

  include 'check.inc'

  ! Procedures have interfaces: a program can name what it uses, and its arguments; buffers are of any type and rank.
  subroutine named
    use mpi, only: MPI_Comm_rank, MPI_Sendrecv, MPI_Waitall, MPI_Alloc_mem, MPI_Win_create, MPI_Type_struct, MPI_Sizeof
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type :: pair
      integer :: first
      double precision :: second
    end type pair
    type(pair) :: out, in
    type(c_ptr) :: memory
    character(5) :: text, got
    integer :: me, status(MPI_STATUS_SIZE), matrix(4, 4), column(4), i
    call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=me, ierror=code)
    call check(me == rank, 'arguments by name')
    out = pair(7, 2.5d0)
    call MPI_Sendrecv(out, 16, MPI_BYTE, rank, 1, in, 16, MPI_BYTE, rank, 1, MPI_COMM_WORLD, status, code)
    call check(in%first == 7 .and. in%second == 2.5d0, 'a buffer of a type of its own')
    text = 'hello'
    call MPI_Sendrecv(text, 5, MPI_CHARACTER, rank, 1, got, 5, MPI_CHARACTER, rank, 1, MPI_COMM_WORLD, status, code)
    call check(got == text, 'a text')
    matrix = reshape((/ (i, i = 1, 16) /), (/ 4, 4 /))
    call MPI_Sendrecv(matrix(2, :), 4, MPI_INTEGER, rank, 1, column, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, code)
    call check(all(column == (/ 2, 6, 10, 14 /)), 'a section of an array')
    call MPI_Alloc_mem(100_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory, code)
    call check(code == MPI_SUCCESS .and. c_associated(memory), 'an address for C')
  end subroutine named

  ! Of variables of any type and rank.
  subroutine sizes
    integer(1) :: tiny
    integer(8) :: long(2, 3)
    real :: usual
    real(16) :: precise(4)
    double precision :: double
    complex(8) :: pair(1)
    logical :: truth
    integer :: size, bytes
    call MPI_Sizeof(tiny, size, code)
    call check(code == MPI_SUCCESS .and. size == 1, 'size of a small integer')
    call MPI_Sizeof(long, size, code)
    call check(size == 8, 'size of a long integer')
    call MPI_Sizeof(usual, size, code)
    call MPI_Type_size(MPI_REAL, bytes, code)
    call check(size == bytes, 'size of a real')
    call MPI_Sizeof(precise, size, code)
    call check(size == 16, 'size of a precise real')
    call PMPI_Sizeof(double, size, code)
    call check(size == 8, 'size of a double')
    call MPI_Sizeof(pair, size, code)
    call check(size == 16, 'size of a complex number')
    call MPI_Sizeof(truth, size, code)
    call check(size == 4, 'size of a logical')
  end subroutine sizes

  subroutine messages
    double precision :: out(3), in(3)
    integer :: status(MPI_STATUS_SIZE), count
    out = (/ 1d0, 2d0, 3d0 /) * (rank + 1)
    call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, next, 5, in, 3, MPI_DOUBLE_PRECISION, previous, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, status, code)
    call check(code == MPI_SUCCESS .and. in(3) == 3d0 * (previous + 1), 'what the one before has sent')
    call check(status(MPI_SOURCE) == previous .and. status(MPI_TAG) == 5, 'source and tag')
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, code)
    call check(count == 3, 'count')
    call MPI_Recv(in, 3, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, code)
    call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'null process')
  end subroutine messages

  subroutine requests
    integer :: out(4), in(4), request(8), statuses(MPI_STATUS_SIZE, 8), i, index, status(MPI_STATUS_SIZE), flag_count
    logical :: flag
    do i = 1, 4
      out(i) = 100 * rank + i
      call MPI_Irecv(in(i), 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, request(i), code)
    end do
    do i = 1, 4
      call MPI_Isend(out(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, request(4 + i), code)
    end do
    call MPI_Waitall(8, request, statuses, code)
    call check(all(in == (/ (100 * previous + i, i = 1, 4) /)), 'values of four messages')
    call check(all(request == MPI_REQUEST_NULL), 'requests are null')
    call check(all(statuses(MPI_TAG, 1:4) == (/ 1, 2, 3, 4 /)), 'tags of four messages')
    call MPI_Irecv(in(1), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, request(2), code)
    request(1) = MPI_REQUEST_NULL
    call MPI_Test(request(2), flag, status, code)
    call check(.not. flag, 'nothing has come')
    call MPI_Send(out(1), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, code)
    call MPI_Waitany(2, request, index, status, code)
    call check(index == 2 .and. in(1) == out(1), 'the second of two, counted from one')
    ! Numbers of requests are used again: many of them need no more memory than one.
    flag_count = 0
    do i = 1, 1000
      call MPI_Irecv(in(1), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, request(1), code)
      call MPI_Send(i, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, code)
      call MPI_Wait(request(1), MPI_STATUS_IGNORE, code)
      if (in(1) == i) flag_count = flag_count + 1
    end do
    call check(flag_count == 1000, 'a thousand messages')
  end subroutine requests

  subroutine collectives
    integer :: values(2), sums(2), all_ranks(ranks), i
    values = (/ rank, 1 /)
    call MPI_Allreduce(values, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
    call check(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks, 'sums')
    call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code)
    call check(values(1) == ranks - 1, 'maximum in place')
    call MPI_Allgather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, code)
    call check(all(all_ranks == (/ (i, i = 0, ranks - 1) /)), 'everybody''s rank')
    values = 0
    if (rank == 0) values = (/ 7, 8 /)
    call MPI_Bcast(values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    call check(values(1) == 7 .and. values(2) == 8, 'broadcast')
    call MPI_Barrier(MPI_COMM_WORLD, code)
    call check(code == MPI_SUCCESS, 'barrier')
  end subroutine collectives

  subroutine datatypes
    integer :: column, out(3, 3), in(3), size, request, status(MPI_STATUS_SIZE), i
    integer(kind=MPI_ADDRESS_KIND) :: lb, extent
    out = reshape((/ (i, i = 1, 9) /), (/ 3, 3 /))
    call MPI_Type_vector(3, 1, 3, MPI_INTEGER, column, code)
    call MPI_Type_commit(column, code)
    call MPI_Type_size(column, size, code)
    call MPI_Type_get_extent(column, lb, extent, code)
    call check(size == 12 .and. lb == 0 .and. extent == 28, 'size and extent of a row')
    call MPI_Irecv(in, 3, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, request, code)
    call MPI_Send(out, 1, column, rank, 1, MPI_COMM_WORLD, code)
    call MPI_Wait(request, status, code)
    call check(all(in == (/ 1, 4, 7 /)), 'a row of a matrix')
    call MPI_Type_free(column, code)
    call check(column == MPI_DATATYPE_NULL, 'freed')
  end subroutine datatypes

  subroutine surroundings
    character(MPI_MAX_ERROR_STRING) :: text
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length, version, subversion, copy
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Get_version(version, subversion, code)
    call check(version >= 3, 'version')
    call MPI_Error_string(MPI_ERR_TAG, text, length, code)
    call check(code == MPI_SUCCESS .and. length > 0 .and. len_trim(text) == length, 'text of an error')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, code)
    call check(flag .and. value >= 32767, 'largest tag')
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, code)
    call MPI_Comm_set_name(copy, 'a copy', code)
    call MPI_Comm_get_name(copy, name, length, code)
    call check(length == 6 .and. name == 'a copy', 'name')
    call MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN, code)
    call MPI_Send(length, 1, MPI_INTEGER, ranks, 0, copy, code)
    call MPI_Error_class(code, length, code)
    call check(length == MPI_ERR_RANK, 'class of an invalid rank')
    call MPI_Comm_free(copy, code)
    call check(copy == MPI_COMM_NULL, 'freed communicator')
    call check(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0, 'time')
  end subroutine surroundings
end program modern
