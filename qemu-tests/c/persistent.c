/* Persistent collectives match in the order in which they were made, and every rank may start them in an order of its own, again and again
   (MPI-5.0, section 6.13). */
#include "../../conformance/check.h"

enum kind {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    BETWEEN_GROUPS, /* what follows has no form between two groups */
    SCAN = BETWEEN_GROUPS,
    EXSCAN,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    KINDS
};

enum { ITEMS = 3, ROUNDS = 4 };

/* One collective: made once, started in every round. On an intercommunicator the group with rank 0 of the world has the root. */
struct collective {
    enum kind kind;
    int key, root;
    int *in, *out;
    MPI_Request request;
};

static MPI_Comm comm_; /* everybody is everybody's neighbour in it, unless it is an intercommunicator */
static int me_, parts_, first_, inter_;
static int *counts_, *places_, *bytes_;
static MPI_Datatype *ints_;
static MPI_Aint *addresses_;

/* What a rank of the world has for place `to`. */
static int item(const struct collective *it, int round, int rank, int to, int index)
{
    return it->key * 1000003 + round * 10007 + rank * 211 + to * 17 + index;
}

/* Which ranks of the world the parts come from. */
static int giver(int part)
{
    return inter_ ? part * 2 + first_ : part;
}

static int root_of(const struct collective *it)
{
    if (!inter_)
        return it->root;
    return first_ ? me_ == it->root ? MPI_ROOT : MPI_PROC_NULL : it->root;
}

static void make(struct collective *it, enum kind kind, int key)
{
    int groups[2] = {(size_ + 1) / 2, size_ / 2}, root;
    it->kind = kind;
    it->key = key;
    it->root = key % (inter_ ? groups[0] : size_);
    it->in = malloc((size_t)(size_ * size_) * ITEMS * sizeof(int));
    it->out = malloc((size_t)(size_ * size_) * ITEMS * sizeof(int));
    root = root_of(it);
    int *in = it->in, *out = it->out;
    MPI_Comm c = comm_;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request *r = &it->request;
    switch (kind) {
    case BARRIER:
        OK(MPI_Barrier_init(c, info, r));
        break;
    case BCAST:
        OK(MPI_Bcast_init(out, ITEMS, MPI_INT, root, c, info, r));
        break;
    case GATHER:
        OK(MPI_Gather_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root, c, info, r));
        break;
    case GATHERV:
        OK(MPI_Gatherv_init(in, ITEMS, MPI_INT, out, counts_, places_, MPI_INT, root, c, info, r));
        break;
    case SCATTER:
        OK(MPI_Scatter_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root, c, info, r));
        break;
    case SCATTERV:
        OK(MPI_Scatterv_init(in, counts_, places_, MPI_INT, out, ITEMS, MPI_INT, root, c, info, r));
        break;
    case ALLGATHER:
        OK(MPI_Allgather_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, c, info, r));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv_init(in, ITEMS, MPI_INT, out, counts_, places_, MPI_INT, c, info, r));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, c, info, r));
        break;
    case ALLTOALLV:
        OK(MPI_Alltoallv_init(in, counts_, places_, MPI_INT, out, counts_, places_, MPI_INT, c, info, r));
        break;
    case ALLTOALLW:
        OK(MPI_Alltoallw_init(in, counts_, bytes_, ints_, out, counts_, bytes_, ints_, c, info, r));
        break;
    case REDUCE:
        OK(MPI_Reduce_init(in, out, ITEMS, MPI_INT, MPI_SUM, root, c, info, r));
        break;
    case ALLREDUCE:
        OK(MPI_Allreduce_init(in, out, ITEMS, MPI_INT, MPI_SUM, c, info, r));
        break;
    case REDUCE_SCATTER: {
        /* Between groups the blocks of either one must add up to the same: the first rank of each gets all. */
        int *blocks = calloc((size_t)size_, sizeof(int));
        blocks[0] = ITEMS * size_;
        OK(MPI_Reduce_scatter_init(in, out, blocks, MPI_INT, MPI_SUM, c, info, r));
        free(blocks);
        break;
    }
    case REDUCE_SCATTER_BLOCK:
        if (!inter_)
            OK(MPI_Reduce_scatter_block_init(in, out, ITEMS, MPI_INT, MPI_SUM, c, info, r));
        else /* as above */
            OK(MPI_Reduce_scatter_block_init(in, out, ITEMS * groups[first_], MPI_INT, MPI_SUM, c, info, r));
        break;
    case SCAN:
        OK(MPI_Scan_init(in, out, ITEMS, MPI_INT, MPI_SUM, c, info, r));
        break;
    case EXSCAN:
        OK(MPI_Exscan_init(in, out, ITEMS, MPI_INT, MPI_SUM, c, info, r));
        break;
    case NEIGHBOR_ALLGATHER:
        OK(MPI_Neighbor_allgather_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, c, info, r));
        break;
    case NEIGHBOR_ALLGATHERV:
        OK(MPI_Neighbor_allgatherv_init(in, ITEMS, MPI_INT, out, counts_, places_, MPI_INT, c, info, r));
        break;
    case NEIGHBOR_ALLTOALL:
        OK(MPI_Neighbor_alltoall_init(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, c, info, r));
        break;
    case NEIGHBOR_ALLTOALLV:
        OK(MPI_Neighbor_alltoallv_init(in, counts_, places_, MPI_INT, out, counts_, places_, MPI_INT, c, info, r));
        break;
    default:
        OK(MPI_Neighbor_alltoallw_init(in, counts_, addresses_, ints_, out, counts_, addresses_, ints_, c, info, r));
    }
}

