/* Datatypes: making, describing and decoding them, and messages of them (MPI-5.0, chapter 5). */
#include "check.h"
#include <stddef.h>

static void extents(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent, int size)
{
    MPI_Aint low = -77, wide = -77;
    MPI_Count low_x = -77, wide_x = -77, size_x = -77;
    int bytes = -77;
    OK(MPI_Type_get_extent(type, &low, &wide));
    CHECK(low == lb && wide == extent);
    OK(MPI_Type_get_true_extent(type, &low, &wide));
    CHECK(low == true_lb && wide == true_extent);
    OK(MPI_Type_get_extent_x(type, &low_x, &wide_x));
    CHECK(low_x == lb && wide_x == extent);
    OK(MPI_Type_get_true_extent_x(type, &low_x, &wide_x));
    CHECK(low_x == true_lb && wide_x == true_extent);
    OK(MPI_Type_size(type, &bytes));
    CHECK(bytes == size);
    OK(MPI_Type_size_x(type, &size_x));
    CHECK(size_x == size);
}

static void envelope(MPI_Datatype type, int integers, int addresses, int datatypes, int combiner)
{
    int counts[3] = {-1, -1, -1}, how = -1;
    OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &how));
    CHECK(counts[0] == integers && counts[1] == addresses && counts[2] == datatypes && how == combiner);
}

/* Sends one item of the type from a filled buffer to this rank itself and counts what arrives: exactly the type's bytes. */
static void message(MPI_Datatype type, const unsigned char *wanted, int room)
{
    unsigned char out[256], in[256];
    int count = -1;
    MPI_Status status;
    for (int i = 0; i < 256; i++)
        out[i] = i, in[i] = 255;
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(out, 1, type, rank_, 1, in, 1, type, rank_, 1, MPI_COMM_WORLD, &status));
    for (int i = 0; i < room; i++)
        CHECK(in[i] == (wanted[i] ? i : 255));
    OK(MPI_Get_count(&status, type, &count));
    CHECK(count == 1);
}

static void simple(void)
{
    MPI_Datatype type, copy;
    int ints[1] = {0};
    MPI_Datatype inner[1];
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    extents(type, 0, 12, 0, 12, 12);
    envelope(type, 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
    OK(MPI_Type_get_contents(type, 1, 0, 1, ints, NULL, inner));
    CHECK(ints[0] == 3 && inner[0] == MPI_INT);
    OK(MPI_Type_dup(type, &copy));
    envelope(copy, 0, 0, 1, MPI_COMBINER_DUP);
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    extents(copy, 0, 12, 0, 12, 12);
    OK(MPI_Type_free(&copy));
    envelope(MPI_DOUBLE, 0, 0, 0, MPI_COMBINER_NAMED);
}

static void strided(void)
{
    static const unsigned char wanted[28] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    MPI_Datatype type;
    OK(MPI_Type_vector(3, 1, 3, MPI_INT, &type));
    extents(type, 0, 28, 0, 28, 12);
    envelope(type, 3, 0, 1, MPI_COMBINER_VECTOR);
    message(type, wanted, 28);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hvector(3, 1, 12, MPI_INT, &type));
    extents(type, 0, 28, 0, 28, 12);
    envelope(type, 2, 1, 1, MPI_COMBINER_HVECTOR);
    message(type, wanted, 28);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_vector(2, 1, -2, MPI_INT, &type));
    extents(type, -8, 12, -8, 12, 8);
    OK(MPI_Type_free(&type));
}

static void indexed(void)
{
    static const unsigned char wanted[24] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    int lengths[2] = {2, 1}, places[2] = {1, 5}, ints[8];
    MPI_Aint bytes[2] = {4, 20}, addresses[2];
    MPI_Datatype type, inner[1];
    OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &type));
    extents(type, 4, 20, 4, 20, 12);
    envelope(type, 5, 0, 1, MPI_COMBINER_INDEXED);
    OK(MPI_Type_get_contents(type, 5, 0, 1, ints, NULL, inner));
    CHECK(ints[0] == 2 && ints[1] == 2 && ints[2] == 1 && ints[3] == 1 && ints[4] == 5);
    message(type, wanted, 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type));
    envelope(type, 3, 2, 1, MPI_COMBINER_HINDEXED);
    OK(MPI_Type_get_contents(type, 3, 2, 1, ints, addresses, inner));
    CHECK(addresses[0] == 4 && addresses[1] == 20 && inner[0] == MPI_INT);
    message(type, wanted, 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &type));
    extents(type, 4, 20, 4, 20, 8);
    envelope(type, 4, 0, 1, MPI_COMBINER_INDEXED_BLOCK);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &type));
    extents(type, 4, 20, 4, 20, 8);
    envelope(type, 2, 2, 1, MPI_COMBINER_HINDEXED_BLOCK);
    OK(MPI_Type_free(&type));
}

