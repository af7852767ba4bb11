/* Groups and their algebra (MPI-5.0, section 7.3). */
#include "check.h"

static int size_of(MPI_Group group)
{
    int size = -1;
    OK(MPI_Group_size(group, &size));
    return size;
}

/* Ranks in the world of a group's members, in order. */
static void members(MPI_Group group, MPI_Group world, int *ranks)
{
    int own[64];
    for (int i = 0; i < size_of(group); i++)
        own[i] = i;
    OK(MPI_Group_translate_ranks(group, size_of(group), own, world, ranks));
}

static void choice(MPI_Group world)
{
    MPI_Group half, rest, again;
    int ranks[64], got[64], count = 0, rank, result;
    for (int i = size_ - 1; i >= 0; i -= 2)
        ranks[count++] = i;
    OK(MPI_Group_incl(world, count, ranks, &half));
    CHECK(size_of(half) == count);
    members(half, world, got);
    CHECK(memcmp(ranks, got, count * sizeof(int)) == 0);
    OK(MPI_Group_rank(half, &rank));
    int within = (size_ - 1 - rank_) % 2 == 0;
    CHECK(within ? ranks[rank] == rank_ : rank == MPI_UNDEFINED);
    OK(MPI_Group_excl(world, count, ranks, &rest));
    CHECK(size_of(rest) == size_ - count);
    OK(MPI_Group_rank(rest, &rank));
    CHECK((rank == MPI_UNDEFINED) == within);
    int range[1][3] = {{size_ - 1, 0, -2}};
    OK(MPI_Group_range_incl(world, 1, range, &again));
    OK(MPI_Group_compare(half, again, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&again));
    OK(MPI_Group_range_excl(world, 1, range, &again));
    OK(MPI_Group_compare(rest, again, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&again));
    OK(MPI_Group_free(&rest));
    OK(MPI_Group_free(&half));
    CHECK(half == MPI_GROUP_NULL);
    OK(MPI_Group_incl(world, 0, ranks, &half));
    CHECK(half == MPI_GROUP_EMPTY);
}

static void algebra(MPI_Group world)
{
    MPI_Group reversed, self, others, both, made;
    int range[1][3] = {{size_ - 1, 0, -1}}, result, got[64];
    OK(MPI_Group_range_incl(world, 1, range, &reversed));
    OK(MPI_Group_compare(world, reversed, &result));
    CHECK(result == (size_ == 1 ? MPI_IDENT : MPI_SIMILAR));
    OK(MPI_Group_incl(world, 1, &rank_, &self));
    OK(MPI_Group_difference(reversed, self, &others));
    CHECK(size_of(others) == size_ - 1);
    OK(MPI_Group_intersection(reversed, self, &both));
    OK(MPI_Group_compare(both, self, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_union(self, others, &made));
    members(made, world, got);
    CHECK(got[0] == rank_ && size_of(made) == size_);
    OK(MPI_Group_compare(self, others, &result));
    CHECK(result == MPI_UNEQUAL);
    int none = MPI_PROC_NULL, back = 0;
    OK(MPI_Group_translate_ranks(world, 1, &none, self, &back));
    CHECK(back == MPI_PROC_NULL);
    OK(MPI_Group_translate_ranks(world, 1, &rank_, others, &back));
    CHECK(back == MPI_UNDEFINED);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_free(&both));
    if (others != MPI_GROUP_EMPTY)
        OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&reversed));
}

static void errors(MPI_Group world)
{
    MPI_Group made;
    int size, rank = size_;
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &size));
    FAILS(MPI_ERR_GROUP, MPI_Group_union(MPI_GROUP_NULL, world, &made));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, &rank, &made));
    FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, &rank, world, &size));
    int range[1][3] = {{0, 0, 0}};
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, range, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_group(MPI_COMM_NULL, &made));
}

int main(int argc, char **argv)
{
    MPI_Group world;
    int size, rank;
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_rank(world, &rank));
    CHECK(size == size_ && rank == rank_);
    CHECK(size_of(MPI_GROUP_EMPTY) == 0);
    choice(world);
    algebra(world);
    errors(world);
    OK(MPI_Group_free(&world));
    return finish("groups");
}
