/* Random collectives: several at once on each communicator, blocking, non-blocking and persistent ones (started by every rank in an order of its
   own), in place or not, of random layouts, counts and operations. What each rank contributes is a function of the collective's key and its rank, so
   every rank knows the result. */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include "random.h"

enum { COLLECTIVES = 8 };
enum kind {
    BARRIER,
    BCAST,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV,
    ALLTOALLW,
    NEIGHBOURS,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    KINDS
};
enum form { BLOCKING, NON_BLOCKING, PERSISTENT_FORM, FORMS };

/* A collective under way, and what its result must be. */
struct collective {
    enum kind kind;
    enum form form;
    MPI_Request request;
    struct block send, receive, expected;
    int has_send, has_receive, *numbers[4];
    MPI_Datatype *types;
    MPI_Comm graph;
};

static const char *const names_[KINDS] = {"barrier",   "bcast",     "gather",     "scatter",   "allgather", "alltoall",
                                          "gatherv",   "scatterv",  "allgatherv", "alltoallv", "alltoallw", "neighbour_alltoallv",
                                          "reduce",    "allreduce", "scan",       "exscan",    "reduce_scatter",
                                          "reduce_scatter_block"};

/* --- reductions --- */

enum { OPERATIONS = 6 };
static MPI_Op compose_;
static MPI_Datatype pair_;
static struct layout ints_, pairs_;

/* y = a x + b after y = c x + d, modulo 2^32: associative, not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    uint32_t *left = in, *right = inout;
    (void)type;
    for (int i = 0; i < *count; i++, left += 2, right += 2) {
        right[1] += left[1] * right[0];
        right[0] *= left[0];
    }
}

static void fold(int operation, int *into, const int *from, int ints)
{
    for (int i = 0; i < ints; i++)
        switch (operation) {
        case 0:
            into[i] = (int)((uint32_t)into[i] + (uint32_t)from[i]);
            break;
        case 1:
            into[i] = from[i] > into[i] ? from[i] : into[i];
            break;
        case 2:
            into[i] ^= from[i];
            break;
        case 3:
            into[i] = (int)((uint32_t)into[i] * (uint32_t)from[i]);
            break;
        case 4:
            into[i] = from[i] < into[i] ? from[i] : into[i];
            break;
        default:
            if (i % 2 == 0) {
                uint32_t a = (uint32_t)into[i], b = (uint32_t)into[i + 1], c = (uint32_t)from[i], d = (uint32_t)from[i + 1];
                into[i] = (int)(a * c), into[i + 1] = (int)(d + b * c);
            }
        }
}

static MPI_Op operation_of(int which)
{
    switch (which) {
    case 0:
        return MPI_SUM;
    case 1:
        return MPI_MAX;
    case 2:
        return MPI_BXOR;
    case 3:
        return MPI_PROD;
    case 4:
        return MPI_MIN;
    default:
        return compose_;
    }
}

/* What ranks 0 to `last` give, combined, in a plain array. */
static int *folded(int operation, uint64_t key, int last, int ints)
{
    int *all = memory((size_t)ints * sizeof(int)), *one = memory((size_t)ints * sizeof(int));
    for (int r = 0; r <= last; r++) {
        int *to = r == 0 ? all : one;
        for (int i = 0; i < ints; i++)
            to[i] = value(key + (uint64_t)r, i);
        if (r > 0)
            fold(operation, all, one, ints);
    }
    free(one);
    return all;
}

static void begin_reductions(void)
{
    OK(MPI_Op_create(compose, 0, &compose_));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair_));
    OK(MPI_Type_commit(&pair_));
    ints_ = int_layout();
    MPI_Aint none[1] = {0};
    int two[1] = {2};
    pairs_ = blocks(&ints_, 1, two, none);
    pairs_.type = pair_;
}

static void end_reductions(void)
{
    OK(MPI_Op_free(&compose_));
    OK(MPI_Type_free(&pair_));
    free(ints_.at);
    free(pairs_.at);
}

