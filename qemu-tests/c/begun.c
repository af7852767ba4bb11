/* Collectives that are begun and completed later, many at a time: they end in another order than they begin, short ones beside long ones and beside blocking
   ones, with datatypes that are freed meanwhile, on communicators that are freed meanwhile. Who only gives a short part is done when the call returns. */
#include "../../conformance/check.h"

enum { MANY = 150, LONGEST = 5000, MIXED = 40 };

static unsigned value(int number, int giver, int taker, int index)
{
    return (unsigned)number * 2654435761u + (unsigned)giver * 40503u + (unsigned)taker * 977u + (unsigned)index;
}

static void fill(unsigned *at, int number, int giver, int taker, int count)
{
    for (int i = 0; i < count; i++)
        at[i] = value(number, giver, taker, i);
}

static int holds(const unsigned *at, int number, int giver, int taker, int count)
{
    for (int i = 0; i < count; i++)
        if (at[i] != value(number, giver, taker, i))
            return 0;
    return 1;
}

/* Integers of the part between the root and a rank, of operation `number`: within a word, a line, a long line, and beyond. */
static int length(int number, int rank)
{
    static const int lengths[] = {1, 2, 5, 14, 15, 100, 268, 269, 1500, LONGEST};
    return lengths[(number * 7 + rank * 3) % 10];
}

/* One operation of a rank. */
struct operation {
    int kind, number, root, count;
    size_t bytes;
    unsigned *in, *out;
    int *counts, *places;
    MPI_Request request;
};

/* Those with one direction come first. */
enum {
    BCAST,
    REDUCE,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    DIRECTED,
    ALLGATHER = DIRECTED,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLREDUCE,
    BLOCKS,
    BLOCKSV,
    SCAN,
    EXSCAN,
    NEIGHBOURS_GATHER,
    NEIGHBOURS_ALL,
    KINDS
};

/* A ring of all ranks; it has an end if they are an odd number. */
static MPI_Comm ring;

/* The ranks before and after this one in the ring, or none. */
static int beside(int after)
{
    int rank = rank_ + (after ? 1 : -1);
    return size_ % 2 == 0 ? (rank + size_) % size_ : rank == size_ ? -1 : rank;
}

/* Whether the receive buffer is the one that is sent from: of every second operation of those that can. */
static int in_place(int kind, int number)
{
    return number % 2 && (kind == ALLGATHER || kind == ALLGATHERV || kind == ALLTOALL || kind == ALLTOALLV || kind == ALLREDUCE || kind == SCAN || kind == EXSCAN);
}

/* Integers of all parts together. */
static int sum_of(const struct operation *it)
{
    int sum = 0;
    for (int rank = 0; rank < size_; rank++)
        sum += it->counts[rank];
    return sum;
}

/* Fills the buffers, before it is begun. */
static void set(struct operation *it)
{
    int kind = it->kind, number = it->number, equal = it->count;
    unsigned *from = in_place(kind, number) ? it->out : it->in;
    memset(it->out, 0xee, it->bytes);
    switch (kind) {
    case BCAST:
        if (rank_ == it->root)
            fill(it->out, number, it->root, 0, equal);
        break;
    case SCATTER:
    case SCATTERV:
    case ALLTOALL:
    case ALLTOALLV:
        for (int rank = 0; rank < size_; rank++)
            fill(from + (kind == SCATTERV || kind == ALLTOALLV ? it->places[rank] : rank * equal), number, kind >= DIRECTED ? rank_ : it->root, rank, it->counts[rank]);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        if (from == it->out)
            from += kind == ALLGATHER ? rank_ * equal : it->places[rank_];
        fill(from, number, rank_, 0, it->counts[rank_]);
        break;
    case BLOCKS:
    case BLOCKSV:
        fill(from, number, rank_, 0, sum_of(it));
        break;
    case NEIGHBOURS_ALL:
        fill(from, number, rank_, 0, equal);
        fill(from + equal, number, rank_, 1, equal);
        break;
    default:
        fill(from, number, rank_, 0, it->counts[rank_]);
    }
}

