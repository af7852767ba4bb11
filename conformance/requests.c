/* Completing requests: wait and test of one, any, some and all; persistent requests; cancelling; matched probes (MPI-5.0, sections 3.7 to
   3.9). Each rank talks to itself and to its neighbours in a ring. */
#include "check.h"

enum { N = 4 };

static int next, previous;

/* N messages to the next rank, and receives for N from the one before; values are 1000 * sender + place. */
static void begin_exchange(int *out, int *in, MPI_Request *sends, MPI_Request *receives)
{
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        out[i] = 1000 * rank_ + i;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, 20 + i, MPI_COMM_WORLD, &receives[i]));
    }
    for (int i = 0; i < N; i++)
        OK(MPI_Isend(&out[i], 1, MPI_INT, next, 20 + i, MPI_COMM_WORLD, &sends[i]));
}

static void check_values(const int *in)
{
    for (int i = 0; i < N; i++)
        CHECK(in[i] == 1000 * previous + i);
}

static void all(void)
{
    int out[N], in[N], flag = 0;
    MPI_Request sends[N], receives[N];
    MPI_Status statuses[N];
    begin_exchange(out, in, sends, receives);
    OK(MPI_Waitall(N, receives, statuses));
    check_values(in);
    for (int i = 0; i < N; i++)
        CHECK(receives[i] == MPI_REQUEST_NULL && statuses[i].MPI_TAG == 20 + i && statuses[i].MPI_SOURCE == previous);
    while (!flag)
        MUST(MPI_Testall(N, sends, &flag, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++)
        CHECK(sends[i] == MPI_REQUEST_NULL);
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

static void any(void)
{
    int out[N], in[N], seen[N] = {0}, index = -1, flag = 0;
    MPI_Request sends[N], receives[N];
    MPI_Status status;
    begin_exchange(out, in, sends, receives);
    for (int i = 0; i < N; i++) {
        OK(MPI_Waitany(N, receives, &index, &status));
        CHECK(index >= 0 && index < N && !seen[index] && status.MPI_TAG == 20 + index);
        if (index >= 0 && index < N)
            seen[index] = 1;
    }
    check_values(in);
    OK(MPI_Waitany(N, receives, &index, &status));
    CHECK(index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    for (int i = 0; i < N; i++)
        for (flag = 0; !flag;)
            MUST(MPI_Testany(N, sends, &index, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Testany(N, sends, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == MPI_UNDEFINED);
}

static void some(void)
{
    int out[N], in[N], indices[N], count = 0, done = 0;
    MPI_Request sends[N], receives[N];
    MPI_Status statuses[N];
    begin_exchange(out, in, sends, receives);
    while (done < N) {
        MUST(MPI_Waitsome(N, receives, &count, indices, statuses));
        HOLDS(count >= 1 && count <= N - done);
        for (int i = 0; i < count; i++)
            HOLDS(statuses[i].MPI_TAG == 20 + indices[i]);
        done += count;
    }
    check_values(in);
    OK(MPI_Waitsome(N, receives, &count, indices, statuses));
    CHECK(count == MPI_UNDEFINED);
    for (done = 0; done < N; done += count)
        MUST(MPI_Testsome(N, sends, &count, indices, MPI_STATUSES_IGNORE));
    OK(MPI_Testsome(N, sends, &count, indices, MPI_STATUSES_IGNORE));
    CHECK(count == MPI_UNDEFINED);
}

static void one(void)
{
    int value = rank_, got = -1, flag = 0;
    MPI_Request send, receive, null = MPI_REQUEST_NULL;
    MPI_Status status;
    OK(MPI_Irecv(&got, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, &receive));
    OK(MPI_Test(&receive, &flag, &status));
    CHECK(!flag && receive != MPI_REQUEST_NULL);
    OK(MPI_Isend(&value, 1, MPI_INT, rank_, 3, MPI_COMM_WORLD, &send));
    while (!flag)
        MUST(MPI_Test(&receive, &flag, &status));
    CHECK(got == rank_ && status.MPI_TAG == 3 && receive == MPI_REQUEST_NULL);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Test(&null, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
    OK(MPI_Wait(&null, &status));
    int count = -1;
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 0 && status.MPI_TAG == MPI_ANY_TAG);
}

/* A persistent pair of every mode, started three times. */
static void persistent(void)
{
    static char attached[1024];
    int out[4], in[4];
    MPI_Request requests[8];
    MPI_Status status;
    OK(MPI_Buffer_attach(attached, sizeof attached));
    for (int i = 0; i < 4; i++)
        OK(MPI_Recv_init(&in[i], 1, MPI_INT, rank_, 40 + i, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Send_init(&out[0], 1, MPI_INT, rank_, 40, MPI_COMM_WORLD, &requests[4]));
    OK(MPI_Ssend_init(&out[1], 1, MPI_INT, rank_, 41, MPI_COMM_WORLD, &requests[5]));
    OK(MPI_Rsend_init(&out[2], 1, MPI_INT, rank_, 42, MPI_COMM_WORLD, &requests[6]));
    OK(MPI_Bsend_init(&out[3], 1, MPI_INT, rank_, 43, MPI_COMM_WORLD, &requests[7]));
    /* Inactive requests are complete, with an empty status. */
    OK(MPI_Wait(&requests[0], &status));
    CHECK(requests[0] != MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            out[i] = 10 * round + i, in[i] = -1;
        OK(MPI_Startall(4, requests));
        for (int i = 4; i < 8; i++)
            OK(MPI_Start(&requests[i]));
        OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 4; i++)
            CHECK(in[i] == 10 * round + i && requests[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 8; i++) {
        OK(MPI_Request_free(&requests[i]));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    void *address;
    int size;
    OK(MPI_Buffer_detach(&address, &size));
}

static void cancelled(void)
{
    int value = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&value, 1, MPI_INT, rank_, 99, MPI_COMM_WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag && request == MPI_REQUEST_NULL);
    OK(MPI_Status_set_cancelled(&status, 0));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag);
}

static void probes(void)
{
    int out[3] = {rank_, 2, 3}, in[3] = {0}, count = 0, flag = 0;
    MPI_Request request, receive;
    MPI_Message message;
    MPI_Status status;
    OK(MPI_Isend(out, 3, MPI_INT, next, 50, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 3 && status.MPI_SOURCE == previous);
    while (!flag)
        MUST(MPI_Iprobe(previous, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
    CHECK(status.MPI_TAG == 50);
    OK(MPI_Mprobe(previous, 50, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv(in, 3, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && in[0] == previous && in[2] == 3);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    OK(MPI_Isend(out, 3, MPI_INT, next, 51, MPI_COMM_WORLD, &request));
    for (flag = 0; !flag;)
        MUST(MPI_Improbe(previous, 51, MPI_COMM_WORLD, &flag, &message, &status));
    in[0] = -1;
    OK(MPI_Imrecv(in, 3, MPI_INT, &message, &receive));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(in[0] == previous && count == 3);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(in, 3, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    all();
    any();
    some();
    one();
    persistent();
    cancelled();
    probes();
    return finish("requests");
}
