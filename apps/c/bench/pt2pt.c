/* Benchmarks of MPI's point to point: latency, bandwidth, bidirectional bandwidth, message rate, latency of many pairs.
 *
 * The first half of the ranks are senders, each with a partner in the second half. `latency_dirty` writes the message anew each time. */
#include "mpi_bench.h"

/* Messages under way at once. */
#define WINDOW 64

static char *out, *in;
static int pairs, partner, sends;

static void need_pairs(int exactly_one)
{
    if (ranks < 2 || ranks % 2 != 0 || (exactly_one && ranks != 2))
        fail(exactly_one ? "this test takes 2 ranks" : "this test takes an even number of ranks");
    pairs = ranks / 2;
    sends = rank < pairs;
    partner = sends ? rank + pairs : rank - pairs;
}

static void ping_pong(size_t size, int dirty, long count)
{
    for (long i = 0; i < count; i++) {
        if (sends) {
            if (dirty)
                memset(out, (int)i, size);
            MPI_Send(out, (int)size, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
            MPI_Recv(in, (int)size, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, (int)size, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (dirty)
                memset(out, (int)i, size);
            MPI_Send(out, (int)size, MPI_CHAR, partner, 1, MPI_COMM_WORLD);
        }
    }
}

static void latencies(const char *what, int dirty)
{
    out = buffer(options.most);
    in = buffer(options.most);
    head(what);
    FOR_SIZES(size)
    {
        if (options.check) {
            fill(out, size, rank);
            memset(in, 0, size);
            ping_pong(size, 0, 1);
            verify(filled(in, size, partner));
        }
        ping_pong(size, dirty, skipped(size));
        MPI_Barrier(MPI_COMM_WORLD);
        double started = MPI_Wtime();
        ping_pong(size, dirty, iterations(size));
        double half = (MPI_Wtime() - started) * 1e6 / (double)iterations(size) / 2;
        result(size, mean(half));
    }
}

static void latency(void)
{
    need_pairs(1);
    options.least = options.least == 1 ? 0 : options.least;
    latencies("MPI latency: half a round trip", 0);
}

static void latency_dirty(void)
{
    need_pairs(1);
    latencies("MPI latency of data just written: half a round trip, writing included", 1);
}

static void multi_latency(void)
{
    need_pairs(0);
    latencies("MPI latency of many pairs: half a round trip", 0);
}

/* A window of messages one way, and one back that says that they have come. */
static void window(size_t size, int both_ways, long count)
{
    MPI_Request requests[2 * WINDOW];
    char token = 0;
    for (long i = 0; i < count; i++) {
        int n = 0;
        if (both_ways || !sends)
            for (int k = 0; k < WINDOW; k++)
                MPI_Irecv(in, (int)size, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[n++]);
        if (both_ways || sends)
            for (int k = 0; k < WINDOW; k++)
                MPI_Isend(out, (int)size, MPI_CHAR, partner, 2, MPI_COMM_WORLD, &requests[n++]);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        if (sends)
            MPI_Recv(&token, 1, MPI_CHAR, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&token, 1, MPI_CHAR, partner, 3, MPI_COMM_WORLD);
    }
}

/* Messages a second of all pairs together. */
static double rate(size_t size, int both_ways)
{
    long count = iterations(size) / 8 + 1;
    if (options.check) {
        fill(out, size, rank);
        memset(in, 0, size);
        window(size, both_ways, 1);
        verify((sends && !both_ways) || filled(in, size, partner));
    }
    window(size, both_ways, count / 8 + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double started = MPI_Wtime();
    window(size, both_ways, count);
    double seconds = mean(MPI_Wtime() - started);
    return seconds > 0 ? (double)(pairs * count) * WINDOW * (both_ways ? 2 : 1) / seconds : 0;
}

static void bandwidths(const char *what, int both_ways, int messages)
{
    out = buffer(options.most);
    in = buffer(options.most);
    head(what);
    FOR_SIZES(size)
    {
        double each_second = rate(size, both_ways);
        result(size, messages ? each_second : each_second * (double)size / 1e6);
    }
}

static void bandwidth(void)
{
    need_pairs(1);
    bandwidths("MPI bandwidth: windows of 64 messages", 0, 0);
}

static void both_ways(void)
{
    need_pairs(1);
    bandwidths("MPI bidirectional bandwidth: windows of 64 messages each way", 1, 0);
}

static void multi_bandwidth(void)
{
    need_pairs(0);
    bandwidths("MPI message rate of all pairs: windows of 64 messages", 0, 1);
}

static const struct test tests[] = {
    {"latency", latency, "us", 1},           {"latency_dirty", latency_dirty, "us", 1}, {"multi_lat", multi_latency, "us", 1},
    {"bw", bandwidth, "MB/s", 1},            {"bibw", both_ways, "MB/s", 1},            {"mbw_mr", multi_bandwidth, "messages/s", 1},
};

int main(int argc, char **argv)
{
    return run(argc, argv, tests, sizeof tests / sizeof *tests);
}
