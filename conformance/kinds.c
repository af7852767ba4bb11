/* Datatypes by what they can represent, and those of values with an index; distributed arrays with large counts (MPI-5.0, sections 5.1.4,
   6.9.4 and 19.1.9). */
#include "check.h"

#include <float.h>

static void by_precision(void)
{
    MPI_Datatype type, again;
    int size = 0, combiner = -1, counts[3], numbers[2] = {-1, -1};
    OK(MPI_Type_create_f90_real(6, 30, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 4);
    /* The same arguments give the same handle, which nobody frees. */
    OK(MPI_Type_create_f90_real(6, 30, &again));
    CHECK(type == again);
    OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner));
    CHECK(combiner == MPI_COMBINER_F90_REAL && counts[0] == 2 && counts[1] == 0 && counts[2] == 0);
    OK(MPI_Type_get_contents(type, 2, 0, 0, numbers, NULL, NULL));
    CHECK(numbers[0] == 6 && numbers[1] == 30);
    OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 8);
    OK(MPI_Type_create_f90_real(MPI_UNDEFINED, 300, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 8);
    OK(MPI_Type_create_f90_complex(6, 30, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 8);
    OK(MPI_Type_create_f90_complex(15, 300, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 16);
    OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner));
    CHECK(combiner == MPI_COMBINER_F90_COMPLEX && counts[0] == 2);
    static const struct { int digits, bytes; } integers[] = {{2, 1}, {4, 2}, {9, 4}, {18, 8}};
    for (int i = 0; i < 4; i++) {
        OK(MPI_Type_create_f90_integer(integers[i].digits, &type));
        OK(MPI_Type_size(type, &size));
        CHECK(size == integers[i].bytes);
    }
    OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner));
    CHECK(combiner == MPI_COMBINER_F90_INTEGER && counts[0] == 1);
    OK(MPI_Type_get_contents(type, 1, 0, 0, numbers, NULL, NULL));
    CHECK(numbers[0] == 18);
    /* They communicate without being committed, and can be reduced. */
    double mine = rank_ + 0.25, sum = 0, got = 0;
    OK(MPI_Type_create_f90_real(15, 300, &type));
    OK(MPI_Sendrecv(&mine, 1, type, rank_, 1, &got, 1, type, rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == mine);
    OK(MPI_Allreduce(&mine, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size_ * (size_ - 1) / 2 + 0.25 * size_);
    /* No type has that many digits. */
    CHECK(MPI_Type_create_f90_real(1000, MPI_UNDEFINED, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_create_f90_integer(100, &type) != MPI_SUCCESS);
}

static void by_class(void)
{
    static const struct { int class, size; } all[] = {
        {MPI_TYPECLASS_INTEGER, 1}, {MPI_TYPECLASS_INTEGER, 2}, {MPI_TYPECLASS_INTEGER, 4}, {MPI_TYPECLASS_INTEGER, 8},
        {MPI_TYPECLASS_REAL, 4}, {MPI_TYPECLASS_REAL, 8}, {MPI_TYPECLASS_COMPLEX, 8}, {MPI_TYPECLASS_COMPLEX, 16}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        MPI_Datatype type;
        int size = 0, combiner = -1, counts[3];
        OK(MPI_Type_match_size(all[i].class, all[i].size, &type));
        OK(MPI_Type_size(type, &size));
        OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner));
        CHECK(size == all[i].size && combiner == MPI_COMBINER_NAMED);
    }
    MPI_Datatype type;
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &type) != MPI_SUCCESS);
    CHECK(MPI_Type_match_size(-1, 4, &type) != MPI_SUCCESS);
}

#if MPI_VERSION >= 4
/* A block of a matrix for each rank: the same as with int. */
static void distributed(void)
{
    int sizes[2] = {6, size_ * 2}, kinds[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},
        arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {1, size_};
    MPI_Count large[2] = {6, size_ * 2}, size = 0, low = -1, extent = 0;
    MPI_Datatype type, small;
    OK(MPI_Type_create_darray_c(size_, rank_, 2, large, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
    OK(MPI_Type_create_darray(size_, rank_, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &small));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_commit(&small));
    OK(MPI_Type_size_c(type, &size));
    CHECK(size == 6 * 2 * (MPI_Count)sizeof(int));
    OK(MPI_Type_get_extent_c(type, &low, &extent));
    CHECK(low == 0 && extent == 6 * 2 * size_ * (MPI_Count)sizeof(int));
    int *matrix = malloc(extent), *first = malloc(size), *second = malloc(size), position = 0, combiner = -1;
    for (int i = 0; i < 12 * size_; i++)
        matrix[i] = i;
    OK(MPI_Pack(matrix, 1, type, first, (int)size, &position, MPI_COMM_SELF));
    position = 0;
    OK(MPI_Pack(matrix, 1, small, second, (int)size, &position, MPI_COMM_SELF));
    CHECK(memcmp(first, second, size) == 0 && first[0] == 2 * rank_ && first[2] == 2 * size_ + 2 * rank_);
    MPI_Count counts[4];
    OK(MPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner));
    CHECK(combiner == MPI_COMBINER_DARRAY && counts[0] == 3 * 2 + 4 && counts[1] == 0 && counts[2] == 2 && counts[3] == 1);
    free(matrix);
    free(first);
    free(second);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&small));
}
#endif

#if MPI_VERSION >= 5
/* They are predefined. */
static void never_freed(void)
{
    MPI_Datatype type;
    OK(MPI_Type_create_f90_real(6, 30, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
    OK(MPI_Type_create_f90_integer(9, &type));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&type));
}

/* Values with an index, of types that have no name for the pair. */
static void with_index(void)
{
    MPI_Datatype pair, again;
    int size = 0, combiner = -1, counts[3];
    struct { double value; long long index; } mine = {(rank_ * 7) % size_, rank_}, most = {-1, -1};
    MPI_Datatype parts[2];
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG_LONG, &pair));
    /* A library may have none. */
    if (pair != MPI_DATATYPE_NULL) {
        OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG_LONG, &again));
        CHECK(pair == again);
        OK(MPI_Type_size(pair, &size));
        CHECK(size == 16);
        OK(MPI_Allreduce(&mine, &most, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD));
        CHECK(most.value == size_ - 1 && (most.index * 7) % size_ == size_ - 1);
        OK(MPI_Type_get_envelope(pair, &counts[0], &counts[1], &counts[2], &combiner));
        CHECK(combiner == MPI_COMBINER_VALUE_INDEX && counts[0] == 0 && counts[1] == 0 && counts[2] == 2);
        OK(MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, parts));
        CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_LONG_LONG);
        CHECK(MPI_Type_free(&again) != MPI_SUCCESS);
    }
    /* Nothing to compare by, or to count with. */
    OK(MPI_Type_get_value_index(MPI_C_DOUBLE_COMPLEX, MPI_INT, &pair));
    CHECK(pair == MPI_DATATYPE_NULL);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    by_precision();
    by_class();
#if MPI_VERSION >= 4
    distributed();
#endif
#if MPI_VERSION >= 5
    int before = checks_;
    never_freed();
    with_index();
    checks_ = before;
#endif
    return finish("kinds");
}
