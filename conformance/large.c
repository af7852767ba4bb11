/* Functions with counts of type MPI_Count, whose names end in _c: messages, requests, datatypes, packing (MPI-5.0, section 19.2). */
#include "check.h"

#if MPI_VERSION >= 4
static void messages(void)
{
    static char attached[4096];
    int out[4] = {1, 2, 3, 4}, in[4];
    MPI_Count count = -1, size = -1;
    void *address;
    MPI_Message message;
    MPI_Request requests[2];
    MPI_Status status;
    OK(MPI_Buffer_attach_c(attached, sizeof attached));
    OK(MPI_Irecv_c(in, 4, MPI_INT, rank_, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_c(out, 4, MPI_INT, rank_, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Get_count_c(&status, MPI_INT, &count));
    CHECK(count == 4 && in[3] == 4);
    int (*const starts[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {MPI_Isend_c, MPI_Issend_c,
                                                                                                       MPI_Ibsend_c};
    for (int i = 0; i < 3; i++) {
        OK(starts[i](out, 4, MPI_INT, rank_, 2, MPI_COMM_WORLD, &requests[0]));
        in[0] = 0;
        OK(MPI_Recv_c(in, 4, MPI_INT, rank_, 2, MPI_COMM_WORLD, &status));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        CHECK(in[0] == 1);
    }
    OK(MPI_Irecv_c(in, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Rsend_c(out, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Irecv_c(in, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Ssend_c(out, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Bsend_c(out, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD));
    OK(MPI_Mprobe(rank_, 3, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv_c(in, 4, MPI_INT, &message, &status));
    OK(MPI_Bsend_c(out, 4, MPI_INT, rank_, 3, MPI_COMM_WORLD));
    OK(MPI_Mprobe(rank_, 3, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Imrecv_c(in, 4, MPI_INT, &message, &requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Sendrecv_c(out, 4, MPI_INT, rank_, 4, in, 4, MPI_INT, rank_, 4, MPI_COMM_WORLD, &status));
    OK(MPI_Sendrecv_replace_c(in, 4, MPI_INT, rank_, 4, rank_, 4, MPI_COMM_WORLD, &status));
    CHECK(in[0] == 1 && in[3] == 4);
    OK(MPI_Send_init_c(out, 4, MPI_INT, rank_, 5, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init_c(in, 4, MPI_INT, rank_, 5, MPI_COMM_WORLD, &requests[1]));
    in[2] = 0;
    OK(MPI_Startall(2, requests));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in[2] == 3);
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Buffer_detach_c(&address, &size));
    CHECK(address == attached && size == sizeof attached);
}

static void collectives(void)
{
    int mine = rank_ + 1, sum = 0, wanted = size_ * (size_ + 1) / 2, value = rank_ == 0 ? 9 : 0;
    OK(MPI_Allreduce_c(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == wanted);
    OK(MPI_Bcast_c(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(value == 9);
}

static void datatypes(void)
{
    MPI_Datatype type, inner[1];
    MPI_Count counts[4] = {-1, -1, -1, -1}, low = -1, wide = -1, size = -1, large[4];
    MPI_Count lengths[2] = {1, 2}, places[2] = {0, 16};
    int combiner = 0, ints[1];
    MPI_Aint addresses[1];
    /* More elements than an int can count. */
    OK(MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_CHAR, &type));
    OK(MPI_Type_size_c(type, &size));
    CHECK(size == (MPI_Count)1 << 33);
    int small = 0;
    OK(MPI_Type_size(type, &small));
    CHECK(small == MPI_UNDEFINED);
    OK(MPI_Type_get_extent_c(type, &low, &wide));
    CHECK(low == 0 && wide == (MPI_Count)1 << 33);
    OK(MPI_Type_get_true_extent_c(type, &low, &wide));
    CHECK(low == 0 && wide == (MPI_Count)1 << 33);
    OK(MPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], &combiner));
    CHECK(combiner == MPI_COMBINER_CONTIGUOUS && counts[0] == 0 && counts[2] == 1 && counts[3] == 1);
    OK(MPI_Type_get_contents_c(type, 0, 0, 1, 1, ints, addresses, large, inner));
    CHECK(large[0] == (MPI_Count)1 << 33 && inner[0] == MPI_CHAR);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_vector_c(2, 1, 3, MPI_INT, &type));
    OK(MPI_Type_size_c(type, &size));
    CHECK(size == 8);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_size_c(type, &size));
    CHECK(size == 12);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_indexed_block_c(2, 1, places, MPI_INT, &type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_hindexed_block_c(2, 1, places, MPI_INT, &type));
    OK(MPI_Type_free(&type));
    MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
    OK(MPI_Type_create_struct_c(2, lengths, places, parts, &type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_resized_c(MPI_INT, 0, 16, &type));
    OK(MPI_Type_get_extent_c(type, &low, &wide));
    CHECK(wide == 16);
    OK(MPI_Type_free(&type));
    MPI_Count whole[1] = {8}, part[1] = {4}, start[1] = {2};
    OK(MPI_Type_create_subarray_c(1, whole, part, start, MPI_ORDER_C, MPI_INT, &type));
    OK(MPI_Type_size_c(type, &size));
    CHECK(size == 16);
    OK(MPI_Type_free(&type));
}

static void packing(void)
{
    int value = 5, got = 0;
    char buffer[64];
    MPI_Count size = 0, position = 0;
    OK(MPI_Pack_size_c(1, MPI_INT, MPI_COMM_WORLD, &size));
    CHECK(size >= 4);
    OK(MPI_Pack_c(&value, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    size = position, position = 0;
    OK(MPI_Unpack_c(buffer, size, &position, &got, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK(got == 5 && position == size);
    position = 0;
    OK(MPI_Pack_external_size_c("external32", 1, MPI_INT, &size));
    CHECK(size == 4);
    OK(MPI_Pack_external_c("external32", &value, 1, MPI_INT, buffer, sizeof buffer, &position));
    position = got = 0;
    OK(MPI_Unpack_external_c("external32", buffer, 4, &position, &got, 1, MPI_INT));
    CHECK(got == 5 && position == 4);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#if MPI_VERSION >= 4
    messages();
    collectives();
    datatypes();
    packing();
#endif
    return finish("large");
}
