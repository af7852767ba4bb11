! Fortran 2008 with the module mpi_f08: datatypes, communicators with attributes, error handlers, groups, info objects, sessions, topologies.
module f08_objects_functions
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0, heard = 0
  integer(MPI_ADDRESS_KIND) :: told = 0

contains

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    told = extra_state
    attribute_val_out = attribute_val_in + 1
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID .and. extra_state == told) deletions = deletions + 1
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, attribute_val > 0)
  end subroutine delete

  subroutine hear(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    integer :: class
    call MPI_Error_class(error_code, class)
    if (comm /= MPI_COMM_NULL) heard = class
  end subroutine hear
end module f08_objects_functions

program f08_objects
  use mpi_f08
  use f08_objects_functions
  implicit none
  character(*), parameter :: self = 'f08_objects'
  integer :: rank, ranks, checks = 0, failures = 0
  integer :: code
  integer(MPI_COUNT_KIND), parameter :: one = 1, two = 2, three = 3
  type(MPI_Comm) :: world

  call begin
  world = MPI_COMM_WORLD
  call datatypes
  call contents
  call arrays
  call packing
  call attributes
  call of_types
  call handlers
  call groups
  call texts
  call session
  call topologies
  call surroundings
  call finish

contains

  include 'check.inc'

  ! Whether two items of a type and as many integers are the same message.
  subroutine received(type, integers, what)
    type(MPI_Datatype), intent(inout) :: type
    integer, intent(in) :: integers(:)
    character(*), intent(in) :: what
    integer :: out(40), in(40), i
    type(MPI_Status) :: status
    out = [(i, i = 1, 40)]
    call MPI_Type_commit(type)
    call MPI_Sendrecv(out, 1, type, rank, 1, in, 40, MPI_INTEGER, rank, 1, world, status)
    call MPI_Get_count(status, MPI_INTEGER, i)
    call check(i == size(integers), what)
    call check(all(in(1:min(i, size(integers))) == integers(1:min(i, size(integers)))), what)
    call MPI_Type_free(type)
    call check(type == MPI_DATATYPE_NULL, what)
  end subroutine received

  subroutine datatypes
    type(MPI_Datatype) :: type
    integer(MPI_ADDRESS_KIND) :: first, second, places(2)
    integer(MPI_COUNT_KIND) :: large, lower
    integer :: bytes, pair(2)
    call MPI_Type_contiguous(3, MPI_INTEGER, type)
    call received(type, [1, 2, 3], 'MPI_Type_contiguous')
    call MPI_Type_contiguous(three, MPI_INTEGER, type)
    call received(type, [1, 2, 3], 'MPI_Type_contiguous of a large count')
    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, type)
    call received(type, [1, 4], 'MPI_Type_vector')
    call MPI_Type_vector(two, one, three, MPI_INTEGER, type, code)
    call received(type, [1, 4], 'MPI_Type_vector of a large count')
    call MPI_Type_create_hvector(2, 1, 8_MPI_ADDRESS_KIND, MPI_INTEGER, type)
    call received(type, [1, 3], 'MPI_Type_create_hvector')
    call MPI_Type_create_hvector(two, one, 8_MPI_COUNT_KIND, MPI_INTEGER, type)
    call received(type, [1, 3], 'MPI_Type_create_hvector of a large count')
    call MPI_Type_indexed(2, [1, 2], [3, 0], MPI_INTEGER, type)
    call received(type, [4, 1, 2], 'MPI_Type_indexed')
    call MPI_Type_indexed(two, [one, two], [three, 0_MPI_COUNT_KIND], MPI_INTEGER, type)
    call received(type, [4, 1, 2], 'MPI_Type_indexed of a large count')
    call MPI_Type_create_hindexed(2, [1, 1], [4_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND], MPI_INTEGER, type)
    call received(type, [2, 5], 'MPI_Type_create_hindexed')
    call MPI_Type_create_hindexed_block(two, one, [4_MPI_COUNT_KIND, 16_MPI_COUNT_KIND], MPI_INTEGER, type)
    call received(type, [2, 5], 'MPI_Type_create_hindexed_block of a large count')
    call MPI_Type_create_indexed_block(2, 2, [0, 4], MPI_INTEGER, type)
    call received(type, [1, 2, 5, 6], 'MPI_Type_create_indexed_block')
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_INTEGER4], type)
    call received(type, [1, 3, 4], 'MPI_Type_create_struct')
    call MPI_Type_create_struct(two, [one, two], [0_MPI_COUNT_KIND, 8_MPI_COUNT_KIND], [MPI_INTEGER, MPI_INTEGER], type)
    call received(type, [1, 3, 4], 'MPI_Type_create_struct of a large count')
    call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 12_MPI_ADDRESS_KIND, type)
    call MPI_Type_get_extent(type, first, second)
    call check(first == 0 .and. second == 12, 'MPI_Type_get_extent')
    call MPI_Type_get_true_extent(type, first, second)
    call check(first == 0 .and. second == 4, 'MPI_Type_get_true_extent')
    call MPI_Type_get_extent_x(type, lower, large)
    call check(lower == 0 .and. large == 12, 'MPI_Type_get_extent_x')
    call MPI_Type_size(type, bytes)
    call MPI_Type_size(type, large)
    call check(bytes == 4 .and. large == 4, 'MPI_Type_size')
    call MPI_Type_free(type)
    call MPI_Get_address(pair(1), places(1))
    call MPI_Get_address(pair(2), places(2))
    call check(MPI_Aint_diff(places(2), places(1)) == 4, 'MPI_Aint_diff')
    call check(MPI_Aint_add(places(1), 4_MPI_ADDRESS_KIND) == places(2), 'MPI_Aint_add')
    call MPI_Type_create_hindexed(1, [2], places, MPI_INTEGER, type)
    call MPI_Type_commit(type)
    pair = 0
    call MPI_Sendrecv([7, 8], 2, MPI_INTEGER, rank, 1, MPI_BOTTOM, 1, type, rank, 1, world, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(pair)
    call check(all(pair == [7, 8]), 'MPI_BOTTOM')
    call MPI_Type_free(type)
  end subroutine datatypes

  subroutine contents
    type(MPI_Datatype) :: type, types(1)
    integer :: integers, addresses, datatypes, combiner, numbers(3)
    integer(MPI_COUNT_KIND) :: large(4), counts(3)
    integer(MPI_ADDRESS_KIND) :: places(1)
    call MPI_Type_vector(2, 1, 3, MPI_REAL, type)
    call MPI_Type_get_envelope(type, integers, addresses, datatypes, combiner)
    call check(all([integers, addresses, datatypes, combiner] == [3, 0, 1, MPI_COMBINER_VECTOR]), 'MPI_Type_get_envelope')
    call MPI_Type_get_contents(type, 3, 0, 1, numbers, places, types)
    call check(all(numbers == [2, 1, 3]) .and. types(1) == MPI_REAL, 'MPI_Type_get_contents')
    call MPI_Type_free(type)
    call MPI_Type_vector(two, one, three, MPI_REAL, type)
    call MPI_Type_get_envelope(type, large(1), large(2), large(3), large(4), combiner)
    call check(all(large == [0, 0, 3, 1]) .and. combiner == MPI_COMBINER_VECTOR, 'MPI_Type_get_envelope of large counts')
    call MPI_Type_get_contents(type, large(1), large(2), large(3), large(4), numbers, places, counts, types)
    call check(all(counts == [2, 1, 3]) .and. types(1) == MPI_REAL, 'MPI_Type_get_contents of large counts')
    call MPI_Type_free(type)
    call MPI_Type_create_f90_real(15, MPI_UNDEFINED, type)
    call check(type /= MPI_DATATYPE_NULL, 'MPI_Type_create_f90_real')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type)
    call check(type == MPI_REAL8, 'MPI_Type_match_size')
    call MPI_Type_get_value_index(MPI_REAL, MPI_INTEGER, type)
    call check(type /= MPI_REAL, 'MPI_Type_get_value_index')
  end subroutine contents

  subroutine arrays
    type(MPI_Datatype) :: type
    call MPI_Type_create_subarray(2, [4, 3], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, type)
    call received(type, [6, 7, 10, 11], 'MPI_Type_create_subarray')
    call MPI_Type_create_subarray(2, one * [4, 3], one * [2, 2], one * [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, type)
    call received(type, [6, 7, 10, 11], 'MPI_Type_create_subarray of large counts')
    call MPI_Type_create_darray(2, 1, 1, [4], [MPI_DISTRIBUTE_BLOCK], [MPI_DISTRIBUTE_DFLT_DARG], [2], MPI_ORDER_FORTRAN, &
      MPI_INTEGER, type)
    call received(type, [3, 4], 'MPI_Type_create_darray')
  end subroutine arrays

  subroutine packing
    integer :: packed(8), position, room, got(2)
    integer(MPI_COUNT_KIND) :: at, large
    integer(MPI_ADDRESS_KIND) :: place, bytes
    position = 0
    call MPI_Pack([5, 6], 2, MPI_INTEGER, packed, 32, position, world)
    call check(position == 8, 'MPI_Pack')
    at = 0
    call MPI_Unpack(packed, 32_MPI_COUNT_KIND, at, got, two, MPI_INTEGER, world)
    call check(at == 8 .and. all(got == [5, 6]), 'MPI_Unpack of a large count')
    call MPI_Pack_size(2, MPI_INTEGER, world, room)
    call MPI_Pack_size(two, MPI_INTEGER, world, large)
    call check(room == 8 .and. large == 8, 'MPI_Pack_size')
    place = 0
    call MPI_Pack_external('external32 ', [5, 6], 2, MPI_INTEGER, packed, 32_MPI_ADDRESS_KIND, place)
    call MPI_Pack_external_size('external32', 2, MPI_INTEGER, bytes)
    call check(place == 8 .and. bytes == 8, 'MPI_Pack_external')
    at = 0
    got = 0
    call MPI_Unpack_external('external32', packed, 32_MPI_COUNT_KIND, at, got, two, MPI_INTEGER)
    call check(at == 8 .and. all(got == [5, 6]), 'MPI_Unpack_external of a large count')
  end subroutine packing

  subroutine attributes
    type(MPI_Comm) :: comm, other
    integer :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_get_attr(world, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Comm_create_keyval(copy, delete, key, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(world, comm)
    call MPI_Comm_set_attr(comm, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, other)
    call check(copies == 1 .and. told == 77, 'an attribute is copied')
    call MPI_Comm_get_attr(other, key, value, flag)
    call check(flag .and. value == 6, 'MPI_Comm_get_attr')
    call MPI_Comm_free(other)
    call MPI_Comm_delete_attr(comm, key)
    call check(deletions == 2, 'attributes are deleted')
    call MPI_Comm_free_keyval(key)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, key, 9_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, other)
    call MPI_Comm_get_attr(other, key, value, flag)
    call check(flag .and. value == 9, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(other)
    call MPI_Comm_free(comm)
    call MPI_Comm_free_keyval(key)
  end subroutine attributes

  subroutine of_types
    type(MPI_Datatype) :: type, other
    integer :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Type_dup(MPI_INTEGER, type)
    call MPI_Type_set_attr(type, key, 4_MPI_ADDRESS_KIND)
    call MPI_Type_get_attr(type, key, value, flag)
    call check(flag .and. value == 4, 'MPI_Type_get_attr')
    call MPI_Type_dup(type, other)
    call MPI_Type_get_attr(other, key, value, flag)
    call check(.not. flag, 'MPI_TYPE_NULL_COPY_FN')
    call MPI_Type_delete_attr(type, key)
    call MPI_Type_free_keyval(key)
    call MPI_Type_free(type)
    call MPI_Type_free(other)
  end subroutine of_types

  subroutine handlers
    type(MPI_Errhandler) :: handler, old
    call MPI_Comm_get_errhandler(world, old)
    call MPI_Comm_create_errhandler(hear, handler)
    call MPI_Comm_set_errhandler(world, handler)
    call MPI_Send(1, 1, MPI_INTEGER, ranks, 1, world)
    call check(heard == MPI_ERR_RANK, 'an error handler hears of an error')
    call MPI_Comm_call_errhandler(world, MPI_ERR_TAG)
    call check(heard == MPI_ERR_TAG, 'MPI_Comm_call_errhandler')
    call MPI_Comm_set_errhandler(world, old)
    call MPI_Errhandler_free(handler)
    call check(handler == MPI_ERRHANDLER_NULL .and. old == MPI_ERRORS_RETURN, 'MPI_Errhandler_free')
  end subroutine handlers

  subroutine groups
    type(MPI_Group) :: all_, first, rest
    type(MPI_Comm) :: comm
    integer :: result, size, translated(1)
    call MPI_Comm_group(world, all_)
    call MPI_Group_incl(all_, 1, [0], first)
    call MPI_Group_excl(all_, 1, [0], rest)
    call MPI_Group_size(rest, size)
    call check(size == ranks - 1, 'MPI_Group_excl')
    call MPI_Group_translate_ranks(first, 1, [0], all_, translated)
    call check(translated(1) == 0, 'MPI_Group_translate_ranks')
    call MPI_Group_free(rest)
    call MPI_Group_range_incl(all_, 1, reshape([0, ranks - 1, 1], [3, 1]), rest)
    call MPI_Group_compare(all_, rest, result)
    call check(result == MPI_IDENT, 'MPI_Group_range_incl')
    call MPI_Comm_create(world, first, comm)
    call check((comm /= MPI_COMM_NULL) .eqv. rank == 0, 'MPI_Comm_create')
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm)
    call MPI_Comm_split(world, mod(rank, 2), -rank, comm)
    call MPI_Comm_compare(world, comm, result)
    call check(ranks == 1 .or. result == MPI_UNEQUAL, 'MPI_Comm_split')
    call MPI_Comm_free(comm)
    call MPI_Group_free(all_)
    call MPI_Group_free(first)
    call MPI_Group_free(rest)
    call check(rest == MPI_GROUP_NULL, 'MPI_Group_free')
  end subroutine groups

  subroutine texts
    character(MPI_MAX_OBJECT_NAME) :: name
    character(4) :: short
    character(12) :: value
    type(MPI_Info) :: info, copy_
    logical :: flag
    integer :: length
    call MPI_Comm_set_name(world, 'everybody   ')
    call MPI_Comm_get_name(world, name, length)
    call check(name == 'everybody' .and. length == 9, 'MPI_Comm_get_name')
    call MPI_Comm_get_name(world, short, length)
    call check(short == 'ever' .and. length == 4, 'a short variable')
    call MPI_Type_get_name(MPI_INTEGER, name, length)
    call check(name == 'MPI_INTEGER', 'MPI_Type_get_name')
    call MPI_Info_create(info)
    call MPI_Info_set(info, ' key ', '  a value  ')
    call MPI_Info_dup(info, copy_)
    length = len(value)
    call MPI_Info_get_string(copy_, 'key', length, value, flag)
    call check(flag .and. value == 'a value' .and. length == 7, 'MPI_Info_get_string')
    call MPI_Info_get_nthkey(copy_, 0, name)
    call MPI_Info_get_nkeys(copy_, length)
    call check(name == 'key' .and. length == 1, 'MPI_Info_get_nthkey')
    call MPI_Info_delete(copy_, 'key')
    call MPI_Info_get_valuelen(copy_, 'key', length, flag)
    call check(.not. flag, 'MPI_Info_delete')
    call MPI_Info_free(info)
    call MPI_Info_free(copy_)
    call check(info == MPI_INFO_NULL, 'MPI_Info_free')
    call MPI_Get_processor_name(name, length)
    call check(length > 0 .and. len_trim(name) == length, 'MPI_Get_processor_name')
  end subroutine texts

  subroutine session
    type(MPI_Session) :: mine
    type(MPI_Group) :: group
    type(MPI_Comm) :: comm
    type(MPI_Info) :: info
    character(MPI_MAX_PSET_NAME_LEN) :: name
    integer :: sets, length, size
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, mine)
    call MPI_Session_get_num_psets(mine, MPI_INFO_NULL, sets)
    length = len(name)
    call MPI_Session_get_nth_pset(mine, MPI_INFO_NULL, 0, length, name)
    call check(sets >= 2 .and. name(1:6) == 'mpi://' .and. len_trim(name) == length, 'MPI_Session_get_nth_pset')
    call MPI_Session_get_pset_info(mine, 'mpi://WORLD', info)
    call MPI_Info_free(info)
    call MPI_Group_from_session_pset(mine, 'mpi://WORLD', group)
    call MPI_Comm_create_from_group(group, 'f08', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
    call MPI_Comm_size(comm, size)
    call check(size == ranks, 'MPI_Comm_create_from_group')
    call MPI_Comm_free(comm)
    call MPI_Group_free(group)
    call MPI_Session_finalize(mine)
    call check(mine == MPI_SESSION_NULL, 'MPI_Session_finalize')
  end subroutine session

  subroutine topologies
    type(MPI_Comm) :: ring, row, graph
    integer :: dims(2), coords(2), source, destination, kind, sources(1), destinations(1), in, out
    logical :: periods(2), weighted
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call check(product(dims) == ranks, 'MPI_Dims_create')
    call MPI_Cart_create(world, 2, dims, [.true., .false.], .false., ring)
    call MPI_Cart_get(ring, 2, dims, periods, coords)
    call check(periods(1) .and. .not. periods(2), 'MPI_Cart_get')
    call MPI_Cart_shift(ring, 0, 1, source, destination)
    call check(source /= MPI_PROC_NULL .and. destination /= MPI_PROC_NULL, 'MPI_Cart_shift')
    call MPI_Cart_sub(ring, [.true., .false.], row)
    call MPI_Comm_size(row, kind)
    call check(kind == dims(1), 'MPI_Cart_sub')
    call MPI_Topo_test(ring, kind)
    call check(kind == MPI_CART, 'MPI_Topo_test')
    call MPI_Comm_free(row)
    call MPI_Comm_free(ring)
    call MPI_Dist_graph_create_adjacent(world, 1, [mod(rank + ranks - 1, ranks)], MPI_UNWEIGHTED, 1, [mod(rank + 1, ranks)], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted)
    call check(in == 1 .and. out == 1 .and. .not. weighted, 'MPI_Dist_graph_neighbors_count')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED)
    call check(sources(1) == mod(rank + ranks - 1, ranks) .and. destinations(1) == mod(rank + 1, ranks), 'MPI_Dist_graph_neighbors')
    call MPI_Comm_free(graph)
    call MPI_Graph_create(world, 1, [0], [integer ::], .false., graph)
    if (graph /= MPI_COMM_NULL) then
      call MPI_Graph_neighbors_count(graph, 0, kind)
      call check(kind == 0, 'MPI_Graph_neighbors_count')
      call MPI_Comm_free(graph)
    end if
  end subroutine topologies

  subroutine surroundings
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr) :: memory
    integer, pointer :: numbers(:)
    integer :: version, subversion, provided, bytes
    logical :: flag, yes, no
    call MPI_Get_version(version, subversion)
    call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'MPI_Get_version')
    call MPI_Query_thread(provided)
    call MPI_Is_thread_main(flag)
    call check(provided == MPI_THREAD_SINGLE .and. flag, 'MPI_Is_thread_main')
    bytes = storage_size(yes) / 8
    call MPI_Abi_get_fortran_booleans(bytes, yes, no, flag)
    call check(flag .and. yes .and. .not. no, 'MPI_Abi_get_fortran_booleans')
    call MPI_Initialized(flag)
    call check(flag, 'MPI_Initialized')
    call MPI_Finalized(flag)
    call check(.not. flag, 'MPI_Finalized')
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, numbers, [10])
    numbers = 3
    call check(sum(numbers) == 30, 'MPI_Alloc_mem')
    call MPI_Free_mem(numbers)
  end subroutine surroundings
end program f08_objects
