/* Every error class, provoked where a call can give it (MPI-5.0, section 9.4); one that nothing here can give is answered by a function of
   the program's own, and must come out of the call unchanged. (That of a library's own limits: ends/limits.c.) */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static int value, values[4];

static void messages(void)
{
    static char small[MPI_BSEND_OVERHEAD + 64];
    MPI_Request request = MPI_REQUEST_NULL, two[2];
    MPI_Status statuses[2];
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(values, 4, MPI_INT, rank_, 0, MPI_COMM_WORLD));
    OK(MPI_Buffer_attach(small, sizeof small));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(values, 4096, MPI_BYTE, rank_, 0, MPI_COMM_WORLD));
    void *address = NULL;
    int size = 0;
    OK(MPI_Buffer_detach(&address, &size));
    FAILS(MPI_ERR_COUNT, MPI_Send(&value, -1, MPI_INT, rank_, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TYPE, MPI_Send(&value, 1, MPI_DATATYPE_NULL, rank_, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, rank_, MPI_ANY_TAG, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, rank_, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, size_, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD));
    OK(MPI_Isend(values, 4, MPI_INT, rank_, 1, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TRUNCATE, MPI_Recv(values, 3, MPI_INT, rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
    OK(MPI_Irecv(&value, 1, MPI_INT, rank_, 2, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* One of two is too long: the call says to look at the statuses. */
    OK(MPI_Irecv(values, 2, MPI_INT, rank_, 3, MPI_COMM_WORLD, &two[0]));
    OK(MPI_Irecv(&value, 1, MPI_INT, rank_, 4, MPI_COMM_WORLD, &two[1]));
    OK(MPI_Send(values, 1, MPI_INT, rank_, 4, MPI_COMM_WORLD));
    OK(MPI_Send(values, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, two, statuses));
    CHECK(class_of_(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING);
}

static void collective(void)
{
    int keyval = MPI_KEYVAL_INVALID, flag, *found;
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, -1, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&value, values, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(MPI_COMM_WORLD, &value));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag));
    OK(MPI_Info_create(&info));
    char long_key[MPI_MAX_INFO_KEY + 10], long_value[MPI_MAX_INFO_VAL + 10];
    memset(long_key, 'k', sizeof long_key);
    memset(long_value, 'v', sizeof long_value);
    long_key[sizeof long_key - 1] = long_value[sizeof long_value - 1] = 0;
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, long_key, "value"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "key", long_value));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "key"));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(group, 1, &size_, &group));
    OK(MPI_Group_free(&group));
    /* The second start. */
    FAILS(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
}

static void windows(void)
{
    int memory[4];
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank_, win));
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    OK(MPI_Win_free(&win));
    FAILS(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

#if MPI_VERSION >= 5
/* One operation has failed, and what the other needs has not come: nobody waits for it, whichever comes first. */
static void pending(void)
{
    MPI_Request two[2];
    MPI_Status statuses[2];
    for (int failing = 0; failing < 2; failing++) {
        OK(MPI_Irecv(values, 2, MPI_INT, rank_, 5, MPI_COMM_WORLD, &two[failing]));
        OK(MPI_Irecv(&value, 1, MPI_INT, rank_, 6, MPI_COMM_WORLD, &two[1 - failing]));
        OK(MPI_Send(values, 4, MPI_INT, rank_, 5, MPI_COMM_WORLD));
        FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, two, statuses));
        FAILS(MPI_ERR_TRUNCATE, statuses[failing].MPI_ERROR);
        FAILS(MPI_ERR_PENDING, statuses[1 - failing].MPI_ERROR);
        CHECK(two[failing] == MPI_REQUEST_NULL && two[1 - failing] != MPI_REQUEST_NULL);
        values[0] = 100 + failing;
        OK(MPI_Send(values, 1, MPI_INT, rank_, 6, MPI_COMM_WORLD));
        OK(MPI_Waitall(2, two, statuses));
        CHECK(value == 100 + failing && two[1 - failing] == MPI_REQUEST_NULL);
    }
}

/* The callback's answer is no error code of anybody's. */
static int unknown = 1234567;

static int strange(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)attribute, (void)extra;
    return unknown;
}

