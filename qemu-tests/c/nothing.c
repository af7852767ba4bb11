/* Buffers that are none: a null pointer where there are items to be read or written, and MPI_IN_PLACE where a call does not take it, are errors of class
   MPI_ERR_BUFFER in every collective; without items any buffer will do, and MPI_DATATYPE_NULL, in all kinds of communication. And what other
   libraries reduce beyond the standard's table. */
#include "../../conformance/forms.h"

static int in_[64], out_[64], counts_[8], places_[8], none_[8];
static MPI_Count large_counts_[8], large_none_[8];
static MPI_Aint large_places_[8];

/* All ranks make the same mistake, so nobody waits for another. */
#define REFUSED(name, begin, small, large)                                             \
    do {                                                                               \
        MPI_Request request = MPI_REQUEST_NULL;                                        \
        FAILS(MPI_ERR_BUFFER, MPI_##name(STRIP small, comm));                          \
        FAILS(MPI_ERR_BUFFER, MPI_##name##_c(STRIP large, comm));                      \
        FAILS(MPI_ERR_BUFFER, MPI_##begin(STRIP small, comm, &request));               \
        FAILS(MPI_ERR_BUFFER, MPI_##begin##_c(STRIP large, comm, &request));           \
        FAILS(MPI_ERR_BUFFER, MPI_##name##_init(STRIP small, comm, info, &request));   \
        FAILS(MPI_ERR_BUFFER, MPI_##name##_init_c(STRIP large, comm, info, &request)); \
    } while (0)
#define BOTH(name, begin, ...) REFUSED(name, begin, (__VA_ARGS__), (__VA_ARGS__))

static void collectives(void *bad)
{
    const MPI_Datatype t = MPI_INT;
    BOTH(Bcast, Ibcast, bad, 2, t, 0);
    BOTH(Allgather, Iallgather, in_, 2, t, bad, 2, t);
    BOTH(Alltoall, Ialltoall, in_, 2, t, bad, 2, t);
    BOTH(Allreduce, Iallreduce, in_, bad, 2, t, MPI_SUM);
    BOTH(Scan, Iscan, in_, bad, 2, t, MPI_SUM);
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, in_, bad, 2, t, MPI_SUM);
    REFUSED(Allgatherv, Iallgatherv, (in_, 2, t, bad, counts_, places_, t), (in_, 2, t, bad, large_counts_, large_places_, t));
    REFUSED(Alltoallv, Ialltoallv, (in_, counts_, places_, t, bad, counts_, places_, t),
            (in_, large_counts_, large_places_, t, bad, large_counts_, large_places_, t));
    REFUSED(Reduce_scatter, Ireduce_scatter, (in_, bad, counts_, t, MPI_SUM), (in_, bad, large_counts_, t, MPI_SUM));
    OK(MPI_Reduce_local(in_, out_, 2, t, MPI_SUM));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local(bad, out_, 2, t, MPI_SUM));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local(in_, bad, 2, t, MPI_SUM));
    FAILS(MPI_ERR_BUFFER, MPI_Reduce_local_c(in_, bad, 2, t, MPI_SUM));
    /* The same in one rank, which is every call's root. */
    MPI_Comm all = comm;
    comm = MPI_COMM_SELF;
    BOTH(Gather, Igather, in_, 2, t, bad, 2, t, 0);
    BOTH(Scatter, Iscatter, bad, 2, t, out_, 2, t, 0);
    BOTH(Reduce, Ireduce, in_, bad, 2, t, MPI_SUM, 0);
    REFUSED(Gatherv, Igatherv, (in_, 2, t, bad, counts_, places_, t, 0), (in_, 2, t, bad, large_counts_, large_places_, t, 0));
    REFUSED(Scatterv, Iscatterv, (bad, counts_, places_, t, out_, 2, t, 0), (bad, large_counts_, large_places_, t, out_, 2, t, 0));
    comm = all;
}

/* A null pointer as the other buffer, where MPI_IN_PLACE may stand. */
static void contributions(void)
{
    const MPI_Datatype t = MPI_INT;
    BOTH(Allgather, Iallgather, NULL, 2, t, out_, 2, t);
    BOTH(Alltoall, Ialltoall, NULL, 2, t, out_, 2, t);
    BOTH(Allreduce, Iallreduce, NULL, out_, 2, t, MPI_SUM);
    BOTH(Scan, Iscan, NULL, out_, 2, t, MPI_SUM);
    BOTH(Exscan, Iexscan, NULL, out_, 2, t, MPI_SUM);
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, NULL, out_, 2, t, MPI_SUM);
    MPI_Comm all = comm;
    comm = MPI_COMM_SELF;
    BOTH(Gather, Igather, NULL, 2, t, out_, 2, t, 0);
    BOTH(Scatter, Iscatter, in_, 2, t, NULL, 2, t, 0);
    BOTH(Reduce, Ireduce, NULL, out_, 2, t, MPI_SUM, 0);
    comm = all;
}

/* From MPI_BOTTOM a datatype with absolute addresses leads anywhere. */
static void bottom(void)
{
    MPI_Datatype here;
    MPI_Aint at;
    int one = 1, value = 41;
    OK(MPI_Get_address(&value, &at));
    OK(MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &here));
    OK(MPI_Type_commit(&here));
    OK(MPI_Bcast(MPI_BOTTOM, 1, here, 0, comm));
    OK(MPI_Gather(MPI_BOTTOM, 1, here, out_, 1, MPI_INT, 0, comm));
    CHECK(rank_ != 0 || out_[size_ - 1] == 41);
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, here, 0, comm));
    OK(MPI_Type_free(&here));
}