static void make(struct operation *it, int kind, int number)
{
    it->kind = kind;
    it->number = number;
    it->root = number % size_;
    it->count = length(number, 0);
    it->counts = malloc((size_t)size_ * sizeof(int));
    it->places = malloc((size_t)size_ * sizeof(int));
    int end = 0;
    for (int rank = 0; rank < size_; rank++) {
        it->counts[rank] = kind == ALLTOALLV ? length(number, rank + rank_) : kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV || kind == BLOCKSV ? length(number, rank) : it->count;
        it->places[rank] = end;
        end += it->counts[rank] + 1;
    }
    it->bytes = (size_t)(end + 2 * LONGEST) * sizeof(int);
    it->in = malloc(it->bytes);
    it->out = malloc(it->bytes);
    set(it);
    it->request = MPI_REQUEST_NULL;
}

static void unmake(struct operation *it)
{
    free(it->in);
    free(it->out);
    free(it->counts);
    free(it->places);
}

/* Begins it, makes a persistent request of it, or carries it out. */
static void begin_it(struct operation *it, MPI_Comm c)
{
    MPI_Datatype t = MPI_UNSIGNED;
    MPI_Request *r = &it->request;
    int n = it->count, mine = it->counts[rank_];
    void *from = in_place(it->kind, it->number) ? MPI_IN_PLACE : it->in;
    switch (it->kind) {
    case BCAST:
        OK(MPI_Ibcast(it->out, n, t, it->root, c, r));
        break;
    case REDUCE:
        OK(MPI_Ireduce(it->in, it->out, n, t, MPI_SUM, it->root, c, r));
        break;
    case GATHER:
        OK(MPI_Igather(it->in, n, t, it->out, n, t, it->root, c, r));
        break;
    case GATHERV:
        OK(MPI_Igatherv(it->in, mine, t, it->out, it->counts, it->places, t, it->root, c, r));
        break;
    case SCATTER:
        OK(MPI_Iscatter(it->in, n, t, it->out, n, t, it->root, c, r));
        break;
    case ALLGATHER:
        OK(MPI_Iallgather(from, n, t, it->out, n, t, c, r));
        break;
    case ALLGATHERV:
        OK(MPI_Iallgatherv(from, mine, t, it->out, it->counts, it->places, t, c, r));
        break;
    case ALLTOALL:
        OK(MPI_Ialltoall(from, n, t, it->out, n, t, c, r));
        break;
    case ALLTOALLV:
        OK(MPI_Ialltoallv(from, it->counts, it->places, t, it->out, it->counts, it->places, t, c, r));
        break;
    case ALLREDUCE:
        OK(MPI_Iallreduce(from, it->out, n, t, MPI_SUM, c, r));
        break;
    case BLOCKS:
        OK(MPI_Ireduce_scatter_block(from, it->out, n, t, MPI_SUM, c, r));
        break;
    case BLOCKSV:
        OK(MPI_Ireduce_scatter(from, it->out, it->counts, t, MPI_SUM, c, r));
        break;
    case SCAN:
        OK(MPI_Iscan(from, it->out, n, t, MPI_SUM, c, r));
        break;
    case EXSCAN:
        OK(MPI_Iexscan(from, it->out, n, t, MPI_SUM, c, r));
        break;
    case NEIGHBOURS_GATHER:
        OK(MPI_Ineighbor_allgather(from, n, t, it->out, n, t, ring, r));
        break;
    case NEIGHBOURS_ALL:
        OK(MPI_Ineighbor_alltoall(from, n, t, it->out, n, t, ring, r));
        break;
    default:
        OK(MPI_Iscatterv(it->in, it->counts, it->places, t, it->out, mine, t, it->root, c, r));
    }
}