static void unmake(struct collective *it)
{
    OK(MPI_Request_free(&it->request));
    free(it->in);
    free(it->out);
}

/* Fills the buffers for a round. */
static void fresh(struct collective *it, int round)
{
    for (int i = 0; i < size_ * size_ * ITEMS; i++) {
        it->in[i] = item(it, round, rank_, i / ITEMS, i % ITEMS);
        it->out[i] = -1;
    }
    int root = root_of(it);
    if (it->kind == BCAST && (root == MPI_ROOT || (!inter_ && root == rank_)))
        memcpy(it->out, it->in, ITEMS * sizeof(int));
}

/* Whether `out` holds at part `at` what the part's giver had at place `to`. */
static int came(const struct collective *it, int round, int at, int from, int to)
{
    for (int i = 0; i < ITEMS; i++)
        if (it->out[at * ITEMS + i] != item(it, round, from, to, i))
            return 0;
    return 1;
}

/* Whether `out` holds at `at` the sum of so many givers' items at place `to`. */
static int added(const struct collective *it, int round, int at, int to, int givers)
{
    for (int i = 0; i < ITEMS; i++) {
        unsigned sum = 0;
        for (int part = 0; part < givers; part++)
            sum += (unsigned)item(it, round, giver(part), to, i);
        if ((unsigned)it->out[at * ITEMS + i] != sum)
            return 0;
    }
    return 1;
}

static int untouched(const struct collective *it)
{
    for (int i = 0; i < ITEMS; i++)
        if (it->out[i] != -1)
            return 0;
    return 1;
}

/* Whether the round's result is right. */
static int right(const struct collective *it, int round)
{
    int root = root_of(it), gets = inter_ ? root == MPI_ROOT : root == rank_, good = 1;
    /* The root's rank in the world. */
    int from = inter_ ? it->root * 2 : it->root;
    switch (it->kind) {
    case BARRIER:
        return 1;
    case BCAST:
        return root == MPI_PROC_NULL ? untouched(it) : came(it, round, 0, from, 0);
    case GATHER:
    case GATHERV:
        for (int part = 0; gets && part < parts_; part++)
            good &= came(it, round, part, giver(part), 0);
        return gets ? good : untouched(it);
    case SCATTER:
    case SCATTERV:
        return inter_ && first_ ? untouched(it) : came(it, round, 0, from, me_);
    case ALLGATHER:
    case ALLGATHERV:
    case NEIGHBOR_ALLGATHER:
    case NEIGHBOR_ALLGATHERV:
        for (int part = 0; part < parts_; part++)
            good &= came(it, round, part, giver(part), 0);
        return good;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
    case NEIGHBOR_ALLTOALL:
    case NEIGHBOR_ALLTOALLV:
    case NEIGHBOR_ALLTOALLW:
        for (int part = 0; part < parts_; part++)
            good &= came(it, round, part, giver(part), me_);
        return good;
    case REDUCE:
        return gets ? added(it, round, 0, 0, parts_) : untouched(it);
    case ALLREDUCE:
        return added(it, round, 0, 0, parts_);
    case REDUCE_SCATTER:
        for (int part = 0; me_ == 0 && part < size_; part++)
            good &= added(it, round, part, part, parts_);
        return me_ == 0 ? good : untouched(it);
    case REDUCE_SCATTER_BLOCK:
        if (!inter_)
            return added(it, round, 0, me_, parts_);
        for (int part = 0; part < parts_; part++)
            good &= added(it, round, part, me_ * parts_ + part, parts_);
        return good;
    case SCAN:
        return added(it, round, 0, 0, me_ + 1);
    default:
        return me_ == 0 ? untouched(it) : added(it, round, 0, 0, me_);
    }
}

/* The order in which this rank starts `n` of them in a round: everybody's is its own. */
static int place(int index, int n, int round)
{
    int forward = (index + rank_ * 5 + round) % n;
    return (rank_ / 2 + round / 2) % 2 ? n - 1 - forward : forward;
}

