/* Collectives in all their forms: blocking, non-blocking, persistent, each also with large counts (MPI-5.0, chapter 6). */
#include "forms.h"

enum { ITEMS = 6 };

static int *in, *out, *counts, *places;
static MPI_Count *large_counts;
static MPI_Aint *large_places;

/* What `rank` has for `to` at an index. */
static int item(int rank, int to, int index)
{
    return 10000 * (rank + 1) + 100 * to + index;
}

static void fill(int length)
{
    for (int i = 0; i < length; i++)
        out[i] = -1;
}

static void barrier(void)
{
    MPI_Request request;
    OK(MPI_Barrier(comm));
    OK(MPI_Ibarrier(comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Barrier_init(comm, info, &request));
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
}

/* `count` items from `rank` for `to` lie at `place`. */
static int holds(const int *place, int count, int rank, int to)
{
    for (int i = 0; i < count; i++)
        if (place[i] != item(rank, to, i))
            return 0;
    return 1;
}

static void put(int *place, int count, int rank, int to)
{
    for (int i = 0; i < count; i++)
        place[i] = item(rank, to, i);
}

static void fresh_broadcast(int root)
{
    fill(ITEMS);
    if (rank_ == root)
        put(out, ITEMS, root, 0);
}

/* `ITEMS` from every rank, one after another. */
static int equal_parts(void)
{
    for (int rank = 0; rank < size_; rank++)
        if (!holds(out + ITEMS * rank, ITEMS, rank, 0))
            return 0;
    return 1;
}

/* Different numbers of items from every rank, at places with gaps; nothing in the gaps. */
static int varying_parts(void)
{
    for (int rank = 0; rank < size_; rank++)
        if (!holds(out + places[rank], counts[rank], rank, 0) || out[places[rank] + counts[rank]] != -1)
            return 0;
    return 1;
}

static void rooted(int root)
{
    int mine = counts[rank_];
    FORMS(Bcast, Ibcast, (out, ITEMS, MPI_INT, root), (out, ITEMS, MPI_INT, root), fresh_broadcast(root),
        holds(out, ITEMS, root, 0));
    put(in, ITEMS, rank_, 0);
    FORMS(Gather, Igather, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root),
        fill(ITEMS * size_), rank_ == root ? equal_parts() : out[0] == -1);
    FORMS(Gatherv, Igatherv, (in, mine, MPI_INT, out, counts, places, MPI_INT, root),
        (in, mine, MPI_INT, out, large_counts, large_places, MPI_INT, root), fill((ITEMS + 1) * size_),
        rank_ == root ? varying_parts() : out[0] == -1);
    for (int to = 0; to < size_; to++)
        put(in + ITEMS * to, ITEMS, rank_, to);
    FORMS(Scatter, Iscatter, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root),
        fill(ITEMS), holds(out, ITEMS, root, rank_));
    for (int to = 0; to < size_; to++)
        put(in + places[to], counts[to], rank_, to);
    FORMS(Scatterv, Iscatterv, (in, counts, places, MPI_INT, out, mine, MPI_INT, root),
        (in, large_counts, large_places, MPI_INT, out, mine, MPI_INT, root), fill(ITEMS + 1),
        holds(out, mine, root, rank_) && out[mine] == -1);
}

static int exchanged(void)
{
    for (int rank = 0; rank < size_; rank++)
        if (!holds(out + ITEMS * rank, ITEMS, rank, rank_))
            return 0;
    return 1;
}

static int exchanged_varying(void)
{
    for (int rank = 0; rank < size_; rank++)
        if (!holds(out + places[rank], counts[rank_], rank, rank_))
            return 0;
    return 1;
}