/* --- calls --- */

/* In one of the three forms. */
#define CALL(c, name, init, iname, ...)                                                                               \
    do {                                                                                                              \
        if ((c)->form == BLOCKING)                                                                                    \
            OK(MPI_##name(__VA_ARGS__));                                                                              \
        else if ((c)->form == NON_BLOCKING)                                                                           \
            OK(MPI_##iname(__VA_ARGS__, &(c)->request));                                                              \
        else                                                                                                          \
            OK(MPI_##init(__VA_ARGS__, MPI_INFO_NULL, &(c)->request));                                                \
    } while (0)

static int *numbers(struct collective *c, int which, int n)
{
    free(c->numbers[which]);
    return c->numbers[which] = memory((size_t)n * sizeof(int));
}

static struct block sending(struct collective *c, const struct layout *l, int count)
{
    c->has_send = 1;
    return c->send = new_block(l, count);
}

static struct block receiving(struct collective *c, const struct layout *l, int count)
{
    c->has_receive = 1;
    c->expected = new_block(l, count);
    return c->receive = new_block(l, count);
}

/* Equal parts. Both sides have layouts of their own with as many ints; data from rank s to rank d is named by key + s * 64 + d. */
static void equal_parts(struct collective *c, const struct set *s, uint64_t key)
{
    const struct layout *a = &layouts_[alike(LAYOUTS)], *b = &layouts_[alike(LAYOUTS)];
    int p = s->size, me = s->rank, root = alike(256) % p, times = 1 + alike(4) * alike(20);
    if (a->ints * b->ints * times > LARGEST)
        times = 1;
    if (a->ints * b->ints > LARGEST || extent_of(a) * b->ints > WIDEST || extent_of(b) * a->ints > WIDEST)
        a = b = &layouts_[0]; /* nested layouts multiply: all ranks' parts must find room */
    int ints = a->ints * b->ints * times, in_place = alike(2), na = b->ints * times, nb = a->ints * times;
    MPI_Comm comm = s->comm;
    switch (c->kind) {
    case BCAST: {
        const struct layout *l = me == root ? a : b;
        int n = me == root ? na : nb;
        struct block x = receiving(c, l, n);
        if (me == root)
            fill(&x, 0, ints, key);
        fill(&c->expected, 0, ints, key);
        CALL(c, Bcast, Bcast_init, Ibcast, x.origin, n, l->type, root, comm);
        break;
    }
    case GATHER:
    case ALLGATHER: {
        int to_me = c->kind == ALLGATHER || me == root, mine_there = in_place && to_me && (c->kind == ALLGATHER || me == root);
        struct block x = sending(c, a, na), y = receiving(c, b, to_me ? nb * p : 0);
        fill(&x, 0, ints, key + (uint64_t)me);
        for (int r = 0; to_me && r < p; r++)
            fill(&c->expected, r * ints, ints, key + (uint64_t)r);
        if (mine_there)
            fill(&y, me * ints, ints, key + (uint64_t)me);
        const void *from = mine_there ? MPI_IN_PLACE : x.origin;
        if (c->kind == GATHER)
            CALL(c, Gather, Gather_init, Igather, from, na, a->type, y.origin, nb, b->type, root, comm);
        else
            CALL(c, Allgather, Allgather_init, Iallgather, from, na, a->type, y.origin, nb, b->type, comm);
        break;
    }
    case SCATTER: {
        int stays = in_place && me == root;
        struct block x = sending(c, a, me == root ? na * p : 0), y = receiving(c, b, stays ? 0 : nb);
        for (int r = 0; me == root && r < p; r++)
            fill(&x, r * ints, ints, key + (uint64_t)r);
        if (!stays)
            fill(&c->expected, 0, ints, key + (uint64_t)me);
        CALL(c, Scatter, Scatter_init, Iscatter, x.origin, na, a->type, stays ? MPI_IN_PLACE : y.origin, nb, b->type, root, comm);
        break;
    }
    default: {
        struct block x = sending(c, a, in_place ? 0 : na * p), y = receiving(c, b, nb * p);
        for (int r = 0; r < p; r++) {
            fill(in_place ? &y : &x, r * ints, ints, key + (uint64_t)(me * 64 + r));
            fill(&c->expected, r * ints, ints, key + (uint64_t)(r * 64 + me));
        }
        const void *from = in_place ? MPI_IN_PLACE : x.origin;
        CALL(c, Alltoall, Alltoall_init, Ialltoall, from, na, a->type, y.origin, nb, b->type, comm);
    }
    }
}

/* The ints that rank `from` has for rank `to`: often none. */
static int part(uint64_t key, int from, int to)
{
    uint64_t x = mixed(key + (uint64_t)(from * 977 + to * 31));
    int most = (int[]){4, 16, 100, 3000}[key % 4];
    return x % 3 == 0 ? 0 : (int)(x / 3 % (uint64_t)most);
}

/* Counts and displacements of parts, with gaps between, from the last to the first; returns the room. */
static int arrange(int *counts, int *displacements, int p)
{
    int room = 0;
    for (int r = p - 1; r >= 0; r--) {
        displacements[r] = room;
        room += counts[r] + r % 3;
    }
    return room;
}

/* Parts of different sizes, all of plain ints. */
static void varying_parts(struct collective *c, const struct set *s, uint64_t key)
{
    int p = s->size, me = s->rank, root = alike(256) % p, in_place = alike(2);
    int *sc = numbers(c, 0, p), *sd = numbers(c, 1, p), *rc = numbers(c, 2, p), *rd = numbers(c, 3, p);
    MPI_Comm comm = s->comm;
    for (int r = 0; r < p; r++) {
        int to_one = c->kind == GATHERV || c->kind == ALLGATHERV, from_one = c->kind == SCATTERV;
        sc[r] = part(key, from_one ? root : me, to_one ? 0 : r);
        rc[r] = part(key, from_one ? root : r, to_one ? 0 : from_one ? r : me);
    }
    int send_room = arrange(sc, sd, p), receive_room = arrange(rc, rd, p);
    if (c->kind == GATHERV || c->kind == ALLGATHERV) {
        int to_me = c->kind == ALLGATHERV || me == root, stays = in_place && to_me;
        struct block x = sending(c, &ints_, sc[0]), y = receiving(c, &ints_, to_me ? receive_room : 0);
        fill(&x, 0, sc[0], key + (uint64_t)me);
        for (int r = 0; to_me && r < p; r++)
            fill(&c->expected, rd[r], rc[r], key + (uint64_t)r);
        if (stays)
            fill(&y, rd[me], rc[me], key + (uint64_t)me);
        const void *from = stays ? MPI_IN_PLACE : x.origin;
        if (c->kind == GATHERV)
            CALL(c, Gatherv, Gatherv_init, Igatherv, from, sc[0], MPI_INT, y.origin, rc, rd, MPI_INT, root, comm);
        else
            CALL(c, Allgatherv, Allgatherv_init, Iallgatherv, from, sc[0], MPI_INT, y.origin, rc, rd, MPI_INT, comm);
        return;
    }
    if (c->kind == SCATTERV) {
        int stays = in_place && me == root;
        struct block x = sending(c, &ints_, me == root ? send_room : 0), y = receiving(c, &ints_, stays ? 0 : rc[me]);
        for (int r = 0; me == root && r < p; r++)
            fill(&x, sd[r], sc[r], key + (uint64_t)r);
        if (!stays)
            fill(&c->expected, 0, rc[me], key + (uint64_t)me);
        CALL(c, Scatterv, Scatterv_init, Iscatterv, x.origin, sc, sd, MPI_INT, stays ? MPI_IN_PLACE : y.origin, rc[me], MPI_INT, root, comm);
        return;
    }
    struct block x = sending(c, &ints_, send_room), y = receiving(c, &ints_, receive_room);
    for (int r = 0; r < p; r++) {
        fill(&x, sd[r], sc[r], key + (uint64_t)(me * 64 + r));
        fill(&c->expected, rd[r], rc[r], key + (uint64_t)(r * 64 + me));
    }
    if (c->kind == ALLTOALLV) {
        CALL(c, Alltoallv, Alltoallv_init, Ialltoallv, x.origin, sc, sd, MPI_INT, y.origin, rc, rd, MPI_INT, comm);
    } else if (c->kind == ALLTOALLW) {
        c->types = memory((size_t)p * sizeof *c->types);
        for (int r = 0; r < p; r++) {
            c->types[r] = MPI_INT;
            sd[r] *= 4, rd[r] *= 4;
        }
        CALL(c, Alltoallw, Alltoallw_init, Ialltoallw, x.origin, sc, sd, c->types, y.origin, rc, rd, c->types, comm);
    } else { /* everybody is everybody's neighbour */
        int *all = memory((size_t)p * sizeof(int));
        for (int r = 0; r < p; r++)
            all[r] = r;
        OK(MPI_Dist_graph_create_adjacent(comm, p, all, MPI_UNWEIGHTED, p, all, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c->graph));
        CALL(c, Neighbor_alltoallv, Neighbor_alltoallv_init, Ineighbor_alltoallv, x.origin, sc, sd, MPI_INT, y.origin, rc, rd, MPI_INT,
             c->graph);
        free(all);
    }
}

static void reductions(struct collective *c, const struct set *s, uint64_t key)
{
    int p = s->size, me = s->rank, root = alike(256) % p, in_place = alike(2), operation = alike(OPERATIONS);
    const struct layout *l = operation == OPERATIONS - 1 ? &pairs_ : &ints_;
    int n = random_ints() / l->ints % 5000, mine = 0, before = 0;
    int *counts = numbers(c, 0, p);
    if (c->kind == REDUCE_SCATTER || c->kind == REDUCE_SCATTER_BLOCK) {
        int each = n / p;
        n = 0;
        for (int r = 0; r < p; r++) {
            counts[r] = c->kind == REDUCE_SCATTER ? part(key, r, 0) / l->ints : each;
            before += r < me ? counts[r] : 0;
            n += counts[r];
        }
        mine = counts[me];
    }
    int scattered = c->kind >= REDUCE_SCATTER, gets = c->kind != REDUCE || me == root;
    int stays = in_place && gets, total = n * l->ints;
    MPI_Op op = operation_of(operation);
    MPI_Comm comm = s->comm;
    struct block x = sending(c, l, stays ? 0 : n), y = receiving(c, l, !gets ? 0 : scattered && !stays ? mine : n);
    fill(stays ? &y : &x, 0, total, key + (uint64_t)me);
    int last = c->kind == SCAN ? me : c->kind == EXSCAN ? me - 1 : p - 1;
    int *all = folded(operation, key, last < 0 ? 0 : last, total);
    if (stays) /* what the call does not write stays */
        fill(&c->expected, 0, total, key + (uint64_t)me);
    if (gets && last >= 0)
        for (int i = 0; i < (scattered ? mine * l->ints : total); i++)
            put_int(&c->expected, i, all[before * l->ints + i]);
    free(all);
    const void *from = stays ? MPI_IN_PLACE : x.origin;
    void *to = y.origin;
    switch (c->kind) {
    case REDUCE:
        CALL(c, Reduce, Reduce_init, Ireduce, from, to, n, l->type, op, root, comm);
        break;
    case ALLREDUCE:
        CALL(c, Allreduce, Allreduce_init, Iallreduce, from, to, n, l->type, op, comm);
        break;
    case SCAN:
        CALL(c, Scan, Scan_init, Iscan, from, to, n, l->type, op, comm);
        break;
    case EXSCAN:
        CALL(c, Exscan, Exscan_init, Iexscan, from, to, n, l->type, op, comm);
        break;
    case REDUCE_SCATTER:
        CALL(c, Reduce_scatter, Reduce_scatter_init, Ireduce_scatter, from, to, counts, l->type, op, comm);
        break;
    default:
        CALL(c, Reduce_scatter_block, Reduce_scatter_block_init, Ireduce_scatter_block, from, to, mine, l->type, op, comm);
    }
    if (scattered && stays) { /* behind its part the buffer is undefined, as far as others' parts reached */
        for (int i = mine * l->ints; i < total; i++)
            put_int(&c->expected, i, 0);
    }
}

/* --- a step --- */

static void begin_collective(struct collective *c, const struct set *s, uint64_t key)
{
    memset(c, 0, sizeof *c);
    c->kind = (enum kind)alike(KINDS);
    c->form = (enum form)alike(FORMS);
    c->request = MPI_REQUEST_NULL;
    c->graph = MPI_COMM_NULL;
    doing_ = names_[c->kind];
    if (c->kind == BARRIER)
        CALL(c, Barrier, Barrier_init, Ibarrier, s->comm);
    else if (c->kind <= ALLTOALL)
        equal_parts(c, s, key);
    else if (c->kind <= NEIGHBOURS)
        varying_parts(c, s, key);
    else
        reductions(c, s, key);
}

static void end_collective(struct collective *c)
{
    doing_ = names_[c->kind];
    if (c->form == PERSISTENT_FORM)
        OK(MPI_Request_free(&c->request));
    if (c->has_receive) {
        /* In place, the rest of a reduce_scatter's buffer is undefined. */
        if (c->kind >= REDUCE_SCATTER && c->send.count == 0)
            for (int i = 0; i < c->expected.count * c->expected.layout->ints; i++)
                if (*at(&c->expected, i) == 0)
                    put_int(&c->receive, i, 0);
        SAME(c->receive, c->expected);
    }
    if (c->has_send)
        free(c->send.start);
    for (int i = 0; i < 4; i++)
        free(c->numbers[i]);
    free(c->types);
    if (c->graph != MPI_COMM_NULL)
        OK(MPI_Comm_free(&c->graph));
}

/* Starts the persistent ones, each rank in its own order; about half of them, and the others when it is called again. */
static void start(struct collective *all, int count, int half)
{
    static unsigned later;
    int first = own(count), step = own(2) ? 1 : count - 1;
    later = half ? (unsigned)own(1 << COLLECTIVES) : ~later;
    for (int i = 0; i < count; i++) {
        int which = (first + i * step) % count;
        doing_ = names_[all[which].kind];
        if (all[which].form == PERSISTENT_FORM && !(later >> which & 1))
            OK(MPI_Start(&all[which].request));
    }
}

/* Begins some, does something else meanwhile, and completes them. */
static void collectives(void (*meanwhile)(void))
{
    static struct collective all[COLLECTIVES];
    int count = 1 + alike(COLLECTIVES), done[COLLECTIVES], n, left = 0;
    MPI_Request requests[COLLECTIVES];
    for (int i = 0; i < count; i++)
        begin_collective(&all[i], &sets_[alike(SETS)], mixed(seed_ + 2) + (uint64_t)step_ * 1000000 + (uint64_t)i * 10000);
    start(all, count, 1);
    if (meanwhile != NULL)
        meanwhile();
    start(all, count, 0);
    doing_ = "completing collectives";
    for (int i = 0; i < count; i++) {
        requests[i] = all[i].request;
        left += requests[i] != MPI_REQUEST_NULL;
    }
    if (own(2))
        OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    else
        for (; left > 0; left -= n)
            OK(MPI_Waitsome(count, requests, &n, done, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++) {
        all[i].request = requests[i];
        end_collective(&all[i]);
    }
}

#endif
