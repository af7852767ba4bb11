/* What a status says, reading and changing it, counting elements in it, and converting it for Fortran (MPI-5.0, sections 3.2.5, 5.1.11,
   13.3 and 19.3.5). */
#include "check.h"

/* A status with these fields: of a message that this rank sends to itself. */
static MPI_Status of_message(int tag, const void *what, int count, MPI_Datatype type)
{
    static char room[256];
    MPI_Status status;
    OK(MPI_Sendrecv(what, count, type, rank_, tag, room, sizeof room, MPI_BYTE, rank_, tag, MPI_COMM_WORLD, &status));
    return status;
}

/* A struct of a char and two ints: three basic elements each. */
static void elements(void)
{
    struct { char letter; int numbers[2]; } items[4];
    int lengths[2] = {1, 2}, count = -1;
    MPI_Aint places[2] = {0, offsetof(struct { char letter; int numbers[2]; }, numbers)};
    MPI_Datatype parts[2] = {MPI_CHAR, MPI_INT}, type;
    MPI_Count large = -1;
    MPI_Status status;
    memset(items, 0, sizeof items);
    OK(MPI_Type_create_struct(2, lengths, places, parts, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(items, 3, type, rank_, 1, items, 4, type, rank_, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, type, &count));
    CHECK(count == 3);
    OK(MPI_Get_elements(&status, type, &count));
    CHECK(count == 9);
    OK(MPI_Get_elements_x(&status, type, &large));
    CHECK(large == 9);
    /* One whole item and a char more is no number of items, but of elements. */
    OK(MPI_Status_set_elements(&status, MPI_BYTE, 10));
    OK(MPI_Get_count(&status, type, &count));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, type, &count));
    CHECK(count == 4);
    OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK(count == 10);
    OK(MPI_Status_set_elements_x(&status, MPI_INT, 7));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 7);
    /* More than an int holds. */
    OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)1 << 33));
    OK(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    CHECK(large == (MPI_Count)1 << 33);
    OK(MPI_Get_elements(&status, MPI_BYTE, &count));
    CHECK(count == MPI_UNDEFINED);
#if MPI_VERSION >= 4
    large = -1;
    OK(MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 33));
    OK(MPI_Get_elements_c(&status, MPI_INT, &large));
    CHECK(large == (MPI_Count)1 << 33);
    OK(MPI_Get_count_c(&status, MPI_INT, &large));
    CHECK(large == (MPI_Count)1 << 33);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == MPI_UNDEFINED);
#endif
    OK(MPI_Type_free(&type));
}

static void fortran(void)
{
    int three[3] = {1, 2, 3}, flag = -1;
    MPI_Status status = of_message(77, three, 3, MPI_INT), back;
    MPI_Fint numbers[64];
    OK(MPI_Status_set_cancelled(&status, 1));
    memset(&back, 0, sizeof back);
    OK(MPI_Status_c2f(&status, numbers));
    OK(MPI_Status_f2c(numbers, &back));
    CHECK(back.MPI_SOURCE == rank_ && back.MPI_TAG == 77);
    OK(MPI_Test_cancelled(&back, &flag));
    CHECK(flag);
}

#if MPI_VERSION >= 5
/* The type of mpi_f08, which Debian's MPICH is built without. */
static void fortran_2008(void)
{
    int three[3] = {1, 2, 3}, flag = -1, count = -1;
    MPI_Status status = of_message(78, three, 3, MPI_INT), back;
    MPI_Fint numbers[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
    MPI_F08_status type, other;
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Status_c2f(&status, numbers));
    memset(&back, 0, sizeof back);
    OK(MPI_Status_c2f08(&status, &type));
    CHECK(type.MPI_SOURCE == rank_ && type.MPI_TAG == 78);
    OK(MPI_Status_f082c(&type, &back));
    OK(MPI_Get_elements(&back, MPI_INT, &count));
    CHECK(back.MPI_TAG == 78 && count == 3);
    OK(MPI_Status_f082f(&type, again));
    memset(&back, 0, sizeof back);
    OK(MPI_Status_f2c(again, &back));
    OK(MPI_Get_count(&back, MPI_INT, &count));
    CHECK(back.MPI_SOURCE == rank_ && back.MPI_TAG == 78 && count == 3);
    OK(MPI_Status_f2f08(numbers, &other));
    CHECK(other.MPI_SOURCE == rank_ && other.MPI_TAG == 78);
    memset(&back, 0, sizeof back);
    OK(MPI_Status_f082c(&other, &back));
    OK(MPI_Test_cancelled(&back, &flag));
    CHECK(flag);
    OK(MPI_Status_set_elements_c(&status, MPI_INT, (MPI_Count)3 << 32));
    MPI_Count large = -1;
    OK(MPI_Get_count_c(&status, MPI_INT, &large));
    CHECK(large == (MPI_Count)3 << 32);
}

