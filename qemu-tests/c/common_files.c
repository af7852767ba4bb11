/* Files that the ranks of several nodes have in common: what each writes all others read, by explicit offsets, the shared pointer, in order and in atomic mode; data of
   many pieces; who has a file open, on whatever node, keeps others from deleting it; a node's own files are not the job's. The first argument: rounds. */
#include "check.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/tmp/common"
#define GOOD(call) THAT((call) == MPI_SUCCESS)
/* More than a question carries, and no whole number of pieces. */
enum { LONG = (5 << 19) + 77, BLOCK = 512 };

static int rank, size;

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static MPI_File opened(MPI_Comm comm, const char *name, int mode)
{
    MPI_File file = MPI_FILE_NULL;
    GOOD(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file));
    return file;
}

static char letter(int from, int at)
{
    return (char)(from * 31 + at % 251);
}

/* Each rank writes a long block at its place; each reads all of them. */
static void offsets(void)
{
    char *data = malloc(LONG);
    int wrong = 0, count = -1;
    MPI_Status status;
    MPI_Offset bytes = -1;
    MPI_File file = opened(MPI_COMM_WORLD, FILE_NAME, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < LONG; i++)
        data[i] = letter(rank, i);
    GOOD(MPI_File_write_at_all(file, (MPI_Offset)rank * LONG, data, LONG, MPI_BYTE, MPI_STATUS_IGNORE));
    GOOD(MPI_Barrier(MPI_COMM_WORLD));
    for (int from = 0; from < size; from++) {
        memset(data, 0, LONG);
        GOOD(MPI_File_read_at(file, (MPI_Offset)from * LONG, data, LONG, MPI_BYTE, &status));
        for (int i = 0; i < LONG; i++)
            wrong += data[i] != letter(from, i);
    }
    THAT(wrong == 0);
    /* Reading ends where the file does. */
    GOOD(MPI_File_read_at(file, (MPI_Offset)size * LONG - 10, data, LONG, MPI_BYTE, &status));
    GOOD(MPI_Get_count(&status, MPI_BYTE, &count));
    THAT(count == 10);
    GOOD(MPI_File_get_size(file, &bytes));
    THAT(bytes == (MPI_Offset)size * LONG);
    GOOD(MPI_Barrier(MPI_COMM_WORLD));
    GOOD(MPI_File_set_size(file, 0));
    GOOD(MPI_File_get_size(file, &bytes));
    THAT(bytes == 0);
    GOOD(MPI_File_sync(file));
    GOOD(MPI_File_close(&file));
    free(data);
}

/* The shared pointer gives each place to one rank; ordered access goes by ranks. */
static void pointers(int rounds)
{
    MPI_File file = opened(MPI_COMM_WORLD, FILE_NAME, MPI_MODE_CREATE | MPI_MODE_RDWR);
    int *seen = calloc(size, sizeof *seen), value = -1, wrong = 0;
    GOOD(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < rounds; i++)
        GOOD(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    GOOD(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < rounds * size; i++) {
        GOOD(MPI_File_read_at(file, i, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        if (value >= 0 && value < size)
            seen[value]++;
    }
    for (int i = 0; i < size; i++)
        wrong += seen[i] != rounds;
    THAT(wrong == 0);
    GOOD(MPI_Barrier(MPI_COMM_WORLD));
    GOOD(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < rounds; i++) {
        value = i * size + rank;
        GOOD(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    GOOD(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = wrong = 0; i < rounds * size; i++) {
        GOOD(MPI_File_read_at(file, i, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        wrong += value != i;
    }
    THAT(wrong == 0);
    free(seen);
    GOOD(MPI_File_close(&file));
}

/* Blocks of the same place are never seen half written. */
static void atomic(int rounds)
{
    char block[BLOCK];
    int torn = 0;
    MPI_File file = opened(MPI_COMM_WORLD, FILE_NAME, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Datatype sparse;
    /* Each transfer takes many calls of the system's, so that without the lock it would be seen half done. */
    GOOD(MPI_Type_vector(BLOCK, 1, 2, MPI_BYTE, &sparse));
    GOOD(MPI_Type_commit(&sparse));
    GOOD(MPI_File_set_atomicity(file, 1));
    GOOD(MPI_File_set_view(file, 0, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
    memset(block, 'a', BLOCK);
    GOOD(MPI_File_write_at_all(file, 0, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < rounds; i++) {
        if ((i + rank) % 2) {
            memset(block, 'a' + (i + rank) % 26, BLOCK);
            GOOD(MPI_File_write_at(file, 0, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            GOOD(MPI_File_read_at(file, 0, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE));
            for (int at = 1; at < BLOCK; at++)
                torn += block[at] != block[0];
        }
    }
    THAT(torn == 0);
    GOOD(MPI_Type_free(&sparse));
    GOOD(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    THAT(class_of(MPI_File_delete(FILE_NAME, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file that one rank has open is deleted by no other; what is opened by another name, or for reading alone, is the same file. */
static void in_use(void)
{
    for (int owner = 0; owner < size; owner++) {
        MPI_File file = MPI_FILE_NULL, other;
        if (rank == owner) {
            file = opened(MPI_COMM_SELF, FILE_NAME, MPI_MODE_CREATE | MPI_MODE_WRONLY);
            GOOD(MPI_File_write_at(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        int value = -1;
        other = opened(MPI_COMM_SELF, FILE_NAME, MPI_MODE_RDONLY);
        GOOD(MPI_File_read_at(other, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        THAT(value == owner);
        GOOD(MPI_File_close(&other));
        MPI_Barrier(MPI_COMM_WORLD);
        THAT(class_of(MPI_File_delete(FILE_NAME, MPI_INFO_NULL)) == MPI_ERR_FILE_IN_USE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == owner)
            GOOD(MPI_File_close(&file));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == (owner + 1) % size)
            GOOD(MPI_File_delete(FILE_NAME, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        THAT(class_of(MPI_File_open(MPI_COMM_SELF, FILE_NAME, MPI_MODE_RDONLY, MPI_INFO_NULL, &other)) == MPI_ERR_NO_SUCH_FILE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 does for others what they ask for, whatever they have sent it that it has not received. */
static void behind_messages(void)
{
    enum { MANY = 400 };
    int value = -1, wrong = 0;
    if (rank == size - 1) {
        MPI_Request requests[MANY];
        for (int i = 0; i < MANY; i++)
            GOOD(MPI_Isend(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[i]));
        MPI_File file = opened(MPI_COMM_SELF, FILE_NAME, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        GOOD(MPI_File_write_at(file, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        GOOD(MPI_File_close(&file));
        GOOD(MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        GOOD(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    }
    if (rank == 0) {
        GOOD(MPI_Recv(&value, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY; i++) {
            GOOD(MPI_Recv(&value, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            wrong += value != size - 1;
        }
        THAT(wrong == 0);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    offsets();
    pointers(rounds);
    atomic(rounds);
    in_use();
    behind_messages();
    MPI_Allreduce(MPI_IN_PLACE, &checks_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return rank == 0 ? report("common files") : checks_failed != 0;
}
