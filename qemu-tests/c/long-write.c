/* Rank 0 writes gigabytes to its output by one call, write or send, and rank 1 ends the job meanwhile */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECE = 1 << 20, PIECES = 1024 };
static char nothing[PIECE];
static struct iovec vector[PIECES];

static void flood(int by_send)
{
    int file = open("/tmp/nothing", O_CREAT | O_RDWR, 0600);
    for (int n = 0; n < PIECES; n++)
        vector[n] = (struct iovec){nothing, PIECE};
    if (by_send && (file < 0 || ftruncate(file, (off_t)PIECE * PIECES)))
        exit(1);
    puts("the first line");
    fflush(stdout);
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (by_send)
        sendfile(1, file, NULL, (size_t)PIECE * PIECES);
    else
        writev(1, vector, PIECES);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        flood(argc > 1 && !strcmp(argv[1], "send"));
    else
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exit(3);
}
