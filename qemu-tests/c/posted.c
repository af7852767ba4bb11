/* Receives that are posted before their messages come, long ones and short ones, of any tag and of any source, in orders that a seed gives: each gets the message that MPI's order
   gives it. With an argument also that a message whose receive is posted needs nothing of the receiver (which no MPI has to grant; `--transport limic` does). */
#include "check.h"
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST = 24, LONG = 20000, TAGS = 3, ROUNDS = 40 };

static int rank, size;
static uint64_t chance = 1;
static unsigned char out[MOST][LONG], in[MOST][LONG];

static unsigned below(unsigned limit)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % limit;
}

static void fill(unsigned char *at, int bytes, int salt)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(salt * 31 + i + (i >> 8));
}

static int is(const unsigned char *at, int bytes, int salt)
{
    for (int i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)(salt * 31 + i + (i >> 8)))
            return 0;
    return 1;
}

static int length(MPI_Status *status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    return bytes;
}

/* The sender finds the receive, and both are done, while the receiver calls nothing. */
static void without_the_receiver(void)
{
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    volatile int *gone;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&gone, &window);
    MPI_Win_shared_query(window, 1, &bytes, &unit, (void *)&gone);
    MPI_Request request;
    MPI_Status status;
    if (rank == 1) {
        *gone = 0;
        MPI_Irecv(in[0], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        fill(out[0], LONG, 1);
        MPI_Ssend(out[0], LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        *gone = 1;
    } else if (rank == 1) {
        while (!*gone) {
        }
        THAT(is(in[0], LONG, 1));
        MPI_Wait(&request, &status);
        THAT(status.MPI_SOURCE == 0 && status.MPI_TAG == 1 && length(&status) == LONG);
    }
    MPI_Win_free(&window);
}

/* Messages and receives of one pair in an order by chance, some posted before. All messages of one source come in order, so which receive gets which does not depend on time. */
static void one_round(int round)
{
    int bytes[MOST], tags[MOST], wants[MOST], gets[MOST], of[MOST], is_short[MOST], count, before, whole;
    do {
        count = 1 + below(MOST), before = below(count + 1), whole = 1;
        for (int i = 0; i < count; i++) {
            bytes[i] = below(3) ? 4097 + below(LONG - 4096) : below(4097);
            tags[i] = below(TAGS);
            wants[i] = below(3) ? tags[i] : MPI_ANY_TAG;
            is_short[i] = 0, gets[i] = -1;
        }
        for (int i = count - 1; i > 0; i--) {
            int j = below(3) ? i : (int)below(i + 1), want = wants[i];
            wants[i] = wants[j], wants[j] = want;
        }
        for (int i = 0; i < count; i++) {
            int j = 0;
            while (j < count && (gets[j] >= 0 || (wants[j] != MPI_ANY_TAG && wants[j] != tags[i])))
                j++;
            if (j < count)
                gets[j] = i, of[i] = j;
            else
                whole = 0;
        }
    } while (!whole);
    /* Some receives have just enough room, so that they are not all worth a look by whoever matches long ones. */
    for (int i = 0; i < count; i++)
        is_short[i] = below(4) == 0;
    int any_source = below(3) == 0, blocking = below(2), ssend = below(2), late = below(2);
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST];
    if (rank == 1) {
        for (int i = 0; i < count; i++) {
            if (i == before)
                MPI_Barrier(MPI_COMM_WORLD);
            int room = is_short[i] ? bytes[gets[i]] : LONG, from = any_source && i % 3 == 0 ? MPI_ANY_SOURCE : 0;
            memset(in[i], 0, LONG);
            MPI_Irecv(in[i], room, MPI_BYTE, from, wants[i], MPI_COMM_WORLD, &requests[i]);
            int flag;
            if (late && i % 5 == 4)
                MPI_Testall(i + 1, requests, &flag, MPI_STATUSES_IGNORE), late = !flag;
        }
        if (before == count)
            MPI_Barrier(MPI_COMM_WORLD);
        if (blocking)
            for (int i = count - 1; i >= 0; i--)
                MPI_Wait(&requests[i], &statuses[i]);
        else
            MPI_Waitall(count, requests, statuses);
        for (int i = 0; i < count; i++) {
            int message = gets[i];
            THAT(is(in[i], bytes[message], round + message));
            THAT(bytes[message] == LONG || in[i][bytes[message]] == 0);
        }
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < count; i++) {
            fill(out[i], bytes[i], round + i);
            requests[i] = MPI_REQUEST_NULL;
            if (ssend && of[i] == i && i + 1 == count)
                MPI_Issend(out[i], bytes[i], MPI_BYTE, 1, tags[i], MPI_COMM_WORLD, &requests[i]);
            else if (blocking && of[i] <= i && i % 2)
                MPI_Send(out[i], bytes[i], MPI_BYTE, 1, tags[i], MPI_COMM_WORLD);
            else
                MPI_Isend(out[i], bytes[i], MPI_BYTE, 1, tags[i], MPI_COMM_WORLD, &requests[i]);
        }
        if (rank == 0)
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
}

