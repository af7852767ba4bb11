/* Buffers that are none: a null pointer where there are items to be read or written, and MPI_IN_PLACE where a call does not take it, are errors of class
   MPI_ERR_BUFFER in every call; without items any buffer will do, and MPI_DATATYPE_NULL, in all kinds of communication. And what other
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
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, here, rank_, 1, out_, 1, MPI_INT, rank_, 1, comm, MPI_STATUS_IGNORE));
    CHECK(out_[0] == 41);
    out_[0] = 40;
    OK(MPI_Sendrecv(out_, 1, MPI_INT, rank_, 1, MPI_BOTTOM, 1, here, rank_, 1, comm, MPI_STATUS_IGNORE));
    CHECK(value == 40);
    FAILS(MPI_ERR_BUFFER, MPI_Send(MPI_IN_PLACE, 1, here, rank_, 1, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, here, 0, comm));
    OK(MPI_Type_free(&here));
}

/* With small counts and with large ones. */
#define NONE(name, ...)                                                                \
    do {                                                                               \
        FAILS(MPI_ERR_BUFFER, MPI_##name(__VA_ARGS__));                                \
        FAILS(MPI_ERR_BUFFER, MPI_##name##_c(__VA_ARGS__));                            \
    } while (0)

/* Messages to and from oneself: none is sent, and none is lost. */
static void messages(void *bad)
{
    const MPI_Datatype t = MPI_INT;
    const MPI_Comm self = MPI_COMM_SELF;
    MPI_Request r;
    MPI_Message message;
    MPI_Status status;
    MPI_Datatype pairs;
    OK(MPI_Type_vector(2, 1, 2, t, &pairs));
    OK(MPI_Type_commit(&pairs));
    int long_ones[] = {1, 5000};
    for (int i = 0; i < 2; i++) {
        int n = long_ones[i];
        NONE(Send, bad, n, t, 0, 1, self);
        NONE(Bsend, bad, n, t, 0, 1, self);
        NONE(Ssend, bad, n, t, 0, 1, self);
        NONE(Rsend, bad, n, t, 0, 1, self);
        NONE(Isend, bad, n, t, 0, 1, self, &r);
        NONE(Ibsend, bad, n, t, 0, 1, self, &r);
        NONE(Issend, bad, n, t, 0, 1, self, &r);
        NONE(Irsend, bad, n, t, 0, 1, self, &r);
        NONE(Send_init, bad, n, t, 0, 1, self, &r);
        NONE(Bsend_init, bad, n, t, 0, 1, self, &r);
        NONE(Ssend_init, bad, n, t, 0, 1, self, &r);
        NONE(Rsend_init, bad, n, t, 0, 1, self, &r);
        NONE(Recv, bad, n, t, 0, 1, self, &status);
        NONE(Recv, bad, n, t, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &status);
        NONE(Irecv, bad, n, t, 0, 1, self, &r);
        NONE(Irecv, bad, n, t, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &r);
        NONE(Recv_init, bad, n, t, 0, 1, self, &r);
        NONE(Sendrecv, bad, n, t, 0, 1, out_, 64, t, 0, 1, self, &status);
        NONE(Sendrecv, in_, 1, t, 0, 1, bad, n, t, 0, 1, self, &status);
        NONE(Isendrecv, bad, n, t, 0, 1, out_, 64, t, 0, 1, self, &r);
        NONE(Isendrecv, in_, 1, t, 0, 1, bad, n, t, 0, 1, self, &r);
        NONE(Sendrecv_replace, bad, n, t, 0, 1, 0, 1, self, &status);
        NONE(Isendrecv_replace, bad, n, t, 0, 1, 0, 1, self, &r);
    }
    NONE(Send, bad, 1, pairs, 0, 1, self);
    NONE(Irecv, bad, 1, pairs, 0, 1, self, &r);
    FAILS(MPI_ERR_BUFFER, MPI_Psend_init(bad, 2, 1, t, 0, 1, self, MPI_INFO_NULL, &r));
    FAILS(MPI_ERR_BUFFER, MPI_Precv_init(bad, 2, 1, t, 0, 1, self, MPI_INFO_NULL, &r));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(bad, 100));
    int there, position = 0;
    MPI_Count large = 0;
    MPI_Aint address = 0;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, self, &there, &status));
    CHECK(!there);
    /* A message that is refused room stays. */
    in_[0] = 17;
    OK(MPI_Isend(in_, 1, t, 0, 2, self, &r));
    OK(MPI_Mprobe(0, 2, self, &message, &status));
    FAILS(MPI_ERR_BUFFER, MPI_Mrecv(bad, 1, t, &message, &status));
    OK(MPI_Mrecv(out_, 1, t, &message, &status));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(out_[0] == 17);
    char bytes[64];
    FAILS(MPI_ERR_BUFFER, MPI_Pack(bad, 1, t, bytes, 64, &position, self));
    FAILS(MPI_ERR_BUFFER, MPI_Pack(in_, 1, t, bad, 64, &position, self));
    FAILS(MPI_ERR_BUFFER, MPI_Unpack(bad, 64, &position, out_, 1, t, self));
    FAILS(MPI_ERR_BUFFER, MPI_Unpack(bytes, 64, &position, bad, 1, t, self));
    FAILS(MPI_ERR_BUFFER, MPI_Pack_c(bad, 1, t, bytes, 64, &large, self));
    FAILS(MPI_ERR_BUFFER, MPI_Pack_external("external32", bad, 1, t, bytes, 64, &address));
    FAILS(MPI_ERR_BUFFER, MPI_Pack_external("external32", in_, 1, t, bad, 64, &address));
    FAILS(MPI_ERR_BUFFER, MPI_Unpack_external("external32", bad, 64, &address, out_, 1, t));
    FAILS(MPI_ERR_BUFFER, MPI_Unpack_external("external32", bytes, 64, &address, bad, 1, t));
    OK(MPI_Type_free(&pairs));
}

