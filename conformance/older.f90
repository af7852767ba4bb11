! What MPI-3.0 has removed, from Fortran (MPI-2.2, chapters 2 and 15), and numbers in bases as old programs write them.
program older
  implicit none
  include 'mpif.h'
  character(*), parameter :: self = 'older'
  integer :: rank, ranks, checks = 0, failures = 0, called = 0
  integer :: code

  call begin
  call bounds
  call vectors
  call handlers
  call bases
  call finish

contains

  include 'check.inc'

  subroutine bounds
    integer :: lengths(3), places(3), types(3), type, value
    lengths = 1
    places = (/ 4, -8, 32 /)
    types = (/ MPI_INTEGER, MPI_LB, MPI_UB /)
    call MPI_Type_struct(3, lengths, places, types, type, code)
    call check(code == MPI_SUCCESS, 'a struct')
    call MPI_Type_lb(type, value, code)
    call check(code == MPI_SUCCESS .and. value == -8, 'its lower bound')
    call MPI_Type_ub(type, value, code)
    call check(code == MPI_SUCCESS .and. value == 32, 'its upper bound')
    call MPI_Type_extent(type, value, code)
    call check(code == MPI_SUCCESS .and. value == 40, 'its extent')
    call MPI_Type_free(type, code)
    call check(MPI_COMBINER_STRUCT_INTEGER == MPI_COMBINER_STRUCT, 'a combiner')
  end subroutine bounds

  subroutine vectors
    integer :: items(16), got(4), lengths(2), places(2), type, first, third, i
    integer :: status(MPI_STATUS_SIZE)
    items = (/ (i, i = 1, 16) /)
    call MPI_Address(items(1), first, code)
    call check(code == MPI_SUCCESS, 'an address')
    call MPI_Address(items(3), third, code)
    call check(third - first == 8, 'a distance')
    call MPI_Type_hvector(2, 2, 20, MPI_INTEGER, type, code)
    call MPI_Type_commit(type, code)
    got = 0
    call MPI_Sendrecv(items, 1, type, rank, 1, got, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, code)
    call check(all(got == (/ 1, 2, 6, 7 /)), 'a vector')
    call MPI_Type_free(type, code)
    lengths = (/ 1, 2 /)
    places = (/ 4, 16 /)
    call MPI_Type_hindexed(2, lengths, places, MPI_INTEGER, type, code)
    call MPI_Type_commit(type, code)
    got = 0
    call MPI_Sendrecv(items, 1, type, rank, 1, got, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, code)
    call check(all(got == (/ 2, 5, 6, 0 /)), 'blocks')
    call MPI_Type_free(type, code)
  end subroutine vectors

  subroutine handlers
    integer :: comm, mine, got
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
    call MPI_Errhandler_create(note, mine, code)
    call MPI_Errhandler_set(comm, mine, code)
    call MPI_Errhandler_get(comm, got, code)
    call check(got == mine, 'the handler that has been set')
    call MPI_Errhandler_free(got, code)
    call MPI_Errhandler_free(mine, code)
    call MPI_Send(code, 1, MPI_INTEGER, ranks, 0, comm, code)
    call check(code /= MPI_SUCCESS .and. called == 1, 'it is called')
    call MPI_Comm_free(comm, code)
  end subroutine handlers

  subroutine note(comm, error)
    integer :: comm, error
    called = called + 1
  end subroutine note

  subroutine bases
    integer :: mask
    mask = Z'FF'
    call check(mask == 255, 'a number in base 16')
  end subroutine bases
end program older
