/* Error classes, codes, texts, and handlers on communicators (MPI-5.0, sections 9.3 to 9.5). */
#include "check.h"

#if MPI_VERSION < 5
/* Not there yet: counted all the same, so that every version prints the same. */
#define MPI_Remove_error_string(code) MPI_SUCCESS
#define MPI_Remove_error_code(code) MPI_SUCCESS
#define MPI_Remove_error_class(class) ((void)(class), MPI_SUCCESS)
#endif

static int called, last_code;
static MPI_Comm last_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
    int size;
    called++;
    last_comm = *comm;
    last_code = *code;
    /* The library may be called from here. */
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void handlers(void)
{
    MPI_Errhandler mine, got;
    MPI_Comm comm, child;
    int value = 0;
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Comm_create_errhandler(handler, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, mine));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size_ + 5, 0, comm));
    CHECK(called == 1 && last_comm == comm && class_of_(last_code) == MPI_ERR_RANK);
    FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -7, comm));
    FAILS(MPI_ERR_COUNT, MPI_Send(&value, -1, MPI_INT, 0, 0, comm));
    FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm));
    CHECK(called == 4);
    /* Children inherit it. */
    OK(MPI_Comm_dup(comm, &child));
    OK(MPI_Comm_get_errhandler(child, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_split(comm, 0, 0, &child));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size_, 0, child));
    CHECK(called == 5 && last_comm == child);
    OK(MPI_Comm_free(&child));
    /* Freed, it serves as long as the communicator has it. */
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(called == 6 && last_code == MPI_ERR_OTHER);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size_ + 5, 0, comm));
    CHECK(called == 6);
    CHECK(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL) != MPI_SUCCESS);
    OK(MPI_Comm_free(&comm));
}

static const int classes[] = {
    MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM,
    MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY,
    MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN,
    MPI_ERR_PENDING, MPI_ERR_IN_STATUS, MPI_ERR_ACCESS, MPI_ERR_AMODE, MPI_ERR_ASSERT,
    MPI_ERR_BAD_FILE, MPI_ERR_BASE, MPI_ERR_CONVERSION, MPI_ERR_DISP, MPI_ERR_DUP_DATAREP,
    MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_FILE, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY,
    MPI_ERR_INFO_VALUE, MPI_ERR_INFO, MPI_ERR_IO, MPI_ERR_KEYVAL, MPI_ERR_LOCKTYPE, MPI_ERR_NAME,
    MPI_ERR_NO_MEM, MPI_ERR_NOT_SAME, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_PORT,
    MPI_ERR_QUOTA, MPI_ERR_READ_ONLY, MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_RANGE,
    MPI_ERR_RMA_SHARED, MPI_ERR_RMA_SYNC, MPI_ERR_SERVICE, MPI_ERR_SIZE, MPI_ERR_SPAWN,
    MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR,
    MPI_ERR_PROC_ABORTED, MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_SESSION,
};

static void codes(void)
{
    int class, code, other, got, length, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    int own = class;
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_ARG, &other));
    OK(MPI_Error_class(code, &got));
    CHECK(got == class);
    OK(MPI_Error_class(other, &got));
    CHECK(got == MPI_ERR_ARG);
    OK(MPI_Error_class(class, &got));
    CHECK(got == class);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= class);
    OK(MPI_Add_error_string(code, "one of my own"));
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "one of my own") == 0 && length == 13);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        OK(MPI_Error_string(classes[i], text, &length));
        CHECK(length > 0 && (int)strlen(text) == length);
        OK(MPI_Error_class(classes[i], &got));
        CHECK(got == classes[i]);
    }
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Remove_error_class(own));
    OK(MPI_Error_class(MPI_SUCCESS, &got));
    CHECK(got == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    /* These may be used before the start. */
    CHECK(MPI_Error_class(MPI_ERR_COMM, &class) == MPI_SUCCESS && class == MPI_ERR_COMM);
    CHECK(MPI_Error_string(MPI_ERR_COMM, text, &length) == MPI_SUCCESS && length > 0);
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    handlers();
    codes();
    return finish("errors");
}
