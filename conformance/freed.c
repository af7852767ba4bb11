/* Datatypes and communicators that are freed while what they describe is under way, at once or by an operation of the program's own that runs
   meanwhile (MPI-5.0, section 5.1.9: "freed" types live until what uses them is complete). */
#include "check.h"

enum { ITEMS = 4, APART = 3, LONG = 65536, OTHERS = 64 };

/* MPICH 4.0 uses a datatype that was freed meanwhile in these forms. */
#ifdef MPICH_NUMVERSION
enum { FREES = 0 };
#else
enum { FREES = 1 };
#endif

static MPI_Datatype doomed = MPI_DATATYPE_NULL, others[OTHERS];
/* Whether rank 0 is in the blocking call: before it, the operation may be called as well, and then the datatype is still wanted. */
static int armed;

/* A sum. A call from within the blocking call frees the datatype and makes others, which lie where that one was. */
static void sum_and_free(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (!armed || doomed == MPI_DATATYPE_NULL)
        return;
    MPI_Type_free(&doomed);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Type_vector(ITEMS, 1, APART - 1, MPI_INT, &others[i]);
        MPI_Type_commit(&others[i]);
    }
}

static void free_others(void)
{
    for (int i = 0; i < OTHERS; i++)
        if (others[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&others[i]);
}

static int all(const int *numbers, int count, int apart)
{
    for (int i = 0; i < count; i++)
        if (numbers[i * apart] != 7 * i + 1)
            return 0;
    return 1;
}

/* Rank 0 is in a blocking call when rank 1 brings its contribution, and so calls the operation there. */
static void during(MPI_Comm pair, int me, MPI_Op op, int items, int sends)
{
    static int numbers[LONG * APART];
    int mine = me + 1, sum = 0;
    MPI_Request request;
    memset(numbers, 0, sizeof numbers);
    if (me == 0) {
        OK(MPI_Type_vector(items, 1, APART, MPI_INT, &doomed));
        OK(MPI_Type_commit(&doomed));
        for (int i = 0; sends && i < items; i++)
            numbers[i * APART] = 7 * i + 1;
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, pair));
        armed = 1;
        if (sends)
            OK(MPI_Send(numbers, 1, doomed, 1, 2, pair));
        else
            OK(MPI_Recv(numbers, 1, doomed, 1, 2, pair, MPI_STATUS_IGNORE));
        armed = 0;
        CHECK(sends || all(numbers, items, APART));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == 3);
        if (doomed != MPI_DATATYPE_NULL)
            OK(MPI_Type_free(&doomed));
        free_others();
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; !sends && i < items; i++)
            numbers[i] = 7 * i + 1;
        if (sends) {
            OK(MPI_Recv(numbers, items, MPI_INT, 0, 2, pair, MPI_STATUS_IGNORE));
            CHECK(all(numbers, items, 1));
        } else {
            OK(MPI_Send(numbers, items, MPI_INT, 0, 2, pair));
        }
    }
}

static MPI_Comm doomed_comm = MPI_COMM_NULL;

static void sum_and_free_comm(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (armed && doomed_comm != MPI_COMM_NULL)
        MPI_Comm_free(&doomed_comm);
}

/* A communicator that is freed, by the operation, while rank 0 probes for a message on it. */
static void probed(MPI_Comm pair, int me, MPI_Op op, int matched)
{
    int mine = me + 1, sum = 0, number = 0;
    MPI_Request request, later;
    MPI_Status status;
    MPI_Message message;
    OK(MPI_Comm_dup(pair, &doomed_comm));
    if (me == 0) {
        /* What was only probed is received by a request that has the communicator since before. */
        OK(MPI_Recv_init(&number, 1, MPI_INT, 1, 2, doomed_comm, &later));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, pair));
        armed = 1;
        if (matched) {
            OK(MPI_Mprobe(1, 2, doomed_comm, &message, &status));
            OK(MPI_Mrecv(&number, 1, MPI_INT, &message, &status));
        } else {
            OK(MPI_Probe(1, 2, doomed_comm, &status));
            OK(MPI_Start(&later));
            OK(MPI_Wait(&later, &status));
        }
        armed = 0;
        OK(MPI_Request_free(&later));
        CHECK(number == 77 && status.MPI_SOURCE == 1 && status.MPI_TAG == 2);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == 3);
        if (doomed_comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&doomed_comm));
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        number = 77;
        OK(MPI_Send(&number, 1, MPI_INT, 0, 2, doomed_comm));
        OK(MPI_Comm_free(&doomed_comm));
    }
}

