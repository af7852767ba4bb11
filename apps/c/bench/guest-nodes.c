/* What messages between two nodes cost: round trips, messages one behind the other, collectives, and the processor's time
 *
 * `cargo lwk bench linux-guest --nodes 2` compiles it for Margay and for Linux and prints both beside each other.
 *
 * The processor's time of a message is what an exchange adds to a computation that is long enough for all of it to happen meanwhile: nobody waits for
 * anything then, and whatever library, kernel and interrupts do for the messages is in the difference. Each rank has one core for all of that. */
#include "guest.h"

enum { WINDOW = 32, BLOCK = 8 << 10, EXCHANGED = 8, PAIRS = 100 };

/* The computation takes so many times as long as the exchange alone, and this many seconds at least. */
static const double TIMES = 3, LEAST = 0.002;

static MPI_Request requests[2 * WINDOW];

/* A window of messages from rank 0 to rank 1, and one back. */
static void stream(int bytes)
{
    if (rank > 1)
        return;
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0)
            MPI_Isend(out + i * bytes, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(in + i * bytes, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(in, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(out, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
}

/* A number that no compiler can know before. */
static volatile unsigned long long computed;

static void compute(long steps)
{
    unsigned long long value = computed;
    for (long i = 0; i < steps; i++)
        value = value * 6364136223846793005ULL + 1442695040888963407ULL;
    computed = value;
}

/* Both ranks send messages to the other, and compute before they look at what has come. Seconds. */
static double exchange(int bytes, long steps)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < EXCHANGED; i++)
        MPI_Irecv(in + i * bytes, bytes, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < EXCHANGED; i++)
        MPI_Isend(out + i * bytes, bytes, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &requests[EXCHANGED + i]);
    compute(steps);
    MPI_Waitall(2 * EXCHANGED, requests, MPI_STATUSES_IGNORE);
    return MPI_Wtime() - start;
}

static double computation(int bytes, long steps)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    compute(steps);
    return MPI_Wtime() - start;
}

/* The shortest time of many: what a busy host adds is never less than nothing. */
static double least(double (*timed)(int, long), int bytes, long steps)
{
    double shortest = timed(bytes, steps);
    for (int i = 1; i < PAIRS; i++) {
        double time = timed(bytes, steps);
        shortest = time < shortest ? time : shortest;
    }
    return shortest;
}

/* Microseconds of rank 0's processor for a message that it sends and one that it receives. */
static double work_of(int bytes)
{
    double aim = TIMES * least(exchange, bytes, 0);
    long steps = 1 << 14;
    aim = aim > LEAST ? aim : LEAST;
    for (int again = 1; again;) {
        again = least(computation, bytes, steps) < aim;
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
        steps = again ? steps * 2 : steps;
    }
    double without = least(computation, bytes, steps);
    return (least(exchange, bytes, steps) - without) / EXCHANGED * 1e6;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*call)(int); int bytes, parts; } TIMED[] = {
        {"latency_0_us", ping_pong, 0, 2},       {"latency_8_us", ping_pong, 8, 2},   {"latency_8k_us", ping_pong, BLOCK, 2},
        {"latency_64k_us", ping_pong, LARGE, 2}, {"stream_8_us", stream, 8, WINDOW},  {"stream_8k_us", stream, BLOCK, WINDOW},
        {"barrier_us", barrier, 0, 1},           {"bcast_8_us", broadcast, 8, 1},     {"bcast_64k_us", broadcast, LARGE, 1},
        {"allreduce_8_us", allreduce, 8, 1},     {"allreduce_64k_us", allreduce, LARGE, 1},
        {"alltoall_8_us", alltoall, 8, 1},       {"alltoall_64k_us", alltoall, LARGE, 1},
    };
    begin(&argc, &argv, WINDOW * BLOCK);
    if (ranks != 2) {
        fprintf(stderr, "guest-nodes is for 2 ranks, one on each of 2 nodes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < sizeof TIMED / sizeof *TIMED; i++)
        say(TIMED[i].name, time_of(TIMED[i].call, TIMED[i].bytes) / TIMED[i].parts);
    say("work_8_us", work_of(8));
    say("work_1k_us", work_of(1 << 10));
    end();
    return 0;
}
