/* Windows beside their data: attributes, error handlers, functions with large counts, every predefined operation of accumulate
   (MPI-5.0, sections 7.7.3, 9.3 and 12.2 to 12.4). Each rank accesses the next one's memory. */
#include "check.h"

enum { N = 8 };

static int next, previous;

static int copies, deletes, last_value;

static int copy(MPI_Win win, int key, void *extra, void *in, void *out, int *flag)
{
    (void)win, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    copies++;
    return MPI_SUCCESS;
}

static int delete(MPI_Win win, int key, void *value, void *extra)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    (void)key;
    deletes++;
    last_value = (int)(long)value;
    /* The window is still there. */
    CHECK(extra == (void *)&deletes && MPI_Win_get_name(win, name, &length) == MPI_SUCCESS);
    return MPI_SUCCESS;
}

static int refuse(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(void)
{
    int memory[N], key, other, refusing, flag = -1, keep = 1, *found;
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_create_keyval(copy, delete, &key, &deletes));
    OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &other, NULL));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, refuse, &refusing, NULL));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Win_set_attr(win, key, (void *)10));
    OK(MPI_Win_set_attr(win, other, (void *)20));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(flag && found == (int *)10);
    /* Another value: the old one is deleted. */
    OK(MPI_Win_set_attr(win, key, (void *)11));
    CHECK(deletes == 1 && last_value == 10);
    OK(MPI_Win_delete_attr(win, key));
    CHECK(deletes == 2 && last_value == 11);
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(!flag);
    OK(MPI_Win_get_attr(win, other, &found, &flag));
    CHECK(flag && found == (int *)20);
    OK(MPI_Win_set_attr(win, refusing, &keep));
    CHECK(MPI_Win_delete_attr(win, refusing) != MPI_SUCCESS);
    keep = 0;
    OK(MPI_Win_delete_attr(win, refusing));
    /* A key that is freed still serves what is set under it. */
    OK(MPI_Win_set_attr(win, key, (void *)12));
    OK(MPI_Win_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    /* Predefined ones cannot be changed. */
    CHECK(MPI_Win_set_attr(win, MPI_WIN_BASE, NULL) != MPI_SUCCESS);
    CHECK(MPI_Win_delete_attr(win, MPI_WIN_SIZE) != MPI_SUCCESS);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &found, &flag));
    OK(MPI_Win_free(&win));
    CHECK(deletes == 3 && last_value == 12 && copies == 0);
    OK(MPI_Win_free_keyval(&other));
    OK(MPI_Win_free_keyval(&refusing));
}

static int raised;
static MPI_Win last_window;

static void note(MPI_Win *win, int *code, ...)
{
    raised = class_of_(*code);
    last_window = *win;
}

static void handlers(void)
{
    int memory[N], value = 0;
    MPI_Win win;
    MPI_Errhandler mine, got;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Win_create_errhandler(note, &mine));
    OK(MPI_Win_set_errhandler(win, mine));
    OK(MPI_Win_get_errhandler(win, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_CONFLICT));
    CHECK(raised == MPI_ERR_RMA_CONFLICT && last_window == win);
    OK(MPI_Win_fence(0, win));
    FAILS(MPI_ERR_RANK, MPI_Get(&value, 1, MPI_INT, size_ + 1, 0, 1, MPI_INT, win));
    CHECK(raised == MPI_ERR_RANK);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Win_free(&win));
}

