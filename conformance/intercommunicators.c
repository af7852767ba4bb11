/* Intercommunicators: made from two groups, messages between them, what is made from them (MPI-5.0, section 7.6). */
#include "check.h"

/* Every rank sends to one of the other group and receives from it. */
static void across(MPI_Comm inter)
{
    int rank, size, others, flag = 0;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag == 1);
    OK(MPI_Comm_rank(inter, &rank));
    OK(MPI_Comm_size(inter, &size));
    OK(MPI_Comm_remote_size(inter, &others));
    /* Each rank tells all others its rank; they receive from anyone. */
    MPI_Request requests[64];
    for (int i = 0; i < others; i++)
        OK(MPI_Isend(&rank, 1, MPI_INT, i, 5, inter, &requests[i]));
    int seen = 0;
    for (int i = 0; i < others; i++) {
        int got = -1;
        MPI_Status status;
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
        CHECK(got == status.MPI_SOURCE && got >= 0 && got < others);
        seen |= 1 << got;
    }
    CHECK(seen == (1 << others) - 1);
    OK(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MPI_Comm half, inter, made;
    MPI_Group world, remote, expected;
    int result, rank, size, side = rank_ % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank_, &half));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (size_ == 1) {
        /* Nobody to talk to: the leader named is oneself, which is a rank in common. */
        OK(MPI_Comm_free(&half));
        OK(MPI_Group_free(&world));
        return finish("intercommunicators");
    }
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 12, &inter));
    across(inter);
    int others[1][3] = {{1 - side, size_ - 1, 2}};
    OK(MPI_Group_range_incl(world, 1, others, &expected));
    OK(MPI_Comm_remote_group(inter, &remote));
    OK(MPI_Group_compare(remote, expected, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&remote));
    OK(MPI_Comm_compare(inter, half, &result));
    CHECK(result == MPI_UNEQUAL);
    OK(MPI_Comm_dup(inter, &made));
    across(made);
    OK(MPI_Comm_compare(inter, made, &result));
    CHECK(result == MPI_CONGRUENT);
    OK(MPI_Comm_free(&made));
    MPI_Request request;
    OK(MPI_Comm_idup(inter, &made, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    across(made);
    OK(MPI_Comm_free(&made));
    /* Both groups in one, the odd ranks last, then first. */
    for (int high = 0; high < 2; high++) {
        OK(MPI_Intercomm_merge(inter, side ^ high, &made));
        OK(MPI_Comm_rank(made, &rank));
        OK(MPI_Comm_size(made, &size));
        CHECK(size == size_);
        int evens = (size_ + 1) / 2;
        CHECK(rank == (side ? (high ? 0 : evens) : (high ? size_ / 2 : 0)) + rank_ / 2);
        int sum = 0;
        OK(MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, made));
        CHECK(sum == size_ * (size_ - 1) / 2);
        OK(MPI_Comm_free(&made));
    }
    /* The first of each group; the others get nothing. */
    OK(MPI_Comm_split(inter, rank_ / 2 == 0 ? 1 : MPI_UNDEFINED, 0, &made));
    CHECK((made == MPI_COMM_NULL) == (rank_ / 2 != 0));
    if (made != MPI_COMM_NULL) {
        across(made);
        OK(MPI_Comm_free(&made));
    }
    /* A color that the other group has not. */
    OK(MPI_Comm_split(inter, side, 0, &made));
    CHECK(made == MPI_COMM_NULL);
    MPI_Group local, first;
    OK(MPI_Comm_group(inter, &local));
    int zero = 0;
    OK(MPI_Group_incl(local, 1, &zero, &first));
    OK(MPI_Comm_create(inter, first, &made));
    CHECK((made == MPI_COMM_NULL) == (rank_ / 2 != 0));
    if (made != MPI_COMM_NULL) {
        across(made);
        OK(MPI_Comm_free(&made));
    }
    OK(MPI_Intercomm_create_from_groups(local, 0, expected, 0, "org.example.inter", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    across(made);
    OK(MPI_Comm_free(&made));
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&local));
    OK(MPI_Group_free(&expected));
    OK(MPI_Group_free(&world));
    /* Wrong leaders. */
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size_, 1, &made));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 1, &made));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return finish("intercommunicators");
}