/* Starts them in every round, each rank in its own order, half of them before a call that all make in between; waits in another order. */
static void rounds(struct collective *all, int n)
{
    MPI_Request some[2 * KINDS];
    for (int round = 0; round < ROUNDS; round++) {
        int half = n / 2, token = rank_, sum = 0;
        MPI_Request other;
        for (int i = 0; i < n; i++)
            fresh(&all[i], round);
        for (int i = 0; i < half; i++)
            OK(MPI_Start(&all[place(i, n, round)].request));
        OK(MPI_Iallreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &other));
        if (round % 2)
            OK(MPI_Barrier(comm_));
        for (int i = half; i < n; i++)
            some[i - half] = all[place(i, n, round)].request;
        OK(MPI_Startall(n - half, some));
        for (int i = half; i < n; i++)
            all[place(i, n, round)].request = some[i - half];
        for (int i = 0; i < n; i++) {
            struct collective *it = &all[place(i, n, round + rank_ + 1)];
            OK(MPI_Wait(&it->request, MPI_STATUS_IGNORE));
            CHECK(right(it, round));
        }
        OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
        CHECK(sum == size_ * (size_ - 1) / 2);
    }
}

/* Two of one kind; then two of every kind at once, of which some are freed and made again in between. */
static void on(MPI_Comm comm, int kinds)
{
    static struct collective all[2 * KINDS];
    int n = 2 * kinds;
    comm_ = comm;
    OK(MPI_Comm_test_inter(comm, &inter_));
    OK(MPI_Comm_rank(comm, &me_));
    if (inter_)
        OK(MPI_Comm_remote_size(comm, &parts_));
    else
        OK(MPI_Comm_size(comm, &parts_));
    first_ = inter_ && rank_ % 2 == 0;
    for (int kind = 0; kind < kinds; kind++) {
        make(&all[0], (enum kind)kind, 1);
        make(&all[1], (enum kind)kind, 2);
        rounds(all, 2);
        unmake(&all[kind % 2]);
        make(&all[kind % 2], (enum kind)kind, 3);
        rounds(all, 2);
        unmake(&all[0]);
        unmake(&all[1]);
    }
    for (int i = 0; i < n; i++)
        make(&all[i], (enum kind)(i % kinds), i);
    rounds(all, n);
    for (int i = 0; i < n; i += 3) {
        unmake(&all[i]);
        make(&all[i], (enum kind)((i + 1) % kinds), 100 + i);
    }
    rounds(all, n);
    for (int i = 0; i < n; i++)
        unmake(&all[i]);
}

/* Partitioned messages of one tag match as they were made, too. */
static void partitioned(void)
{
    int out[2] = {2 * rank_, 2 * rank_ + 1}, in[2], next = (rank_ + 1) % size_, last = (rank_ + size_ - 1) % size_;
    MPI_Request send[2], receive[2];
    for (int i = 0; i < 2; i++) {
        OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &send[i]));
        OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receive[i]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        in[0] = in[1] = -1;
        for (int i = 0; i < 2; i++) {
            int which = (i + rank_ + round) % 2;
            OK(MPI_Start(&send[which]));
            OK(MPI_Pready(0, send[which]));
            OK(MPI_Start(&receive[(i + round / 2) % 2]));
        }
        OK(MPI_Waitall(2, receive, MPI_STATUSES_IGNORE));
        OK(MPI_Waitall(2, send, MPI_STATUSES_IGNORE));
        CHECK(in[0] == 2 * last && in[1] == 2 * last + 1);
    }
    for (int i = 0; i < 2; i++) {
        OK(MPI_Request_free(&send[i]));
        OK(MPI_Request_free(&receive[i]));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    size_t length = (size_t)size_;
    counts_ = malloc(length * sizeof *counts_);
    places_ = malloc(length * sizeof *places_);
    bytes_ = malloc(length * sizeof *bytes_);
    ints_ = malloc(length * sizeof *ints_);
    addresses_ = malloc(length * sizeof *addresses_);
    int *everybody = malloc(length * sizeof *everybody);
    for (int i = 0; i < size_; i++) {
        everybody[i] = i;
        counts_[i] = ITEMS;
        places_[i] = ITEMS * i;
        addresses_[i] = bytes_[i] = ITEMS * i * (int)sizeof(int);
        ints_[i] = MPI_INT;
    }
    MPI_Comm graph;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size_, everybody, MPI_UNWEIGHTED, size_, everybody, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &graph));
    on(graph, KINDS);
    OK(MPI_Comm_free(&graph));
    if (size_ > 1) {
        MPI_Comm half, between;
        OK(MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank_ % 2, 3, &between));
        on(between, BETWEEN_GROUPS);
        OK(MPI_Comm_free(&between));
        OK(MPI_Comm_free(&half));
    }
    partitioned();
    return finish("persistent");
}
