/* MPI files on a small file system: what is written under /out stays when there is no space for more */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define BLOCK (256 << 10)

static char block[BLOCK];

int main(int count, char **words)
{
    MPI_File file, filler;
    MPI_Offset size = -1;
    MPI_Status status;
    int rank, got = -1, class = -1, code, good = 1;
    char text[64], given[64] = "";
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* A line of each rank, in their order. */
    MPI_File_open(MPI_COMM_WORLD, "/out/lines", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    int length = snprintf(text, sizeof text, "line of rank %d\n", rank);
    good &= MPI_File_write_ordered(file, text, length, MPI_CHAR, &status) == MPI_SUCCESS;
    good &= MPI_File_close(&file) == MPI_SUCCESS;
    /* A file that the job was given. */
    if (count > 1) {
        good &= MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS;
        MPI_File_read_all(file, given, sizeof given - 1, MPI_CHAR, &status);
        MPI_Get_count(&status, MPI_CHAR, &got);
        good &= got == 5 && !strcmp(given, "given");
        MPI_File_close(&file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_File_open(MPI_COMM_SELF, "/tmp/filler", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &filler);
        do
            code = MPI_File_write(filler, block, BLOCK, MPI_BYTE, &status);
        while (code == MPI_SUCCESS);
        MPI_Error_class(code, &class);
        good &= class == MPI_ERR_NO_SPACE;
        MPI_File_get_size(filler, &size);
        good &= size >= 1 << 20;
        MPI_Error_class(MPI_File_preallocate(filler, 1 << 30), &class);
        good &= class == MPI_ERR_NO_SPACE;
        good &= MPI_File_close(&filler) == MPI_SUCCESS;
        /* There is space again. */
        good &= MPI_File_open(MPI_COMM_SELF, "/out/more", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS;
        good &= MPI_File_write(file, block, BLOCK, MPI_BYTE, &status) == MPI_SUCCESS;
        MPI_File_close(&file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (good)
        printf("rank %d: written and full\n", rank);
    MPI_Finalize();
    return !good;
}
