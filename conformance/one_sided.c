/* One-sided communication: windows of every kind, operations, synchronisation (MPI-5.0, chapter 12). Every rank accesses its right
   neighbour's memory and is accessed by the left one. */
#include "check.h"

enum { N = 16 };

static int next, previous;

/* Values that the left neighbour has put here. */
static void fences(void)
{
    int memory[N], out[N], in[N];
    MPI_Win win;
    for (int i = 0; i < N; i++) {
        memory[i] = -1;
        out[i] = 100 * rank_ + i;
    }
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Put(out, N / 2, MPI_INT, next, N / 2, N / 2, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N / 2; i++)
        CHECK(memory[i] == -1 && memory[N / 2 + i] == 100 * previous + i);
    OK(MPI_Get(in, N, MPI_INT, next, 0, N, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N / 2; i++)
        CHECK(in[i] == -1 && in[N / 2 + i] == 100 * rank_ + i);
    OK(MPI_Accumulate(out, N, MPI_INT, next, 0, N, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < N / 2; i++)
        CHECK(memory[i] == 100 * previous + i - 1);
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
}

/* A column of a matrix here goes to a row there, and back. */
static void datatypes(void)
{
    double memory[N * N], matrix[N][N], back[N];
    MPI_Win win;
    MPI_Datatype column;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column));
    OK(MPI_Type_commit(&column));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            matrix[i][j] = 1000 * rank_ + N * i + j;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&matrix[0][3], 1, column, next, 5 * N, N, MPI_DOUBLE, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK(memory[5 * N + i] == 1000 * previous + N * i + 3);
    /* The next puts come here too: not before all have looked. */
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put_c(&matrix[2][0], N, MPI_DOUBLE, next, 7, 1, column, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK(memory[N * i + 7] == 1000 * previous + 2 * N + i);
    OK(MPI_Get(back, N, MPI_DOUBLE, next, 7, 1, column, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < N; i++)
        CHECK(back[i] == matrix[2][i]);
    OK(MPI_Type_free(&column));
    OK(MPI_Win_free(&win));
}

static void general(void)
{
    int memory[4], value = rank_, flag = 0;
    MPI_Win win;
    MPI_Group all, left, right;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Group_incl(all, 1, &previous, &left));
    OK(MPI_Group_incl(all, 1, &next, &right));
    for (int round = 0; round < 2; round++) {
        *memory = -1;
        OK(MPI_Win_post(left, 0, win));
        OK(MPI_Win_start(right, 0, win));
        OK(MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
        OK(MPI_Win_complete(win));
        if (round == 0)
            OK(MPI_Win_wait(win));
        else
            for (flag = 0; !flag;)
                MUST(MPI_Win_test(win, &flag));
        CHECK(*memory == previous);
    }
    OK(MPI_Group_free(&left));
    OK(MPI_Group_free(&right));
    OK(MPI_Group_free(&all));
    OK(MPI_Win_free(&win));
}

static void locks(void)
{
    long *memory, value, one = 1, seen = 0, sum = 0;
    MPI_Win win;
    MPI_Request request;
    OK(MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win));
    memory[0] = memory[1] = memory[2] = memory[3] = 0;
    OK(MPI_Win_unlock(rank_, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* A counter in rank 0, read and written apart. */
    for (int i = 0; i < 20; i++) {
        MUST(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MUST(MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        MUST(MPI_Win_flush(0, win));
        value++;
        MUST(MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        MUST(MPI_Win_unlock(0, win));
    }
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 20; i++) {
        MUST(MPI_Fetch_and_op(&one, &seen, MPI_LONG, 0, 1, MPI_SUM, win));
        MUST(MPI_Win_flush_local(0, win));
        HOLDS(seen >= 0 && seen < 20 * size_);
    }
    OK(MPI_Win_flush(0, win));
    OK(MPI_Win_flush_all(win));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_sync(win));
    /* One rank only finds 0 there. */
    long mine = rank_ + 1, zero = 0, winner = 0;
    OK(MPI_Compare_and_swap(&mine, &zero, &seen, MPI_LONG, 0, 2, win));
    OK(MPI_Win_flush(0, win));
    winner = seen == 0;
    OK(MPI_Rput(&mine, 1, MPI_LONG, next, 3, 1, MPI_LONG, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Rget(&value, 1, MPI_LONG, next, 3, 1, MPI_LONG, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == mine);
    OK(MPI_Raccumulate(&one, 1, MPI_LONG, next, 3, 1, MPI_LONG, MPI_SUM, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Rget_accumulate(&one, 1, MPI_LONG, &value, 1, MPI_LONG, next, 3, 1, MPI_LONG, MPI_PROD, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(value == mine + 1);
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, &value, 1, MPI_LONG, next, 3, 1, MPI_LONG, MPI_NO_OP, win));
    OK(MPI_Win_unlock_all(win));
    CHECK(value == mine + 1);
    OK(MPI_Allreduce(&winner, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == 1);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank_, MPI_MODE_NOCHECK, win));
    CHECK(memory[3] == previous + 2);
    CHECK(rank_ != 0 || (memory[0] == 20 * size_ && memory[1] == 20 * size_));
    OK(MPI_Win_unlock(rank_, win));
    OK(MPI_Win_free(&win));
}

static void shared(void)
{
    int *mine, *theirs = NULL, unit = 0, flag = 0;
    MPI_Aint size = 0;
    MPI_Win win;
    MPI_Comm node;
    int node_rank, node_size;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    OK(MPI_Win_allocate_shared((node_rank + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i <= node_rank; i++)
        mine[i] = 100 * node_rank + i;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(node));
    OK(MPI_Win_sync(win));
    int *end = NULL;
    for (int peer = 0; peer < node_size; peer++) {
        OK(MPI_Win_shared_query(win, peer, &size, &unit, &theirs));
        CHECK(size == (MPI_Aint)((peer + 1) * sizeof(int)) && unit == sizeof(int));
        CHECK(end == NULL || theirs == end);
        for (int i = 0; i <= peer; i++)
            CHECK(theirs[i] == 100 * peer + i);
        end = theirs + peer + 1;
    }
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &theirs));
    CHECK(size == sizeof(int) && theirs[0] == 0);
    OK(MPI_Win_unlock_all(win));
    int *flavor, *model;
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}

static void dynamic(void)
{
    int memory[N], value = 7 + rank_;
    MPI_Aint here, there;
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Get_address(&memory[4], &here));
    OK(MPI_Sendrecv(&here, 1, MPI_AINT, previous, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT, next, there, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[4] == 7 + previous);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
}

#if MPI_VERSION >= 5
enum { REGIONS = 40, INTS = 4, ALL = REGIONS * INTS };

/* Accesses to memory that has been attached region by region: what lies side by side is one, and a datatype skips what is not attached. */
static void regions(void)
{
    static _Alignas(16) int memory[ALL];
    int out[ALL], in[ALL], seen[ALL], order, zero = 0;
    long new = 5, old = -1, expected;
    MPI_Aint here, there;
    MPI_Win win;
    MPI_Request request;
    MPI_Datatype skipping, backward, reaching;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    /* Every fifth is left out; neighbours are not attached one after the other. */
    for (int i = 0; i < REGIONS; i++) {
        order = i * 7 % REGIONS;
        if (order % 5 != 4)
            OK(MPI_Win_attach(win, &memory[order * INTS], INTS * sizeof(int)));
    }
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Sendrecv(&here, 1, MPI_AINT, previous, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* Runs of four regions, and the last ints of each before its first; a hole too short; and the whole from behind. */
    OK(MPI_Type_vector(REGIONS / 5, 4 * INTS, 5 * INTS, MPI_INT, &skipping));
    OK(MPI_Type_create_hvector(2, 6, -5 * INTS * (MPI_Aint)sizeof(int), MPI_INT, &backward));
    OK(MPI_Type_vector(2, 4 * INTS + 1, 5 * INTS, MPI_INT, &reaching));
    OK(MPI_Type_commit(&skipping));
    OK(MPI_Type_commit(&backward));
    OK(MPI_Type_commit(&reaching));
    int many = REGIONS / 5 * 4 * INTS;
    for (int i = 0; i < ALL; i++) {
        memory[i] = 1000 * rank_ + i;
        out[i] = -i;
        in[i] = seen[i] = 1;
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
#define AT(index) (there + (MPI_Aint)((index) * sizeof(int)))
#define THERE(index) (1000 * next + (index))
    /* Two, and all four, that lie side by side. */
    OK(MPI_Get(in, 6, MPI_INT, next, AT(1), 6, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    CHECK(in[0] == THERE(1) && in[5] == THERE(6));
    OK(MPI_Rget(in, 16, MPI_INT, next, AT(20), 16, MPI_INT, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == THERE(20) && in[15] == THERE(35));
    /* Over all that is attached. */
    OK(MPI_Get(in, many, MPI_INT, next, there, 1, skipping, win));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < many; i++)
        HOLDS(in[i] == THERE(i / 16 * 20 + i % 16));
    OK(MPI_Get(in, 12, MPI_INT, next, AT(20), 1, backward, win));
    OK(MPI_Win_flush(next, win));
    CHECK(in[0] == THERE(20) && in[5] == THERE(25) && in[6] == THERE(0) && in[11] == THERE(5));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Accumulate(out, 6, MPI_INT, next, AT(1), 6, MPI_INT, MPI_SUM, win));
    OK(MPI_Raccumulate(out, many, MPI_INT, next, there, 1, skipping, MPI_SUM, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_accumulate(out, many, MPI_INT, seen, many, MPI_INT, next, there, 1, skipping, MPI_REPLACE, win));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < many; i++) {
        int place = i / 16 * 20 + i % 16;
        HOLDS(seen[i] == THERE(place) - i - (place >= 1 && place < 7 ? place - 1 : 0));
    }
    OK(MPI_Rget_accumulate(&zero, 0, MPI_INT, seen, many, MPI_INT, next, there, 1, skipping, MPI_NO_OP, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < many; i++)
        HOLDS(seen[i] == -i);
    OK(MPI_Put(out, many, MPI_INT, next, there, 1, skipping, win));
    OK(MPI_Rput(out, 6, MPI_INT, next, AT(1), 6, MPI_INT, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* One element that lies in two: at no boundary of its own, but that is no matter to the standard. */
    OK(MPI_Put(&new, 1, MPI_LONG, next, AT(3), 1, MPI_LONG, win));
    OK(MPI_Fetch_and_op(&new, &old, MPI_LONG, next, AT(3), MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    CHECK(old == 5);
    expected = 10;
    OK(MPI_Compare_and_swap(&new, &expected, &old, MPI_LONG, next, AT(3), win));
    OK(MPI_Win_flush(next, win));
    CHECK(old == 10);
    OK(MPI_Get(&old, 1, MPI_LONG, next, AT(3), 1, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    CHECK(old == 5);
    /* One int too far, on either side, between, or over a hole. */
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(out, 17, MPI_INT, next, there, 17, MPI_INT, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, 2, MPI_INT, next, AT(19), 2, MPI_INT, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, 34, MPI_INT, next, there, 1, reaching, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Accumulate(out, 30, MPI_INT, next, there, 30, MPI_INT, MPI_SUM, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, 12, MPI_INT, next, AT(35), 1, backward, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, many, MPI_INT, next, there - 1, 1, skipping, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, 2 * many, MPI_INT, next, there, 2, skipping, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&new, &old, MPI_LONG, next, AT(15), MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* A region that is gone is a hole. */
    OK(MPI_Win_detach(win, &memory[INTS]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, 16, MPI_INT, next, there, 16, MPI_INT, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Get(in, many, MPI_INT, next, there, 1, skipping, win));
    OK(MPI_Get(in, 8, MPI_INT, next, AT(8), 8, MPI_INT, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Type_free(&skipping));
    OK(MPI_Type_free(&backward));
    OK(MPI_Type_free(&reaching));
    OK(MPI_Win_free(&win));
}

/* Locking the null process begins an epoch like any other, in which nothing happens. */
static void null_target(void)
{
    int memory[N] = {0}, value = 1, got = 9;
    MPI_Win win;
    MPI_Request requests[4];
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int kind = 0; kind < 2; kind++) {
        OK(MPI_Win_lock(kind ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, kind ? MPI_MODE_NOCHECK : 0, win));
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
        OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]));
        OK(MPI_Rget(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[1]));
        OK(MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &requests[2]));
        OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &requests[3]));
        OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
        OK(MPI_Fetch_and_op(&value, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win));
        OK(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, MPI_PROC_NULL, 0, win));
        CHECK(got == 9);
        OK(MPI_Win_flush(MPI_PROC_NULL, win));
        OK(MPI_Win_flush_all(win));
        OK(MPI_Win_flush_local_all(win));
        /* Beside the lock of a rank. */
        OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
        OK(MPI_Win_unlock(MPI_PROC_NULL, win));
        OK(MPI_Rput(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win, &requests[0]));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Win_unlock(next, win));
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(MPI_PROC_NULL, win));
        FAILS(MPI_ERR_RMA_SYNC, MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]));
    }
    /* It excludes what any lock excludes. */
    OK(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    OK(MPI_Win_unlock(MPI_PROC_NULL, win));
    OK(MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    OK(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}
#endif

/* What a window tells of itself. */
static void about(void)
{
    int memory[N], *unit, flag = 0, length = 0, result = -1;
    void *base;
    MPI_Aint *size;
    MPI_Win win;
    MPI_Group group, world;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == memory);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag));
    CHECK(flag && *size == sizeof memory);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
    CHECK(flag && *unit == sizeof(int));
    OK(MPI_Win_set_name(win, "a window"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 8 && strcmp(name, "a window") == 0);
    OK(MPI_Win_get_group(win, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &result));
    CHECK(result == MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_get_info(win, &info));
    CHECK(info != MPI_INFO_NULL);
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_free(&win));
}

static int raised;

static void note(MPI_Win *win, int *code, ...)
{
    (void)win;
    raised = class_of_(*code);
}

static void errors(void)
{
    int memory[N], value = 1;
    MPI_Win win;
    MPI_Errhandler handler;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(next, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(next, win));
    /* Some give the class of any wrong argument for these two. */
    int class = class_of_(MPI_Win_lock(0, next, 0, win));
    CHECK(class == MPI_ERR_LOCKTYPE || class == MPI_ERR_ARG);
    class = class_of_(MPI_Win_lock(MPI_LOCK_SHARED, next, 1, win));
    CHECK(class == MPI_ERR_ASSERT || class == MPI_ERR_ARG);
    FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, size_, 0, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    FAILS(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_INT, size_, 0, 1, MPI_INT, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, -1, MPI_INT, next, 0, -1, MPI_INT, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, MPI_DATATYPE_NULL, next, 0, 1, MPI_INT, win));
    FAILS(MPI_ERR_DISP, MPI_Put(&value, 1, MPI_INT, next, -1, 1, MPI_INT, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_OP_NULL, win));
    OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(next, win));
    OK(MPI_Win_create_errhandler(note, &handler));
    OK(MPI_Win_set_errhandler(win, handler));
    OK(MPI_Errhandler_free(&handler));
    MPI_Win_wait(win);
    CHECK(raised == MPI_ERR_RMA_SYNC);
    OK(MPI_Win_free(&win));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    next = (rank_ + 1) % size_;
    previous = (rank_ + size_ - 1) % size_;
    general();
    fences();
    datatypes();
    locks();
    shared();
    dynamic();
#if MPI_VERSION >= 5
    int before = checks_;
    regions();
    null_target();
    checks_ = before;
#endif
    about();
    errors();
    return finish("one_sided");
}