static void init_it(struct operation *it, MPI_Comm c)
{
    MPI_Datatype t = MPI_UNSIGNED;
    MPI_Request *r = &it->request;
    MPI_Info info = MPI_INFO_NULL;
    int n = it->count, mine = it->counts[rank_];
    void *from = in_place(it->kind, it->number) ? MPI_IN_PLACE : it->in;
    switch (it->kind) {
    case BCAST:
        OK(MPI_Bcast_init(it->out, n, t, it->root, c, info, r));
        break;
    case REDUCE:
        OK(MPI_Reduce_init(it->in, it->out, n, t, MPI_SUM, it->root, c, info, r));
        break;
    case GATHER:
        OK(MPI_Gather_init(it->in, n, t, it->out, n, t, it->root, c, info, r));
        break;
    case GATHERV:
        OK(MPI_Gatherv_init(it->in, mine, t, it->out, it->counts, it->places, t, it->root, c, info, r));
        break;
    case SCATTER:
        OK(MPI_Scatter_init(it->in, n, t, it->out, n, t, it->root, c, info, r));
        break;
    case ALLGATHER:
        OK(MPI_Allgather_init(from, n, t, it->out, n, t, c, info, r));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv_init(from, mine, t, it->out, it->counts, it->places, t, c, info, r));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall_init(from, n, t, it->out, n, t, c, info, r));
        break;
    case ALLTOALLV:
        OK(MPI_Alltoallv_init(from, it->counts, it->places, t, it->out, it->counts, it->places, t, c, info, r));
        break;
    case ALLREDUCE:
        OK(MPI_Allreduce_init(from, it->out, n, t, MPI_SUM, c, info, r));
        break;
    case BLOCKS:
        OK(MPI_Reduce_scatter_block_init(from, it->out, n, t, MPI_SUM, c, info, r));
        break;
    case BLOCKSV:
        OK(MPI_Reduce_scatter_init(from, it->out, it->counts, t, MPI_SUM, c, info, r));
        break;
    case SCAN:
        OK(MPI_Scan_init(from, it->out, n, t, MPI_SUM, c, info, r));
        break;
    case EXSCAN:
        OK(MPI_Exscan_init(from, it->out, n, t, MPI_SUM, c, info, r));
        break;
    case NEIGHBOURS_GATHER:
        OK(MPI_Neighbor_allgather_init(from, n, t, it->out, n, t, ring, info, r));
        break;
    case NEIGHBOURS_ALL:
        OK(MPI_Neighbor_alltoall_init(from, n, t, it->out, n, t, ring, info, r));
        break;
    default:
        OK(MPI_Scatterv_init(it->in, it->counts, it->places, t, it->out, mine, t, it->root, c, info, r));
    }
}

static void carry_out(struct operation *it, MPI_Comm c)
{
    MPI_Datatype t = MPI_UNSIGNED;
    int n = it->count, mine = it->counts[rank_];
    void *from = in_place(it->kind, it->number) ? MPI_IN_PLACE : it->in;
    switch (it->kind) {
    case BCAST:
        OK(MPI_Bcast(it->out, n, t, it->root, c));
        break;
    case REDUCE:
        OK(MPI_Reduce(it->in, it->out, n, t, MPI_SUM, it->root, c));
        break;
    case GATHER:
        OK(MPI_Gather(it->in, n, t, it->out, n, t, it->root, c));
        break;
    case GATHERV:
        OK(MPI_Gatherv(it->in, mine, t, it->out, it->counts, it->places, t, it->root, c));
        break;
    case SCATTER:
        OK(MPI_Scatter(it->in, n, t, it->out, n, t, it->root, c));
        break;
    case ALLGATHER:
        OK(MPI_Allgather(from, n, t, it->out, n, t, c));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv(from, mine, t, it->out, it->counts, it->places, t, c));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall(from, n, t, it->out, n, t, c));
        break;
    case ALLTOALLV:
        OK(MPI_Alltoallv(from, it->counts, it->places, t, it->out, it->counts, it->places, t, c));
        break;
    case ALLREDUCE:
        OK(MPI_Allreduce(from, it->out, n, t, MPI_SUM, c));
        break;
    case BLOCKS:
        OK(MPI_Reduce_scatter_block(from, it->out, n, t, MPI_SUM, c));
        break;
    case BLOCKSV:
        OK(MPI_Reduce_scatter(from, it->out, it->counts, t, MPI_SUM, c));
        break;
    case SCAN:
        OK(MPI_Scan(from, it->out, n, t, MPI_SUM, c));
        break;
    case EXSCAN:
        OK(MPI_Exscan(from, it->out, n, t, MPI_SUM, c));
        break;
    case NEIGHBOURS_GATHER:
        OK(MPI_Neighbor_allgather(from, n, t, it->out, n, t, ring));
        break;
    case NEIGHBOURS_ALL:
        OK(MPI_Neighbor_alltoall(from, n, t, it->out, n, t, ring));
        break;
    default:
        OK(MPI_Scatterv(it->in, it->counts, it->places, t, it->out, mine, t, it->root, c));
    }
}