static void all_to_all(void)
{
    int mine = counts[rank_];
    put(in, ITEMS, rank_, 0);
    FORMS(Allgather, Iallgather, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT),
        fill(ITEMS * size_), equal_parts());
    FORMS(Allgatherv, Iallgatherv, (in, mine, MPI_INT, out, counts, places, MPI_INT),
        (in, mine, MPI_INT, out, large_counts, large_places, MPI_INT), fill((ITEMS + 1) * size_), varying_parts());
    for (int to = 0; to < size_; to++)
        put(in + ITEMS * to, ITEMS, rank_, to);
    FORMS(Alltoall, Ialltoall, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT),
        fill(ITEMS * size_), exchanged());
    /* Every rank sends counts[to] items to each, and receives counts[its own rank] from each. */
    for (int to = 0; to < size_; to++)
        put(in + places[to], counts[to], rank_, to);
    int *received = malloc(size_ * sizeof *received), *bytes = malloc(size_ * sizeof *bytes);
    MPI_Count *large_received = malloc(size_ * sizeof *large_received);
    MPI_Aint *large_bytes = malloc(size_ * sizeof *large_bytes);
    MPI_Datatype *types = malloc(size_ * sizeof *types);
    for (int i = 0; i < size_; i++) {
        received[i] = large_received[i] = mine;
        bytes[i] = large_bytes[i] = places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    FORMS(Alltoallv, Ialltoallv, (in, counts, places, MPI_INT, out, received, places, MPI_INT),
        (in, large_counts, large_places, MPI_INT, out, large_received, large_places, MPI_INT), fill((ITEMS + 1) * size_),
        exchanged_varying());
    FORMS(Alltoallw, Ialltoallw, (in, counts, bytes, types, out, received, bytes, types),
        (in, large_counts, large_bytes, types, out, large_received, large_bytes, types), fill((ITEMS + 1) * size_),
        exchanged_varying());
    free(received);
    free(bytes);
    free(large_received);
    free(large_bytes);
    free(types);
}

/* Maps x -> m x + c, one after the other: associative, and the order matters. */
typedef struct { unsigned m, c; } Map;

static Map after(Map first, Map second)
{
    Map both = {first.m * second.m, first.m * second.c + first.c};
    return both;
}

static void compose(void *left, void *right, int *length, MPI_Datatype *datatype)
{
    MPI_Aint lb, extent;
    /* A reduction may ask about its datatype. */
    MPI_Type_get_extent(*datatype, &lb, &extent);
    for (int i = 0; i < *length; i++) {
        Map *first = (Map *)((char *)left + i * extent), *second = (Map *)((char *)right + i * extent);
        *second = after(*first, *second);
    }
}

static void compose_large(void *left, void *right, MPI_Count *length, MPI_Datatype *datatype)
{
    for (MPI_Count i = 0; i < *length; i++)
        ((Map *)right)[i] = after(((Map *)left)[i], ((Map *)right)[i]);
    (void)datatype;
}

static Map map_of(int rank, int index)
{
    Map map = {2 * rank + 3, 7 * rank + index};
    return map;
}

/* Maps of ranks `first` to before `end` at an index. */
static Map chain(int first, int end, int index)
{
    Map map = {1, 0};
    for (int rank = first; rank < end; rank++)
        map = after(map, map_of(rank, index));
    return map;
}

static Map *maps_in, *maps_out;

static int are(const Map *maps, int count, int first, int end, int index)
{
    for (int i = 0; i < count; i++) {
        Map wanted = chain(first, end, index + i);
        if (maps[i].m != wanted.m || maps[i].c != wanted.c)
            return 0;
    }
    return 1;
}

static void fresh_maps(int count)
{
    for (int i = 0; i < count; i++) {
        maps_in[i] = map_of(rank_, i);
        maps_out[i].m = maps_out[i].c = 12345;
    }
}

static void reductions(MPI_Op op, MPI_Datatype type)
{
    int total = 0, before = 0;
    for (int rank = 0; rank < size_; rank++) {
        before += rank < rank_ ? counts[rank] : 0;
        total += counts[rank];
    }
    for (int root = 0; root < size_; root += 2)
        FORMS(Reduce, Ireduce, (maps_in, maps_out, ITEMS, type, op, root), (maps_in, maps_out, ITEMS, type, op, root),
            fresh_maps(ITEMS), rank_ == root ? are(maps_out, ITEMS, 0, size_, 0) : maps_out[0].m == 12345);
    FORMS(Allreduce, Iallreduce, (maps_in, maps_out, ITEMS, type, op), (maps_in, maps_out, ITEMS, type, op),
        fresh_maps(ITEMS), are(maps_out, ITEMS, 0, size_, 0));
    FORMS(Scan, Iscan, (maps_in, maps_out, ITEMS, type, op), (maps_in, maps_out, ITEMS, type, op), fresh_maps(ITEMS),
        are(maps_out, ITEMS, 0, rank_ + 1, 0));
    FORMS(Exscan, Iexscan, (maps_in, maps_out, ITEMS, type, op), (maps_in, maps_out, ITEMS, type, op), fresh_maps(ITEMS),
        rank_ == 0 || are(maps_out, ITEMS, 0, rank_, 0));
    FORMS(Reduce_scatter, Ireduce_scatter, (maps_in, maps_out, counts, type, op), (maps_in, maps_out, large_counts, type, op),
        fresh_maps(total), are(maps_out, counts[rank_], 0, size_, before));
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, (maps_in, maps_out, 2, type, op), (maps_in, maps_out, 2, type, op),
        fresh_maps(2 * size_), are(maps_out, 2, 0, size_, 2 * rank_));
}

