! Fortran 2008 with the module mpi_f08: collectives in their three forms with both kinds of counts, operations of the program's own, neighbours.
module f08_collectives_functions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  logical :: right = .true.

contains

  ! The first of two: it is associative, and the order matters.
  subroutine first(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    right = right .and. datatype == MPI_INTEGER
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = in
  end subroutine first

  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    double precision, pointer :: in(:), inout(:)
    right = right .and. datatype == MPI_DOUBLE_PRECISION
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = max(in, inout)
  end subroutine largest
end module f08_collectives_functions

program f08_collectives
  use mpi_f08
  use f08_collectives_functions
  implicit none
  character(*), parameter :: self = 'f08_collectives'
  integer :: rank, ranks, checks = 0, failures = 0
  integer :: code, i
  integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2
  type(MPI_Comm) :: world

  call begin
  world = MPI_COMM_WORLD
  call rooted
  call everybody
  call reductions
  call own
  call in_place
  call varying
  call types_of_each
  call later
  call started
  call neighbours
  call sections
  call errors
  call finish

contains

  include 'check.inc'

  subroutine rooted
    integer :: buffer(2), all_(2, ranks), mine(2)
    buffer = merge([4, 5], [0, 0], rank == 0)
    call MPI_Bcast(buffer, 2, MPI_INTEGER, 0, world)
    call check(all(buffer == [4, 5]), 'MPI_Bcast')
    buffer = merge([6, 7], [0, 0], rank == ranks - 1)
    call MPI_Bcast(buffer, two, MPI_INTEGER, ranks - 1, world, code)
    call check(all(buffer == [6, 7]), 'MPI_Bcast of a large count')
    all_ = 0
    call MPI_Gather([rank, -rank], 2, MPI_INTEGER, all_, 2, MPI_INTEGER, 0, world)
    call check(rank /= 0 .or. all(all_(1, :) == [(i, i = 0, ranks - 1)]), 'MPI_Gather')
    call MPI_Scatter(all_, two, MPI_INTEGER, mine, two, MPI_INTEGER, 0, world)
    call check(all(mine == [rank, -rank]), 'MPI_Scatter of a large count')
    call MPI_Barrier(world)
  end subroutine rooted

  subroutine everybody
    integer :: all_(ranks), out(ranks), in(ranks)
    call MPI_Allgather(rank, 1, MPI_INTEGER, all_, 1, MPI_INTEGER, world)
    call check(all(all_ == [(i, i = 0, ranks - 1)]), 'MPI_Allgather')
    all_ = 0
    call MPI_Allgather(rank, one, MPI_INTEGER, all_, one, MPI_INTEGER, world)
    call check(all(all_ == [(i, i = 0, ranks - 1)]), 'MPI_Allgather of a large count')
    out = [(rank * 100 + i, i = 0, ranks - 1)]
    call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, world)
    call check(all(in == [(i * 100 + rank, i = 0, ranks - 1)]), 'MPI_Alltoall')
  end subroutine everybody

  subroutine reductions
    integer :: sum_, most(2), part, list(ranks)
    integer(MPI_COUNT_KIND) :: counts(ranks)
    logical :: all_
    real :: place(2), found(2)
    call MPI_Allreduce(rank, sum_, 1, MPI_INTEGER, MPI_SUM, world)
    call check(sum_ == ranks * (ranks - 1) / 2, 'MPI_Allreduce')
    call MPI_Reduce([rank, -rank], most, two, MPI_INTEGER, MPI_MAX, 0, world)
    call check(rank /= 0 .or. all(most == [ranks - 1, 0]), 'MPI_Reduce of a large count')
    call MPI_Allreduce(rank < ranks, all_, 1, MPI_LOGICAL, MPI_LAND, world)
    call check(all_, 'MPI_LAND')
    place = [real(mod(rank, 3)), real(rank)]
    call MPI_Allreduce(place, found, 1, MPI_2REAL, MPI_MAXLOC, world)
    call check(found(1) == min(2, ranks - 1), 'MPI_MAXLOC')
    call MPI_Scan(rank, sum_, 1, MPI_INTEGER, MPI_SUM, world)
    call check(sum_ == rank * (rank + 1) / 2, 'MPI_Scan')
    call MPI_Exscan(rank, sum_, one, MPI_INTEGER, MPI_SUM, world)
    call check(rank == 0 .or. sum_ == rank * (rank - 1) / 2, 'MPI_Exscan of a large count')
    list = rank
    call MPI_Reduce_scatter_block(list, part, 1, MPI_INTEGER, MPI_SUM, world)
    call check(part == ranks * (ranks - 1) / 2, 'MPI_Reduce_scatter_block')
    counts = 1
    part = 0
    call MPI_Reduce_scatter(list, part, counts, MPI_INTEGER, MPI_SUM, world)
    call check(part == ranks * (ranks - 1) / 2, 'MPI_Reduce_scatter of large counts')
    sum_ = 3
    call MPI_Reduce_local(4, sum_, one, MPI_INTEGER, MPI_PROD)
    call check(sum_ == 12, 'MPI_Reduce_local')
  end subroutine reductions

  subroutine own
    type(MPI_Op) :: op
    integer :: mine(3), all_(3)
    double precision :: value, most
    logical :: commutes
    call MPI_Op_create(first, .false., op)
    call MPI_Op_commutative(op, commutes)
    call check(.not. commutes, 'MPI_Op_commutative')
    mine = rank + 1
    call MPI_Scan(mine, all_, 3, MPI_INTEGER, op, world)
    call check(all(all_ == 1) .and. right, 'an operation of the program''s own')
    call MPI_Op_free(op)
    call check(op == MPI_OP_NULL, 'MPI_Op_free')
    call MPI_Op_create_c(largest, .true., op)
    value = rank
    call MPI_Allreduce(value, most, one, MPI_DOUBLE_PRECISION, op, world)
    call check(most == ranks - 1 .and. right, 'one with large counts')
    call MPI_Allreduce(-value, most, 1, MPI_DOUBLE_PRECISION, op, world)
    call check(most == 0, 'one with large counts for a small one')
    call MPI_Op_free(op)
  end subroutine own

  subroutine in_place
    integer :: all_(ranks), sum_
    all_ = -1
    all_(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_, 1, MPI_INTEGER, world)
    call check(all(all_ == [(i, i = 0, ranks - 1)]), 'MPI_Allgather in place')
    sum_ = 2
    call MPI_Allreduce(MPI_IN_PLACE, sum_, one, MPI_INTEGER, MPI_SUM, world)
    call check(sum_ == 2 * ranks, 'MPI_Allreduce in place')
  end subroutine in_place

  subroutine varying
    integer :: counts(ranks), places(ranks), all_(ranks * (ranks + 1) / 2), mine(rank + 1), back(rank + 1)
    integer(MPI_COUNT_KIND) :: large(ranks)
    integer(MPI_ADDRESS_KIND) :: far(ranks)
    counts = [(i + 1, i = 0, ranks - 1)]
    places = [(i * (i + 1) / 2, i = 0, ranks - 1)]
    mine = rank
    all_ = -1
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all_, counts, places, MPI_INTEGER, world)
    call check(all_(1) == 0 .and. all(all_(places(rank + 1) + 1:places(rank + 1) + rank + 1) == rank), 'MPI_Allgatherv')
    large = counts
    far = places
    all_ = -1
    call MPI_Gatherv(mine, 1_MPI_COUNT_KIND * (rank + 1), MPI_INTEGER, all_, large, far, MPI_INTEGER, 0, world)
    call check(rank /= 0 .or. all_(size(all_)) == ranks - 1, 'MPI_Gatherv of large counts')
    call MPI_Scatterv(all_, counts, places, MPI_INTEGER, back, rank + 1, MPI_INTEGER, 0, world)
    call check(all(back == rank), 'MPI_Scatterv')
    call MPI_Alltoallv([(rank, i = 1, ranks)], [(1, i = 1, ranks)], [(i, i = 0, ranks - 1)], MPI_INTEGER, counts, &
      [(1, i = 1, ranks)], [(i, i = 0, ranks - 1)], MPI_INTEGER, world)
    call check(all(counts == [(i, i = 0, ranks - 1)]), 'MPI_Alltoallv')
  end subroutine varying

  subroutine types_of_each
    integer :: out(ranks), in(ranks), counts(ranks), places(ranks)
    integer(MPI_COUNT_KIND) :: large(ranks)
    integer(MPI_ADDRESS_KIND) :: far(ranks)
    type(MPI_Datatype) :: types(ranks)
    type(MPI_Request) :: request
    counts = 1
    places = [(4 * i, i = 0, ranks - 1)]
    types = MPI_INTEGER
    out = rank
    in = -1
    call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, world)
    call check(all(in == [(i, i = 0, ranks - 1)]), 'MPI_Alltoallw')
    large = 1
    far = places
    in = -1
    call MPI_Ialltoallw(out, large, far, types, in, large, far, types, world, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(in)
    call check(all(in == [(i, i = 0, ranks - 1)]), 'MPI_Ialltoallw of large counts')
    call MPI_Alltoallw(MPI_IN_PLACE, large, far, types, in, large, far, types, world)
    call check(all(in == rank), 'MPI_Alltoallw in place')
  end subroutine types_of_each

  subroutine later
    integer, asynchronous :: value, sum_, all_(ranks)
    type(MPI_Request) :: requests(4)
    value = merge(5, 0, rank == 0)
    call MPI_Ibarrier(world, requests(1))
    call MPI_Ibcast(value, one, MPI_INTEGER, 0, world, requests(2))
    call MPI_Iallreduce(1, sum_, 1, MPI_INTEGER, MPI_SUM, world, requests(3))
    call MPI_Iallgather(rank, one, MPI_INTEGER, all_, one, MPI_INTEGER, world, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call check(value == 5 .and. sum_ == ranks .and. all_(ranks) == ranks - 1, 'collectives that complete later')
  end subroutine later

  subroutine started
    integer, asynchronous :: value, sum_
    type(MPI_Request) :: request
    integer :: turn
    call MPI_Allreduce_init(value, sum_, one, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request)
    do turn = 1, 2
      value = turn
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(sum_ == turn * ranks, 'MPI_Allreduce_init')
    end do
    call MPI_Request_free(request)
  end subroutine started

  subroutine neighbours
    type(MPI_Comm) :: ring
    type(MPI_Datatype) :: types(2)
    integer :: in(2), out(2), before, after
    integer(MPI_COUNT_KIND) :: large(2)
    integer(MPI_ADDRESS_KIND) :: far(2)
    call MPI_Cart_create(world, 1, [ranks], [.true.], .false., ring)
    call MPI_Cart_shift(ring, 0, 1, before, after)
    in = -1
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, in, 1, MPI_INTEGER, ring)
    call check(all(in == [before, after]), 'MPI_Neighbor_allgather')
    out = [rank, -rank]
    call MPI_Neighbor_alltoall(out, one, MPI_INTEGER, in, one, MPI_INTEGER, ring)
    call check(ranks < 3 .or. all(in == [-before, after]), 'MPI_Neighbor_alltoall of a large count')
    types = MPI_INTEGER
    far = [0, 4]
    call MPI_Neighbor_alltoallw([rank, rank], [1, 1], far, types, in, [1, 1], far, types, ring)
    call check(all(in == [before, after]), 'MPI_Neighbor_alltoallw')
    large = 1
    in = -1
    call MPI_Neighbor_alltoallw([rank, rank], large, far, types, in, large, far, types, ring)
    call check(all(in == [before, after]), 'MPI_Neighbor_alltoallw of large counts')
    call MPI_Comm_free(ring)
  end subroutine neighbours

  subroutine sections
    integer :: matrix(3, ranks), column(2, 4)
    matrix = 0
    call MPI_Allgather(rank, 1, MPI_INTEGER, matrix(2, :), 1, MPI_INTEGER, world)
    call check(all(matrix(2, :) == [(i, i = 0, ranks - 1)]) .and. all(matrix(1:3:2, :) == 0), 'MPI_Allgather into a row')
    column = reshape([1, 10, 2, 20, 3, 30, 4, 40], [2, 4])
    call MPI_Allreduce(MPI_IN_PLACE, column(1, :), 4, MPI_INTEGER, MPI_SUM, world)
    call check(all(column(1, :) == ranks * [1, 2, 3, 4]) .and. column(2, 4) == 40, 'MPI_Allreduce of a row in place')
  end subroutine sections

  subroutine errors
    integer :: class, in
    call MPI_Bcast(in, -1, MPI_INTEGER, 0, world, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_COUNT, 'a negative count')
    call MPI_Bcast(in, 1, MPI_INTEGER, ranks, world, code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_ROOT, 'no such root')
    call MPI_Allreduce(1, in, 1, MPI_INTEGER, MPI_OP_NULL, world, ierror=code)
    call MPI_Error_class(code, class)
    call check(class == MPI_ERR_OP, 'no operation')
  end subroutine errors
end program f08_collectives