static void callbacks(void)
{
    int key, length = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, strange, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, &value));
    FAILS(MPI_ERR_UNKNOWN, MPI_Comm_delete_attr(comm, key));
    FAILS(MPI_ERR_UNKNOWN, MPI_Comm_free(&comm));
    OK(MPI_Error_string(unknown, text, &length));
    CHECK(length > 0);
    unknown = MPI_SUCCESS;
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
}

/* Nothing is spawned, and the root, which knows how much was to be, is told so of each process. */
static void processes(void)
{
    int codes[5] = {0}, counts[2] = {2, 3}, wrong[2] = {2, -1};
    char *commands[2] = {"x", "y"};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm comm;
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Comm_spawn("x", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm, codes));
    for (int i = 0; i < 5; i++)
        FAILS(rank_ == 0 && i < 3 ? MPI_ERR_SPAWN : MPI_SUCCESS, codes[i]);
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &comm, codes));
    if (rank_ == 0)
        FAILS(MPI_ERR_SPAWN, codes[4]);
    FAILS(MPI_ERR_ROOT, MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, size_, MPI_COMM_WORLD, &comm, codes));
    FAILS(MPI_ERR_COMM, MPI_Comm_spawn("x", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &comm, codes));
    FAILS(MPI_ERR_ARG, MPI_Comm_spawn("x", MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm, codes));
    FAILS(MPI_ERR_ARG, MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, wrong, infos, 0, MPI_COMM_SELF, &comm, codes));
}

/* What the state of files and file systems gives. */
static void files(void)
{
    char name[64];
    static char block[200];
    int last, node_size, number = getpid();
    struct rlimit limits;
    MPI_File file;
    MPI_Offset bytes = -1;
    OK(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(name, sizeof name, "/tmp/classes-%d", number);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    if (size_ > 1)
        FAILS(MPI_ERR_NOT_SAME, MPI_File_set_size(file, 10 + rank_));
    FAILS(MPI_ERR_FILE_IN_USE, MPI_File_delete(name, MPI_INFO_NULL));
    OK(MPI_File_write_at(file, rank_, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    /* More than any node keeps files in; it takes nothing. */
    FAILS(MPI_ERR_NO_SPACE, MPI_File_preallocate(file, (MPI_Offset)1 << 50));
    FAILS(MPI_ERR_NO_SPACE, MPI_File_preallocate(file, (MPI_Offset)1 << 62));
    OK(MPI_File_set_size(file, 100));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* More than the rank may have in a file. */
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && getrlimit(RLIMIT_FSIZE, &limits) == 0);
    rlim_t granted = limits.rlim_cur;
    limits.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_FSIZE, &limits) == 0);
    FAILS(MPI_ERR_QUOTA, MPI_File_write_at(file, 4000, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_QUOTA, MPI_File_set_size(file, 4097));
    FAILS(MPI_ERR_QUOTA, MPI_File_preallocate(file, 4097));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 4096);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    limits.rlim_cur = granted;
    CHECK(setrlimit(RLIMIT_FSIZE, &limits) == 0);
    OK(MPI_File_write_at(file, 4000, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    /* One rank of a node has it open, another deletes it. */
    MPI_Comm node;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_size(node, &node_size);
    OK(MPI_Comm_free(&node));
    last = node_size - 1;
    OK(MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (rank_ == last)
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank_ == 0)
        FAILS(MPI_ERR_FILE_IN_USE, MPI_File_delete(name, MPI_INFO_NULL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank_ == last)
        OK(MPI_File_close(&file));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank_ == 0) {
        OK(MPI_File_delete(name, MPI_INFO_NULL));
        FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(name, MPI_INFO_NULL));
    }
}

/* A part of a window that one rank has locked and another exposes, and the other way; memory that is not there to be shared. */
static void conflicts(void)
{
    static int memory[4];
    const int zero = 0, last = size_ - 1;
    MPI_Win win;
    MPI_Group world, first, origin;
    FAILS(MPI_ERR_RMA_SHARED, MPI_Win_create(memory, (MPI_Aint)1 << 40, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_RMA_SHARED, MPI_Win_create((void *)(intptr_t)-4096, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory, (MPI_Aint)1 << 40));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &zero, &first));
    OK(MPI_Group_incl(world, 1, &last, &origin));
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (rank_ == 0)
        OK(MPI_Win_post(origin, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    FAILS(MPI_ERR_RMA_CONFLICT, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    FAILS(MPI_ERR_RMA_CONFLICT, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    FAILS(MPI_ERR_RMA_CONFLICT, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&last, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank_ == last) {
        OK(MPI_Win_start(first, 0, win));
        OK(MPI_Put(&last, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Win_complete(win));
    }
    if (rank_ == 0) {
        OK(MPI_Win_wait(win));
        CHECK(memory[0] == last);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank_ == 0)
        FAILS(MPI_ERR_RMA_CONFLICT, MPI_Win_post(origin, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&origin));
}

/* What other libraries leave undetected or give another class for. */
static void exactly(void)
{
    pending();
    callbacks();
    processes();
    files();
    conflicts();
    int memory[4], dims[2] = {size_ + 1, 1}, periods[2] = {0, 0}, size = -1;
    char port[MPI_MAX_PORT_NAME], *address = NULL;
    static char large;
    void *block = NULL;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Win win;
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    dims[0] = 3, dims[1] = 0;
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(7, 2, dims));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
    FAILS(MPI_ERR_SESSION, MPI_Session_get_info(MPI_SESSION_NULL, &info));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm));
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "key", "value"));
    OK(MPI_Abi_get_info(&info));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    /* Memory. */
    FAILS(MPI_ERR_NO_MEM, MPI_Alloc_mem((MPI_Aint)1 << 45, MPI_INFO_NULL, &block));
    FAILS(MPI_ERR_INFO, MPI_Alloc_mem(64, (MPI_Info)MPI_COMM_WORLD, &block));
    OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &block));
    FAILS(MPI_ERR_BASE, MPI_Free_mem((char *)block + 1));
    OK(MPI_Free_mem(block));
    FAILS(MPI_ERR_BASE, MPI_Free_mem((void *)((intptr_t)block | (intptr_t)(rank_ + 1) << 39)));
    /* Attached with more bytes than an int counts: only the large form can tell. */
    OK(MPI_Buffer_attach_c(&large, (MPI_Count)INT_MAX + 1));
    FAILS(MPI_ERR_VALUE_TOO_LARGE, MPI_Buffer_detach(&address, &size));
    MPI_Count bytes = -1;
    OK(MPI_Buffer_detach_c(&address, &bytes));
    CHECK(address == &large && bytes == (MPI_Count)INT_MAX + 1);
    /* Windows. */
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(0, rank_, 0, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, rank_, 1, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_fence(1, win));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_INT, rank_, 4, 1, MPI_INT, win));
    OK(MPI_Win_unlock(rank_, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, &memory[1], sizeof(int)));
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    /* Nobody has published or opened anything. */
    FAILS(MPI_ERR_NAME, MPI_Lookup_name("x", MPI_INFO_NULL, port));
    FAILS(MPI_ERR_SERVICE, MPI_Unpublish_name("x", MPI_INFO_NULL, "y"));
    FAILS(MPI_ERR_PORT, MPI_Close_port("x"));
    FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Open_port(MPI_INFO_NULL, port));
}
#endif