static void operations(void)
{
    MPI_Datatype type;
    MPI_Op op, large;
    int commutes = -1;
    OK(MPI_Type_contiguous(2, MPI_UNSIGNED, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(compose, 0, &op));
    OK(MPI_Op_create_c(compose_large, 0, &large));
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == 0);
    OK(MPI_Op_commutative(MPI_SUM, &commutes));
    CHECK(commutes);
    reductions(op, type);
    reductions(large, type);
    Map left = {3, 5}, right = {7, 11};
    OK(MPI_Reduce_local(&left, &right, 1, type, op));
    CHECK(right.m == 21 && right.c == 38);
    OK(MPI_Reduce_local_c(&left, &right, 1, type, large));
    CHECK(right.m == 63 && right.c == 119);
    double a = 1.5, b = 2;
    OK(MPI_Reduce_local(&a, &b, 1, MPI_DOUBLE, MPI_PROD));
    CHECK(b == 3);
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&large));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Type_free(&type));
}

/* Every predefined operation on a type of each group. */
static void predefined(void)
{
    long double pi = 3.25L * (rank_ + 1), sum = 0;
    OK(MPI_Allreduce(&pi, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, comm));
    CHECK(sum == 3.25L * size_ * (size_ + 1) / 2);
    unsigned char bits = 1 << (rank_ % 8), all = 0;
    OK(MPI_Allreduce(&bits, &all, 1, MPI_BYTE, MPI_BOR, comm));
    CHECK(all == (size_ >= 8 ? 255 : (1 << size_) - 1));
    int truth = rank_ == 0, any = -1, every = -1, odd = -1;
    OK(MPI_Allreduce(&truth, &any, 1, MPI_INT, MPI_LOR, comm));
    OK(MPI_Allreduce(&truth, &every, 1, MPI_INT, MPI_LAND, comm));
    OK(MPI_Allreduce(&truth, &odd, 1, MPI_INT, MPI_LXOR, comm));
    CHECK(any == 1 && every == (size_ == 1) && odd == 1);
    unsigned mask = ~(1u << rank_ % 32), both = 0, either = 0;
    OK(MPI_Allreduce(&mask, &both, 1, MPI_UNSIGNED, MPI_BAND, comm));
    CHECK(size_ > 31 || both == ~((1u << size_) - 1));
    OK(MPI_Allreduce(&mask, &either, 1, MPI_UNSIGNED, MPI_BXOR, comm));
    struct { double value; int rank; } at = {rank_ == size_ - 1 ? -1 : rank_ / 2, rank_}, least, most;
    OK(MPI_Allreduce(&at, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
    CHECK(least.value == -1 && least.rank == size_ - 1);
    at.value = 1;
    OK(MPI_Allreduce(&at, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
    CHECK(most.value == 1 && most.rank == 0);
    float complex_[2] = {0, 1}, product[2];
    OK(MPI_Allreduce(complex_, product, 1, MPI_C_FLOAT_COMPLEX, MPI_PROD, comm));
    static const float real[] = {1, 0, -1, 0}, imaginary[] = {0, 1, 0, -1};
    CHECK(product[0] == real[size_ % 4] && product[1] == imaginary[size_ % 4]);
    short low = -rank_, lowest = 9, highest = 9;
    OK(MPI_Allreduce(&low, &lowest, 1, MPI_SHORT, MPI_MIN, comm));
    OK(MPI_Allreduce(&low, &highest, 1, MPI_SHORT, MPI_MAX, comm));
    CHECK(lowest == 1 - size_ && highest == 0);
}

static void in_place(void)
{
    fill(ITEMS * size_);
    put(out + ITEMS * rank_, ITEMS, rank_, 0);
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, ITEMS, MPI_INT, comm));
    CHECK(equal_parts());
    for (int to = 0; to < size_; to++)
        put(out + ITEMS * to, ITEMS, rank_, to);
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, ITEMS, MPI_INT, comm));
    CHECK(exchanged());
    int value = rank_ + 1;
    OK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK(value == size_ * (size_ + 1) / 2);
    value = rank_ + 1;
    OK(MPI_Scan(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK(value == (rank_ + 1) * (rank_ + 2) / 2);
    value = rank_ + 1;
    OK(rank_ == 0 ? MPI_Reduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, 0, comm) :
        MPI_Reduce(&value, NULL, 1, MPI_INT, MPI_SUM, 0, comm));
    CHECK(value == (rank_ == 0 ? size_ * (size_ + 1) / 2 : rank_ + 1));
}

/* Alltoall of a few bytes for each, which ranks describe by different datatypes: blocks of bytes, one item of several, bytes with gaps. Between
 * the calls an allreduce, and sizes change, so that what carries small content is used by both in turn. */
static void different_types(void)
{
    enum { MOST = 16, CALLS = 60 };
    static const int BYTES[] = {8, 1, 8, 2, 4, 7, 16, 8, 9};
    unsigned char *from = malloc(MOST * size_), *to = malloc(2 * MOST * size_);
    for (int call = 0; call < CALLS; call++) {
        const int bytes = BYTES[call % (int)(sizeof BYTES / sizeof *BYTES)], gaps = (rank_ + call) % 2 + 1;
        MPI_Datatype whole, spread, wide;
        OK(MPI_Type_contiguous(bytes, MPI_BYTE, &whole));
        OK(MPI_Type_vector(bytes, 1, gaps, MPI_BYTE, &spread));
        OK(MPI_Type_create_resized(spread, 0, gaps * bytes, &wide));
        OK(MPI_Type_commit(&whole));
        OK(MPI_Type_commit(&wide));
        memset(to, 0xee, 2 * MOST * size_);
        for (int rank = 0; rank < size_; rank++)
            for (int i = 0; i < bytes; i++)
                from[rank * bytes + i] = (unsigned char)item(rank_, rank, i + call);
        if ((rank_ + call / 2) % 2)
            OK(MPI_Alltoall(from, bytes, MPI_BYTE, to, 1, wide, comm));
        else if (gaps > 1)
            OK(MPI_Alltoall(from, 1, whole, to, 1, wide, comm));
        else
            OK(MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm));
        int right = 1;
        for (int rank = 0; rank < size_; rank++)
            for (int i = 0; i < bytes; i++) {
                const unsigned char *place = to + (rank * bytes + i) * gaps;
                right &= *place == (unsigned char)item(rank, rank_, i + call) && (gaps == 1 || place[1] == 0xee);
            }
        CHECK(right);
        OK(MPI_Alltoall(from, 0, MPI_BYTE, to, 0, MPI_BYTE, comm));
        if (call % 3 == 0) {
            double mine = rank_ + call, sum = -1;
            OK(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
            CHECK(sum == size_ * (size_ - 1) / 2 + (double)size_ * call);
        }
        OK(MPI_Type_free(&whole));
        OK(MPI_Type_free(&spread));
        OK(MPI_Type_free(&wide));
    }
    free(from);
    free(to);
}

/* Several at once, completed in another order. */
static void at_once(void)
{
    MPI_Request requests[12];
    int values[12], sums[12];
    for (int i = 0; i < 12; i++) {
        values[i] = (i + 1) * (rank_ + 1);
        sums[i] = -1;
        OK(MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]));
    }
    for (int i = 11; i >= 0; i--) {
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK(sums[i] == (i + 1) * size_ * (size_ + 1) / 2);
    }
}

