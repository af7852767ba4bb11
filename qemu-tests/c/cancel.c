/* Sends that are cancelled (MPI-5.0, section 3.8.4): waiting for one ends whatever others do; what was cancelled is never seen by its receiver, what was
   not arrives whole. In every mode and form, with every layout, wherever the message is by then: in the ring, among those that no receive wants,
   put off for want of room, in the buffer of buffered sends, matched by a probe. The first argument: the most bytes of a standard message that the
   transport takes over at once, so that it cannot be cancelled; a negative number, and of the many messages that fill a ring it need
   not give back all. The second: the seed of the race, which is printed. Every rank sends to the next around the ring, and may be its own neighbour. */
#include "check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 7, OTHER = 8, LOOKS = 50 };

static int rank, size, eager, fills_rings;
static unsigned seed;

/* A message's layout: one block, or every second integer. */
static MPI_Datatype spread(int ints)
{
    MPI_Datatype type;
    MPI_Type_vector(ints, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* A message of `ints` integers. */
typedef struct {
    int ints, step;
    MPI_Datatype type;
    int *data;
} Message;

static Message message(int ints, int spaced)
{
    Message it = {ints, spaced ? 2 : 1, MPI_DATATYPE_NULL, calloc(2 * ints + 1, sizeof(int))};
    if (spaced)
        it.type = spread(ints);
    else {
        MPI_Type_contiguous(ints, MPI_INT, &it.type);
        MPI_Type_commit(&it.type);
    }
    return it;
}

static void done(Message *it)
{
    MPI_Type_free(&it->type);
    free(it->data);
}

static void fill(Message *it, int salt)
{
    for (int i = 0; i < it->ints; i++)
        it->data[i * it->step] = salt * 1000003 + i;
}

static int is_filled(const Message *it, int salt)
{
    for (int i = 0; i < it->ints; i++)
        if (it->data[i * it->step] != salt * 1000003 + i)
            return 0;
    return 1;
}

enum mode { STANDARD, SYNCHRONOUS, READY, MODES };

static MPI_Request begin(enum mode mode, int persistent, const Message *it, int to, MPI_Comm comm)
{
    MPI_Request request;
    if (persistent) {
        if (mode == STANDARD)
            MPI_Send_init(it->data, 1, it->type, to, TAG, comm, &request);
        else if (mode == SYNCHRONOUS)
            MPI_Ssend_init(it->data, 1, it->type, to, TAG, comm, &request);
        else
            MPI_Rsend_init(it->data, 1, it->type, to, TAG, comm, &request);
        MPI_Start(&request);
    } else if (mode == STANDARD)
        MPI_Isend(it->data, 1, it->type, to, TAG, comm, &request);
    else if (mode == SYNCHRONOUS)
        MPI_Issend(it->data, 1, it->type, to, TAG, comm, &request);
    else
        MPI_Irsend(it->data, 1, it->type, to, TAG, comm, &request);
    return request;
}

/* Cancels a request and waits for it; whether it was cancelled. */
static int cancel(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    THAT(MPI_Cancel(request) == MPI_SUCCESS);
    THAT(MPI_Wait(request, &status) == MPI_SUCCESS);
    THAT(MPI_Test_cancelled(&status, &cancelled) == MPI_SUCCESS);
    return cancelled;
}

/* Takes in what has come, as a receive would that wants none of it. */
static void look_around(int from, MPI_Comm comm)
{
    int found;
    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(from, OTHER, comm, &found, MPI_STATUS_IGNORE);
        THAT(!found);
    }
}

/* Where the message is when it is cancelled. */
enum place { ON_ITS_WAY, UNWANTED, PROBED, PLACES };

static void one(int ints, enum mode mode, int persistent, int spaced, enum place place, int to, int from, MPI_Comm comm)
{
    Message out = message(ints, spaced), in = message(ints, spaced);
    MPI_Status status;
    int found, theirs = -1;
    fill(&out, 1);
    MPI_Request request = begin(mode, persistent, &out, to, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (place == UNWANTED)
        look_around(from, comm);
    if (place == PROBED)
        MPI_Probe(from, TAG, comm, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    int cancelled = cancel(&request);
    if (mode == SYNCHRONOUS || ints * (int)sizeof(int) > eager)
        THAT(cancelled == 1);
    THAT((request == MPI_REQUEST_NULL) == !persistent);
    fill(&out, 99);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&cancelled, 1, MPI_INT, to, OTHER, &theirs, 1, MPI_INT, from, OTHER, comm, &status);
    if (theirs) {
        for (int i = 0; i < LOOKS; i++) {
            MPI_Message none;
            MPI_Iprobe(from, TAG, comm, &found, &status);
            THAT(!found);
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, &none, &status);
            THAT(!found);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The next message is the next that is received, or the one that was not cancelled. */
    fill(&out, 2);
    MPI_Request next;
    if (persistent) {
        MPI_Start(&request);
        next = request;
    } else
        next = begin(STANDARD, 0, &out, to, comm);
    for (int salt = theirs ? 2 : 1; salt <= 2; salt++) {
        fill(&in, 0);
        MPI_Recv(in.data, 1, in.type, spaced ? MPI_ANY_SOURCE : from, spaced ? MPI_ANY_TAG : TAG, comm, &status);
        THAT(is_filled(&in, salt) && status.MPI_TAG == TAG);
    }
    MPI_Wait(&next, &status);
    int flag = -1;
    MPI_Test_cancelled(&status, &flag);
    THAT(flag == 0);
    if (persistent)
        MPI_Request_free(&request);
    done(&out);
    done(&in);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_ways(MPI_Comm comm, int to, int from)
{
    static const int sizes[] = {1, 10, 64, 65, 700, 2048, 20000, 600000};
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
        for (int mode = 0; mode < MODES; mode++)
            for (int way = 0; way < 4; way++)
                for (int place = 0; place < PLACES; place++)
                    one(sizes[i], mode, way & 1, way >> 1, place, to, from, comm);
}

/* More messages than there is room for, cancelled in another order, most of them before they are sent; far more than there are cells, again and again. */
static void many(MPI_Comm comm, int to, int from)
{
    enum { MANY = 200 };
    static MPI_Request requests[MANY];
    Message out = message(300, 0), in = message(300, 0);
    fill(&out, 1);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++)
            requests[i] = begin(SYNCHRONOUS, 0, &out, to, comm);
        MPI_Barrier(MPI_COMM_WORLD);
        int cancelled = 0;
        for (int i = 0; i < MANY; i++)
            cancelled += cancel(&requests[i * 77 % MANY]);
        THAT(cancelled == MANY);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    fill(&out, 3);
    MPI_Sendrecv(out.data, 1, out.type, to, TAG, in.data, 1, in.type, from, TAG, comm, MPI_STATUS_IGNORE);
    THAT(is_filled(&in, 3));
    done(&out);
    done(&in);
}

/* Waiting in every form for requests of which some are cancelled, and a freed one. */
static void completed(MPI_Comm comm, int to, int from)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    Message out = message(5000, 0), in = message(5000, 0);
    int index, flag, indices[4], count;
    fill(&out, 1);
    for (int form = 0; form < 6; form++) {
        for (int i = 0; i < 4; i++)
            requests[i] = begin(SYNCHRONOUS, 0, &out, to, comm);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 4; i++)
            MPI_Cancel(&requests[i]);
        if (form == 0)
            MPI_Waitall(4, requests, statuses);
        for (int i = 0; form == 1 && i < 4; i++)
            MPI_Waitany(4, requests, &index, &statuses[i]);
        for (int i = 0; form == 2 && i < 4; i += count)
            MPI_Waitsome(4, requests, &count, indices, &statuses[i]);
        if (form == 3) {
            MPI_Testall(4, requests, &flag, statuses);
            THAT(flag);
        }
        for (int i = 0; form == 4 && i < 4; i++) {
            MPI_Request_get_status(requests[i], &flag, &statuses[i]);
            THAT(flag);
            MPI_Test(&requests[i], &flag, &statuses[i]);
            THAT(flag);
        }
        for (int i = 0; i < 4; i++) {
            if (form == 5)
                MPI_Request_free(&requests[i]);
            else {
                MPI_Test_cancelled(&statuses[i], &flag);
                THAT(flag);
            }
            THAT(requests[i] == MPI_REQUEST_NULL);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* A message that was received before it was to be cancelled. */
    requests[0] = begin(SYNCHRONOUS, 0, &out, to, comm);
    MPI_Recv(in.data, 1, in.type, from, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    THAT(cancel(&requests[0]) == 0 && is_filled(&in, 1));
    done(&out);
    done(&in);
}

/* A message that a probe has matched is received, and the wait of its sender ends all the same. */
static void matched_by_probe(int ints, enum mode mode, MPI_Comm comm, int to, int from)
{
    Message out = message(ints, ints & 1), in = message(ints, 0);
    MPI_Message matched;
    MPI_Status status;
    fill(&out, 5);
    MPI_Request request = begin(mode, 0, &out, to, comm);
    MPI_Mprobe(from, TAG, comm, &matched, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    THAT(cancel(&request) == 0);
    fill(&out, 6);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Mrecv(in.data, 1, in.type, &matched, &status);
    THAT(is_filled(&in, 5));
    done(&out);
    done(&in);
}

/* Buffered messages that wait in their buffer: their space is free again. */
static void buffered(MPI_Comm comm, int to, int from)
{
    Message out = message(eager / 4 + 3000, 0), in = message(eager / 4 + 3000, 0);
    int bytes = out.ints * 4 + MPI_BSEND_OVERHEAD, size_of_it;
    void *space = malloc(bytes), *back;
    MPI_Buffer_attach(space, bytes);
    MPI_Request request;
    fill(&out, 1);
    for (int i = 0; i < 3; i++) {
        MPI_Ibsend(out.data, 1, out.type, to, TAG, comm, &request);
        THAT(cancel(&request) == 1);
    }
    MPI_Bsend_init(out.data, 1, out.type, to, TAG, comm, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        THAT(cancel(&request) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fill(&out, 2);
    MPI_Start(&request);
    fill(&out, 3);
    MPI_Recv(in.data, 1, in.type, from, TAG, comm, MPI_STATUS_IGNORE);
    THAT(is_filled(&in, 2));
    MPI_Barrier(MPI_COMM_WORLD);
    THAT(cancel(&request) == 0);
    MPI_Request_free(&request);
    MPI_Buffer_detach(&back, &size_of_it);
    THAT(back == space);
    free(space);
    done(&out);
    done(&in);
}

/* A message that no receive wants stays cancellable however many others have passed it: several rounds of any ring that the transport has. */
static void passed_by_others(MPI_Comm comm, int to, int from)
{
    enum { OTHERS = 300 };
    Message out = message(300, 0), in = message(300, 0), others = message(200, 0), got = message(200, 0);
    MPI_Status status;
    int found;
    for (int relocated = 0; relocated < 2; relocated++) {
        fill(&out, 7);
        MPI_Request request = begin(relocated ? STANDARD : SYNCHRONOUS, 0, &out, to, comm);
        for (int i = 0; i < OTHERS; i++) {
            MPI_Request other;
            fill(&others, i);
            MPI_Isend(others.data, 1, others.type, to, OTHER, comm, &other);
            MPI_Recv(got.data, 1, got.type, from, OTHER, comm, &status);
            THAT(is_filled(&got, i));
            MPI_Wait(&other, &status);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (relocated) {
            /* Its wait ends without a receiver, and what it had in its buffer arrives. */
            MPI_Wait(&request, &status);
            fill(&out, 8);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Recv(in.data, 1, in.type, from, TAG, comm, &status);
            THAT(is_filled(&in, 7));
        } else {
            THAT(cancel(&request) == 1);
            fill(&out, 8);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Iprobe(from, TAG, comm, &found, &status);
            THAT(!found);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    done(&out);
    done(&in);
    done(&others);
    done(&got);
}

/* Cancelling while the receiver receives, in all its forms: each message is received or cancelled, never both and never neither. */
static void race(MPI_Comm comm, int to, int from)
{
    enum { ROUNDS = 400 };
    static const int sizes[] = {1, 100, 1000, 10000, 30000};
    long received = 0, cancelled = 0, all[2], mine[2];
    unsigned random = seed + rank;
    for (int round = 0; round < ROUNDS; round++) {
        int ints = sizes[round % 5], late = 0;
        Message out = message(ints, 0), in = message(ints, 0);
        MPI_Status status;
        MPI_Request receive = MPI_REQUEST_NULL, marker;
        MPI_Message matched;
        if (round % 4 == 1)
            MPI_Irecv(in.data, 1, in.type, round & 1 ? MPI_ANY_SOURCE : from, TAG, comm, &receive);
        fill(&out, 2 * round);
        MPI_Request request = begin(round % 3 ? SYNCHRONOUS : STANDARD, 0, &out, to, comm);
        random = random * 1103515245 + 12345;
        for (volatile unsigned i = random >> 20; i > 0; i--)
            ;
        if (round % 7 == 3)
            MPI_Iprobe(from, OTHER, comm, &late, &status);
        cancelled += cancel(&request);
        fill(&out, 2 * round + 1);
        MPI_Isend(out.data, 1, out.type, to, TAG, comm, &marker);
        for (int last = 0; !last;) {
            if (receive != MPI_REQUEST_NULL)
                MPI_Wait(&receive, &status);
            else if (round % 4 == 2) {
                MPI_Mprobe(from, TAG, comm, &matched, &status);
                MPI_Mrecv(in.data, 1, in.type, &matched, &status);
            } else
                MPI_Recv(in.data, 1, in.type, from, TAG, comm, &status);
            last = is_filled(&in, 2 * round + 1);
            THAT(last || is_filled(&in, 2 * round));
            received += !last;
        }
        MPI_Wait(&marker, &status);
        done(&out);
        done(&in);
    }
    mine[0] = received, mine[1] = cancelled;
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    THAT(all[0] + all[1] == (long)ROUNDS * size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    eager = argc > 1 ? atoi(argv[1]) : 256;
    fills_rings = eager > 0;
    eager = abs(eager);
    seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : (unsigned)time(NULL);
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    passed_by_others(MPI_COMM_WORLD, next, previous);
    all_ways(MPI_COMM_WORLD, next, previous);
    passed_by_others(MPI_COMM_WORLD, next, previous);
    all_ways(MPI_COMM_SELF, 0, 0);
    if (fills_rings)
        many(MPI_COMM_WORLD, next, previous);
    completed(MPI_COMM_WORLD, next, previous);
    for (int i = 0; i < 12; i++)
        matched_by_probe((int[]){3, 101, 2000, 400001}[i / 3], i % 3, MPI_COMM_WORLD, next, previous);
    matched_by_probe(4000, SYNCHRONOUS, MPI_COMM_SELF, 0, 0);
    buffered(MPI_COMM_WORLD, next, previous);
    if (rank == 0)
        printf("cancel: seed of the race %u\n", seed);
    fflush(stdout);
    race(MPI_COMM_WORLD, next, previous);
    if (size > 1 && size % 2 == 0) {
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
        all_ways(inter, rank / 2, rank / 2);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    int sums[2] = {checks_made, checks_failed}, all[2];
    MPI_Allreduce(sums, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    checks_made = all[0], checks_failed = all[1];
    if (rank == 0)
        report("cancel");
    MPI_Finalize();
    return all[1] != 0;
}