/* Accesses to windows, and to files. */
static void accesses(void *bad)
{
    const MPI_Datatype t = MPI_INT;
    MPI_Win win;
    MPI_Request r;
    FAILS(MPI_ERR_ARG, MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    OK(MPI_Win_create(out_, sizeof out_, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    for (int n = 1; n <= 2; n++) {
        NONE(Put, bad, n, t, 0, 0, n, t, win);
        NONE(Get, bad, n, t, 0, 0, n, t, win);
        NONE(Rput, bad, n, t, 0, 0, n, t, win, &r);
        NONE(Rget, bad, n, t, 0, 0, n, t, win, &r);
        NONE(Accumulate, bad, n, t, 0, 0, n, t, MPI_SUM, win);
        NONE(Raccumulate, bad, n, t, 0, 0, n, t, MPI_SUM, win, &r);
        NONE(Get_accumulate, bad, n, t, in_, n, t, 0, 0, n, t, MPI_SUM, win);
        NONE(Get_accumulate, in_, n, t, bad, n, t, 0, 0, n, t, MPI_SUM, win);
        NONE(Get_accumulate, NULL, 0, t, bad, n, t, 0, 0, n, t, MPI_NO_OP, win);
        NONE(Rget_accumulate, in_, n, t, bad, n, t, 0, 0, n, t, MPI_SUM, win, &r);
        OK(MPI_Get_accumulate(bad, n, t, in_, n, t, 0, 0, n, t, MPI_NO_OP, win));
    }
    const MPI_Datatype types[] = {MPI_INT, MPI_LONG, MPI_SHORT, MPI_CHAR};
    for (int i = 0; i < 4; i++) {
        FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(bad, in_, types[i], 0, 0, MPI_SUM, win));
        FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(in_, bad, types[i], 0, 0, MPI_SUM, win));
        FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(bad, bad, types[i], 0, 0, MPI_NO_OP, win));
        OK(MPI_Fetch_and_op(bad, in_, types[i], 0, 0, MPI_NO_OP, win));
        FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(bad, in_, in_ + 8, types[i], 0, 0, win));
        FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(in_, bad, in_ + 8, types[i], 0, 0, win));
        FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(in_, in_, bad, types[i], 0, 0, win));
    }
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_free(&win));
    MPI_File file;
    char name[40];
    snprintf(name, sizeof name, "/tmp/nothing-%d", rank_);
    OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_write(file, in_, 8, t, MPI_STATUS_IGNORE));
    NONE(File_write, file, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_write_at, file, 0, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_write_all, file, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_read_at, file, 0, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_read_at_all, file, 0, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_read_shared, file, bad, 1, t, MPI_STATUS_IGNORE);
    NONE(File_iread_at, file, 0, bad, 1, t, &r);
    NONE(File_iwrite, file, bad, 1, t, &r);
    OK(MPI_File_close(&file));
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
    signed char expected = 99, fresh = 7;
    OK(MPI_Compare_and_swap(&fresh, &expected, &old, MPI_CHAR, rank_, 0, win));
    expected = old;
    OK(MPI_Compare_and_swap(&fresh, &expected, &old, MPI_CHARACTER, rank_, 0, win));
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
    messages(NULL);
    messages(MPI_IN_PLACE);
    accesses(NULL);
    accesses(MPI_IN_PLACE);
    bottom();
    empty();
    beyond();
    OK(MPI_Info_free(&info));
    return finish("nothing");
}
