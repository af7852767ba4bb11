/* Partitioned communication (MPI-5.0, chapter 4), generalized requests (section 13.2), sends and receives that are one request, and what
   MPI-4.1 added to buffered sends and requests. Each rank talks to its neighbours in a ring. */
#include "check.h"

enum { PARTS = 6, EACH = 20 };

static int next, previous;

static void partitions(void)
{
    int out[PARTS * EACH] = {0}, in[PARTS * EACH] = {0}, flag = 0;
    MPI_Request send, receive;
    MPI_Status status;
    OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    /* The receiver cuts the message in its own way. */
    OK(MPI_Precv_init(in, PARTS / 2, 2 * EACH, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PARTS * EACH; i++) {
            out[i] = 1000 * rank_ + 100 * round + i;
            in[i] = -1;
        }
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        static const int list[] = {5, 0};
        OK(MPI_Pready(3, send));
        OK(MPI_Pready_list(2, list, send));
        OK(MPI_Test(&send, &flag, &status));
        CHECK(!flag);
        OK(MPI_Pready_range(1, 2, send));
        OK(MPI_Pready(4, send));
        for (int part = 0; part < PARTS / 2; part++)
            for (flag = 0; !flag;)
                MUST(MPI_Parrived(receive, part, &flag));
        OK(MPI_Wait(&receive, &status));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(receive != MPI_REQUEST_NULL && send != MPI_REQUEST_NULL);
        int right = 0;
        for (int i = 0; i < PARTS * EACH; i++)
            right += in[i] == 1000 * previous + 100 * round + i;
        CHECK(right == PARTS * EACH);
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL);
}

static int queries, frees, cancels, cancelled_complete;

static int query(void *state, MPI_Status *status)
{
    queries++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    frees++;
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    cancels++;
    cancelled_complete = complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state = 5, flag = 1, count = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && queries == 0);
    OK(MPI_Cancel(&request));
    CHECK(cancels == 1 && !cancelled_complete);
    OK(MPI_Grequest_complete(request));
    CHECK(queries == 0 && frees == 0);
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && frees == 1 && state == -1 && queries == 1);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 5 && status.MPI_SOURCE == 3 && status.MPI_TAG == 4);
    state = 6;
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    MPI_Request again = request;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Grequest_complete(again));
    CHECK(frees == 2 && state == -1);
}

static void together(void)
{
    int out[100], in[100], both[100];
    MPI_Request request;
    for (int i = 0; i < 100; i++)
        both[i] = out[i] = 100 * rank_ + i;
    OK(MPI_Isendrecv(out, 100, MPI_INT, next, 2, in, 100, MPI_INT, previous, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 100 * previous && in[99] == 100 * previous + 99);
    OK(MPI_Isendrecv_replace(both, 100, MPI_INT, next, 3, previous, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(memcmp(both, in, sizeof in) == 0);
}

/* Status of a request that stays. */
static void statuses(void)
{
    int in = -1, out = rank_, flag = 1;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &request));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag || size_ > 1);
    OK(MPI_Send(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD));
    for (flag = 0; !flag;)
        MUST(MPI_Request_get_status(request, &flag, &status));
    CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == 5 && request != MPI_REQUEST_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK(in == previous && request == MPI_REQUEST_NULL);
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
}

/* Not counted: an older MPI has none of it. */
static void since_4_1(void)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    static char own[20000], process[100];
    char *address = NULL;
    int size = 0, flag = 0, index = -1, count = -1, indices[2];
    int out[1000], in[1000];
    MPI_Request flush, requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 1000; i++)
        out[i] = rank_ + i;
    MUST(MPI_Buffer_attach(process, sizeof process));
    MUST(MPI_Comm_attach_buffer(MPI_COMM_WORLD, own, sizeof own));
    MUST(MPI_Bsend(out, 1000, MPI_INT, next, 6, MPI_COMM_WORLD));
    MUST(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &flush));
    MUST(MPI_Recv(in, 1000, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Wait(&flush, MPI_STATUS_IGNORE));
    MUST(MPI_Comm_flush_buffer(MPI_COMM_WORLD));
    MUST(MPI_Buffer_flush());
    MUST(MPI_Buffer_iflush(&flush));
    MUST(MPI_Wait(&flush, MPI_STATUS_IGNORE));
    HOLDS(in[999] == previous + 999);
    MUST(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &address, &size));
    HOLDS(address == own && size == sizeof own);
    MUST(MPI_Buffer_detach(&address, &size));
    HOLDS(address == process && size == sizeof process);
    MUST(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    MUST(MPI_Bsend(out, 1000, MPI_INT, next, 7, MPI_COMM_WORLD));
    MUST(MPI_Recv(in, 1000, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MUST(MPI_Buffer_detach(&address, &size));
    HOLDS(address == MPI_BUFFER_AUTOMATIC);

    requests[0] = MPI_REQUEST_NULL;
    MUST(MPI_Irecv(in, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &requests[1]));
    MUST(MPI_Send(out, 1, MPI_INT, next, 8, MPI_COMM_WORLD));
    while (!flag)
        MUST(MPI_Request_get_status_any(2, requests, &index, &flag, statuses));
    HOLDS(index == 1 && statuses[0].MPI_TAG == 8);
    MUST(MPI_Request_get_status_some(2, requests, &count, indices, statuses));
    HOLDS(count == 1 && indices[0] == 1 && statuses[0].MPI_TAG == 8);
    MUST(MPI_Request_get_status_all(2, requests, &flag, statuses));
    HOLDS(flag && statuses[1].MPI_TAG == 8);
    MUST(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MUST(MPI_Request_get_status_some(2, requests, &count, indices, statuses));
    HOLDS(count == MPI_UNDEFINED);
#endif
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    partitions();
    generalized();
    together();
    statuses();
    since_4_1();
    return finish("partitioned");
}
