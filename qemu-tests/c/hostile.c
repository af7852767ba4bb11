/* Calls with arguments of all sorts, most of them wrong: handles that are null, freed, made up or of the wrong moment; ranks, tags, counts and
   displacements from the least to the largest number. Whatever comes of a call, the runtime goes on. Buffers alone are as long as the calls
   may take them to be: a program that lies about those cannot be helped. `hostile SEED STEPS` repeats a run; one rank, so nothing waits for
   anybody. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 8, SMALL = 8, TYPES = 16, GROUPS = 5, WINS = 4, INFOS = 5, REQUESTS = 8, OPS = 8, FILES = 4, LISTED = 16, ROOM = 4096 };

static uint64_t state;

static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

#define ONE_OF(list) list[below(sizeof(list) / sizeof *(list))]
/* A handle that nobody has given out. */
#define MADE_UP(type, number) ((type)(intptr_t)(number))

static MPI_Comm comms[COMMS];
static MPI_Datatype small[SMALL]; /* for buffers: of a few bytes, or none */
static MPI_Datatype types[TYPES]; /* for everything else */
static MPI_Group groups[GROUPS];
static MPI_Win wins[WINS];
static MPI_Info infos[INFOS];
static MPI_Request requests[REQUESTS];
static MPI_Op ops[OPS];
static MPI_File files[FILES];
static int from[ROOM], to[ROOM], a[LISTED], b[LISTED], c[LISTED];
static MPI_Aint places[LISTED];
static MPI_Datatype listed[LISTED];

static int few(void)
{
    static const int all[] = {-3, -2, -1, 0, 1, 2, 3, 8};
    return ONE_OF(all);
}

static int any(void)
{
    static const int all[] = {-3, -2, -1, 0, 1, 2, 3, 7, 100, 1 << 16, 1 << 30, INT_MAX - 1, INT_MAX, INT_MIN};
    return ONE_OF(all);
}

static MPI_Aint any_place(void)
{
    static const MPI_Aint all[] = {-8, -1, 0, 1, 4, 8, 100, (MPI_Aint)1 << 40, (MPI_Aint)1 << 62, INT64_MAX, INT64_MIN};
    return ONE_OF(all);
}

static void keep_type(MPI_Datatype made)
{
    ONE_OF(types) = made;
}

