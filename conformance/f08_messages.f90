! Fortran 2008 with the module mpi_f08: messages and requests, with both kinds of counts, error codes left out, and sections of arrays.
program f08_messages
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_associated, c_loc
  implicit none
  character(*), parameter :: self = 'f08_messages'
  integer :: rank, ranks, next, previous, checks = 0, failures = 0
  integer :: code
  type(MPI_Comm) :: world

  call begin
  world = MPI_COMM_WORLD
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call handles
  call counts
  call sections
  call completion
  call held
  call probes
  call buffers
  call persistent
  call partitions
  call statuses
  call errors
  call profiling
  call finish

contains

  include 'check.inc'

  subroutine handles
    type(MPI_Comm) :: other
    type(MPI_Request) :: list(2)
    call check(world == MPI_COMM_WORLD .and. .not. world /= MPI_COMM_WORLD, 'a handle is itself')
    call check(world /= MPI_COMM_SELF .and. world .ne. MPI_COMM_NULL, 'handles differ')
    list = MPI_REQUEST_NULL
    call check(all(list == MPI_REQUEST_NULL), 'handles of an array')
    call check(MPI_INTEGER /= MPI_REAL .and. MPI_LONG_LONG_INT == MPI_LONG_LONG, 'constants are handles')
    other%MPI_VAL = world%MPI_VAL
    call check(other == world, 'a handle is an integer')
    call MPI_Comm_dup(world, other)
    call check(other /= world .and. other /= MPI_COMM_NULL, 'a duplicate is another')
    call MPI_Comm_free(other)
    call check(other == MPI_COMM_NULL, 'a handle that is freed is null')
  end subroutine handles

  ! Default integers and those of MPI_COUNT_KIND, with and without an error code, by name.
  subroutine counts
    integer :: out(3), in(3), few
    integer(MPI_COUNT_KIND) :: many, n
    type(MPI_Status) :: status
    out = rank + [1, 2, 3]
    code = -1
    call MPI_Sendrecv(out, 3, MPI_INTEGER, next, 5, in, 3, MPI_INTEGER, previous, 5, world, status, code)
    call check(code == MPI_SUCCESS .and. all(in == previous + [1, 2, 3]), 'MPI_Sendrecv')
    call check(status%MPI_SOURCE == previous .and. status%MPI_TAG == 5, 'a status')
    call MPI_Get_count(status, MPI_INTEGER, few)
    call MPI_Get_count(status, MPI_INTEGER, many)
    call check(few == 3 .and. many == 3, 'MPI_Get_count')
    call MPI_Get_elements(status, MPI_INTEGER, few)
    call MPI_Get_elements(status, MPI_INTEGER, many, code)
    call check(few == 3 .and. many == 3, 'MPI_Get_elements')
    n = 2
    in = 0
    call MPI_Sendrecv(out, n, MPI_INTEGER, next, 5, in, n, MPI_INTEGER, previous, 5, world, MPI_STATUS_IGNORE)
    call check(all(in == [previous + 1, previous + 2, 0]), 'MPI_Sendrecv of a large count')
    call MPI_Sendrecv_replace(in, n, MPI_INTEGER, previous, 5, next, 5, world, MPI_STATUS_IGNORE)
    call check(all(in == [rank + 1, rank + 2, 0]), 'MPI_Sendrecv_replace of a large count')
    call ready_and_synchronous(n)
    call MPI_Send(buf=out, count=1, datatype=MPI_INTEGER, dest=MPI_PROC_NULL, tag=1, comm=world)
    call MPI_Recv(in, n, MPI_INTEGER, MPI_PROC_NULL, 1, world, status)
    call check(status%MPI_SOURCE == MPI_PROC_NULL, 'nobody sends')
  end subroutine counts

  subroutine ready_and_synchronous(n)
    integer(MPI_COUNT_KIND), intent(in) :: n
    real :: out(2), in(2)
    type(MPI_Request) :: request
    out = [1.5, 2.5]
    call MPI_Irecv(in, n, MPI_REAL, rank, 9, MPI_COMM_WORLD, request)
    call MPI_Rsend(out, n, MPI_REAL, rank, 9, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in == out), 'MPI_Rsend of a large count')
    call MPI_Irecv(in, 2, MPI_REAL, rank, 9, MPI_COMM_WORLD, request)
    out = 7
    call MPI_Ssend(out, 2, MPI_REAL, rank, 9, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(in == 7) .and. request == MPI_REQUEST_NULL, 'MPI_Ssend')
  end subroutine ready_and_synchronous

  ! Of any rank, shape and type; those of calls that are done with them need not be contiguous.
  subroutine sections
    type :: pair
      integer :: first
      double precision :: second
    end type pair
    integer :: matrix(4, 5), got(5), cube(3, 4, 2), corner(2, 2, 2), i
    type(pair) :: pairs(4), others(4)
    character(3) :: words(4), read(2)
    type(MPI_Status) :: status
    matrix = reshape([(i, i = 1, 20)], [4, 5])
    call MPI_Sendrecv(matrix(2, :), 5, MPI_INTEGER, next, 1, got, 5, MPI_INTEGER, previous, 1, world, status)
    call check(all(got == [2, 6, 10, 14, 18]), 'a row is sent')
    call MPI_Sendrecv(got, 5, MPI_INTEGER, next, 1, matrix(3, 5:1:-1), 5, MPI_INTEGER, previous, 1, world, status)
    call check(all(matrix(3, :) == [18, 14, 10, 6, 2]) .and. matrix(4, 5) == 20, 'a row is received, backwards')
    call check(matrix(2, 5) == 18 .and. matrix(4, 1) == 4, 'nothing else is written')
    cube = 0
    corner = reshape([(i, i = 1, 8)], [2, 2, 2])
    call MPI_Sendrecv(corner, 8, MPI_INTEGER, next, 1, cube(1:3:2, 2:4:2, :), 8, MPI_INTEGER, previous, 1, world, status)
    call check(all(cube(1:3:2, 2:4:2, :) == corner) .and. sum(cube) == 36, 'a section of three dimensions')
    matrix = -1
    call MPI_Sendrecv([1, 2], 2, MPI_INTEGER, next, 1, matrix(1, :), 5, MPI_INTEGER, previous, 1, world, status)
    call check(all(matrix(1, :) == [1, 2, -1, -1, -1]), 'a message that is shorter than the section')
    pairs%first = [1, 2, 3, 4]
    pairs%second = [0.5d0, 1.5d0, 2.5d0, 3.5d0]
    others = pair(0, 0)
    call MPI_Sendrecv(pairs(1)%first, 1, MPI_INTEGER, next, 1, others(2)%first, 1, MPI_INTEGER, previous, 1, world, status)
    call check(others(2)%first == 1 .and. others(1)%first == 0, 'a scalar component')
    call MPI_Sendrecv(pairs%second, 4, MPI_DOUBLE_PRECISION, next, 1, others%second, 4, MPI_DOUBLE_PRECISION, previous, 1, &
      world, status)
    call check(all(others%second == pairs%second) .and. others(2)%first == 1, 'a component of each element')
    call MPI_Sendrecv(pairs, 64, MPI_BYTE, next, 1, others, 64, MPI_BYTE, previous, 1, world, status)
    call check(all(others%first == pairs%first), 'a type of the program''s own')
    words = ['one', 'two', 'six', 'ten']
    call MPI_Sendrecv(words(1:3:2), 6, MPI_CHARACTER, next, 1, read, 6, MPI_CHARACTER, previous, 1, world, status)
    call check(all(read == ['one', 'six']), 'texts')
    call MPI_Sendrecv(words(1:4)(2:2), 4, MPI_CHARACTER, next, 1, read, 4, MPI_CHARACTER, previous, 1, world, status)
    call check(read(1) == 'nwi' .and. read(2)(1:1) == 'e', 'a letter of each text')
    call assumed(matrix(:, 2), matrix)
    call MPI_Sendrecv(matrix(:, 5:4), 0, MPI_INTEGER, next, 1, got(3:2), 0, MPI_INTEGER, previous, 1, world, status)
    call MPI_Get_count(status, MPI_INTEGER, i)
    call check(i == 0, 'nothing')
    call check(.not. MPI_SUBARRAYS_SUPPORTED, 'not all calls take sections')
  end subroutine sections

  ! Arrays that are arguments: of assumed size and shape.
  subroutine assumed(size, shape)
    integer, intent(inout) :: size(*), shape(:, :)
    size(1:4) = [1, 2, 3, 4]
    call MPI_Sendrecv(size, 4, MPI_INTEGER, rank, 1, shape(:, 5), 4, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE)
    call check(all(shape(:, 5) == [1, 2, 3, 4]), 'arrays that are arguments')
  end subroutine assumed

  subroutine completion
    integer, asynchronous :: in(4), out(4)
    integer :: i, index, done, indices(4)
    logical :: flag
    type(MPI_Request) :: requests(4)
    type(MPI_Status) :: statuses(4), status
    out = rank * 10 + [1, 2, 3, 4]
    in = 0
    do i = 1, 4
      call MPI_Irecv(in(i), 1, MPI_INTEGER, previous, i, world, requests(i))
    end do
    do i = 4, 1, -1
      call MPI_Send(out(i), 1, MPI_INTEGER, next, i, world)
    end do
    call MPI_Waitall(4, requests, statuses)
    call check(all(in == previous * 10 + [1, 2, 3, 4]), 'MPI_Waitall')
    call check(all(statuses%MPI_TAG == [1, 2, 3, 4]) .and. all(requests == MPI_REQUEST_NULL), 'its statuses')
    call MPI_Waitany(4, requests, index, status)
    call check(index == MPI_UNDEFINED, 'MPI_Waitany of nothing')
    call MPI_Irecv(in(3), 1, MPI_INTEGER, rank, 1, world, requests(3))
    call MPI_Send(out(1), 1, MPI_INTEGER, rank, 1, world)
    call MPI_Waitany(4, requests, index=index, status=status)
    call check(index == 3 .and. in(3) == out(1), 'MPI_Waitany counts from one')
    call MPI_Irecv(in(2), 1, MPI_INTEGER, rank, 1, world, requests(2))
    call MPI_Testany(4, requests, index, flag, status)
    call check(.not. flag .and. index == MPI_UNDEFINED, 'MPI_Testany')
    call MPI_Request_get_status(requests(2), flag, MPI_STATUS_IGNORE)
    call check(.not. flag, 'MPI_Request_get_status')
    call MPI_Send(out(4), 1, MPI_INTEGER, rank, 1, world)
    call MPI_Waitsome(4, requests, done, indices, statuses)
    call check(done == 1 .and. indices(1) == 2 .and. statuses(1)%MPI_SOURCE == rank, 'MPI_Waitsome')
    call MPI_Testsome(4, requests, done, indices, MPI_STATUSES_IGNORE)
    call check(done == MPI_UNDEFINED, 'MPI_Testsome of nothing')
    call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE)
    call check(flag, 'MPI_Testall')
    call MPI_Irecv(in(1), 1, MPI_INTEGER, rank, 2, world, requests(1))
    call MPI_Request_get_status_any(4, requests, index, flag, status)
    call check(.not. flag, 'MPI_Request_get_status_any')
    call MPI_Cancel(requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_Test_cancelled(status, flag)
    call check(flag, 'MPI_Cancel')
    call MPI_Test(requests(1), flag, status, code)
    call check(flag .and. code == MPI_SUCCESS, 'MPI_Test')
  end subroutine completion

  ! The compiler knows that a buffer is used after the call.
  subroutine held
    integer :: i
    integer, asynchronous :: here, rest(2, 3)
    type(MPI_Request) :: request, both(2)
    do i = 1, 3
      here = -i
      call MPI_Irecv(here, 1, MPI_INTEGER, rank, 1, world, request)
      call MPI_Send(i, 1, MPI_INTEGER, rank, 1, world)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(here == i, 'a variable that is received later')
    end do
    call check(MPI_ASYNC_PROTECTS_NONBLOCKING, 'buffers are protected')
    rest = 1
    call MPI_Irecv(rest(1, :), 3, MPI_INTEGER, rank, 1, world, request, code)
    call MPI_Error_class(code, i)
    call check(i == MPI_ERR_BUFFER, 'a section that is not contiguous cannot be received later')
    call MPI_Irecv(rest(:, 2:3), 4, MPI_INTEGER, rank, 1, world, both(1), code)
    call MPI_Isend([4, 5, 6, 7], 4, MPI_INTEGER, rank, 1, world, both(2))
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
    call check(all(rest(:, 2) == [4, 5]) .and. all(rest(:, 3) == [6, 7]) .and. all(rest(:, 1) == 1), 'one that is contiguous can')
  end subroutine held

  subroutine probes
    integer :: in(2), few
    integer(MPI_COUNT_KIND) :: n = 2
    logical :: flag
    type(MPI_Message) :: message
    type(MPI_Status) :: status
    type(MPI_Request) :: request
    call MPI_Iprobe(rank, 44, world, flag, status)
    call check(.not. flag, 'MPI_Iprobe')
    call MPI_Isend([1, 2], 2, MPI_INTEGER, rank, 4, world, request)
    call MPI_Probe(MPI_ANY_SOURCE, 4, world, status)
    call MPI_Get_count(status, MPI_INTEGER, few)
    call check(few == 2 .and. status%MPI_SOURCE == rank, 'MPI_Probe')
    call MPI_Mprobe(rank, MPI_ANY_TAG, world, message, status)
    call check(message /= MPI_MESSAGE_NULL .and. status%MPI_TAG == 4, 'MPI_Mprobe')
    call MPI_Mrecv(in, n, MPI_INTEGER, message, status)
    call check(all(in == [1, 2]) .and. message == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Improbe(rank, 4, world, flag, message, status)
    call check(.not. flag, 'MPI_Improbe')
  end subroutine probes

  subroutine buffers
    integer, target :: place(600)
    integer :: size, in
    integer(MPI_COUNT_KIND) :: large
    type(c_ptr) :: address
    call MPI_Buffer_attach(place, 2400)
    call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 1, world)
    call MPI_Recv(in, 1, MPI_INTEGER, rank, 1, world, MPI_STATUS_IGNORE)
    call MPI_Buffer_detach(address, size)
    call check(in == rank .and. size == 2400 .and. c_associated(address, c_loc(place)), 'MPI_Buffer_detach')
    large = 2400
    call MPI_Comm_attach_buffer(world, place, large)
    call MPI_Comm_detach_buffer(world, address, large, code)
    call check(large == 2400 .and. c_associated(address, c_loc(place)), 'MPI_Comm_detach_buffer of a large count')
  end subroutine buffers

  subroutine persistent
    integer, asynchronous :: out(2), in(2)
    integer(MPI_COUNT_KIND) :: n = 2
    integer :: turn
    type(MPI_Request) :: requests(2)
    call MPI_Send_init(out, 2, MPI_INTEGER, next, 8, world, requests(1))
    call MPI_Recv_init(in, n, MPI_INTEGER, previous, 8, world, requests(2))
    do turn = 1, 2
      out = rank + turn
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(in == previous + turn) .and. all(requests /= MPI_REQUEST_NULL), 'MPI_Startall')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call check(all(requests == MPI_REQUEST_NULL), 'MPI_Request_free')
  end subroutine persistent

  subroutine partitions
    integer, asynchronous :: out(4), in(4)
    type(MPI_Request) :: requests(2)
    logical :: flag
    call MPI_Psend_init(out, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, rank, 8, world, MPI_INFO_NULL, requests(1))
    call MPI_Precv_init(in, 2, 2_MPI_COUNT_KIND, MPI_INTEGER, rank, 8, world, MPI_INFO_NULL, requests(2))
    call MPI_Startall(2, requests)
    out = [1, 2, 3, 4]
    call MPI_Pready(0, requests(1))
    call MPI_Pready_list(1, [1], requests(1))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call check(all(in == out), 'partitions')
    call MPI_Start(requests(2))
    call MPI_Parrived(requests(2), 0, flag)
    call check(.not. flag, 'MPI_Parrived')
    call MPI_Start(requests(1))
    call MPI_Pready_range(0, 1, requests(1))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine partitions

  subroutine statuses
    type(MPI_Status) :: status
    integer :: old(MPI_STATUS_SIZE), number
    logical :: flag
    integer(MPI_COUNT_KIND) :: elements = 5
    call MPI_Sendrecv(1, 1, MPI_INTEGER, rank, 3, number, 1, MPI_INTEGER, rank, 3, world, status)
    call MPI_Status_f082f(status, old)
    call check(old(MPI_SOURCE) == rank .and. old(MPI_TAG) == 3, 'MPI_Status_f082f')
    old(MPI_TAG) = 6
    call MPI_Status_f2f08(old, status, code)
    call check(status%MPI_TAG == 6, 'MPI_Status_f2f08')
    call MPI_Status_set_source(status, 2)
    call MPI_Status_get_source(status, number)
    call check(number == 2 .and. status%MPI_SOURCE == 2, 'MPI_Status_set_source')
    call MPI_Status_set_cancelled(status, .true.)
    call MPI_Test_cancelled(status, flag)
    call check(flag, 'MPI_Status_set_cancelled')
    call MPI_Status_set_elements(status, MPI_REAL, elements)
    call MPI_Get_elements(status, MPI_REAL, number)
    call check(number == 5, 'MPI_Status_set_elements')
    call MPI_Status_set_elements(status, MPI_REAL, 4)
    call MPI_Get_elements_x(status, MPI_REAL, elements)
    call check(elements == 4, 'MPI_Get_elements_x')
  end subroutine statuses

  subroutine errors
    integer :: class, length
    character(MPI_MAX_ERROR_STRING) :: text
    call MPI_Send(1, -1, MPI_INTEGER, rank, 1, world, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_COUNT, 'a negative count')
    call MPI_Send(1, 1, MPI_DATATYPE_NULL, rank, 1, world, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_TYPE, 'no datatype')
    call MPI_Send(1, 1, MPI_INTEGER, ranks, 1, world, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_RANK, 'no such rank')
    text = repeat('#', len(text))
    call MPI_Error_string(code, text, length)
    call check(length > 0 .and. text(length + 1:) == ' ' .and. index(text, '#') == 0, 'MPI_Error_string')
    ! Nobody asks for the code.
    call MPI_Send(1, 1, MPI_INTEGER, ranks, 1, world)
  end subroutine errors

  subroutine profiling
    integer :: me, in
    integer(MPI_COUNT_KIND) :: n = 1
    call PMPI_Comm_rank(world, me)
    call check(me == rank, 'PMPI_Comm_rank')
    call PMPI_Sendrecv(me, n, MPI_INTEGER, next, 1, in, n, MPI_INTEGER, previous, 1, world, MPI_STATUS_IGNORE)
    call check(in == previous, 'PMPI_Sendrecv of a large count')
    call check(MPI_Wtime() >= 0 .and. PMPI_Wtick() > 0, 'MPI_Wtime')
    call MPI_Pcontrol(1)
  end subroutine profiling
end program f08_messages