/* Every other rank in one group, the rest in the other, with an intercommunicator between them. */
static void between_groups(void)
{
    MPI_Comm group, inter;
    MPI_Request request;
    int rank, local, remote;
    if (size_ < 2)
        return;
    OK(MPI_Comm_split(comm, rank_ % 2, rank_, &group));
    OK(MPI_Intercomm_create(group, 0, comm, 1 - rank_ % 2, 5, &inter));
    OK(MPI_Comm_rank(inter, &rank));
    OK(MPI_Comm_size(inter, &local));
    OK(MPI_Comm_remote_size(inter, &remote));
    int parity = rank_ % 2, value = rank_ == 1 ? 77 : -1;
    /* Rank 1 of all, which is rank 0 of the odd ones, tells the even ones. */
    OK(MPI_Bcast(&value, 1, MPI_INT, parity ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter));
    CHECK(value == (parity == 0 || rank_ == 1 ? 77 : -1));
    OK(MPI_Barrier(inter));
    for (int form = 0; form < 2; form++) {
        int got = -1, sum = 0;
        if (form == 0)
            OK(MPI_Allreduce(&rank_, &got, 1, MPI_INT, MPI_SUM, inter));
        else {
            OK(MPI_Iallreduce(&rank_, &got, 1, MPI_INT, MPI_SUM, inter, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int other = 1 - parity; other < size_; other += 2)
            sum += other;
        CHECK(got == sum);
    }
    fill(size_);
    OK(MPI_Allgather(&rank_, 1, MPI_INT, out, 1, MPI_INT, inter));
    for (int i = 0; i < remote; i++)
        CHECK(out[i] == 2 * i + 1 - parity);
    for (int i = 0; i < remote; i++)
        in[i] = 100 * rank_ + i;
    OK(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, inter));
    for (int i = 0; i < remote; i++)
        CHECK(out[i] == 100 * (2 * i + 1 - parity) + rank);
    /* The even ones gather at rank 0 of the odd ones, and get it back. */
    int root = parity ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    fill(size_);
    OK(MPI_Gather(&rank_, 1, MPI_INT, out, 1, MPI_INT, root, inter));
    if (root == MPI_ROOT)
        for (int i = 0; i < remote; i++)
            CHECK(out[i] == 2 * i);
    value = -1;
    OK(MPI_Scatter(out, 1, MPI_INT, &value, 1, MPI_INT, root, inter));
    CHECK(value == (parity ? -1 : rank_));
    value = -1;
    OK(MPI_Reduce(&rank_, &value, 1, MPI_INT, MPI_MAX, root, inter));
    CHECK(value == (root == MPI_ROOT ? (size_ - 1) / 2 * 2 : -1));
    int many = local * remote;
    for (int i = 0; i < many; i++)
        in[i] = rank_ + i;
    OK(MPI_Reduce_scatter_block(in, out, remote, MPI_INT, MPI_MIN, inter));
    for (int i = 0; i < remote; i++)
        CHECK(out[i] == 1 - parity + rank * remote + i);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&group));
}

