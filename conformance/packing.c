/* Packing and unpacking, also as external32 (MPI-5.0, section 5.2). */
#include "check.h"

static void native(void)
{
    int number = 42, got = 0, position = 0, size = 0, other = 0;
    double values[2] = {1.5, -2.25}, back[2] = {0, 0};
    char buffer[256];
    OK(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size));
    CHECK(size >= 4);
    OK(MPI_Pack_size(2, MPI_DOUBLE, MPI_COMM_WORLD, &other));
    CHECK(other >= 16 && size + other <= (int)sizeof buffer);
    OK(MPI_Pack(&number, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(values, 2, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK(position > 0 && position <= size + other);
    /* Packed data travels as MPI_PACKED. */
    char arrived[256];
    int bytes = 0, place = 0;
    MPI_Status status;
    OK(MPI_Sendrecv(buffer, position, MPI_PACKED, rank_, 1, arrived, sizeof arrived, MPI_PACKED, rank_, 1, MPI_COMM_WORLD,
                    &status));
    OK(MPI_Get_count(&status, MPI_PACKED, &bytes));
    CHECK(bytes == position);
    OK(MPI_Unpack(arrived, bytes, &place, &got, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(arrived, bytes, &place, back, 2, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(got == 42 && back[0] == 1.5 && back[1] == -2.25 && place == position);
}

/* external32 is big-endian, without gaps. */
static void portable(void)
{
    int number = 0x01020304, got = 0;
    short small = 0x0506;
    unsigned char buffer[16] = {0};
    MPI_Aint size = 0, position = 0;
    OK(MPI_Pack_external_size("external32", 1, MPI_INT, &size));
    CHECK(size == 4);
    OK(MPI_Pack_external("external32", &number, 1, MPI_INT, buffer, sizeof buffer, &position));
    OK(MPI_Pack_external("external32", &small, 1, MPI_SHORT, buffer, sizeof buffer, &position));
    CHECK(position == 6);
    for (int i = 0; i < 6; i++)
        CHECK(buffer[i] == i + 1);
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, 6, &position, &got, 1, MPI_INT));
    CHECK(got == number && position == 4);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    native();
    portable();
    return finish("packing");
}