static int answer(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    return *(int *)state;
}

static int done(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int stop(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* An operation of the program's own, which fails with that class. */
static int operation(int class)
{
    MPI_Request request;
    OK(MPI_Grequest_start(answer, done, stop, &class, &request));
    OK(MPI_Grequest_complete(request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void carried(void)
{
    CARRIES(MPI_ERR_UNKNOWN, operation(MPI_ERR_UNKNOWN));
    CARRIES(MPI_ERR_INTERN, operation(MPI_ERR_INTERN));
    CARRIES(MPI_ERR_PENDING, operation(MPI_ERR_PENDING));
    CARRIES(MPI_ERR_NOT_SAME, operation(MPI_ERR_NOT_SAME));
    CARRIES(MPI_ERR_SPAWN, operation(MPI_ERR_SPAWN));
    CARRIES(MPI_ERR_RMA_SHARED, operation(MPI_ERR_RMA_SHARED));
    CARRIES(MPI_ERR_RMA_CONFLICT, operation(MPI_ERR_RMA_CONFLICT));
#if MPI_VERSION >= 4
    /* A rank that aborts ends its whole job: no peer is left whom a call could tell. */
    CARRIES(MPI_ERR_PROC_ABORTED, operation(MPI_ERR_PROC_ABORTED));
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    messages();
    collective();
    windows();
    carried();
#if MPI_VERSION >= 5
    int before = checks_;
    exactly();
    checks_ = before;
#endif
    return finish("classes");
}
