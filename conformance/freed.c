/* Datatypes that are freed while messages of them are under way, by an operation of the program's own that runs meanwhile (MPI-5.0, section
   5.1.9: "freed" types live until what uses them is complete). */
#include "check.h"

enum { ITEMS = 4, APART = 3, LONG = 65536, OTHERS = 64 };

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

int main(int argc, char **argv)
{
    MPI_Comm pair;
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
    }
    if (rank_ < 2)
        OK(MPI_Comm_free(&pair));
    OK(MPI_Op_free(&op));
    return finish("freed");
}
