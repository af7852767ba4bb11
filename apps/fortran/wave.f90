! A 2-D wave equation in Fortran 2008 with mpi_f08: args [N [STEPS]].
!
! A square membrane of N by N points, whose edge is held, is cut into strips of columns, one a rank. In each step a rank receives the columns beside its
! strip while it computes the points that do not need them. A point's value does not depend on how the membrane is cut, and the checksum adds the bits of
! all values as integers, so that every number of ranks prints the same.
program wave
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none

  interface
    ! Ends the program without a word.
    subroutine quit(status) bind(C, name='exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine quit
  end interface

  ! Points of a side: far more than memory holds.
  integer, parameter :: most = 1000000
  ! The square of the time step over the distance of points.
  real(real64), parameter :: courant = 0.25_real64

  type(MPI_Comm) :: line
  integer :: rank, ranks, left, right
  integer :: points = 128, steps = 100
  ! The first and the last column of the strip.
  integer :: first, last
  real(real64), allocatable, asynchronous :: now(:, :)
  real(real64), allocatable :: before(:, :), next(:, :)
  integer :: step

  call MPI_Init()
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size_of(MPI_COMM_WORLD)], [.false.], .true., line)
  call MPI_Comm_rank(line, rank)
  ranks = size_of(line)
  call MPI_Cart_shift(line, 0, 1, left, right)
  call read_arguments
  call make_strip
  do step = 1, steps
    call advance
  end do
  call report
  call MPI_Comm_free(line)
  call MPI_Finalize()

contains

  integer function size_of(comm)
    type(MPI_Comm), intent(in) :: comm
    call MPI_Comm_size(comm, size_of)
  end function size_of

  subroutine read_arguments
    if (command_argument_count() > 2) call refuse
    if (command_argument_count() > 0) points = number(1, 1)
    if (command_argument_count() > 1) steps = number(2, 0)
  end subroutine read_arguments

  integer function number(place, least)
    integer, intent(in) :: place, least
    character(20) :: text
    integer :: wrong
    call get_command_argument(place, text, status=wrong)
    if (wrong /= 0 .or. verify(trim(text), '0123456789') /= 0) call refuse
    read (text, '(i20)', iostat=wrong) number
    if (wrong /= 0 .or. number < least .or. number > most) call refuse
  end function number

  ! All ranks see the same arguments, and all end.
  subroutine refuse
    if (rank == 0) write (error_unit, '(a,i0,a)') 'wave: give wave [N [STEPS]]: points of a side, 1 to ', most, ', and steps'
    call MPI_Finalize()
    call quit(2_c_int)
  end subroutine refuse

  ! The membrane at rest is a hill in its middle.
  subroutine make_strip
    integer :: row, column, wrong
    real(real64) :: x, y
    first = int(int(rank, int64) * points / ranks) + 1
    last = int(int(rank + 1, int64) * points / ranks)
    if (points < ranks) call refuse_few
    allocate (now(0:points + 1, first - 1:last + 1), stat=wrong)
    if (wrong == 0) allocate (before, next, mold=now, stat=wrong)
    if (wrong /= 0) then
      write (error_unit, '(a,i0,a)') 'wave: no memory for ', points, ' points of a side; give fewer, or more memory to each rank'
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    now = 0
    do column = first, last
      do row = 1, points
        x = real(column, real64) / (points + 1)
        y = real(row, real64) / (points + 1)
        now(row, column) = 16 * x * (1 - x) * y * (1 - y)
      end do
    end do
    before = now
    next = 0
  end subroutine make_strip

  subroutine refuse_few
    if (rank == 0) write (error_unit, '(a,i0,a)') 'wave: fewer points than ranks; give at least ', ranks, ' points of a side'
    call MPI_Finalize()
    call quit(2_c_int)
  end subroutine refuse_few

  subroutine advance
    type(MPI_Request) :: requests(4)
    call MPI_Irecv(now(1:points, first - 1), points, MPI_REAL8, left, 1, line, requests(1))
    call MPI_Irecv(now(1:points, last + 1), points, MPI_REAL8, right, 2, line, requests(2))
    call MPI_Isend(now(1:points, first), points, MPI_REAL8, left, 2, line, requests(3))
    call MPI_Isend(now(1:points, last), points, MPI_REAL8, right, 1, line, requests(4))
    call compute(first + 1, last - 1)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call compute(first, first)
    if (last > first) call compute(last, last)
    before(:, first:last) = now(:, first:last)
    now(:, first:last) = next(:, first:last)
  end subroutine advance

  subroutine compute(from, to)
    integer, intent(in) :: from, to
    integer :: row, column
    do column = from, to
      do row = 1, points
        next(row, column) = 2 * now(row, column) - before(row, column) + courant * &
          ((now(row - 1, column) + now(row + 1, column)) + (now(row, column - 1) + now(row, column + 1)) - 4 * now(row, column))
      end do
    end do
  end subroutine compute

  subroutine report
    real(real64) :: highest, of_all
    integer(int64) :: sum, total
    integer :: row, column
    sum = 0
    do column = first, last
      do row = 1, points
        ! The sum must not run over.
        sum = sum + iand(transfer(now(row, column), sum), int(z'ffffffffff', int64))
      end do
    end do
    highest = maxval(now(1:points, first:last))
    call MPI_Reduce(sum, total, 1, MPI_INTEGER8, MPI_SUM, 0, line)
    call MPI_Reduce(highest, of_all, 1, MPI_REAL8, MPI_MAX, 0, line)
    if (rank == 0) print '(a,i0,a,i0,a,i0,a,f12.9,a,z16.16)', 'wave: ', points, ' x ', points, ' points, ', steps, &
      ' steps, highest ', of_all, ', checksum ', total
  end subroutine report
end program wave
