/* Messages and datatypes by sizes: see sweep.c. */
#ifndef SWEEP_MESSAGES_H
#define SWEEP_MESSAGES_H

#include "sweep_world.h"

/* The longest message from and to the stack. */
enum { STACK_BYTES = 64 << 10 };

static void back_and_forth(char *from, char *to, int bytes)
{
    if (rank == 0) {
        MPI_Send(from, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(to, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(to, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}
static void ping_pong(int bytes)
{
    back_and_forth(out, in, bytes);
}
static void ping_pong_odd(int bytes)
{
    back_and_forth(odd_out, odd_in, bytes);
}

/* Buffers of malloc's own choice, made before the time is taken. */
static char *malloced[2];
static void open_malloc(int bytes)
{
    for (int i = 0; i < 2; i++) {
        malloced[i] = malloc((size_t)bytes + 1);
        if (!malloced[i])
            MPI_Abort(MPI_COMM_WORLD, 2);
        memset(malloced[i], 0, (size_t)bytes + 1);
    }
}
static void close_malloc(void)
{
    free(malloced[0]);
    free(malloced[1]);
}
static void ping_pong_malloc(int bytes)
{
    back_and_forth(malloced[0], malloced[1], bytes);
}
static void ping_pong_stack(int bytes)
{
    char from[STACK_BYTES], to[STACK_BYTES];
    __asm__ volatile("" : : "r"(from), "r"(to) : "memory");
    back_and_forth(from, to, bytes);
}

/* A kept send and receive. */
static MPI_Request both[2];
static void open_persistent(int bytes)
{
    if (rank > 1)
        return;
    MPI_Send_init(out, bytes, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &both[0]);
    MPI_Recv_init(in, bytes, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &both[1]);
}
static void close_persistent(void)
{
    for (int i = 0; i < 2 && rank <= 1; i++)
        MPI_Request_free(&both[i]);
}
static void exchange_persistent(int bytes)
{
    (void)bytes;
    if (rank > 1)
        return;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

/* A window of messages from rank 0 to rank 1, and one back. */
static void stream_of(char *from, char *to, int bytes)
{
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(from, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(to, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(to, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(from, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
}
static void stream(int bytes)
{
    stream_of(out, in, bytes);
}
static void stream_odd(int bytes)
{
    stream_of(odd_out, odd_in, bytes);
}

/* Windows of messages both ways at once. */
static void both_ways(int bytes)
{
    if (rank > 1)
        return;
    for (int i = 0; i < WINDOW / 2; i++)
        MPI_Irecv(in, bytes, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, &requests[i]);
    for (int i = WINDOW / 2; i < WINDOW; i++)
        MPI_Isend(out, bytes, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

/* Packing and unpacking of so many bytes of data, of types that are made before the time is taken. Rank 0 alone has an answer to give. */

static MPI_Datatype packed;
static void open_vector(int bytes)
{
    MPI_Type_vector(bytes / 8, 1, 2, MPI_DOUBLE, &packed);
    MPI_Type_commit(&packed);
}
/* Rows of eight numbers, each of which has a gap behind it. */
static void open_nested(int bytes)
{
    MPI_Datatype row;
    MPI_Type_vector(8, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_create_hvector(bytes / 64, 1, 192, row, &packed);
    MPI_Type_commit(&packed);
    MPI_Type_free(&row);
}
/* Records of a double, an int and a float, in an array. */
static void open_records(int bytes)
{
    int lengths[3] = {1, 1, 1};
    MPI_Aint offsets[3] = {0, 8, 16};
    MPI_Datatype parts[3] = {MPI_DOUBLE, MPI_INT, MPI_FLOAT}, record, whole;
    MPI_Type_create_struct(3, lengths, offsets, parts, &record);
    MPI_Type_create_resized(record, 0, 24, &whole);
    MPI_Type_contiguous(bytes / 16, whole, &packed);
    MPI_Type_commit(&packed);
    MPI_Type_free(&whole);
    MPI_Type_free(&record);
}
static void close_packed(void)
{
    MPI_Type_free(&packed);
}
static void pack(int bytes)
{
    int at = 0;
    if (rank == 0)
        MPI_Pack(in, 1, packed, out, bytes, &at, MPI_COMM_WORLD);
}
static void unpack(int bytes)
{
    int at = 0;
    if (rank == 0)
        MPI_Unpack(out, bytes, &at, in, 1, packed, MPI_COMM_WORLD);
}
static void send_packed(int bytes)
{
    if (rank == 0) {
        MPI_Send(in, 1, packed, 1, 5, MPI_COMM_WORLD);
        MPI_Recv(out, bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(out, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(in, 1, packed, 0, 5, MPI_COMM_WORLD);
    }
}

#endif
