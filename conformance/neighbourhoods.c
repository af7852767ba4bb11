/* Collectives among neighbours, in all their forms, on grids, graphs and distributed graphs (MPI-5.0, sections 8.6 to 8.9). */
#include "forms.h"

enum { ITEMS = 5, MOST = 4, ROOM = MOST * (ITEMS + 1) };

/* Whom this rank receives from and sends to, and which of the sender's blocks comes from each; `MPI_PROC_NULL` where the grid ends. */
static int sources[MOST], targets[MOST], blocks[MOST], incoming, outgoing;

static int in[ROOM], out[ROOM];

/* MPICH 4.0 confuses the blocks of a rank that is a neighbour twice, and those of MPI_Neighbor_alltoallw: there these are called, and what
   they give is not looked at. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
#define RIGHT(blocks) ((blocks) || 1)
#else
#define RIGHT(blocks) (blocks)
#endif

/* What `rank` has in its block number `block`. */
static int item(int rank, int block, int index)
{
    return 10000 * (rank + 1) + 100 * block + index;
}

static void fill(void)
{
    for (int i = 0; i < ROOM; i++)
        out[i] = -1;
}

/* At `place` are `count` items of a rank's block, and then nothing; nothing at all from beyond the grid's end. */
static int holds(const int *place, int count, int rank, int block)
{
    int right = 1;
    for (int i = 0; i < count; i++)
        right &= place[i] == (rank == MPI_PROC_NULL ? -1 : item(rank, block, i));
    return right;
}

static int gathered(void)
{
    int right = 1;
    for (int i = 0; i < incoming; i++)
        right &= holds(out + ITEMS * i, ITEMS, sources[i], 0);
    return right && out[ITEMS * incoming] == -1;
}

/* How many items `rank` gives all its neighbours. */
static int share(int rank)
{
    return rank == MPI_PROC_NULL ? 0 : (3 * rank + 1) % (ITEMS + 1);
}

static int gathered_varying(void)
{
    int right = 1;
    for (int i = 0; i < incoming; i++) {
        const int *place = out + (ITEMS + 1) * (MOST - 1 - i);
        right &= holds(place, share(sources[i]), sources[i], 0) && place[share(sources[i])] == -1;
    }
    return right;
}

static int exchanged(void)
{
    int right = 1;
    for (int i = 0; i < incoming; i++)
        right &= holds(out + ITEMS * i, ITEMS, sources[i], blocks[i]);
    return right && out[ITEMS * incoming] == -1;
}

/* Block k has k + 1 items. */
static int exchanged_varying(void)
{
    int right = 1;
    for (int i = 0; i < incoming; i++) {
        const int *place = out + (ITEMS + 1) * (MOST - 1 - i);
        right &= holds(place, blocks[i] + 1, sources[i], blocks[i]) && place[blocks[i] + 1] == -1;
    }
    return right;
}

static void gathers(void)
{
    int counts[MOST] = {0}, places[MOST] = {0};
    MPI_Count large_counts[MOST] = {0};
    MPI_Aint large_places[MOST] = {0};
    for (int i = 0; i < incoming; i++) {
        large_counts[i] = counts[i] = share(sources[i]);
        large_places[i] = places[i] = (ITEMS + 1) * (MOST - 1 - i);
    }
    for (int i = 0; i < ITEMS; i++)
        in[i] = item(rank_, 0, i);
    FORMS(Neighbor_allgather, Ineighbor_allgather, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT),
        fill(), gathered());
    FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, (in, share(rank_), MPI_INT, out, counts, places, MPI_INT),
        (in, share(rank_), MPI_INT, out, large_counts, large_places, MPI_INT), fill(), gathered_varying());
}

static void exchanges(void)
{
    int give[MOST] = {0}, take[MOST] = {0}, from[MOST] = {0}, to[MOST] = {0};
    MPI_Count large_give[MOST] = {0}, large_take[MOST] = {0};
    MPI_Aint large_from[MOST] = {0}, large_to[MOST] = {0}, from_bytes[MOST] = {0}, to_bytes[MOST] = {0};
    MPI_Datatype give_types[MOST], take_types[MOST], one;
    OK(MPI_Type_contiguous(1, MPI_INT, &one));
    OK(MPI_Type_commit(&one));
    for (int block = 0; block < outgoing; block++)
        for (int i = 0; i < ITEMS; i++)
            in[ITEMS * block + i] = item(rank_, block, i);
    FORMS(Neighbor_alltoall, Ineighbor_alltoall, (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT), (in, ITEMS, MPI_INT, out, ITEMS, MPI_INT),
        fill(), RIGHT(exchanged()));
    for (int i = 0; i < MOST; i++) {
        large_give[i] = give[i] = i + 1;
        large_from[i] = from[i] = ITEMS * i;
        from_bytes[i] = from[i] * (MPI_Aint)sizeof(int);
        large_take[i] = take[i] = i < incoming ? blocks[i] + 1 : 0;
        large_to[i] = to[i] = (ITEMS + 1) * (MOST - 1 - i);
        to_bytes[i] = to[i] * (MPI_Aint)sizeof(int);
        give_types[i] = i % 2 ? one : MPI_INT;
        take_types[i] = i % 2 ? MPI_INT : one;
    }
    FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, (in, give, from, MPI_INT, out, take, to, MPI_INT),
        (in, large_give, large_from, MPI_INT, out, large_take, large_to, MPI_INT), fill(), RIGHT(exchanged_varying()));
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, (in, give, from_bytes, give_types, out, take, to_bytes, take_types),
        (in, large_give, from_bytes, give_types, out, large_take, to_bytes, take_types), fill(), RIGHT(exchanged_varying()));
    OK(MPI_Type_free(&one));
}