static void mistakes(void)
{
    int a = 0, b = 0;
    MPI_Request request;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&a, 1, MPI_INT, size_, comm));
    FAILS(MPI_ERR_ROOT, MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, -7, comm));
    FAILS(MPI_ERR_COUNT, MPI_Bcast(&a, -1, MPI_INT, 0, comm));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, comm));
    FAILS(MPI_ERR_OP, MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm));
    FAILS(MPI_ERR_OP, MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_MINLOC, comm, &request));
    FAILS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Info_create(&info));
    int room = (ITEMS + 1) * size_ + size_ * size_ + ITEMS;
    in = malloc(room * sizeof *in);
    out = malloc(room * sizeof *out);
    maps_in = malloc(room * sizeof *maps_in);
    maps_out = malloc(room * sizeof *maps_out);
    counts = malloc(size_ * sizeof *counts);
    places = malloc(size_ * sizeof *places);
    large_counts = malloc(size_ * sizeof *large_counts);
    large_places = malloc(size_ * sizeof *large_places);
    for (int rank = 0; rank < size_; rank++) {
        large_counts[rank] = counts[rank] = (3 * rank + 1) % ITEMS;
        large_places[rank] = places[rank] = (size_ - 1 - rank) * (ITEMS + 1);
    }
    barrier();
    for (int root = 0; root < size_; root += size_ > 3 ? 3 : 1)
        rooted(root);
    all_to_all();
    operations();
    predefined();
    in_place();
    different_types();
    at_once();
    between_groups();
    mistakes();
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
    return finish("collectives");
}
