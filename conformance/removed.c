/* What MPI-3.0 has removed and old programs still call, in the words of MPI-2.2 (chapters 2 and 15). */
#include "check.h"

#if MPI_VERSION >= 5
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int called;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    called++;
}

static void handlers(void)
{
    MPI_Handler_function *function = note;
    MPI_Errhandler handler, got;
    MPI_Comm comm;
    int value = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Errhandler_create(function, &handler));
    OK(MPI_Errhandler_set(comm, handler));
    OK(MPI_Errhandler_get(comm, &got));
    CHECK(got == handler);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&handler));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size_, 0, comm));
    CHECK(called == 1);
    FAILS(MPI_ERR_COMM, MPI_Errhandler_set(MPI_COMM_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&comm));
}

/* The bounds of a struct. */
static void bounded(int count, const int *lengths, const MPI_Aint *places, const MPI_Datatype *types, MPI_Aint lb, MPI_Aint ub)
{
    MPI_Datatype type;
    MPI_Aint value = -1;
    int size = 0, sum = 0;
    OK(MPI_Type_struct(count, lengths, places, types, &type));
    OK(MPI_Type_lb(type, &value));
    CHECK(value == lb);
    OK(MPI_Type_ub(type, &value));
    CHECK(value == ub);
    OK(MPI_Type_extent(type, &value));
    CHECK(value == ub - lb);
    OK(MPI_Type_size(type, &size));
    for (int i = 0; i < count; i++)
        if (types[i] == MPI_INT)
            sum += lengths[i] * (int)sizeof(int);
    CHECK(types[0] != MPI_INT || size == sum);
    OK(MPI_Type_free(&type));
}

static void structs(void)
{
    const int ones[3] = {1, 1, 1}, none[3] = {1, 0, 1};
    const MPI_Aint places[3] = {4, -8, 32}, twice[3] = {4, 40, 32};
    bounded(1, ones, places, (MPI_Datatype[]){MPI_INT}, 4, 8);
    bounded(3, ones, places, (MPI_Datatype[]){MPI_INT, MPI_LB, MPI_UB}, -8, 32);
    bounded(2, ones, places, (MPI_Datatype[]){MPI_INT, MPI_LB}, -8, 8);
    bounded(3, none, places, (MPI_Datatype[]){MPI_INT, MPI_LB, MPI_UB}, 4, 32);
    bounded(3, ones, twice, (MPI_Datatype[]){MPI_INT, MPI_UB, MPI_UB}, 4, 40);
    /* Markers inside stay. */
    MPI_Datatype inner, outer;
    MPI_Aint ub = -1, extent = -1;
    OK(MPI_Type_struct(3, ones, places, (MPI_Datatype[]){MPI_INT, MPI_LB, MPI_UB}, &inner));
    OK(MPI_Type_struct(2, ones, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){inner, MPI_UB}, &outer));
    OK(MPI_Type_ub(outer, &ub));
    OK(MPI_Type_extent(outer, &extent));
    CHECK(ub == 32 && extent == 40);
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_free(&inner));
    /* Only there. */
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_UB, &outer));
    FAILS(MPI_ERR_TYPE, MPI_Type_struct(1, ones, places, (MPI_Datatype[]){MPI_DATATYPE_NULL}, &outer));
    FAILS(MPI_ERR_COUNT, MPI_Type_struct(-1, ones, places, (MPI_Datatype[]){MPI_INT}, &outer));
}

static void others(void)
{
    int items[16], got[16], lengths[2] = {1, 2};
    MPI_Aint here, there, places[2] = {sizeof(int), 4 * sizeof(int)}, value = -1;
    MPI_Datatype type;
    OK(MPI_Address(&items[0], &here));
    OK(MPI_Address(&items[3], &there));
    CHECK(there - here == 3 * sizeof(int));
    for (int i = 0; i < 16; i++) {
        items[i] = i;
        got[i] = -1;
    }
    OK(MPI_Type_hvector(2, 2, 5 * sizeof(int), MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(items, 1, type, rank_, 1, got, 4, MPI_INT, rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got[0] == 0 && got[1] == 1 && got[2] == 5 && got[3] == 6);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_hindexed(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(items, 1, type, rank_, 1, got, 3, MPI_INT, rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got[0] == 1 && got[1] == 4 && got[2] == 5);
    OK(MPI_Type_lb(type, &value));
    CHECK(value == sizeof(int));
    OK(PMPI_Type_extent(type, &value));
    CHECK(value == 5 * sizeof(int));
    OK(MPI_Type_free(&type));
    CHECK(MPI_COMBINER_STRUCT_INTEGER == MPI_COMBINER_STRUCT && MPI_COMBINER_HVECTOR_INTEGER == MPI_COMBINER_HVECTOR);
    CHECK(MPI_COMBINER_HINDEXED_INTEGER == MPI_COMBINER_HINDEXED);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
#if MPI_VERSION >= 5
    int before = checks_;
    handlers();
    structs();
    others();
    checks_ = before;
#endif
    return finish("removed");
}
