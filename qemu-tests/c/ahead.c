/* Standard sends without a receiver: up to 8 KiB a message and 64 KiB for one peer, whatever the form, layout and communicator, a send completes before its
   receive is posted. Every rank sends first and receives then. (The standard lets a send wait; programs that are meant to run anywhere do not
   rely on it, but many do.) An argument: not the many messages of few bytes. */
#include "check.h"
#include <mpi.h>
#include <stdlib.h>

enum { TAG = 3, MESSAGE = 8 << 10, PEER = 64 << 10 };

static int rank, size;
static unsigned char out[PEER], in[PEER];

static unsigned char byte(int sender, int salt, int place)
{
    return sender * 31 + salt * 17 + place + (place >> 8);
}

static void fill(int salt, int from, int bytes)
{
    for (int i = from; i < from + bytes; i++)
        out[i] = byte(rank, salt, i);
}

static int is_from(int sender, int salt, int from, int bytes)
{
    for (int i = from; i < from + bytes; i++)
        if (in[i] != byte(sender, salt, i))
            return 0;
    return 1;
}

/* One message each way, by every form of send. */
static void one(int bytes, int form, int to, int from, int sender, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int index, count;
    fill(bytes, 0, bytes);
    switch (form) {
    case 0:
        MPI_Send(out, bytes, MPI_BYTE, to, TAG, comm);
        break;
    case 1:
        MPI_Send_init(out, bytes, MPI_BYTE, to, TAG, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        break;
    default:
        MPI_Isend(out, bytes, MPI_BYTE, to, TAG, comm, &request);
        if (form == 2)
            MPI_Wait(&request, &status);
        else if (form == 3)
            MPI_Waitall(1, &request, &status);
        else if (form == 4)
            MPI_Waitany(1, &request, &index, &status);
        else
            MPI_Waitsome(1, &request, &count, &index, &status);
    }
    /* The buffer is free. */
    memset(out, 0xff, bytes);
    memset(in, 0, bytes);
    MPI_Recv(in, bytes, MPI_BYTE, from, TAG, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    THAT(count == bytes && is_from(sender, bytes, 0, bytes));
    if (form == 1)
        MPI_Request_free(&request);
}

static void sizes(int to, int from, int sender, MPI_Comm comm)
{
    for (int bytes = 0; bytes <= MESSAGE; bytes += bytes < 600 ? 1 : 321)
        one(bytes, bytes % 6, to, from, sender, comm);
    for (int form = 0; form < 6; form++)
        one(MESSAGE, form, to, from, sender, comm);
}

/* Messages of one size, up to 64 KiB together, before the first is received. */
static void window(int bytes, int blocking, int to, int from, int sender, MPI_Comm comm)
{
    enum { MOST = PEER / 8 };
    static MPI_Request requests[MOST];
    int count = PEER / bytes;
    fill(bytes, 0, PEER);
    for (int i = 0; i < count; i++)
        if (blocking)
            MPI_Send(out + i * bytes, bytes, MPI_BYTE, to, TAG, comm);
        else
            MPI_Isend(out + i * bytes, bytes, MPI_BYTE, to, TAG, comm, &requests[i]);
    if (!blocking)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    memset(out, 0xff, PEER);
    memset(in, 0, PEER);
    for (int i = 0; i < count; i++)
        MPI_Recv(in + i * bytes, bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
    THAT(is_from(sender, bytes, 0, count * bytes));
}

/* Layouts, which may be freed when the send has begun; received into the same layout and as a block. */
static void layouts(int to, int from, MPI_Comm comm)
{
    enum { INTS = 1500 };
    static int data[4 * INTS], back[4 * INTS];
    int lengths[] = {INTS / 2, INTS - INTS / 2}, places[] = {7, 2 * INTS}, one = 1;
    MPI_Aint offsets[] = {12, 8 * INTS};
    MPI_Datatype types[5], kinds[] = {MPI_INT, MPI_INT}, pair;
    for (int block = 0; block < 2; block++) {
        MPI_Type_vector(INTS, 1, 2, MPI_INT, &types[0]);
        MPI_Type_indexed(2, lengths, places, MPI_INT, &types[1]);
        MPI_Type_create_struct(2, lengths, offsets, kinds, &types[2]);
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_vector(INTS / 2, 1, 2, pair, &types[3]);
        MPI_Type_create_hvector(INTS, one, 8, MPI_INT, &types[4]);
        MPI_Type_free(&pair);
        for (int i = 0; i < 5; i++) {
            MPI_Type_commit(&types[i]);
            for (int k = 0; k < 4 * INTS; k++)
                data[k] = rank * 100000 + k, back[k] = -1;
            MPI_Datatype sent;
            MPI_Type_dup(types[i], &sent);
            MPI_Send(data, 1, sent, to, TAG, comm);
            MPI_Type_free(&sent);
            memset(data, 0, sizeof data);
            if (block) {
                MPI_Recv(back, INTS, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
                for (int k = 0; k < INTS; k++)
                    THAT(back[k] >= from * 100000 && back[k] < from * 100000 + 4 * INTS && (k == 0 || back[k] > back[k - 1]));
            } else {
                MPI_Recv(back, 1, types[i], from, TAG, comm, MPI_STATUS_IGNORE);
                int got = 0;
                for (int k = 0; k < 4 * INTS; k++) {
                    THAT(back[k] == -1 || back[k] == from * 100000 + k);
                    got += back[k] != -1;
                }
                THAT(got == INTS);
            }
            MPI_Type_free(&types[i]);
        }
    }
}

/* Everybody to everybody, 64 KiB each; matched out of order, by probes, and by wildcards. */
static void everybody(MPI_Comm comm)
{
    enum { MESSAGES = PEER / MESSAGE };
    MPI_Status status;
    MPI_Message message;
    for (int i = 0; i < MESSAGES; i++) {
        fill(i, i * MESSAGE, MESSAGE);
        for (int to = 0; to < size; to++)
            MPI_Send(out + i * MESSAGE, MESSAGE, MPI_BYTE, to, i, comm);
    }
    memset(out, 0xff, PEER);
    for (int from = size - 1; from >= 0; from--)
        for (int i = MESSAGES - 1; i > 0; i--) {
            unsigned char *to = in + i * MESSAGE;
            if (i % 3 == 0) {
                MPI_Mprobe(from, i, comm, &message, &status);
                MPI_Mrecv(to, MESSAGE, MPI_BYTE, &message, &status);
            } else
                MPI_Recv(to, MESSAGE, MPI_BYTE, from, i, comm, &status);
            THAT(is_from(from, i, i * MESSAGE, MESSAGE));
        }
    for (int i = 0; i < size; i++) {
        MPI_Recv(in, MESSAGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        THAT(status.MPI_TAG == 0 && is_from(status.MPI_SOURCE, 0, 0, MESSAGE));
    }
}

/* Sent ahead, and then a communicator that is freed, a matched probe before the receiver's own sends, and the end of the program. */
static void ends(int to, int from)
{
    MPI_Comm other;
    MPI_Request request;
    MPI_Message message;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Irecv(in, MESSAGE, MPI_BYTE, from, TAG, other, &request);
    fill(1, 0, MESSAGE);
    MPI_Send(out, MESSAGE, MPI_BYTE, to, TAG, other);
    MPI_Comm_free(&other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    THAT(is_from(from, 1, 0, MESSAGE));
    fill(2, 0, MESSAGE);
    MPI_Isend(out, MESSAGE, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
    MPI_Mprobe(from, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 0xff, MESSAGE);
    MPI_Mrecv(in, MESSAGE, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    THAT(is_from(from, 2, 0, MESSAGE));
    MPI_Barrier(MPI_COMM_WORLD);
    fill(3, 0, MESSAGE);
    if (rank == 0)
        for (int peer = 1; peer < size; peer++)
            MPI_Send(out, MESSAGE, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    memset(out, 0xff, MESSAGE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    sizes(next, previous, previous, MPI_COMM_WORLD);
    sizes(0, 0, rank, MPI_COMM_SELF);
    for (int bytes = argc > 1 ? 1024 : 8; bytes <= MESSAGE; bytes *= 2)
        for (int odd = 0; odd < 2; odd++) {
            window(bytes + odd, 1, next, previous, previous, MPI_COMM_WORLD);
            window(bytes + odd, 0, next, previous, previous, MPI_COMM_WORLD);
        }
    layouts(next, previous, MPI_COMM_WORLD);
    everybody(MPI_COMM_WORLD);
    if (size > 1 && size % 2 == 0) {
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
        sizes(rank / 2, rank / 2, rank ^ 1, inter);
        window(MESSAGE, 1, rank / 2, rank / 2, rank ^ 1, inter);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    ends(next, previous);
    int sums[2] = {checks_made, checks_failed}, all[2];
    MPI_Allreduce(sums, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    checks_made = all[0], checks_failed = all[1];
    if (rank == 0)
        report("ahead");
    else {
        /* Rank 0 is in MPI_Finalize, or on its way. */
        memset(in, 0, MESSAGE);
        MPI_Recv(in, MESSAGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!is_from(0, 3, 0, MESSAGE))
            return 1;
    }
    MPI_Finalize();
    return all[1] != 0;
}
