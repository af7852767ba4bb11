! Fortran's procedures with arrays of requests and datatypes, with texts and their lengths, and attributes that one language sets and the
! other reads (MPI-5.0, sections 3.7.6, 6.8, 8.6, 5.1.13, 5.3, 10, 11.3 and 19.3.7).
module seen_from_c
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    function c_comm(number) bind(C, name='MPI_Comm_f2c') result(comm)
      import :: c_int, c_ptr
      integer(c_int), value :: number
      type(c_ptr) :: comm
    end function c_comm

    function c_get_attr(comm, key, value, flag) bind(C, name='MPI_Comm_get_attr') result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: comm
      integer(c_int), value :: key
      type(c_ptr) :: value
      integer(c_int) :: flag, code
    end function c_get_attr

    function c_set_attr(comm, key, value) bind(C, name='MPI_Comm_set_attr') result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: comm, value
      integer(c_int), value :: key
      integer(c_int) :: code
    end function c_set_attr
  end interface
end module seen_from_c

module representation
  use mpi
  implicit none
  integer :: last_type = 0
  integer(kind=MPI_ADDRESS_KIND) :: last_extra = 0

contains

  subroutine extent(type, bytes, extra, code)
    integer :: type, code
    integer(kind=MPI_ADDRESS_KIND) :: bytes, extra
    last_type = type
    last_extra = extra
    bytes = 4
    code = MPI_SUCCESS
  end subroutine extent
end module representation

program bindings
  use mpi
  implicit none
  character(*), parameter :: self = 'bindings'
  integer :: rank, ranks, checks = 0, failures = 0
  integer :: code

  call begin
  call datatypes_of_all
  call datatypes_of_others
  call datatypes_of_neighbours
  call questions
  call refused_waits
  call contents
  call packing
  call texts
  call sets
  call attributes
  call representations
  call others
  call finish