/* A receive from any source that is older than one from rank 0 gets the first message. */
static void any_source_first(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    if (rank == 1) {
        MPI_Irecv(in[0], LONG, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in[1], LONG, MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(in[2], LONG, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 3; i++) {
            fill(out[i], LONG - i, i);
            MPI_Send(out[i], LONG - i, MPI_BYTE, 1, i < 2 ? 5 : 6, MPI_COMM_WORLD);
        }
    if (rank == 1) {
        MPI_Waitall(3, requests, statuses);
        THAT(is(in[1], LONG, 0) && is(in[2], LONG - 1, 1) && is(in[0], LONG - 2, 2));
        THAT(statuses[1].MPI_SOURCE == 0 && length(&statuses[1]) == LONG && length(&statuses[2]) == LONG - 1);
        THAT(statuses[0].MPI_TAG == 6 && length(&statuses[0]) == LONG - 2);
    }
}

/* Cancelled receives get nothing; a probe sees what no posted receive takes; a receive that is too short says so; a freed one gets its message all the same. */
static void the_rest(void)
{
    MPI_Request requests[3];
    MPI_Status status;
    int flag;
    if (rank == 1) {
        MPI_Irecv(in[0], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in[1], 9000, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(in[2], LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[2]);
        MPI_Cancel(&requests[0]);
        MPI_Wait(&requests[0], &status);
        MPI_Test_cancelled(&status, &flag);
        THAT(flag);
        MPI_Request_free(&requests[2]);
        memset(in[1], 0, LONG);
        memset(in[3], 0, LONG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int tags[] = {1, 2, 3, 1};
        for (int i = 0; i < 4; i++) {
            fill(out[i], LONG, 50 + i);
            MPI_Isend(out[i], LONG, MPI_BYTE, 1, tags[i], MPI_COMM_WORLD, &requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
    }
    if (rank == 1) {
        /* An error of a wait is of no communicator, which some libraries take for the world and others for this rank alone. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int error = MPI_Wait(&requests[1], &status), class = 0;
        MPI_Error_class(error, &class);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        THAT(class == MPI_ERR_TRUNCATE && in[1][9000] == 0);
        MPI_Irecv(in[0], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Probe(0, 3, MPI_COMM_WORLD, &status);
        THAT(status.MPI_TAG == 3 && length(&status) == LONG);
        MPI_Recv(in[3], LONG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status);
        THAT(is(in[3], LONG, 52));
        MPI_Wait(&requests[0], &status);
        THAT(is(in[0], LONG, 53) && is(in[2], LONG, 51));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Persistent ones, of a layout with gaps, too. */
    MPI_Datatype gaps;
    MPI_Type_vector(LONG / 4, 2, 4, MPI_BYTE, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 1) {
        MPI_Recv_init(in[0], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(in[1], 1, gaps, 0, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Recv_init(in[2], LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[2]);
    }
    for (int round = 0; round < 8; round++) {
        if (rank == 1)
            MPI_Startall(3, requests);
        if (round % 2)
            MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            for (int i = 0; i < 3; i++) {
                int bytes = i == 1 ? LONG / 2 : LONG;
                fill(out[i], bytes, round * 3 + i);
                MPI_Ssend(out[i], bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            }
        if (rank == 1) {
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
            THAT(is(in[0], LONG, round * 3) && is(in[2], LONG, round * 3 + 2));
            for (int i = 0; i < LONG / 2; i++)
                out[1][i] = in[1][i / 2 * 4 + i % 2];
            THAT(is(out[1], LONG / 2, round * 3 + 1));
        }
    }
    if (rank == 1)
        for (int i = 0; i < 3; i++)
            MPI_Request_free(&requests[i]);
    MPI_Type_free(&gaps);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)argv;
    if (argc > 1)
        without_the_receiver();
    any_source_first();
    the_rest();
    for (int round = 0; round < ROUNDS; round++)
        one_round(round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        report("posted");
    MPI_Finalize();
    return checks_failed != 0;
}