static int right(const struct operation *it)
{
    int good = 1, n = it->count;
    switch (it->kind) {
    case BCAST:
        return holds(it->out, it->number, it->root, 0, n);
    case SCATTER:
    case SCATTERV:
        return holds(it->out, it->number, it->root, rank_, it->counts[rank_]);
    case REDUCE:
        for (int i = 0; rank_ == it->root && i < n; i++) {
            unsigned sum = 0;
            for (int rank = 0; rank < size_; rank++)
                sum += value(it->number, rank, 0, i);
            good &= it->out[i] == sum;
        }
        return good;
    case GATHER:
    case GATHERV:
    case ALLGATHER:
    case ALLGATHERV:
        for (int rank = 0; (rank_ == it->root || it->kind >= DIRECTED) && rank < size_; rank++)
            good &= holds(it->out + (it->kind == GATHER || it->kind == ALLGATHER ? rank * n : it->places[rank]), it->number, rank, 0, it->counts[rank]);
        return good;
    case ALLTOALL:
    case ALLTOALLV:
        for (int rank = 0; rank < size_; rank++)
            good &= holds(it->out + (it->kind == ALLTOALL ? rank * n : it->places[rank]), it->number, rank, rank_, it->counts[rank]);
        return good;
    case NEIGHBOURS_GATHER:
    case NEIGHBOURS_ALL:
        /* What goes one way comes from the other. */
        for (int after = 0; after < 2; after++)
            if (beside(after) >= 0)
                good &= holds(it->out + after * n, it->number, beside(after), it->kind == NEIGHBOURS_ALL ? !after : 0, n);
        return good;
    default:;
        int before = 0, sources = it->kind == SCAN ? rank_ + 1 : it->kind == EXSCAN ? rank_ : size_;
        for (int rank = 0; rank < rank_ && (it->kind == BLOCKS || it->kind == BLOCKSV); rank++)
            before += it->counts[rank];
        for (int i = 0; sources > 0 && i < it->counts[rank_]; i++) {
            unsigned sum = 0;
            for (int rank = 0; rank < sources; rank++)
                sum += value(it->number, rank, 0, before + i);
            good &= it->out[i] == sum;
        }
        return good;
    }
}

