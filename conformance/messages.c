/* Point to point: sends of all modes, receives, wildcards, statuses, combined calls, the null process (MPI-5.0, chapter 3). */
#include "check.h"

static int next, previous;

/* Every rank sends to the next and receives from the one before; a rank that is alone sends to itself. */
static void ring(int tag, int (*start)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))
{
    int value = 100 * rank_ + tag, got = -1, count = -1;
    MPI_Request request;
    MPI_Status status;
    OK(start(&value, 1, MPI_INT, next, tag, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(&got, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, &status));
    CHECK(got == 100 * previous + tag);
    CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == tag);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 1);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
}

static void modes(void)
{
    static char buffer[4096];
    void *detached;
    int size = 0;
    ring(1, MPI_Isend);
    ring(2, MPI_Issend);
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    ring(3, MPI_Ibsend);
    OK(MPI_Buffer_detach(&detached, &size));
    CHECK(detached == buffer && size == sizeof buffer);
}

/* A blocking receive from anybody with any tag tells who has sent what. */
static void wildcards(void)
{
    int value = rank_, got = -1;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Isend(&value, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK(got == previous && status.MPI_SOURCE == previous && status.MPI_TAG == 7);
    OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
}

static void combined(void)
{
    double out = rank_ + 0.5, in = -1;
    MPI_Status status;
    OK(MPI_Sendrecv(&out, 1, MPI_DOUBLE, next, 9, &in, 1, MPI_DOUBLE, previous, 9, MPI_COMM_WORLD, &status));
    CHECK(in == previous + 0.5 && status.MPI_SOURCE == previous);
    OK(MPI_Sendrecv_replace(&out, 1, MPI_DOUBLE, next, 10, previous, 10, MPI_COMM_WORLD, &status));
    CHECK(out == previous + 0.5 && status.MPI_TAG == 10);
}

static void null_process(void)
{
    int value = 5, count = -1;
    MPI_Status status;
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    CHECK(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 0);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    modes();
    wildcards();
    combined();
    null_process();
    return finish("messages");
}