#define ALL_FORMS(name, begin, small, large) FORMS(name, begin, small, large, (void)0, 1)

/* Nothing from nowhere, of no type. */
static void empty(void)
{
    const MPI_Datatype t = MPI_DATATYPE_NULL;
    ALL_FORMS(Bcast, Ibcast, (NULL, 0, t, 0), (NULL, 0, t, 0));
    ALL_FORMS(Gather, Igather, (NULL, 0, t, NULL, 0, t, 0), (NULL, 0, t, NULL, 0, t, 0));
    ALL_FORMS(Scatter, Iscatter, (NULL, 0, t, NULL, 0, t, 0), (NULL, 0, t, NULL, 0, t, 0));
    ALL_FORMS(Allgather, Iallgather, (NULL, 0, t, NULL, 0, t), (NULL, 0, t, NULL, 0, t));
    ALL_FORMS(Alltoall, Ialltoall, (NULL, 0, t, NULL, 0, t), (NULL, 0, t, NULL, 0, t));
    ALL_FORMS(Gatherv, Igatherv, (NULL, 0, t, NULL, none_, places_, t, 0), (NULL, 0, t, NULL, large_none_, large_places_, t, 0));
    ALL_FORMS(Scatterv, Iscatterv, (NULL, none_, places_, t, NULL, 0, t, 0), (NULL, large_none_, large_places_, t, NULL, 0, t, 0));
    ALL_FORMS(Allgatherv, Iallgatherv, (NULL, 0, t, NULL, none_, places_, t), (NULL, 0, t, NULL, large_none_, large_places_, t));
    ALL_FORMS(Alltoallv, Ialltoallv, (NULL, none_, places_, t, NULL, none_, places_, t),
              (NULL, large_none_, large_places_, t, NULL, large_none_, large_places_, t));
    for (int i = 0; i < 2; i++) {
        MPI_Op op = i ? MPI_MAXLOC : MPI_SUM;
        ALL_FORMS(Reduce, Ireduce, (NULL, NULL, 0, t, op, 0), (NULL, NULL, 0, t, op, 0));
        ALL_FORMS(Allreduce, Iallreduce, (NULL, NULL, 0, t, op), (NULL, NULL, 0, t, op));
        ALL_FORMS(Scan, Iscan, (NULL, NULL, 0, t, op), (NULL, NULL, 0, t, op));
        ALL_FORMS(Exscan, Iexscan, (NULL, NULL, 0, t, op), (NULL, NULL, 0, t, op));
        ALL_FORMS(Reduce_scatter, Ireduce_scatter, (NULL, NULL, none_, t, op), (NULL, NULL, large_none_, t, op));
        ALL_FORMS(Reduce_scatter_block, Ireduce_scatter_block, (NULL, NULL, 0, t, op), (NULL, NULL, 0, t, op));
        OK(MPI_Reduce_local(NULL, NULL, 0, t, op));
    }
    FAILS(MPI_ERR_TYPE, MPI_Bcast(out_, 1, t, 0, comm));
    FAILS(MPI_ERR_TYPE, MPI_Allreduce(in_, out_, 1, t, MPI_SUM, comm));
    /* Messages. */
    MPI_Request r[2];
    int next = (rank_ + 1) % size_, last = (rank_ + size_ - 1) % size_, received = -1;
    MPI_Status status;
    OK(MPI_Sendrecv(NULL, 0, t, next, 1, NULL, 0, t, last, 1, comm, &status));
    OK(MPI_Get_count(&status, MPI_INT, &received));
    CHECK(received == 0);
    OK(MPI_Irecv(NULL, 0, t, last, 2, comm, &r[0]));
    OK(MPI_Isend(NULL, 0, t, next, 2, comm, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Irecv(NULL, 0, t, last, 3, comm, &r[0]));
    OK(MPI_Ssend(NULL, 0, t, next, 3, comm));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Recv_init(NULL, 0, t, last, 4, comm, &r[0]));
    OK(MPI_Send_init(NULL, 0, t, next, 4, comm, &r[1]));
    OK(MPI_Startall(2, r));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    FAILS(MPI_ERR_TYPE, MPI_Send(out_, 1, t, next, 5, comm));
    /* Packing. */
    int position = 0, size = -1;
    char bytes[8];
    OK(MPI_Pack(NULL, 0, t, bytes, 8, &position, comm));
    OK(MPI_Unpack(bytes, 8, &position, NULL, 0, t, comm));
    OK(MPI_Pack_size(0, t, comm, &size));
    CHECK(position == 0 && size == 0);
    /* Windows. */
    MPI_Win win;
    OK(MPI_Win_create(out_, sizeof out_, sizeof(int), MPI_INFO_NULL, comm, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(NULL, 0, t, next, 0, 0, t, win));
    OK(MPI_Get(NULL, 0, t, next, 0, 0, t, win));
    OK(MPI_Accumulate(NULL, 0, t, next, 0, 0, t, MPI_SUM, win));
    OK(MPI_Get_accumulate(NULL, 0, t, NULL, 0, t, next, 0, 0, t, MPI_SUM, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(in_, 1, t, next, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

/* Characters are signed ones, and the integers of several languages have truth values. */
static void beyond(void)
{
    signed char low = (signed char)-rank_, c, truth = (signed char)(rank_ == 0);
    OK(MPI_Allreduce(&low, &c, 1, MPI_CHAR, MPI_MIN, comm));
    CHECK(c == 1 - size_);
    OK(MPI_Allreduce(&low, &c, 1, MPI_CHAR, MPI_MAX, comm));
    CHECK(c == 0);
    OK(MPI_Allreduce(&low, &c, 1, MPI_CHARACTER, MPI_SUM, comm));
    CHECK(c == -size_ * (size_ - 1) / 2);
    OK(MPI_Allreduce(&truth, &c, 1, MPI_CHAR, MPI_LOR, comm));
    CHECK(c == 1);
    OK(MPI_Scan(&low, &c, 1, MPI_CHAR, MPI_BXOR, comm));
    MPI_Win win;
    signed char here = 0, old;
    OK(MPI_Win_create(&here, 1, 1, MPI_INFO_NULL, comm, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&low, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(rank_ != 0 || here == -size_ * (size_ - 1) / 2);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&low, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, MPI_MIN, win));
    OK(MPI_Win_fence(0, win));
    CHECK(rank_ != 0 || here == (size_ < 3 ? (size_ == 1 ? 0 : -1) : -size_ * (size_ - 1) / 2));
    OK(MPI_Barrier(comm));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Fetch_and_op(&low, &old, MPI_CHAR, 0, 0, MPI_MAX, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    const MPI_Datatype types[] = {MPI_AINT, MPI_OFFSET, MPI_COUNT};
    for (int i = 0; i < 3; i++) {
        MPI_Count mine = rank_ == 0 ? (MPI_Count)1 << 40 : 0, any = -1, every = -1, odd = -1;
        OK(MPI_Allreduce(&mine, &any, 1, types[i], MPI_LOR, comm));
        OK(MPI_Allreduce(&mine, &every, 1, types[i], MPI_LAND, comm));
        OK(MPI_Allreduce(&mine, &odd, 1, types[i], MPI_LXOR, comm));
        if (size_ == 1) /* no operation is applied */
            any = any != 0, every = every != 0, odd = odd != 0;
        CHECK(any == 1 && every == (size_ == 1) && odd == 1);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Info_create(&info));
    for (int i = 0; i < 8; i++) {
        counts_[i] = 2, large_counts_[i] = 2;
        places_[i] = 2 * i, large_places_[i] = 2 * i;
    }
    comm = MPI_COMM_WORLD;
    collectives(NULL);
    collectives(MPI_IN_PLACE);
    contributions();
    bottom();
    empty();
    beyond();
    OK(MPI_Info_free(&info));
    return finish("nothing");
}