struct mixed {
    char letter;
    double number;
    int pair[2];
};

static void structures(void)
{
    struct mixed out = {'x', 2.5, {7, 9}}, in = {0, 0, {0, 0}};
    int lengths[3] = {1, 1, 2}, elements = 0;
    MPI_Aint places[3] = {offsetof(struct mixed, letter), offsetof(struct mixed, number), offsetof(struct mixed, pair)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, type, resized;
    MPI_Count elements_x = 0;
    MPI_Status status;
    OK(MPI_Type_create_struct(3, lengths, places, parts, &type));
    envelope(type, 4, 3, 3, MPI_COMBINER_STRUCT);
    OK(MPI_Type_create_resized(type, 0, sizeof(struct mixed), &resized));
    extents(resized, 0, sizeof(struct mixed), 0, 24, 17);
    envelope(resized, 0, 2, 1, MPI_COMBINER_RESIZED);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_commit(&resized));
    OK(MPI_Sendrecv(&out, 1, resized, rank_, 2, &in, 1, resized, rank_, 2, MPI_COMM_WORLD, &status));
    CHECK(in.letter == 'x' && in.number == 2.5 && in.pair[0] == 7 && in.pair[1] == 9);
    OK(MPI_Get_elements(&status, resized, &elements));
    OK(MPI_Get_elements_x(&status, resized, &elements_x));
    CHECK(elements == 4 && elements_x == 4);
    OK(MPI_Status_set_elements(&status, MPI_INT, 6));
    OK(MPI_Get_count(&status, MPI_INT, &elements));
    CHECK(elements == 6);
    OK(MPI_Status_set_elements_x(&status, MPI_INT, 3));
    OK(MPI_Get_count(&status, MPI_DOUBLE, &elements));
    CHECK(elements == MPI_UNDEFINED);
    OK(MPI_Type_free(&resized));
}

static void arrays(void)
{
    int sizes[2] = {4, 5}, parts[2] = {2, 3}, starts[2] = {1, 2};
    int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[2] = {2, 2};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 1};
    int out[20], in[20];
    MPI_Datatype type;
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    extents(type, 0, 80, 28, 32, 24);
    envelope(type, 8, 0, 1, MPI_COMBINER_SUBARRAY);
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 20; i++)
        out[i] = i, in[i] = -1;
    OK(MPI_Sendrecv(out, 1, type, rank_, 3, in, 6, MPI_INT, rank_, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == 7 && in[2] == 9 && in[3] == 12 && in[5] == 14 && in[6] == -1);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_darray(4, 3, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
    envelope(type, 12, 0, 1, MPI_COMBINER_DARRAY);
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(out, 1, type, rank_, 4, in, 20, MPI_INT, rank_, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[0] == 11 && in[1] == 13 && in[2] == 16 && in[3] == 18);
    OK(MPI_Type_free(&type));
}

static void others(void)
{
    int value = 3;
    MPI_Aint address = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    OK(MPI_Get_address(&value, &address));
    CHECK(address == (MPI_Aint)(intptr_t)&value);
    CHECK(MPI_Aint_add(address, 8) == address + 8 && MPI_Aint_diff(address + 8, address) == 8);
    OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type));
    int size = 0;
    OK(MPI_Type_size(type, &size));
    CHECK(size == 4);
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    OK(MPI_Type_size(type, &size));
    CHECK(size == 8);
    /* A message from absolute addresses. */
    int lengths[1] = {1}, got = 0;
    OK(MPI_Type_create_hindexed(1, lengths, &address, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, type, rank_, 5, &got, 1, MPI_INT, rank_, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == 3);
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    simple();
    strided();
    indexed();
    structures();
    arrays();
    others();
    return finish("datatypes");
}
