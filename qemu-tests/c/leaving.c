/* One rank leaves without MPI_Finalize, or dies, while all others are in a call that cannot end without it: the job must end, whatever the
   call. The first argument is the way, the second the call; after the call nobody may go on. A call that need not wait for that rank, because
   it gets nothing from it, is made again and again. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 18, REPORTED = 77 };

static int world, victim, buffer[LONG], other[LONG], one, two;
static MPI_Win window;
static MPI_Request requests[2];
static MPI_Status status;

/* Ways to leave. */
static void leave(const char *way)
{
    if (!strcmp(way, "exit"))
        exit(0);
    if (!strcmp(way, "failure"))
        exit(3);
    if (!strcmp(way, "silent"))
        _exit(0);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "fault"))
        *(volatile int *)NULL = 1;
    if (!strcmp(way, "mpi-abort"))
        MPI_Abort(MPI_COMM_SELF, 7);
    exit(REPORTED);
}

static void two_receives(void)
{
    MPI_Irecv(&one, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&two, 1, MPI_INT, victim, 1, MPI_COMM_WORLD, &requests[1]);
}

static void of_point_to_point(const char *call)
{
#define IS(name) (!strcmp(call, name))
    int index, indices[2], done = 0;
    MPI_Message message;
    if (IS("recv"))
        MPI_Recv(&one, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, &status);
    if (IS("recv-of-any"))
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (IS("send"))
        for (;;)
            MPI_Send(buffer, LONG, MPI_INT, victim, 0, MPI_COMM_WORLD);
    if (IS("ssend"))
        MPI_Ssend(&one, 1, MPI_INT, victim, 0, MPI_COMM_WORLD);
    if (IS("flood"))
        for (;;)
            MPI_Send(&one, 1, MPI_INT, victim, 0, MPI_COMM_WORLD);
    if (IS("sendrecv"))
        MPI_Sendrecv(buffer, LONG, MPI_INT, victim, 0, other, LONG, MPI_INT, victim, 0, MPI_COMM_WORLD, &status);
    if (IS("wait")) {
        MPI_Irecv(&one, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, requests);
        MPI_Wait(requests, &status);
    }
    if (IS("waitall")) {
        two_receives();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    if (IS("waitany")) {
        two_receives();
        MPI_Waitany(2, requests, &index, &status);
    }
    if (IS("waitsome")) {
        two_receives();
        MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    if (IS("test")) {
        two_receives();
        while (!done)
            MPI_Test(requests, &done, &status);
    }
    if (IS("probe"))
        MPI_Probe(victim, 0, MPI_COMM_WORLD, &status);
    if (IS("iprobe"))
        while (!done)
            MPI_Iprobe(victim, 0, MPI_COMM_WORLD, &done, &status);
    if (IS("mprobe"))
        MPI_Mprobe(victim, 0, MPI_COMM_WORLD, &message, &status);
    if (IS("partitioned")) {
        MPI_Precv_init(buffer, 2, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
        MPI_Start(requests);
        MPI_Wait(requests, &status);
    }
}

static void of_collectives(const char *call)
{
    if (IS("barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (IS("ibarrier")) {
        MPI_Ibarrier(MPI_COMM_WORLD, requests);
        MPI_Wait(requests, &status);
    }
    if (IS("bcast"))
        MPI_Bcast(&one, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (IS("bcast-to-it"))
        for (;;)
            MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (IS("long-bcast"))
        for (;;)
            MPI_Bcast(buffer, LONG, MPI_INT, 0, MPI_COMM_WORLD);
    if (IS("reduce"))
        for (;;)
            MPI_Reduce(&one, &two, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (IS("long-reduce"))
        for (;;)
            MPI_Reduce(buffer, other, LONG, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (IS("allreduce"))
        MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (IS("eager-allreduce"))
        MPI_Allreduce(buffer, other, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (IS("long-allreduce"))
        MPI_Allreduce(buffer, other, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (IS("alltoall"))
        MPI_Alltoall(buffer, 1, MPI_INT, other, 1, MPI_INT, MPI_COMM_WORLD);
    if (IS("long-alltoall"))
        MPI_Alltoall(buffer, 1000, MPI_INT, other, 1000, MPI_INT, MPI_COMM_WORLD);
    if (IS("gather"))
        for (;;)
            MPI_Gather(&one, 1, MPI_INT, buffer, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (IS("scatter"))
        MPI_Scatter(buffer, 1, MPI_INT, &one, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (IS("allgather"))
        MPI_Allgather(&one, 1, MPI_INT, buffer, 1, MPI_INT, MPI_COMM_WORLD);
    if (IS("scan"))
        for (;;)
            MPI_Scan(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (IS("reduce-scatter"))
        MPI_Reduce_scatter_block(buffer, other, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void of_objects(const char *call)
{
    MPI_Comm made;
    MPI_File file;
    if (IS("dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (IS("split"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    if (IS("intercomm"))
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, victim, 5, &made);
    if (IS("file"))
        MPI_File_open(MPI_COMM_WORLD, "/out/file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (IS("finalize"))
        MPI_Finalize();
}

static void of_windows(const char *call)
{
    MPI_Group all, it;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &victim, &it);
    if (IS("fence"))
        for (;;)
            MPI_Win_fence(0, window);
    if (IS("start"))
        for (;;) {
            MPI_Win_start(it, 0, window);
            MPI_Win_complete(window);
        }
    if (IS("post")) {
        MPI_Win_post(it, 0, window);
        MPI_Win_wait(window);
    }
    if (IS("lock")) { /* it has the lock of rank 0 */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    if (IS("win-free"))
        MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *way = argv[1], *call = argv[2];
    int me, *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    victim = world - 1;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    if (me == victim) {
        if (IS("lock")) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        leave(way);
    }
    of_point_to_point(call);
    of_collectives(call);
    of_objects(call);
    of_windows(call);
    printf("rank %d: %s has returned\n", me, call);
    MPI_Abort(MPI_COMM_WORLD, REPORTED);
}