#if MPI_VERSION >= 4
static void large_counts(void)
{
    int out[N], in[N], *base = NULL, one = 1;
    MPI_Win win;
    MPI_Request request;
    MPI_Aint size = -1, unit = -1;
    OK(MPI_Win_allocate_c(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    for (int i = 0; i < N; i++) {
        base[i] = 1000 * rank_ + i;
        out[i] = i;
        in[i] = -1;
    }
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_c(in, N, MPI_INT, next, 0, N, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK(in[0] == 1000 * next && in[N - 1] == 1000 * next + N - 1);
    OK(MPI_Accumulate_c(out, N, MPI_INT, next, 0, N, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(base[0] == 1000 * rank_ && base[N - 1] == 1000 * rank_ + 2 * (N - 1));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate_c(out, 2, MPI_INT, in, 2, MPI_INT, next, 1, 2, MPI_INT, MPI_REPLACE, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(in[0] == 1000 * next + 2 && in[1] == 1000 * next + 4 && base[1] == 0 && base[2] == 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Rput_c(&one, 1, MPI_INT, next, 3, 1, MPI_INT, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Raccumulate_c(&one, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_SUM, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Rget_c(in, 1, MPI_INT, next, 3, 1, MPI_INT, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 2);
    OK(MPI_Rget_accumulate_c(&one, 1, MPI_INT, in, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_SUM, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == 2);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, win));
    CHECK(base[3] == 3);
    OK(MPI_Win_unlock(rank_, win));
    OK(MPI_Win_free(&win));
    /* The unit is as wide as an address here. */
    OK(MPI_Win_create_c(out, sizeof out, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put_c(&rank_, 1, MPI_INT, next, 5, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK(out[5] == previous);
    OK(MPI_Win_free(&win));
    MPI_Comm node;
    int node_rank, node_size;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    int neighbour = (node_rank + 1) % node_size;
    OK(MPI_Win_allocate_shared_c(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win));
    OK(MPI_Win_lock_all(0, win));
    base[0] = 7 + node_rank;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(node));
    OK(MPI_Win_sync(win));
    int *theirs = NULL;
    OK(MPI_Win_shared_query_c(win, neighbour, &size, &unit, &theirs));
    CHECK(size == 2 * sizeof(int) && unit == sizeof(int) && theirs[0] == 7 + neighbour);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}
#endif

/* What lies there, what comes, and what each operation makes of them. */
static void operations(void)
{
    const struct { MPI_Op op; int there, here, result; } all[] = {
        {MPI_MAX, 3, 5, 5}, {MPI_MIN, 3, 5, 3}, {MPI_SUM, 3, 5, 8}, {MPI_PROD, 3, 5, 15}, {MPI_LAND, 3, 0, 0}, {MPI_LOR, 0, 5, 1},
        {MPI_LXOR, 3, 5, 0}, {MPI_BAND, 6, 3, 2}, {MPI_BOR, 6, 3, 7}, {MPI_BXOR, 6, 3, 5}, {MPI_REPLACE, 3, 5, 5}, {MPI_NO_OP, 3, 5, 3},
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    int memory[COUNT], seen[COUNT], fetched[COUNT];
    double items[2] = {rank_ + 0.5, -1};
    MPI_Win win;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < COUNT; i++)
        memory[i] = all[i].there;
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < COUNT; i++) {
        seen[i] = fetched[i] = -1;
        if (i % 2)
            OK(MPI_Get_accumulate(&all[i].here, 1, MPI_INT, &seen[i], 1, MPI_INT, next, i, 1, MPI_INT, all[i].op, win));
        else
            OK(MPI_Fetch_and_op(&all[i].here, &fetched[i], MPI_INT, next, i, all[i].op, win));
    }
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < COUNT; i++) {
        CHECK(memory[i] == all[i].result);
        CHECK((i % 2 ? seen[i] : fetched[i]) == all[i].there);
    }
    OK(MPI_Win_free(&win));
    /* Floating point, and a pair of value and place. */
    struct { double value; int place; } least = {10, -1}, mine = {rank_ - size_, rank_};
    OK(MPI_Win_create(items, sizeof items, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&items[0], 1, MPI_DOUBLE, next, 1, 1, MPI_DOUBLE, MPI_PROD, win));
    OK(MPI_Win_fence(0, win));
    CHECK(items[1] == -(previous + 0.5));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_create(&least, sizeof least, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MINLOC, win));
    OK(MPI_Win_fence(0, win));
    CHECK(rank_ != 0 || (least.value == -size_ && least.place == 0));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    attributes();
    handlers();
#if MPI_VERSION >= 4
    large_counts();
#endif
    operations();
    return finish("windows");
}