contains

  include 'check.inc'

  ! Rank i gives rank j the number 100 i + j, as an integer if j is even, else as a pair whose second part is its negative.
  subroutine datatypes_of_all
    integer :: from(2, 0:ranks - 1), to(2, 0:ranks - 1), counts(0:ranks - 1), places(0:ranks - 1)
    integer :: given(0:ranks - 1), got(0:ranks - 1), i, pair, request, round
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, code)
    call MPI_Type_commit(pair, code)
    counts = 1
    do i = 0, ranks - 1
      places(i) = 8 * i
      from(1, i) = 100 * rank + i
      from(2, i) = -from(1, i)
      given(i) = merge(MPI_INTEGER, pair, mod(i, 2) == 0)
      got(i) = merge(MPI_INTEGER, pair, mod(rank, 2) == 0)
    end do
    to = 7
    call MPI_Alltoallw(from, counts, places, given, to, counts, places, got, MPI_COMM_WORLD, code)
    call check(code == MPI_SUCCESS .and. arrived(to), 'alltoallw')
    to = 7
    call MPI_Ialltoallw(from, counts, places, given, to, counts, places, got, MPI_COMM_WORLD, request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call check(code == MPI_SUCCESS .and. arrived(to), 'started')
    call MPI_Alltoallw_init(from, counts, places, given, to, counts, places, got, MPI_COMM_WORLD, MPI_INFO_NULL, request, code)
    do round = 1, 2
      to = 7
      call MPI_Start(request, code)
      call MPI_Wait(request, MPI_STATUS_IGNORE, code)
      call check(code == MPI_SUCCESS .and. arrived(to), 'persistent')
    end do
    call MPI_Request_free(request, code)
    call MPI_Type_free(pair, code)
  end subroutine datatypes_of_all

  logical function arrived(to)
    integer, intent(in) :: to(2, 0:ranks - 1)
    integer :: i
    arrived = .true.
    do i = 0, ranks - 1
      arrived = arrived .and. to(1, i) == 100 * i + rank .and. to(2, i) == merge(7, -to(1, i), mod(rank, 2) == 0)
    end do
  end function arrived

  ! Between the first rank and all others, which is a datatype for each rank of the other group.
  subroutine datatypes_of_others
    integer :: from(ranks), to(ranks), counts(ranks), places(ranks), types(ranks), own, others, first, many, i
    if (ranks == 1) return
    first = min(rank, 1)
    many = merge(ranks - 1, 1, rank == 0)
    call MPI_Comm_split(MPI_COMM_WORLD, first, rank, own, code)
    call MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - first, 0, others, code)
    counts = 1
    types = MPI_DATATYPE_NULL
    types(:many) = MPI_INTEGER
    do i = 1, ranks
      places(i) = 4 * (i - 1)
      from(i) = 10 * rank + i
    end do
    to = -1
    call MPI_Alltoallw(from, counts, places, types, to, counts, places, types, others, code)
    call check(code == MPI_SUCCESS, 'between groups')
    if (rank == 0) call check(all(to(:many) == (/ (10 * i + 1, i = 1, many) /)), 'from all others')
    if (rank > 0) call check(to(1) == rank, 'from the first')
    call MPI_Comm_free(others, code)
    call MPI_Comm_free(own, code)
  end subroutine datatypes_of_others

  ! Around a ring, to both sides.
  subroutine datatypes_of_neighbours
    integer :: ring, from(2), to(2), counts(2), types(2), request, left, right
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ ranks /), (/ .true. /), .false., ring, code)
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    counts = 1
    places = (/ 0, 4 /)
    types = MPI_INTEGER
    from = (/ 10 * rank, 10 * rank + 1 /)
    to = -1
    call MPI_Neighbor_alltoallw(from, counts, places, types, to, counts, places, types, ring, code)
    call check(code == MPI_SUCCESS .and. all(to == (/ 10 * left + 1, 10 * right /)), 'neighbours')
    to = -1
    call MPI_Ineighbor_alltoallw(from, counts, places, types, to, counts, places, types, ring, request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call check(code == MPI_SUCCESS .and. all(to == (/ 10 * left + 1, 10 * right /)), 'neighbours, started')
    to = -1
    call MPI_Neighbor_alltoallw_init(from, counts, places, types, to, counts, places, types, ring, MPI_INFO_NULL, &
      request, code)
    call MPI_Start(request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call check(code == MPI_SUCCESS .and. all(to == (/ 10 * left + 1, 10 * right /)), 'neighbours, persistent')
    call MPI_Request_free(request, code)
    call MPI_Comm_free(ring, code)
    call MPI_Neighbor_alltoallw(from, counts, places, types, to, counts, places, types, MPI_COMM_SELF, code)
    call check(class_of(code) == MPI_ERR_TOPOLOGY, 'no neighbours')
  end subroutine datatypes_of_neighbours

  integer function class_of(answer)
    integer, intent(in) :: answer
    integer :: ignored
    call MPI_Error_class(answer, class_of, ignored)
  end function class_of

  ! The second of three can be received, then all.
  ! A call that is refused tells nothing, so there is nothing to count from one.
  subroutine refused_waits
    integer :: request(1), indices(4), done
    request = MPI_REQUEST_NULL
    indices = 7
    done = 4
    call MPI_Waitsome(-1, request, done, indices, MPI_STATUSES_IGNORE, code)
    call check(code /= MPI_SUCCESS .and. all(indices == 7), 'indices of a refused MPI_Waitsome')
    done = 4
    call MPI_Testsome(-1, request, done, indices, MPI_STATUSES_IGNORE, code)
    call check(code /= MPI_SUCCESS .and. all(indices == 7), 'indices of a refused MPI_Testsome')
  end subroutine refused_waits

  subroutine questions
    integer :: requests(3), before(3), got(3), indices(3), statuses(MPI_STATUS_SIZE, 3), status(MPI_STATUS_SIZE), index, done, i
    logical :: flag
    do i = 1, 3
      call MPI_Irecv(got(i), 1, MPI_INTEGER, 0, i, MPI_COMM_SELF, requests(i), code)
    end do
    before = requests
    call MPI_Request_get_status_any(3, requests, index, flag, status, code)
    call check(code == MPI_SUCCESS .and. .not. flag, 'none yet')
    call MPI_Send(22, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, code)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_any(3, requests, index, flag, status, code)
    end do
    call check(index == 2 .and. status(MPI_TAG) == 2 .and. got(2) == 22, 'any, counted from one')
    call MPI_Request_get_status_some(3, requests, done, indices, statuses, code)
    call check(code == MPI_SUCCESS .and. done == 1 .and. indices(1) == 2 .and. statuses(MPI_TAG, 1) == 2, 'some, counted from one')
    call MPI_Request_get_status_all(3, requests, flag, statuses, code)
    call check(code == MPI_SUCCESS .and. .not. flag, 'not all')
    call MPI_Send(11, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
    call MPI_Send(33, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, code)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_all(3, requests, flag, statuses, code)
    end do
    call check(all(statuses(MPI_TAG, :) == (/ 1, 2, 3 /)) .and. all(requests == before), 'all, and they are still there')
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, code)
    call check(all(got == (/ 11, 22, 33 /)) .and. all(requests == MPI_REQUEST_NULL), 'received')
    call MPI_Request_get_status_some(3, requests, done, indices, MPI_STATUSES_IGNORE, code)
    call check(code == MPI_SUCCESS .and. done == MPI_UNDEFINED, 'none is active')
    call MPI_Request_get_status_any(3, requests, index, flag, MPI_STATUS_IGNORE, code)
    call check(flag .and. index == MPI_UNDEFINED, 'nor any')
  end subroutine questions

  subroutine contents
    integer :: type, pair, counts(3), integers(3), types(3), size
    integer(kind=MPI_ADDRESS_KIND) :: places(2), addresses(2)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, code)
    places = (/ 0, 16 /)
    call MPI_Type_create_struct(2, (/ 3, 1 /), places, (/ MPI_DOUBLE_PRECISION, pair /), type, code)
    types = -1
    call MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, types, code)
    call check(code == MPI_SUCCESS .and. all(integers == (/ 2, 3, 1 /)) .and. all(addresses == places), 'contents')
    call check(types(1) == MPI_DOUBLE_PRECISION .and. types(3) == -1, 'a predefined datatype in it, and nothing behind')
    call MPI_Type_size(types(2), size, code)
    call check(code == MPI_SUCCESS .and. size == 8, 'a derived one')
    call MPI_Type_free(types(2), code)
    call MPI_Type_get_contents(type, 3, 2, 1, counts, addresses, types, code)
    call check(code /= MPI_SUCCESS, 'too little room')
    call MPI_Type_free(type, code)
    call MPI_Type_free(pair, code)
  end subroutine contents

  subroutine packing
    integer :: values(2), back(2)
    integer(kind=MPI_ADDRESS_KIND) :: size, place
    character(len=1) :: room(64)
    values = (/ 258, -1 /)
    back = 0
    call MPI_Pack_external_size('external32', 2, MPI_INTEGER, size, code)
    call check(code == MPI_SUCCESS .and. size == 8, 'size of what is packed')
    place = 0
    call MPI_Pack_external('external32  ', values, 2, MPI_INTEGER, room, size, place, code)
    call check(code == MPI_SUCCESS .and. place == 8, 'packed')
    call check(ichar(room(3)) == 1 .and. ichar(room(4)) == 2 .and. ichar(room(5)) == 255, 'the largest part first')
    place = 0
    call MPI_Unpack_external('external32', room, size, place, back, 2, MPI_INTEGER, code)
    call check(code == MPI_SUCCESS .and. place == 8 .and. all(back == values), 'unpacked')
  end subroutine packing

  subroutine texts
    integer :: info, length
    logical :: flag
    character(len=12) :: value
    call MPI_Info_create(info, code)
    call MPI_Info_set(info, 'colour', 'vermilion', code)
    length = 0
    value = 'untouched'
    call MPI_Info_get_string(info, 'colour  ', length, value, flag, code)
    call check(code == MPI_SUCCESS .and. flag .and. length == 9 .and. value == 'untouched', 'only the length')
    length = 12
    call MPI_Info_get_string(info, 'colour', length, value, flag, code)
    call check(flag .and. length == 9 .and. value == 'vermilion', 'all of it')
    length = 4
    call MPI_Info_get_string(info, 'colour', length, value, flag, code)
    call check(flag .and. length == 9 .and. value == 'verm', 'a part of it')
    call MPI_Info_get_string(info, 'shape', length, value, flag, code)
    call check(code == MPI_SUCCESS .and. .not. flag .and. value == 'verm', 'no such key')
    call MPI_Info_free(info, code)
    call MPI_Info_create_env(info, code)
    call check(code == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'of the environment')
    call MPI_Info_free(info, code)
  end subroutine texts

  subroutine sets
    integer :: session, group, comm, info, many, length, size, i, result
    character(len=40) :: name
    logical :: world, flag
    character(len=20) :: value
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, code)
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, many, code)
    world = .false.
    do i = 0, many - 1
      length = 0
      name = 'untouched'
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, code)
      call check(code == MPI_SUCCESS .and. length > 0 .and. name == 'untouched', 'length of a name')
      size = length
      length = len(name)
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, code)
      call check(code == MPI_SUCCESS .and. length == size .and. len_trim(name) == size, 'a name')
      world = world .or. name == 'mpi://WORLD'
    end do
    call check(world, 'there is the world')
    call MPI_Session_get_pset_info(session, 'mpi://WORLD ', info, code)
    length = len(value)
    call MPI_Info_get_string(info, 'mpi_size', length, value, flag, code)
    read (value, *) size
    call check(flag .and. size == ranks, 'size of the world')
    call MPI_Info_free(info, code)
    call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, code)
    call MPI_Comm_create_from_group(group, 'tag  ', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, code)
    call check(code == MPI_SUCCESS, 'a communicator')
    call MPI_Comm_compare(comm, MPI_COMM_WORLD, result, code)
    call check(result == MPI_CONGRUENT, 'of all ranks')
    call MPI_Comm_free(comm, code)
    call MPI_Group_free(group, code)
    call MPI_Group_from_session_pset(session, 'mpi://NOWHERE', group, code)
    call check(code /= MPI_SUCCESS, 'no such set')
    call MPI_Session_finalize(session, code)
  end subroutine sets

  subroutine attributes
    use seen_from_c
    integer :: comm, twin, key, old, value
    integer(kind=MPI_ADDRESS_KIND) :: wide, got
    integer(c_int) :: set
    type(c_ptr) :: address
    integer(kind=MPI_ADDRESS_KIND), pointer :: shown
    integer(c_int), pointer :: narrow
    integer, target :: place
    logical :: flag
    wide = 10_MPI_ADDRESS_KIND ** 12
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, code)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, code)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, code)
    call MPI_Comm_set_attr(comm, key, wide, code)
    call MPI_Attr_put(comm, old, -5, code)
    code = c_get_attr(c_comm(comm), key, address, set)
    call check(code == MPI_SUCCESS .and. set == 1, 'C has what Fortran has set')
    call c_f_pointer(address, shown)
    call check(shown == wide, 'as the address of an integer')
    code = c_get_attr(c_comm(comm), old, address, set)
    call c_f_pointer(address, narrow)
    call check(set == 1 .and. narrow == -5, 'and of a default integer')
    call MPI_Comm_get_attr(comm, old, got, flag, code)
    call check(flag .and. got == -5, 'which is the same with more bits')
    ! The copy has its own.
    call MPI_Comm_dup(comm, twin, code)
    call MPI_Comm_set_attr(comm, key, 3_MPI_ADDRESS_KIND, code)
    call MPI_Comm_get_attr(twin, key, got, flag, code)
    call check(flag .and. got == wide, 'the copy stays')
    call MPI_Comm_delete_attr(comm, key, code)
    code = c_get_attr(c_comm(twin), key, address, set)
    call c_f_pointer(address, shown)
    call check(set == 1 .and. shown == wide, 'in C as well')
    call MPI_Comm_free(twin, code)
    ! What C sets is an address, and stays one in copies that Fortran's functions make.
    place = 12
    code = c_set_attr(c_comm(comm), key, c_loc(place))
    call MPI_Comm_get_attr(comm, key, got, flag, code)
    call check(flag .and. got == transfer(c_loc(place), got), 'Fortran has the address that C has set')
    call MPI_Comm_dup(comm, twin, code)
    call MPI_Comm_get_attr(twin, key, got, flag, code)
    call check(flag .and. got == transfer(c_loc(place), got), 'and a copy of it')
    call MPI_Comm_free(twin, code)
    call MPI_Attr_get(comm, old, value, flag, code)
    call check(flag .and. value == -5, 'what it was')
    call MPI_Comm_free(comm, code)
    call MPI_Comm_free_keyval(key, code)
    call MPI_Keyval_free(old, code)
  end subroutine attributes

  subroutine representations
    use representation
    integer :: file
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    character(len=40) :: name
    call MPI_Register_datarep('bindings', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, 41_MPI_ADDRESS_KIND, code)
    call check(code == MPI_SUCCESS, 'a representation')
    call MPI_Register_datarep('bindings ', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, 41_MPI_ADDRESS_KIND, code)
    call check(class_of(code) == MPI_ERR_DUP_DATAREP, 'there already')
    write (name, '(a,i0)') '/tmp/bindings', rank
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, code)
    call check(code == MPI_SUCCESS, 'a file')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'bindings', MPI_INFO_NULL, code)
    call check(code == MPI_SUCCESS, 'seen in it')
    call MPI_File_get_type_extent(file, MPI_INTEGER, bytes, code)
    call check(bytes == 4 .and. last_type == MPI_INTEGER .and. last_extra == 41, 'the extent is asked for, with the extra state')
    call MPI_File_close(file, code)
  end subroutine representations

  subroutine others
    integer :: size, comm, codes(1), infos(2)
    logical :: right, wrong, set
    character(len=1) :: room(1024)
    character(len=MPI_MAX_PORT_NAME) :: port
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, room, 1024, code)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, room, size, code)
    call check(code == MPI_SUCCESS .and. size == 1024, 'a buffer of a communicator')
    call MPI_Open_port(MPI_INFO_NULL, port, code)
    call check(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, 'no ports')
    call MPI_Lookup_name('service', MPI_INFO_NULL, port, code)
    call check(class_of(code) == MPI_ERR_NAME, 'no names')
    call MPI_Comm_connect('port', MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, code)
    call check(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, 'nobody to meet')
    call MPI_Comm_spawn('program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, MPI_ERRCODES_IGNORE, code)
    call check(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, 'no more processes')
    call MPI_Comm_spawn('program', ['one', 'two', '   '], 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, comm, codes, code)
    call check(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, 'with arguments neither')
    infos = MPI_INFO_NULL
    call MPI_Comm_spawn_multiple(2, ['one', 'two'], MPI_ARGVS_NULL, [1, 1], infos, 0, MPI_COMM_SELF, comm, &
      MPI_ERRCODES_IGNORE, code)
    call check(class_of(code) == MPI_ERR_UNSUPPORTED_OPERATION, 'nor several')
    right = .false.
    wrong = .true.
    call MPI_Abi_get_fortran_booleans(4, right, wrong, set, code)
    call check(code == MPI_SUCCESS .and. (.not. set .or. (right .and. .not. wrong)), 'truth')
  end subroutine others
end program bindings