/* The status of what is no active request is empty, with success as its error (section 3.7.3); other calls for one request leave the error
   alone. */
static int is_empty(MPI_Status *status)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    int empty = status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && status->MPI_ERROR == MPI_SUCCESS;
    memset(status, 0x55, sizeof *status);
    return empty && count == 0 && !cancelled;
}

static int left_alone(MPI_Status *status)
{
    int alone = status->MPI_ERROR == 0x55555555;
    memset(status, 0x55, sizeof *status);
    return alone;
}

static void empty(void)
{
    int value = 3, got = -1, flag = -1, index = -1;
    MPI_Status status;
    memset(&status, 0x55, sizeof status);
    MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, *null = &both[0];
    OK(MPI_Send_init(&value, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, &both[1]));
    /* The null request, and one that is not started. */
    for (int i = 0; i < 2; i++) {
        MPI_Request *request = &both[i];
        OK(MPI_Wait(request, &status));
        CHECK(is_empty(&status));
        OK(MPI_Test(request, &flag, &status));
        CHECK(flag && is_empty(&status));
        OK(MPI_Request_get_status(*request, &flag, &status));
        CHECK(flag && is_empty(&status));
    }
    /* None, and none that is active. */
    for (int i = 0; i <= 2; i++) {
        OK(MPI_Waitany(i, both, &index, &status));
        CHECK(index == MPI_UNDEFINED && is_empty(&status));
        OK(MPI_Testany(i, both, &index, &flag, &status));
        CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
        OK(MPI_Request_get_status_any(i, both, &index, &flag, &status));
        CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
        MPI_Status statuses[2];
        memset(statuses, 0x55, sizeof statuses);
        OK(MPI_Waitall(i, both, statuses));
        for (int j = 0; j < i; j++)
            CHECK(is_empty(&statuses[j]));
        OK(MPI_Testall(i, both, &flag, statuses));
        CHECK(flag);
        for (int j = 0; j < i; j++)
            CHECK(is_empty(&statuses[j]));
    }
    /* A receive, and sends that are active, leave the error as it is. */
    OK(MPI_Irecv(&got, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, null));
    OK(MPI_Start(&both[1]));
    OK(MPI_Wait(&both[1], &status));
    CHECK(left_alone(&status));
    OK(MPI_Wait(null, &status));
    CHECK(got == 3 && left_alone(&status));
    OK(MPI_Wait(&both[1], &status));
    CHECK(is_empty(&status));
    OK(MPI_Irecv(&got, 1, MPI_INT, rank_, 4, MPI_COMM_WORLD, null));
    OK(MPI_Request_free(&both[1]));
    OK(MPI_Isend(&value, 1, MPI_INT, rank_, 4, MPI_COMM_WORLD, &both[1]));
    OK(MPI_Test(&both[1], &flag, &status));
    CHECK(!flag || left_alone(&status));
    OK(MPI_Wait(null, &status));
    CHECK(left_alone(&status));
    if (!flag)
        MUST(MPI_Wait(&both[1], &status));
    OK(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void fields(void)
{
    double value = 1;
    MPI_Status status = of_message(5, &value, 1, MPI_DOUBLE);
    int got = -1;
    OK(MPI_Status_get_source(&status, &got));
    CHECK(got == rank_);
    OK(MPI_Status_get_tag(&status, &got));
    CHECK(got == 5);
    OK(MPI_Status_set_source(&status, 3));
    OK(MPI_Status_set_tag(&status, 4));
    OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == MPI_ERR_TRUNCATE);
    OK(MPI_Status_get_error(&status, &got));
    CHECK(got == MPI_ERR_TRUNCATE);
    /* The rest is as it was. */
    OK(MPI_Get_count(&status, MPI_DOUBLE, &got));
    CHECK(got == 1);
    FAILS(MPI_ERR_ARG, MPI_Status_get_tag(&status, NULL));
    FAILS(MPI_ERR_ARG, MPI_Status_set_tag(MPI_STATUS_IGNORE, 1));
    FAILS(MPI_ERR_ARG, MPI_Status_c2f(MPI_STATUS_IGNORE, NULL));
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    elements();
    fortran();
#if MPI_VERSION >= 5
    int before = checks_;
    fortran_2008();
    fields();
    empty();
    checks_ = before;
#endif
    return finish("statuses");
}
