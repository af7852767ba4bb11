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

#if MPI_VERSION >= 5
/* A handler may change the code: the call returns what it has left (section 9.3). */
static int answer;
static void *last_object;

static void answering(int *code)
{
    called++;
    last_code = *code;
    *code = answer;
}

static void of_comm(MPI_Comm *comm, int *code, ...)
{
    last_object = *comm;
    answering(code);
}

static void of_win(MPI_Win *win, int *code, ...)
{
    last_object = *win;
    answering(code);
}

static void of_file(MPI_File *file, int *code, ...)
{
    last_object = *file;
    answering(code);
}

static void of_session(MPI_Session *session, int *code, ...)
{
    last_object = *session;
    answering(code);
}

/* The last call has come to the handler with an error of that class on that object. */
static int has_come(int class, void *object)
{
    int came = called == 1 && class_of_(last_code) == class && last_object == object;
    called = 0;
    return came;
}

static void answers(void)
{
    MPI_Errhandler comm_handler, win_handler, file_handler, session_handler;
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    int value = 0, code = MPI_SUCCESS;
    OK(MPI_Comm_create_errhandler(of_comm, &comm_handler));
    OK(MPI_Win_create_errhandler(of_win, &win_handler));
    OK(MPI_File_create_errhandler(of_file, &file_handler));
    OK(MPI_Session_create_errhandler(of_session, &session_handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, comm_handler));
    OK(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, win_handler));
    char name[32];
    snprintf(name, sizeof name, "/tmp/answers%d", rank_);
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_set_errhandler(file, file_handler));
    OK(MPI_Session_init(MPI_INFO_NULL, session_handler, &session));
    OK(MPI_Add_error_code(MPI_ERR_NAME, &code));
    const int all[] = {MPI_SUCCESS, MPI_ERR_PORT, code};
    called = 0;
    for (int i = 0; i < 3; i++) {
        answer = all[i];
        CHECK(MPI_Send(&value, 1, MPI_INT, size_, 0, comm) == answer && has_come(MPI_ERR_RANK, comm));
        CHECK(MPI_Bcast(&value, 1, MPI_INT, -9, comm) == answer && has_come(MPI_ERR_ROOT, comm));
        CHECK(MPI_Put(&value, 1, MPI_INT, size_, 0, 1, MPI_INT, win) == answer && has_come(MPI_ERR_RANK, win));
        CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) == answer && has_come(MPI_ERR_ARG, file));
        CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &value, NULL) == answer && has_come(MPI_ERR_ARG, session));
    }
    OK(MPI_Remove_error_code(code));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Win_free(&win));
    OK(MPI_File_close(&file));
    OK(MPI_Session_finalize(&session));
    /* What makes an object of nothing hands its own errors to the handler that the object would have had. */
    MPI_Session none;
    MPI_Info wrong;
    OK(MPI_Info_create(&wrong));
    MPI_Info freed = wrong;
    OK(MPI_Info_free(&wrong));
    for (int i = 0; i < 3; i++) {
        static char text[MPI_MAX_STRINGTAG_LEN + 2];
        memset(text, 'x', sizeof text - 1);
        answer = i == 2 ? MPI_ERR_PORT : all[i];
        CHECK(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, comm_handler, &comm) == answer);
        CHECK(has_come(MPI_ERR_GROUP, MPI_COMM_NULL));
        CHECK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, text, MPI_INFO_NULL, comm_handler, &comm) == answer);
        CHECK(has_come(MPI_ERR_ARG, MPI_COMM_NULL));
        CHECK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "tag", freed, comm_handler, &comm) == answer);
        CHECK(has_come(MPI_ERR_INFO, MPI_COMM_NULL));
        CHECK(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, MPI_GROUP_NULL, 0, "tag", MPI_INFO_NULL, comm_handler, &comm) == answer);
        CHECK(has_come(MPI_ERR_GROUP, MPI_COMM_NULL));
        CHECK(MPI_Session_init(freed, session_handler, &none) == answer && has_come(MPI_ERR_INFO, MPI_SESSION_NULL));
    }
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    /* A handler of another kind cannot take it, and nothing is made. */
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "tag", MPI_INFO_NULL, win_handler, &comm));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, comm_handler, &none));
    CHECK(called == 0);
    /* Errors on what there is not go to the handler of MPI_COMM_SELF, which is told that communicator. */
    MPI_Errhandler before;
    OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &before));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler));
    CHECK(MPI_Win_fence(0, MPI_WIN_NULL) == answer && has_come(MPI_ERR_WIN, MPI_COMM_SELF));
    CHECK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL) == answer && has_come(MPI_ERR_COMM, MPI_COMM_SELF));
    CHECK(MPI_Type_commit(NULL) == answer && has_come(MPI_ERR_ARG, MPI_COMM_SELF));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, before));
    OK(MPI_Errhandler_free(&before));
    /* Those on files that are not there go to the handler of MPI_FILE_NULL. */
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, file_handler));
    CHECK(MPI_File_sync(MPI_FILE_NULL) == answer && has_come(MPI_ERR_FILE, MPI_FILE_NULL));
    CHECK(MPI_File_sync(file) == answer && has_come(MPI_ERR_FILE, MPI_FILE_NULL));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&comm_handler));
    OK(MPI_Errhandler_free(&win_handler));
    OK(MPI_Errhandler_free(&file_handler));
    OK(MPI_Errhandler_free(&session_handler));
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_ERR_OTHER;
}

/* MPI_ERR_OTHER of a function of the program's is not the library's wrong order of calls. */
static void others(void)
{
    char of_class[MPI_MAX_ERROR_STRING], of_code[MPI_MAX_ERROR_STRING];
    int key, length, code;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, NULL));
    code = MPI_Comm_delete_attr(comm, key);
    CHECK(code == MPI_ERR_OTHER);
    OK(MPI_Error_string(code, of_class, &length));
    CHECK(strstr(of_class, "initial") == NULL);
    code = MPI_Init(NULL, NULL);
    FAILS(MPI_ERR_OTHER, code);
    OK(MPI_Error_string(code, of_code, &length));
    CHECK(strstr(of_code, "initialised") != NULL);
}
#endif

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
#if MPI_VERSION >= 5
    int before = checks_;
    answers();
    others();
    checks_ = before;
#endif
    return finish("errors");
}
