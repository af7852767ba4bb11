/* What a node is like for a program: system calls, interruptions, page tables, basic times of MPI
 *
 * `cargo lwk bench linux-guest` compiles it for Margay and for Linux and prints both beside each other.
 *
 * What the system does not tell (a file of /proc that is not there) is left out. */
#define _GNU_SOURCE
#include "guest.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { GIB = 1 << 30 };

static void system_call(int unused)
{
    (void)unused;
    syscall(SYS_getpid);
}

/* All ranks compute for a second. */
static void noise(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long long interrupts = number_in("/proc/stat", "intr "), switches = number_in("/proc/stat", "ctxt ");
    double start = MPI_Wtime(), before = start, longest = 0;
    while (before - start < 1) {
        double now = MPI_Wtime();
        if (now - before > longest)
            longest = now - before;
        before = now;
    }
    if (interrupts >= 0)
        say("interrupts", number_in("/proc/stat", "intr ") - interrupts);
    if (switches >= 0)
        say("switches", number_in("/proc/stat", "ctxt ") - switches);
    say("longest_gap_us", longest * 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the tables of 1 GiB of memory in use take. */
static void page_tables(void)
{
    long long before = number_in("/proc/self/status", "VmPTE:");
    if (rank != 0 || before < 0)
        return;
    char *memory = malloc(GIB);
    if (!memory) {
        fprintf(stderr, "no memory of 1 GiB: page tables are not measured\n");
        return;
    }
    for (long i = 0; i < GIB; i += 4096)
        memory[i] = 1;
    say("page_table_bytes", (number_in("/proc/self/status", "VmPTE:") - before) * 1024.0);
    free(memory);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*call)(int); int bytes; int halves; } TIMES[] = {
        {"latency_0_us", ping_pong, 0, 2},   {"latency_8_us", ping_pong, 8, 2},   {"latency_64k_us", ping_pong, LARGE, 2},
        {"barrier_us", barrier, 0, 1},       {"bcast_8_us", broadcast, 8, 1},     {"bcast_64k_us", broadcast, LARGE, 1},
        {"reduce_8_us", reduce, 8, 1},       {"reduce_64k_us", reduce, LARGE, 1}, {"allreduce_8_us", allreduce, 8, 1},
        {"allreduce_64k_us", allreduce, LARGE, 1}, {"alltoall_8_us", alltoall, 8, 1}, {"alltoall_64k_us", alltoall, LARGE, 1},
    };
    begin(&argc, &argv, 0);
    say("system_call_us", time_of(system_call, 0));
    noise();
    page_tables();
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
        say(TIMES[i].name, time_of(TIMES[i].call, TIMES[i].bytes) / TIMES[i].halves);
    end();
    return 0;
}