static void keep_comm(MPI_Comm made)
{
    if (made == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    if (below(2))
        comms[2 + below(COMMS - 2)] = made;
    else
        MPI_Comm_free(&made);
}

static void messages(void)
{
    MPI_Request *request = &ONE_OF(requests), made = MADE_UP(MPI_Request, any());
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int done, index;
    switch (below(14)) {
    case 0:
        MPI_Isend(from, few(), ONE_OF(small), few(), any(), ONE_OF(comms), request);
        break;
    case 1:
        MPI_Irecv(to, few(), ONE_OF(small), few(), any(), ONE_OF(comms), request);
        break;
    case 2:
        MPI_Send_init(from, few(), ONE_OF(small), few(), any(), ONE_OF(comms), request);
        break;
    case 3:
        MPI_Recv_init(to, few(), ONE_OF(small), few(), any(), ONE_OF(comms), request);
        break;
    case 4:
        MPI_Start(request);
        break;
    case 5:
        MPI_Iprobe(few(), any(), ONE_OF(comms), &done, &status);
        break;
    case 6:
        done = 0;
        if (MPI_Improbe(few(), any(), ONE_OF(comms), &done, &message, &status) == MPI_SUCCESS || below(2))
            MPI_Mrecv(to, 8, ONE_OF(small), &message, &status);
        break;
    case 7:
        MPI_Test(request, &done, &status);
        break;
    case 8:
        MPI_Testall(few(), requests, &done, MPI_STATUSES_IGNORE);
        break;
    case 9:
        MPI_Testany(few(), requests, &index, &done, &status);
        break;
    case 10:
        MPI_Testsome(few(), requests, &done, a, MPI_STATUSES_IGNORE);
        break;
    case 11:
        MPI_Cancel(request);
        break;
    case 12:
        MPI_Test(&made, &done, &status);
        break;
    default:
        MPI_Request_free(request);
    }
}

static void constructors(void)
{
    MPI_Datatype old = ONE_OF(types), made = MPI_DATATYPE_NULL;
    int count = below(LISTED + 1) - 1;
    switch (below(11)) {
    case 0:
        MPI_Type_contiguous(any(), old, &made);
        break;
    case 1:
        MPI_Type_vector(any(), any(), any(), old, &made);
        break;
    case 2:
        MPI_Type_create_hvector(any(), any(), any_place(), old, &made);
        break;
    case 3:
        MPI_Type_indexed(count, a, b, old, &made);
        break;
    case 4:
        MPI_Type_create_hindexed(count, a, places, old, &made);
        break;
    case 5:
        MPI_Type_create_indexed_block(count, any(), a, old, &made);
        break;
    case 6:
        MPI_Type_create_struct(count, a, places, listed, &made);
        break;
    case 7:
        MPI_Type_create_subarray(below(6) - 1, a, b, c, any(), old, &made);
        break;
    case 8:
        MPI_Type_create_darray(any(), any(), below(5) - 1, a, b, c, a, any(), old, &made);
        break;
    case 9:
        MPI_Type_create_resized(old, any_place(), any_place(), &made);
        break;
    default:
        MPI_Type_dup(old, &made);
    }
    keep_type(made);
}

static void contents(MPI_Datatype type)
{
    int integers, addresses, used, combiner;
    if (MPI_Type_get_envelope(type, &integers, &addresses, &used, &combiner) != MPI_SUCCESS || used > LISTED)
        return;
    if (integers <= ROOM && addresses <= LISTED)
        MPI_Type_get_contents(type, integers - below(2), addresses, used, to, places, listed);
}

static void questions(void)
{
    MPI_Datatype *type = &types[TYPES / 2 + below(TYPES / 2)], was = *type;
    MPI_Aint low, extent;
    MPI_Count size;
    MPI_Status status = {0};
    int number = any();
    switch (below(10)) {
    case 0:
        MPI_Type_commit(type);
        break;
    case 1:
        MPI_Type_free(type);
        *type = below(2) ? was : *type;
        break;
    case 2:
        MPI_Type_size(was, &number);
        break;
    case 3:
        MPI_Type_size_c(was, &size);
        break;
    case 4:
        MPI_Type_get_extent(was, &low, &extent);
        break;
    case 5:
        MPI_Type_get_true_extent(was, &low, &extent);
        break;
    case 6:
        contents(was);
        break;
    case 7:
        MPI_Get_elements(&status, was, &number);
        break;
    case 8:
        MPI_Pack(from, few(), ONE_OF(small), to, 64, &number, ONE_OF(comms));
        break;
    default:
        MPI_Unpack(from, 64, &number, to, few(), ONE_OF(small), ONE_OF(comms));
    }
}

static void members(void)
{
    MPI_Group made = MPI_GROUP_NULL;
    int ranges[5][3], result;
    for (int i = 0; i < 15; i++)
        ranges[i / 3][i % 3] = any();
    switch (below(6)) {
    case 0:
        MPI_Group_incl(ONE_OF(groups), below(LISTED + 1) - 1, a, &made);
        break;
    case 1:
        MPI_Group_excl(ONE_OF(groups), below(LISTED + 1) - 1, a, &made);
        break;
    case 2:
        MPI_Group_range_incl(ONE_OF(groups), below(6) - 1, ranges, &made);
        break;
    case 3:
        MPI_Group_union(ONE_OF(groups), ONE_OF(groups), &made);
        break;
    case 4:
        MPI_Group_translate_ranks(ONE_OF(groups), below(LISTED + 1) - 1, a, ONE_OF(groups), b);
        break;
    default:
        MPI_Group_compare(ONE_OF(groups), ONE_OF(groups), &result);
    }
    MPI_Group_free(&made);
}

static void communicators(void)
{
    MPI_Comm comm = ONE_OF(comms), *gone = &comms[2 + below(COMMS - 2)], was = *gone, made = MPI_COMM_NULL;
    int number = any();
    void *value;
    switch (below(17)) {
    case 0:
        MPI_Comm_dup(comm, &made);
        break;
    case 1:
        MPI_Comm_split(comm, any(), any(), &made);
        break;
    case 2:
        MPI_Comm_split_type(comm, any(), any(), ONE_OF(infos), &made);
        break;
    case 3:
        MPI_Comm_create(comm, ONE_OF(groups), &made);
        break;
    case 4:
        MPI_Comm_create_group(comm, ONE_OF(groups), any(), &made);
        break;
    case 5:
        MPI_Comm_free(gone);
        *gone = below(2) ? was : *gone;
        break;
    case 6:
        MPI_Comm_size(comm, &number);
        break;
    case 7:
        MPI_Comm_remote_size(comm, &number);
        break;
    case 8:
        MPI_Comm_compare(comm, ONE_OF(comms), &number);
        break;
    case 9:
        MPI_Intercomm_create(comm, few(), ONE_OF(comms), few(), -1, &made);
        break;
    case 10:
        MPI_Intercomm_merge(comm, any(), &made);
        break;
    case 11:
        MPI_Comm_set_attr(comm, any(), to);
        break;
    case 12:
        MPI_Comm_get_attr(comm, any(), &value, &number);
        break;
    case 13:
        MPI_Comm_free_keyval(&number);
        break;
    case 14:
        MPI_Cart_create(comm, below(4) - 1, (int[]){below(3), below(3), 1}, b, 0, &made);
        break;
    case 15:
        MPI_Dist_graph_create_adjacent(comm, below(4) - 1, a, MPI_UNWEIGHTED, below(4) - 1, b, MPI_UNWEIGHTED, ONE_OF(infos), 0, &made);
        break;
    default:
        MPI_Cart_shift(comm, any(), any(), &number, a);
    }
    keep_comm(made);
}

static void collectives(void)
{
    MPI_Comm comm = ONE_OF(comms);
    MPI_Datatype type = ONE_OF(small);
    MPI_Request request = MPI_REQUEST_NULL;
    int count = few(), none[1] = {0};
    switch (below(12)) {
    case 0:
        MPI_Bcast(from, count, type, few(), comm);
        break;
    case 1:
        MPI_Reduce(from, to, count, type, ONE_OF(ops), few(), comm);
        break;
    case 2:
        MPI_Allreduce(from, to, count, type, ONE_OF(ops), comm);
        break;
    case 3:
        MPI_Gather(from, count, type, to, few(), ONE_OF(small), few(), comm);
        break;
    case 4:
        MPI_Scatter(from, count, type, to, few(), ONE_OF(small), few(), comm);
        break;
    case 5:
        MPI_Alltoall(from, count, type, to, few(), ONE_OF(small), comm);
        break;
    case 6:
        MPI_Alltoallv(from, &count, none, type, to, &count, none, ONE_OF(small), comm);
        break;
    case 7:
        MPI_Reduce_scatter(from, to, &count, type, ONE_OF(ops), comm);
        break;
    case 8:
        MPI_Exscan(from, to, count, type, ONE_OF(ops), comm);
        break;
    case 9:
        MPI_Reduce_local(from, to, count, type, ONE_OF(ops));
        break;
    case 10:
        MPI_Iallreduce(from, to, count, type, ONE_OF(ops), comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Op_free(&ONE_OF(ops));
        ops[0] = MPI_SUM;
    }
}

static void windows(void)
{
    MPI_Win win = ONE_OF(wins);
    MPI_Datatype type = ONE_OF(small);
    int done;
    switch (below(12)) {
    case 0:
        MPI_Put(from, few(), type, few(), any_place(), few(), ONE_OF(small), win);
        break;
    case 1:
        MPI_Get(from, few(), type, few(), any_place(), few(), ONE_OF(small), win);
        break;
    case 2:
        MPI_Accumulate(from, few(), type, few(), any_place(), few(), ONE_OF(small), ONE_OF(ops), win);
        break;
    case 3:
        MPI_Fetch_and_op(from, from + 8, type, few(), any_place(), ONE_OF(ops), win);
        break;
    case 4:
        MPI_Compare_and_swap(from, from + 8, from + 16, type, few(), any_place(), win);
        break;
    case 5:
        MPI_Win_fence(any(), win);
        break;
    case 6:
        MPI_Win_lock(any(), few(), any(), win);
        break;
    case 7:
        MPI_Win_unlock(few(), win);
        break;
    case 8:
        MPI_Win_lock_all(any(), win);
        break;
    case 9:
        MPI_Win_unlock_all(win);
        break;
    case 10:
        MPI_Win_complete(win);
        break;
    default:
        MPI_Win_test(win, &done);
    }
}

static void filing(void)
{
    MPI_File *open = &files[FILES - 1], file = ONE_OF(files);
    MPI_Status status;
    const int modes = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_RDONLY | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_APPEND;
    switch (below(6)) {
    case 0:
        if (*open != MPI_FILE_NULL)
            MPI_File_close(open);
        else
            MPI_File_open(ONE_OF(comms), below(3) ? "/out/file" : "/no/such", any() & modes, ONE_OF(infos), open);
        break;
    case 1:
        MPI_File_read(file, to, few(), ONE_OF(small), &status);
        break;
    case 2:
        MPI_File_write_at(file, below(2) ? any_place() : below(1000), from, few(), ONE_OF(small), &status);
        break;
    case 3:
        MPI_File_set_view(file, below(3) ? below(100) : any_place(), ONE_OF(types), ONE_OF(types), below(3) ? "native" : "external32",
                          ONE_OF(infos));
        break;
    case 4:
        MPI_File_seek(file, any_place(), any());
        break;
    default:
        MPI_File_set_size(file, below(2) ? any_place() : below(5000));
    }
}

static void others(void)
{
    char text[ROOM];
    int number = any();
    MPI_Info made = MPI_INFO_NULL;
    switch (below(7)) {
    case 0:
        MPI_Info_set(ONE_OF(infos), "a", "b");
        break;
    case 1:
        MPI_Info_get_nthkey(ONE_OF(infos), any(), text);
        break;
    case 2:
        MPI_Info_delete(ONE_OF(infos), "a");
        break;
    case 3:
        if (MPI_Info_dup(ONE_OF(infos), &made) == MPI_SUCCESS)
            MPI_Info_free(&made);
        break;
    case 4:
        MPI_Error_string(any(), text, &number);
        break;
    case 5:
        MPI_Add_error_string(any(), "x");
        break;
    default:
        MPI_Dims_create(any(), below(5) - 1, a);
    }
}

static void prepare(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < COMMS; i++)
        comms[i] = MADE_UP(MPI_Comm, i * 37 - 5);
    comms[0] = MPI_COMM_WORLD, comms[1] = MPI_COMM_SELF, comms[2] = MPI_COMM_NULL;
    const MPI_Datatype plain[SMALL] = {MPI_INT, MPI_CHAR, MPI_DATATYPE_NULL, MADE_UP(MPI_Datatype, 99999),
                                       MPI_DOUBLE, MPI_BYTE, MPI_PACKED, MADE_UP(MPI_Datatype, -7)};
    for (int i = 0; i < TYPES; i++)
        types[i] = small[i % SMALL] = plain[i % SMALL];
    MPI_Type_contiguous(2, MPI_INT, &small[6]); /* not committed */
    types[10] = MPI_DOUBLE_INT;
    groups[0] = MPI_GROUP_NULL, groups[1] = MPI_GROUP_EMPTY, groups[2] = MADE_UP(MPI_Group, 4321), groups[3] = MADE_UP(MPI_Group, -1);
    MPI_Comm_group(MPI_COMM_WORLD, &groups[4]);
    wins[0] = MPI_WIN_NULL, wins[1] = MADE_UP(MPI_Win, 777), wins[2] = MADE_UP(MPI_Win, -9);
    MPI_Win_create(to, 64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &wins[3]);
    MPI_Win_set_errhandler(wins[3], MPI_ERRORS_RETURN);
    infos[0] = MPI_INFO_NULL, infos[1] = MPI_INFO_ENV, infos[2] = MADE_UP(MPI_Info, 5), infos[3] = MADE_UP(MPI_Info, -2);
    MPI_Info_create(&infos[4]);
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    const MPI_Op given[OPS] = {MPI_SUM, MPI_OP_NULL, MADE_UP(MPI_Op, 444), MPI_REPLACE, MPI_MAXLOC, MPI_BAND, MPI_NO_OP, MADE_UP(MPI_Op, -4)};
    for (int i = 0; i < OPS; i++)
        ops[i] = given[i];
    files[0] = files[3] = MPI_FILE_NULL, files[1] = MADE_UP(MPI_File, 3), files[2] = MADE_UP(MPI_File, -3);
}

int main(int argc, char **argv)
{
    static void (*const areas[])(void) = {messages,      constructors, questions, members, communicators,
                                          collectives,   windows,      filing,    others};
    if (argc < 3)
        return 2;
    state = strtoull(argv[1], NULL, 10);
    int steps = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    prepare();
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < LISTED; i++)
            a[i] = any(), b[i] = any(), c[i] = any(), places[i] = any_place(), listed[i] = ONE_OF(types);
        ONE_OF(areas)();
    }
    printf("hostile: seed %s, %d calls, still there\n", argv[1], steps);
    fflush(stdout);
    /* Epochs, requests and files may be open, with which MPI_Finalize need not cope. */
    MPI_Abort(MPI_COMM_WORLD, 42);
}