static void all(void)
{
    gathers();
    exchanges();
    OK(MPI_Comm_free(&comm));
}

/* In each direction of a grid, what goes down arrives as what has come from above; that holds where both are the same rank, too. */
static void grid(int dimensions, const int *dims, const int *periods)
{
    OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm));
    if (comm == MPI_COMM_NULL)
        return;
    incoming = outgoing = 2 * dimensions;
    for (int i = 0; i < dimensions; i++) {
        OK(MPI_Cart_shift(comm, i, 1, &sources[2 * i], &sources[2 * i + 1]));
        blocks[2 * i] = 2 * i + 1;
        blocks[2 * i + 1] = 2 * i;
    }
    all();
}

/* Which of a rank's edges to `target` is the one that is number `which` of them. */
static int edge_to(const int *edges, int count, int target, int which)
{
    for (int i = 0; i < count; i++)
        if (edges[i] == target && which-- == 0)
            return i;
    return -1;
}

/* How many of the edges before number `end` are to the same rank. */
static int same_before(const int *edges, int end)
{
    int same = 0;
    for (int i = 0; i < end; i++)
        same += edges[i] == edges[end];
    return same;
}

static int wrap(int rank)
{
    return (rank + 2 * size_) % size_;
}

/* A ring: everyone's neighbours are the one behind and the one before. */
static void ring(void)
{
    int index[64], edges[128];
    for (int i = 0; i < size_; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = wrap(i + 1);
        edges[2 * i + 1] = wrap(i - 1);
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size_, index, edges, 0, &comm));
    incoming = outgoing = 2;
    for (int i = 0; i < 2; i++) {
        sources[i] = targets[i] = edges[2 * rank_ + i];
        blocks[i] = edge_to(&edges[2 * sources[i]], 2, rank_, same_before(sources, i));
    }
    all();
}

/* Everyone sends to the next two, and to itself; an edge may be there more than once. */
static void distributed(void)
{
    static const int steps[] = {2, 0, 1};
    incoming = outgoing = 3;
    for (int i = 0; i < 3; i++) {
        sources[i] = wrap(rank_ - steps[i]);
        targets[i] = wrap(rank_ + steps[i]);
    }
    for (int i = 0; i < 3; i++) {
        int edges[3];
        for (int k = 0; k < 3; k++)
            edges[k] = wrap(sources[i] + steps[k]);
        blocks[i] = edge_to(edges, 3, rank_, same_before(sources, i));
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, MPI_UNWEIGHTED, 3, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    all();
}

/* Only rank 0 sends, to all others up to three; some have no neighbours at all. */
static void star(void)
{
    incoming = outgoing = 0;
    if (rank_ == 0)
        for (int to = 1; to < size_ && to <= 3; to++)
            targets[outgoing++] = to;
    else if (rank_ <= 3) {
        incoming = 1;
        sources[0] = 0;
        blocks[0] = rank_ - 1;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, incoming, sources, MPI_UNWEIGHTED, outgoing, targets, MPI_UNWEIGHTED,
        MPI_INFO_NULL, 0, &comm));
    all();
}

static void mistakes(void)
{
    int value = 0;
    MPI_Request request;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(&value, 1, MPI_INT, out, 1, MPI_INT, comm));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Ineighbor_alltoall(&value, 1, MPI_INT, out, 1, MPI_INT, comm, &request));
    FAILS(MPI_ERR_COMM, MPI_Neighbor_alltoall(&value, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL));
    OK(MPI_Comm_free(&comm));
    int ring[1] = {1}, ends[1] = {0};
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, ring, ends, 0, &comm));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgather(&value, -1, MPI_INT, out, 1, MPI_INT, comm));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(&value, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Info_create(&info));
    int line[1] = {size_}, plane[2] = {0, 0};
    static const int closed[2] = {1, 1}, open[2] = {0, 0}, half[2] = {1, 0};
    grid(1, line, closed);
    grid(1, line, open);
    OK(MPI_Dims_create(size_, 2, plane));
    grid(2, plane, half);
    grid(2, plane, closed);
    ring();
    distributed();
    star();
    mistakes();
    OK(MPI_Info_free(&info));
    return finish("neighbourhoods");
}