/* Many of all kinds at once, some of them blocking, completed from the last to the first, from the first to the last, or all together. */
static void mixed(MPI_Comm comm, int from)
{
    struct operation all[MIXED];
    MPI_Request requests[MIXED];
    for (int i = 0; i < MIXED; i++) {
        make(&all[i], (from + i * 5) % KINDS, from + i);
        if (i % 7 == 6)
            carry_out(&all[i], comm);
        else
            begin_it(&all[i], comm);
        requests[i] = all[i].request;
    }
    if ((rank_ + from) % 3 == 0)
        OK(MPI_Waitall(MIXED, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MIXED; i++) {
        int place = (rank_ + from) % 3 == 1 ? MIXED - 1 - i : i;
        OK(MPI_Wait(&requests[place], MPI_STATUS_IGNORE));
        CHECK(right(&all[place]));
    }
    for (int i = 0; i < MIXED; i++)
        unmake(&all[i]);
}

/* More of one kind than there are lines, before any of them is waited for; nobody waits in the calls that begin them. */
static void many(MPI_Comm comm, int kind, int shift)
{
    struct operation *all = malloc(MANY * sizeof *all);
    for (int i = 0; i < MANY; i++) {
        make(&all[i], kind, (i * 10 + shift) * size_ + (kind == BCAST ? i % size_ : 0));
        begin_it(&all[i], comm);
    }
    for (int i = MANY - 1; i >= 0; i--)
        OK(MPI_Wait(&all[i].request, MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++) {
        CHECK(right(&all[i]));
        unmake(&all[i]);
    }
    free(all);
}

/* Who only gives is done while the others have not called: they do when they hear that it is. */
static void givers(void)
{
    int go = 0;
    struct operation it;
    /* The lines of a leaf are there once it has been in such a call. */
    make(&it, SCATTERV, 0);
    carry_out(&it, MPI_COMM_WORLD);
    unmake(&it);
    for (int i = 0; i < DIRECTED * 30; i++) {
        int done = 0, longest = 0;
        make(&it, i % DIRECTED, i / DIRECTED);
        for (int rank = 0; rank < size_; rank++)
            longest = it.counts[rank] > longest ? it.counts[rank] : longest;
        int from_root = it.kind == BCAST || it.kind == SCATTER || it.kind == SCATTERV;
        int first = from_root ? it.root : (it.root + 1) % size_;
        if (rank_ == first) {
            begin_it(&it, MPI_COMM_WORLD);
            OK(MPI_Request_get_status(it.request, &done, MPI_STATUS_IGNORE));
            CHECK(done || longest > 268);
            for (int rank = 0; rank < size_; rank++)
                if (rank != first)
                    OK(MPI_Send(&go, 1, MPI_INT, rank, 77, MPI_COMM_WORLD));
        } else {
            OK(MPI_Recv(&go, 1, MPI_INT, first, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            begin_it(&it, MPI_COMM_WORLD);
        }
        OK(MPI_Wait(&it.request, MPI_STATUS_IGNORE));
        CHECK(right(&it));
        unmake(&it);
    }
}

/* Where all tell all, the last to call is done at once: it has told what the others want, and they have told what it wants. */
static void tellers(void)
{
    int go = 0;
    for (int i = 0; i < (KINDS - DIRECTED) * 20; i++) {
        struct operation it;
        int done = 0, longest = 0, kind = DIRECTED + i % (KINDS - DIRECTED);
        make(&it, kind, i / (KINDS - DIRECTED));
        for (int rank = 0; rank < size_; rank++)
            longest = it.counts[rank] > longest ? it.counts[rank] : longest;
        if (kind == ALLTOALLV)
            /* The parts of all with their lengths; in place they are posted. */
            longest = in_place(kind, it.number) ? LONGEST : sum_of(&it) + size_ + 3;
        longest *= kind == ALLTOALL || kind == BLOCKS || kind == BLOCKSV ? size_ : kind == NEIGHBOURS_ALL ? 2 : 1;
        if (rank_ != it.root) {
            begin_it(&it, MPI_COMM_WORLD);
            OK(MPI_Send(&go, 1, MPI_INT, it.root, 78, MPI_COMM_WORLD));
        } else {
            for (int rank = 0; rank < size_; rank++)
                if (rank != it.root)
                    OK(MPI_Recv(&go, 1, MPI_INT, rank, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            begin_it(&it, MPI_COMM_WORLD);
            OK(MPI_Request_get_status(it.request, &done, MPI_STATUS_IGNORE));
            CHECK(done || longest > 268);
        }
        OK(MPI_Wait(&it.request, MPI_STATUS_IGNORE));
        CHECK(right(&it));
        unmake(&it);
    }
}

/* Persistent ones of every kind and length, started again and again: a giver starts the next rounds while the takers are in an earlier one. */
static void persistent(MPI_Comm comm, int from)
{
    struct operation all[KINDS * 2];
    for (int i = 0; i < KINDS * 2; i++) {
        make(&all[i], i % KINDS, from + i);
        init_it(&all[i], comm);
    }
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < KINDS * 2; i++) {
            int place = (i * (rank_ % 2 ? 5 : 7) + round) % (KINDS * 2);
            OK(MPI_Start(&all[place].request));
        }
        for (int i = 0; i < KINDS * 2; i++)
            OK(MPI_Wait(&all[(i + rank_) % (KINDS * 2)].request, MPI_STATUS_IGNORE));
        for (int i = 0; i < KINDS * 2; i++) {
            CHECK(right(&all[i]));
            set(&all[i]);
        }
    }
    for (int i = 0; i < KINDS * 2; i++) {
        /* One that has been started goes when it is over. */
        if (i % 2)
            OK(MPI_Start(&all[i].request)), OK(MPI_Wait(&all[i].request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&all[i].request));
        unmake(&all[i]);
    }
}

/* A datatype and a communicator that are freed before the operation is over. */
static void freed(int round)
{
    MPI_Comm comm;
    MPI_Datatype column;
    MPI_Request requests[4];
    int in[8][3], out[8][3], *rows = malloc((size_t)size_ * 8 * sizeof(int)), *row = malloc((size_t)size_ * 8 * sizeof(int));
    int root = round % size_, sum = 0, one = 1, ones = 0;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            in[i][k] = out[i][k] = rank_ == root ? round * 100 + i * 3 + k : -1;
    for (int i = 0; i < size_ * 8; i++)
        rows[i] = i / 8 * 1000 + i % 8 + round;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(8, 1, 3, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Ibcast(&out[0][1], 1, column, root, comm, &requests[0]));
    OK(MPI_Igather(&in[0][2], 1, column, row, 8, MPI_INT, root, comm, &requests[1]));
    OK(MPI_Iscatter(rows, 8, MPI_INT, &out[0][0], 1, column, root, comm, &requests[2]));
    OK(MPI_Ireduce(&one, &ones, 1, MPI_INT, MPI_SUM, root, comm, &requests[3]));
    OK(MPI_Type_free(&column));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    int good = 1;
    for (int i = 0; i < 8; i++) {
        good &= out[i][1] == round * 100 + i * 3 + 1 && out[i][0] == rank_ * 1000 + i + round;
        good &= out[i][2] == (rank_ == root ? round * 100 + i * 3 + 2 : -1);
    }
    for (int i = 0; rank_ == root && i < size_ * 8; i++)
        good &= row[i] == (i / 8 == root ? round * 100 + i % 8 * 3 + 2 : -1);
    CHECK(good);
    CHECK(rank_ != root || ones == size_);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == size_);
    free(rows);
    free(row);
}

/* Parts that their takers have no room for: they are told, and the communicator stays usable. */
static void too_long(MPI_Comm comm)
{
    static const int given[] = {5, 200, LONGEST}, taken[] = {4, 199, 20};
    unsigned *in = malloc(LONGEST * sizeof(int)), *out = malloc((size_t)size_ * LONGEST * sizeof(int));
    int *counts = malloc((size_t)size_ * sizeof(int)), *places = malloc((size_t)size_ * sizeof(int));
    /* To which errors of a wait go. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 0; i < 3; i++) {
        MPI_Request request;
        for (int rank = 0; rank < size_; rank++) {
            counts[rank] = rank == 1 ? taken[i] : given[i];
            places[rank] = rank * LONGEST;
        }
        fill(in, i, rank_, 0, LONGEST);
        OK(MPI_Igatherv(in, given[i], MPI_UNSIGNED, out, counts, places, MPI_UNSIGNED, 0, comm, &request));
        if (rank_ == 0 && size_ > 1)
            FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int rank = 0; rank < size_; rank++)
            counts[rank] = rank_ == 0 && rank == 1 ? taken[i] : given[i];
        int *givens = malloc((size_t)size_ * sizeof(int)), *starts = calloc((size_t)size_, sizeof(int));
        for (int rank = 0; rank < size_; rank++)
            givens[rank] = given[i];
        OK(MPI_Ialltoallv(in, givens, starts, MPI_UNSIGNED, out, counts, places, MPI_UNSIGNED, comm, &request));
        if (rank_ == 0 && size_ > 1)
            FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        free(givens);
        free(starts);
        OK(MPI_Barrier(comm));
    }
    free(in);
    free(out);
    free(counts);
    free(places);
}

/* Parts with counts, places and datatypes of their own, between all, or between neighbours: givers' integers lie next to each other, takers' in every second
   place if the part's number is odd. Part `i` is for, and from, rank `ranks[i]`; of those from one rank, in the order of `edges`. */
enum { ALL, GRID, GRAPH, SHAPES };

struct parts {
    int n, *counts, *places;
    MPI_Aint *addresses;
    MPI_Datatype *types;
    unsigned *at;
};

static struct parts parts_of(int n, int stride, MPI_Datatype one, MPI_Datatype spread)
{
    struct parts it = {n, calloc((size_t)n + 1, sizeof(int)), calloc((size_t)n + 1, sizeof(int)), NULL, NULL, NULL};
    it.addresses = calloc((size_t)n + 1, sizeof(MPI_Aint));
    it.types = calloc((size_t)n + 1, sizeof(MPI_Datatype));
    it.at = calloc((size_t)(n + 1) * LONGEST * 2, sizeof(int));
    for (int i = 0; i < n; i++) {
        it.types[i] = stride && i % 2 ? spread : one;
        it.places[i] = i * LONGEST * 2 * (int)sizeof(int);
        it.addresses[i] = it.places[i];
    }
    return it;
}

static void free_parts(struct parts *it)
{
    free(it->counts);
    free(it->places);
    free(it->addresses);
    free(it->types);
    free(it->at);
}

static void typed(int shape, int number)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Datatype spread;
    int n = shape == ALL ? size_ : shape == GRID ? 2 : 2 * size_, short_ones = number / SHAPES % 2;
    int *ranks = malloc((size_t)n * sizeof(int));
    OK(MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(int), &spread));
    OK(MPI_Type_commit(&spread));
    for (int i = 0; i < n; i++)
        ranks[i] = shape == ALL ? i : i / 2;
    if (shape == GRID) {
        ranks[0] = (rank_ + size_ - 1) % size_;
        ranks[1] = (rank_ + 1) % size_;
        OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size_, (int[]){1}, 0, &comm));
    } else if (shape == GRAPH) {
        OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, ranks, MPI_UNWEIGHTED, n, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    }
    struct parts out = parts_of(n, 0, MPI_UNSIGNED, spread), in = parts_of(n, 1, MPI_UNSIGNED, spread);
    for (int i = 0; i < n; i++) {
        /* What the giver calls this edge: in a grid the other direction, in the graph the same one of the two. */
        int edge = shape == GRID ? 1 - i : i % 2;
        out.counts[i] = short_ones ? i % 3 + rank_ % 2 : length(number + rank_, i % 2);
        in.counts[i] = short_ones ? (shape == ALL ? rank_ : shape == GRID ? edge : 2 * rank_ + edge) % 3 + ranks[i] % 2
                                  : length(number + ranks[i], shape == ALL ? rank_ % 2 : edge);
        fill(out.at + out.places[i] / (int)sizeof(int), number, rank_, shape == ALL ? i : i % 2, out.counts[i]);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    if (shape == ALL && number % 2)
        OK(MPI_Ialltoallw(out.at, out.counts, out.places, out.types, in.at, in.counts, in.places, in.types, comm, &request));
    else if (shape == ALL)
        OK(MPI_Alltoallw(out.at, out.counts, out.places, out.types, in.at, in.counts, in.places, in.types, comm));
    else
        OK(MPI_Neighbor_alltoallw(out.at, out.counts, out.addresses, out.types, in.at, in.counts, in.addresses, in.types, comm));
    OK(MPI_Type_free(&spread));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int good = 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < in.counts[i]; k++) {
            int edge = shape == ALL ? rank_ : shape == GRID ? 1 - i : i % 2;
            good &= in.at[in.places[i] / (int)sizeof(int) + (i % 2 ? 2 * k : k)] == value(number, ranks[i], edge, k);
        }
    CHECK(good);
    if (shape != ALL)
        OK(MPI_Comm_free(&comm));
    free_parts(&out);
    free_parts(&in);
    free(ranks);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm comm;
    /* Only where ranks reach each other's memory. */
    int is_by_lines = argc > 1 && strcmp(argv[1], "lines") == 0;
    if (is_by_lines)
        givers();
    for (int round = 0; round < 3; round++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Cart_create(comm, 1, &size_, (int[]){size_ % 2 == 0}, 0, &ring));
        if (is_by_lines)
            tellers();
        for (int kind = 0; kind < KINDS; kind++)
            many(comm, kind, round + kind);
        for (int from = 0; from < 12; from++)
            mixed(comm, from * 11 + round);
        persistent(comm, round * 12);
        too_long(comm);
        OK(MPI_Comm_free(&ring));
        OK(MPI_Comm_free(&comm));
    }
    for (int round = 0; round < 20; round++)
        freed(round);
    for (int round = 0; round < 24; round++)
        typed(round % SHAPES, round);
    return finish("begun");
}
