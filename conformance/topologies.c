/* Grids, graphs and distributed graphs (MPI-5.0, chapter 8). */
#include "check.h"

static void dimensions(void)
{
    int dims[3] = {0, 0, 0};
    OK(MPI_Dims_create(6, 2, dims));
    CHECK(dims[0] == 3 && dims[1] == 2);
    dims[0] = dims[1] = 0;
    OK(MPI_Dims_create(7, 2, dims));
    CHECK(dims[0] == 7 && dims[1] == 1);
    dims[0] = dims[2] = 0, dims[1] = 3;
    OK(MPI_Dims_create(6, 3, dims));
    CHECK(dims[0] == 2 && dims[1] == 3 && dims[2] == 1);
    dims[0] = dims[2] = 0, dims[1] = 3;
    CHECK(MPI_Dims_create(7, 3, dims) != MPI_SUCCESS);
}

static void grid(void)
{
    MPI_Comm comm, part, twin;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], got[2], rings[2], rank, size, kind, count, source, target;
    OK(MPI_Dims_create(size_, 2, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm));
    OK(MPI_Topo_test(comm, &kind));
    CHECK(kind == MPI_CART);
    OK(MPI_Cartdim_get(comm, &count));
    CHECK(count == 2);
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Cart_coords(comm, rank, 2, coords));
    CHECK(coords[0] * dims[1] + coords[1] == rank);
    OK(MPI_Cart_rank(comm, coords, &count));
    CHECK(count == rank);
    OK(MPI_Cart_get(comm, 2, got, rings, coords));
    CHECK(got[0] == dims[0] && got[1] == dims[1] && rings[0] == 1 && rings[1] == 0);
    /* Around in one direction, to the edge in the other. */
    OK(MPI_Cart_shift(comm, 0, 1, &source, &target));
    int up[2] = {coords[0] + 1, coords[1]}, expected;
    OK(MPI_Cart_rank(comm, up, &expected));
    CHECK(target == expected);
    int value = rank, from = -1;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, target, 0, &from, 1, MPI_INT, source, 0, comm, MPI_STATUS_IGNORE));
    CHECK(from == source);
    OK(MPI_Cart_shift(comm, 1, 1, &source, &target));
    CHECK((source == MPI_PROC_NULL) == (coords[1] == 0));
    CHECK((target == MPI_PROC_NULL) == (coords[1] == dims[1] - 1));
    /* Rows. */
    int remain[2] = {0, 1};
    OK(MPI_Cart_sub(comm, remain, &part));
    OK(MPI_Comm_size(part, &size));
    OK(MPI_Comm_rank(part, &rank));
    CHECK(size == dims[1] && rank == coords[1]);
    OK(MPI_Cartdim_get(part, &count));
    CHECK(count == 1);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_dup(comm, &twin));
    OK(MPI_Topo_test(twin, &kind));
    CHECK(kind == MPI_CART);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank));
    CHECK(rank >= 0 && rank < size_);
    int beyond[2] = {0, dims[1]};
    CHECK(MPI_Cart_rank(comm, beyond, &rank) != MPI_SUCCESS);
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(comm, size_, 2, coords));
    CHECK(MPI_Cart_shift(comm, 2, 1, &source, &target) != MPI_SUCCESS);
    OK(MPI_Comm_free(&comm));
    /* Smaller than the communicator: some are left over. */
    int one[1] = {1}, ring[1] = {1};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, one, ring, 0, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank_ != 0));
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Cart_shift(comm, 0, 1, &source, &target));
        CHECK(source == 0 && target == 0);
        OK(MPI_Comm_free(&comm));
    }
    one[0] = size_ + 1;
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, one, ring, 0, &comm) != MPI_SUCCESS);
    OK(MPI_Topo_test(MPI_COMM_WORLD, &kind));
    CHECK(kind == MPI_UNDEFINED);
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(MPI_COMM_WORLD, &count));
}

/* A ring as a graph: everyone's neighbours are the one before and the one behind. */
static void graph(void)
{
    MPI_Comm comm;
    int index[64], edges[128], kind, nodes, count, got[128];
    for (int i = 0; i < size_; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size_ - 1) % size_;
        edges[2 * i + 1] = (i + 1) % size_;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size_, index, edges, 0, &comm));
    OK(MPI_Topo_test(comm, &kind));
    CHECK(kind == MPI_GRAPH);
    OK(MPI_Graphdims_get(comm, &nodes, &count));
    CHECK(nodes == size_ && count == 2 * size_);
    OK(MPI_Graph_get(comm, size_, 2 * size_, got, got + 64));
    CHECK(memcmp(got, index, size_ * sizeof(int)) == 0);
    OK(MPI_Graph_neighbors_count(comm, size_ - 1, &count));
    CHECK(count == 2);
    OK(MPI_Graph_neighbors(comm, size_ - 1, 2, got));
    CHECK(got[0] == (2 * size_ - 2) % size_ && got[1] == 0);
    OK(MPI_Graph_map(MPI_COMM_WORLD, size_, index, edges, &nodes));
    CHECK(nodes >= 0 && nodes < size_);
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors_count(comm, size_, &count));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, &count));
    OK(MPI_Comm_free(&comm));
}

static void distributed(void)
{
    MPI_Comm comm;
    int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_, kind, in, out, weighted;
    /* Addresses that are no arrays, and that the compiler shall not take for some. */
    int *volatile none = NULL, *volatile unweighted = MPI_UNWEIGHTED, *volatile empty = MPI_WEIGHTS_EMPTY;
    int from[2], to[2], from_weight[2], to_weight[2], weight_in = previous, weight_out = rank_;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, &weight_in, 1, &next, &weight_out, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Topo_test(comm, &kind));
    CHECK(kind == MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && weighted);
    OK(MPI_Dist_graph_neighbors(comm, 1, from, from_weight, 1, to, to_weight));
    CHECK(from[0] == previous && from_weight[0] == previous && to[0] == next && to_weight[0] == rank_);
    OK(MPI_Comm_free(&comm));
    /* Each rank names the edge that leads from the one before it to the one behind: nobody names its own. */
    int one = 1, weight = 10 + previous;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &previous, &one, &next, &weight, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && weighted);
    OK(MPI_Dist_graph_neighbors(comm, 1, from, from_weight, 1, to, to_weight));
    CHECK(to[0] == (rank_ + 2) % size_ && to_weight[0] == 10 + rank_);
    CHECK(from[0] == (rank_ + 2 * size_ - 2) % size_ && from_weight[0] == 10 + from[0]);
    OK(MPI_Comm_free(&comm));
#ifdef MPICH_NUMVERSION
    /* It reads them. */
    CHECK(empty != none);
    CHECK(empty != unweighted);
#else
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, empty, 1, &next, empty, MPI_INFO_NULL, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &previous, &one, &next, empty, MPI_INFO_NULL, 0, &comm));
#endif
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, empty, 0, none, empty, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK(in == 0 && out == 0 && weighted);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, none, none, none, unweighted, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK(in == 0 && out == 0 && !weighted);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    dimensions();
    grid();
    graph();
    distributed();
    return finish("topologies");
}
