/* Making communicators: duplicates, parts, by groups; comparing them; their messages are their own (MPI-5.0, section 7.4). */
#include "check.h"

/* Ranks of the world that have this rank's node, by its name. */
static int on_this_node(void)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME];
    int length, count = 0;
    OK(MPI_Get_processor_name(own, &length));
    for (int rank = 0; rank < size_; rank++) {
        memcpy(other, own, sizeof other);
        OK(MPI_Bcast(other, sizeof other, MPI_CHAR, rank, MPI_COMM_WORLD));
        count += strcmp(own, other) == 0;
    }
    return count;
}

/* A communicator works: its ranks add up, and its messages stay within it. */
static void works(MPI_Comm comm, int expected)
{
    int rank, size, sum = -1, value, got = -1;
    MPI_Status status;
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    CHECK(size == expected);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    value = rank;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    CHECK(got == (rank + size - 1) % size && status.MPI_SOURCE == got);
}

static void duplicates(void)
{
    MPI_Comm made, again;
    MPI_Request request;
    int result;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    works(made, size_);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, made, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_compare(made, made, &result));
    CHECK(result == MPI_IDENT);
    /* The same tag in both: a wildcard receive of one does not take the other's message. */
    int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_, one = 1, two = 2, got = 0;
    MPI_Request sends[2];
    OK(MPI_Isend(&one, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Isend(&two, 1, MPI_INT, next, 9, made, &sends[1]));
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made, MPI_STATUS_IGNORE));
    CHECK(got == 2);
    OK(MPI_Recv(&got, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == 1);
    OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    OK(MPI_Comm_dup_with_info(made, MPI_INFO_NULL, &again));
    works(again, size_);
    OK(MPI_Comm_free(&again));
    CHECK(again == MPI_COMM_NULL);
    /* Two at once, completed in the other order. */
    MPI_Comm first, second;
    OK(MPI_Comm_idup(made, &first, &request));
    MPI_Request other;
    OK(MPI_Comm_idup_with_info(made, MPI_INFO_NULL, &second, &other));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    works(second, size_);
    works(first, size_);
    OK(MPI_Comm_free(&first));
    OK(MPI_Comm_free(&second));
    OK(MPI_Comm_disconnect(&made));
    CHECK(made == MPI_COMM_NULL);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &made));
    works(made, 1);
    OK(MPI_Comm_free(&made));
}

/* A request outlives its communicator's handle. */
static void freed_with_requests(void)
{
    MPI_Comm made;
    MPI_Request receive, send;
    int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_, got = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    OK(MPI_Irecv(&got, 1, MPI_INT, previous, 1, made, &receive));
    OK(MPI_Isend(&rank_, 1, MPI_INT, next, 1, made, &send));
    OK(MPI_Comm_free(&made));
    /* New ones meanwhile. */
    for (int i = 0; i < 20; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(got == previous);
}

static void parts(void)
{
    MPI_Comm part;
    int rank, result;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, -rank_, &part));
    int members = rank_ % 2 ? size_ / 2 : (size_ + 1) / 2;
    works(part, members);
    OK(MPI_Comm_rank(part, &rank));
    CHECK(rank == members - 1 - rank_ / 2);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &part));
    OK(MPI_Comm_compare(MPI_COMM_WORLD, part, &result));
    CHECK(result == (size_ == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    OK(MPI_Comm_compare(MPI_COMM_SELF, part, &result));
    CHECK(result == (size_ == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? MPI_UNDEFINED : 5, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (rank_ == 0));
    if (part != MPI_COMM_NULL) {
        works(part, size_ - 1);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    works(part, on_this_node());
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &part));
    CHECK(part == MPI_COMM_NULL);
}

static void by_groups(void)
{
    MPI_Group world, half;
    MPI_Comm made;
    int range[1][3] = {{0, size_ - 1, 2}}, result;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &half));
    OK(MPI_Comm_create(MPI_COMM_WORLD, half, &made));
    CHECK((made == MPI_COMM_NULL) == (rank_ % 2 == 1));
    if (made != MPI_COMM_NULL) {
        works(made, (size_ + 1) / 2);
        MPI_Group got;
        OK(MPI_Comm_group(made, &got));
        OK(MPI_Group_compare(got, half, &result));
        CHECK(result == MPI_IDENT);
        OK(MPI_Group_free(&got));
        OK(MPI_Comm_free(&made));
    }
    /* Only those within the group call this. */
    if (rank_ % 2 == 0) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, half, 17, &made));
        works(made, (size_ + 1) / 2);
        OK(MPI_Comm_free(&made));
        OK(MPI_Comm_create_from_group(half, "org.example.half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        works(made, (size_ + 1) / 2);
        OK(MPI_Comm_free(&made));
    }
    /* Disjoint groups at once. */
    MPI_Group own;
    int odd[1][3] = {{rank_ % 2, size_ - 1, 2}};
    OK(MPI_Group_range_incl(world, 1, odd, &own));
    OK(MPI_Comm_create(MPI_COMM_WORLD, own, &made));
    CHECK(made != MPI_COMM_NULL);
    works(made, rank_ % 2 ? size_ / 2 : (size_ + 1) / 2);
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &made));
    CHECK(made == MPI_COMM_NULL);
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&world));
}

/* Many alive at once, and many one after another. */
static void many(void)
{
    static MPI_Comm all[300];
    int count = sizeof all / sizeof all[0];
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_dup(i ? all[i - 1] : MPI_COMM_WORLD, &all[i]));
    works(all[0], size_);
    works(all[count - 1], size_);
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_free(&all[i]));
    for (int i = 0; i < 300; i++) {
        MPI_Comm made;
        OK(MPI_Comm_split(MPI_COMM_WORLD, (rank_ + i) % 2, 0, &made));
        OK(MPI_Comm_free(&made));
    }
}

static void errors(void)
{
    MPI_Comm made;
    int size, result;
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &size));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&null));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&world));
    FAILS(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &result));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, MPI_GROUP_NULL, &made));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    duplicates();
    freed_with_requests();
    parts();
    by_groups();
    many();
    errors();
    return finish("communicators");
}
