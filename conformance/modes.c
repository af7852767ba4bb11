/* Sends of all modes in all forms: blocking, non-blocking, persistent, with large counts; combined sends and receives; buffers of
   communicators and sessions (MPI-5.0, sections 3.4 to 3.10). Each rank talks to its neighbours in a ring. */
#include "check.h"

enum { N = 300 };

static int next, previous, out[N], in[N];

static void fresh(int tag)
{
    for (int i = 0; i < N; i++) {
        out[i] = 100000 * tag + 1000 * rank_ + i;
        in[i] = -1;
    }
}

/* What the one before has sent, all of it. */
static int arrived(int tag)
{
    int right = 1;
    for (int i = 0; i < N; i++)
        right &= in[i] == 100000 * tag + 1000 * previous + i;
    return right;
}

/* A receive is posted before the others send: a ready send needs that. */
static void post(int tag, MPI_Request *receive)
{
    fresh(tag);
    OK(MPI_Irecv(in, N, MPI_INT, previous, tag, MPI_COMM_WORLD, receive));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void complete(int tag, MPI_Request *receive)
{
    int count = -1;
    MPI_Status status;
    OK(MPI_Wait(receive, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(arrived(tag) && count == N && status.MPI_SOURCE == previous && status.MPI_TAG == tag);
}

static void blocking(void)
{
    MPI_Request receive;
    post(1, &receive);
    OK(MPI_Ssend(out, N, MPI_INT, next, 1, MPI_COMM_WORLD));
    complete(1, &receive);
    post(2, &receive);
    OK(MPI_Rsend(out, N, MPI_INT, next, 2, MPI_COMM_WORLD));
    complete(2, &receive);
    post(3, &receive);
    OK(MPI_Bsend(out, N, MPI_INT, next, 3, MPI_COMM_WORLD));
    complete(3, &receive);
    post(4, &receive);
    OK(MPI_Send(out, N, MPI_INT, next, 4, MPI_COMM_WORLD));
    complete(4, &receive);
}

static void non_blocking(void)
{
    int (*const starts[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend, MPI_Ibsend, MPI_Issend,
                                                                                                 MPI_Irsend};
    for (int i = 0; i < 4; i++) {
        MPI_Request receive, send;
        post(5 + i, &receive);
        OK(starts[i](out, N, MPI_INT, next, 5 + i, MPI_COMM_WORLD, &send));
        complete(5 + i, &receive);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(send == MPI_REQUEST_NULL);
    }
}

/* A synchronous send is not complete before its receive has been posted. */
static void synchronous(void)
{
    int flag = -1, value = rank_, got = -1;
    MPI_Request send;
    OK(MPI_Issend(&value, 1, MPI_INT, next, 20, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 20; i++) {
        MUST(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        HOLDS(!flag);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Recv(&got, 1, MPI_INT, previous, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == previous);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

#if MPI_VERSION >= 4
static void large_counts(void)
{
    int (*const starts[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend_c, MPI_Ibsend_c,
                                                                                                       MPI_Issend_c, MPI_Irsend_c};
    int (*const inits[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Send_init_c, MPI_Bsend_init_c,
                                                                                                      MPI_Ssend_init_c, MPI_Rsend_init_c};
    MPI_Request receive, send;
    for (int i = 0; i < 4; i++) {
        post(30 + i, &receive);
        OK(starts[i](out, N, MPI_INT, next, 30 + i, MPI_COMM_WORLD, &send));
        complete(30 + i, &receive);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < 4; i++) {
        OK(inits[i](out, N, MPI_INT, next, 40 + i, MPI_COMM_WORLD, &send));
        for (int round = 0; round < 2; round++) {
            post(40 + i, &receive);
            OK(MPI_Start(&send));
            complete(40 + i, &receive);
            OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
            CHECK(send != MPI_REQUEST_NULL);
        }
        OK(MPI_Request_free(&send));
    }
    /* MPICH 4.0 leaves their statuses empty. */
    fresh(50);
    OK(MPI_Isendrecv_c(out, N, MPI_INT, next, 50, in, N, MPI_INT, previous, 50, MPI_COMM_WORLD, &receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(arrived(50));
    fresh(51);
    memcpy(in, out, sizeof in);
    OK(MPI_Isendrecv_replace_c(in, N, MPI_INT, next, 51, previous, 51, MPI_COMM_WORLD, &receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(arrived(51));
}
#endif

#if MPI_VERSION >= 5
/* The status of both in one is that of the receive. */
static void both_in_one(void)
{
    MPI_Request request;
    fresh(52);
    OK(MPI_Isendrecv_c(out, N, MPI_INT, next, 52, in, N, MPI_INT, previous, 52, MPI_COMM_WORLD, &request));
    complete(52, &request);
    fresh(53);
    memcpy(in, out, sizeof in);
    OK(MPI_Isendrecv_replace(in, N, MPI_INT, next, 53, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    complete(53, &request);
}
#endif

static void mistakes(void)
{
    MPI_Request request;
    FAILS(MPI_ERR_RANK, MPI_Ssend(out, 1, MPI_INT, size_, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_TAG, MPI_Rsend(out, 1, MPI_INT, rank_, -5, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COUNT, MPI_Irsend(out, -1, MPI_INT, rank_, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TYPE, MPI_Bsend(out, 1, MPI_DATATYPE_NULL, rank_, 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COMM, MPI_Ssend_init(out, 1, MPI_INT, rank_, 0, MPI_COMM_NULL, &request));
}

#if MPI_VERSION >= 5
/* A message of a communicator goes through the communicator's buffer, else its session's, else the process's. */
static void buffers(void)
{
    static char own[8 * (N * sizeof(int) + MPI_BSEND_OVERHEAD)];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, child;
    MPI_Request receive, flush;
    MPI_Count bytes = -1;
    char *address = NULL;
    int size = -1;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_INT, next, 0, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Session_flush_buffer(session));
    OK(MPI_Session_attach_buffer(session, own, sizeof own));
    FAILS(MPI_ERR_BUFFER, MPI_Session_attach_buffer_c(session, own, sizeof own));
    OK(MPI_Comm_dup(comm, &child));
    for (int i = 0; i < 2; i++) {
        MPI_Comm used = i ? child : comm;
        fresh(60 + i);
        OK(MPI_Bsend(out, N, MPI_INT, next, 60 + i, used));
        OK(MPI_Session_iflush_buffer(session, &flush));
        OK(MPI_Irecv(in, N, MPI_INT, previous, 60 + i, used, &receive));
        complete(60 + i, &receive);
        OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
        OK(MPI_Session_flush_buffer(session));
    }
    /* Others do not use it. */
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_INT, next, 0, MPI_COMM_WORLD));
    OK(MPI_Session_detach_buffer(session, &address, &size));
    CHECK(address == own && size == sizeof own);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, 1, MPI_INT, next, 0, comm));
    OK(MPI_Session_attach_buffer_c(session, own, sizeof own));
    address = NULL;
    OK(MPI_Session_detach_buffer_c(session, &address, &bytes));
    CHECK(address == own && bytes == sizeof own);
    OK(MPI_Comm_attach_buffer_c(comm, own, sizeof own));
    fresh(62);
    OK(MPI_Bsend(out, N, MPI_INT, next, 62, comm));
    OK(MPI_Irecv(in, N, MPI_INT, previous, 62, comm, &receive));
    complete(62, &receive);
    address = NULL, bytes = -1;
    OK(MPI_Comm_detach_buffer_c(comm, &address, &bytes));
    CHECK(address == own && bytes == sizeof own);
    FAILS(MPI_ERR_SESSION, MPI_Session_attach_buffer(MPI_SESSION_NULL, own, sizeof own));
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
}
#endif

int main(int argc, char **argv)
{
    static char attached[4 * (N * sizeof(int) + MPI_BSEND_OVERHEAD)];
    void *address = NULL;
    int size = 0;
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    OK(MPI_Buffer_attach(attached, sizeof attached));
    blocking();
    non_blocking();
    synchronous();
#if MPI_VERSION >= 4
    large_counts();
#endif
    mistakes();
    OK(MPI_Buffer_detach(&address, &size));
    CHECK(address == attached && size == sizeof attached);
#if MPI_VERSION >= 5
    /* Not counted: an older MPI has none of it. */
    int before = checks_;
    both_in_one();
    buffers();
    checks_ = before;
#endif
    return finish("modes");
}