/* Rank 0 waits for rank 1's part of an ordered access when the operation frees the datatype of its own. */
static void ordered(MPI_Comm pair, int me, MPI_Op op, int writes)
{
    int numbers[ITEMS * APART], there[ITEMS], mine = me + 1, sum = 0;
    MPI_Request request;
    MPI_File file;
    OK(MPI_File_open(pair, "freed.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    for (int i = 0; i < ITEMS; i++)
        there[i] = writes ? 0 : 7 * i + 1;
    for (int i = 0; i < ITEMS * APART; i++)
        numbers[i] = writes && i % APART == 0 ? 7 * (i / APART) + 1 : 0;
    if (me == 0) {
        if (!writes)
            OK(MPI_File_write_at(file, 0, there, ITEMS, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_Type_vector(ITEMS, 1, APART, MPI_INT, &doomed));
        OK(MPI_Type_commit(&doomed));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, pair));
        armed = FREES;
        if (writes)
            OK(MPI_File_write_ordered(file, numbers, 1, doomed, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_read_ordered(file, numbers, 1, doomed, MPI_STATUS_IGNORE));
        armed = 0;
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == 3);
        if (doomed != MPI_DATATYPE_NULL)
            MPI_Type_free(&doomed);
        free_others();
        if (writes)
            OK(MPI_File_read_at(file, 0, there, ITEMS, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(all(there, ITEMS, 1) && all(numbers, ITEMS, APART));
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (writes)
            OK(MPI_File_write_ordered(file, numbers, 0, MPI_INT, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_read_ordered(file, numbers, 0, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
}

enum { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, ALLREDUCE, REDUCE, SCAN, COLLECTIVES };

/* Rank 0 waits within a collective for rank 1 when the operation frees the collective's datatype. Every block is ITEMS integers, on rank 0 APART from each other. */
static void collective(MPI_Comm pair, int me, MPI_Op op, MPI_Op spread, int which)
{
    enum { ONE = ITEMS * APART };
    int from[2 * ONE], to[2 * ONE], mine = me + 1, sum = 0, first = 0, last = 1;
    int ones[2] = {1, 1}, places[2] = {0, 1}, bytes[2] = {0, ONE * (int)sizeof(int)};
    MPI_Datatype vector, types[2];
    MPI_Request request;
    for (int i = 0; i < 2 * ONE; i++)
        from[i] = i % APART == 0 ? 7 * (i % ONE / APART) + 1 : 0, to[i] = 0;
    OK(MPI_Type_vector(ITEMS, 1, APART, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, ONE * sizeof(int), &doomed));
    OK(MPI_Type_commit(&doomed));
    OK(MPI_Type_free(&vector));
    types[0] = types[1] = doomed;
    if (me == 0) {
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 1, pair));
        armed = FREES;
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE));
        OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, pair, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    switch (which) {
    case BCAST:
        OK(MPI_Bcast(me == 0 ? to : from, 1, doomed, 1, pair));
        break;
    case GATHER:
        OK(MPI_Gather(from, 1, doomed, to, 1, doomed, 0, pair)), last = 2;
        break;
    case GATHERV:
        OK(MPI_Gatherv(from, 1, doomed, to, ones, places, doomed, 0, pair)), last = 2;
        break;
    case SCATTER:
        OK(MPI_Scatter(from, 1, doomed, to, 1, doomed, 1, pair));
        break;
    case SCATTERV:
        OK(MPI_Scatterv(from, ones, places, doomed, to, 1, doomed, 1, pair));
        break;
    case ALLGATHER:
        OK(MPI_Allgather(from, 1, doomed, to, 1, doomed, pair)), last = 2;
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv(from, 1, doomed, to, ones, places, doomed, pair)), last = 2;
        break;
    case ALLTOALL:
        OK(MPI_Alltoall(from, 1, doomed, to, 1, doomed, pair)), last = 2;
        break;
    case ALLTOALLV:
        OK(MPI_Alltoallv(from, ones, places, doomed, to, ones, places, doomed, pair)), last = 2;
        break;
    case ALLTOALLW:
        OK(MPI_Alltoallw(from, ones, bytes, types, to, ones, bytes, types, pair)), last = 2;
        break;
    case ALLREDUCE:
        OK(MPI_Allreduce(from, to, 1, doomed, spread, pair));
        break;
    case REDUCE:
        OK(MPI_Reduce(from, to, 1, doomed, spread, 0, pair));
        break;
    default:
        OK(MPI_Scan(from, to, 1, doomed, spread, pair));
    }
    armed = 0;
    if (me == 0) {
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == 3);
        for (int block = first; block < last; block++)
            CHECK(all(to + block * ONE, ITEMS, APART));
    }
    if (doomed != MPI_DATATYPE_NULL)
        MPI_Type_free(&doomed);
    free_others();
}

/* Sums of every second integer. */
static void sum_spread(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        for (int j = 0; j < ITEMS; j++)
            ((int *)inout)[(i * ITEMS + j) * 2] += ((int *)in)[(i * ITEMS + j) * 2];
}

/* Datatype and operation of a reduction that is under way are freed at once, as the standard allows. */
static void reductions(void)
{
    enum { COUNT = 50, NUMBERS = COUNT * ITEMS * 2, FORMS = 5 };
    static int mine[NUMBERS * 16], sums[NUMBERS * 16];
    for (int form = 0; form < FORMS; form++) {
        MPI_Datatype spread, resized;
        MPI_Op op;
        MPI_Request request;
        int ones = form == 2 ? size_ : 1;
        if (ones > 16)
            continue;
        OK(MPI_Op_create(sum_spread, 1, &op));
        OK(MPI_Type_vector(ITEMS, 1, 2, MPI_INT, &spread));
        OK(MPI_Type_create_resized(spread, 0, ITEMS * 2 * sizeof(int), &resized));
        OK(MPI_Type_commit(&resized));
        OK(MPI_Type_free(&spread));
        for (int i = 0; i < NUMBERS * ones; i++)
            mine[i] = i % NUMBERS + rank_, sums[i] = -1;
        if (form == 0)
            OK(MPI_Iallreduce(mine, sums, COUNT, resized, op, MPI_COMM_WORLD, &request));
        else if (form == 1)
            OK(MPI_Ireduce(mine, sums, COUNT, resized, op, 0, MPI_COMM_WORLD, &request));
        else if (form == 2)
            OK(MPI_Ireduce_scatter_block(mine, sums, COUNT, resized, op, MPI_COMM_WORLD, &request));
        else if (form == 3)
            OK(MPI_Iscan(mine, sums, COUNT, resized, op, MPI_COMM_WORLD, &request));
        else {
            OK(MPI_Allreduce_init(mine, sums, COUNT, resized, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
            OK(MPI_Start(&request));
        }
        OK(MPI_Type_free(&resized));
        OK(MPI_Op_free(&op));
        for (int i = 0; i < OTHERS; i++) {
            OK(MPI_Type_contiguous(i + 1, MPI_DOUBLE, &others[i]));
            OK(MPI_Type_commit(&others[i]));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (form == 4)
            OK(MPI_Request_free(&request));
        free_others();
        int right = 1;
        for (int i = 0; i < NUMBERS && (form != 1 || rank_ == 0); i++) {
            int all = size_ * i + size_ * (size_ - 1) / 2, up_to_here = (rank_ + 1) * i + rank_ * (rank_ + 1) / 2;
            right &= sums[i] == (i % 2 ? -1 : form == 3 ? up_to_here : all);
        }
        CHECK(right);
    }
}

/* The last of two, of every APARTth integer: all ranks give the same. */
static void keep_last(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count * ITEMS; i++)
        ((int *)inout)[i * APART] = ((int *)in)[i * APART];
}

int main(int argc, char **argv)
{
    MPI_Comm pair;
    MPI_Op free_comm;
    MPI_Op op;
    begin(&argc, &argv);
    for (int i = 0; i < OTHERS; i++)
        others[i] = MPI_DATATYPE_NULL;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank_ < 2 ? 0 : MPI_UNDEFINED, rank_, &pair));
    OK(MPI_Op_create(sum_and_free, 1, &op));
    if (size_ > 1 && rank_ < 2) {
        during(pair, rank_, op, ITEMS, 0);
        during(pair, rank_, op, LONG, 0);
        during(pair, rank_, op, LONG, 1);
        ordered(pair, rank_, op, 1);
        ordered(pair, rank_, op, 0);
        OK(MPI_Op_create(sum_and_free_comm, 1, &free_comm));
        probed(pair, rank_, free_comm, 0);
        probed(pair, rank_, free_comm, 1);
        OK(MPI_Op_free(&free_comm));
    }
    if (size_ > 1 && rank_ < 2) {
        MPI_Op spread;
        OK(MPI_Op_create(keep_last, 1, &spread));
        for (int which = 0; which < COLLECTIVES; which++)
            collective(pair, rank_, op, spread, which);
        OK(MPI_Op_free(&spread));
    }
    reductions();
    if (rank_ < 2)
        OK(MPI_Comm_free(&pair));
    OK(MPI_Op_free(&op));
    return finish("freed");
}
