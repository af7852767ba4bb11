/* Random programs: messages, collectives and one-sided communication on random communicators, of random layouts, in random order, every
   result checked against the standard's rules. `main SEED STEPS` repeats a run; without arguments the clock gives the seed. A failure
   prints the seed. The program is correct MPI-4.0 and passes under other libraries as well. */
#include "random.h"

#include "collectives.h"
#include "messages.h"
#include "windows.h"

#include <time.h>

enum { DEFAULT_STEPS = 60, BUFFER = 1 << 20 };

static void renew_set(int which)
{
    int from = alike(which); /* of an earlier one with all ranks */
    MPI_Comm of = from == 0 ? MPI_COMM_WORLD : sets_[0].comm;
    if (sets_[which].comm != MPI_COMM_NULL)
        free_set(&sets_[which]);
    sets_[which] = new_set(of, 1 + alike(3), alike(2));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me_));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks_));
    unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
    int steps = argc > 2 ? atoi(argv[2]) : DEFAULT_STEPS;
    OK(MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
    seed_ = seed;
    alike_ = mixed(seed);
    own_ = mixed(seed + 1 + (uint64_t)me_);
    void *buffer = memory(BUFFER);
    OK(MPI_Buffer_attach(buffer, BUFFER));
    sets_[0] = new_set(MPI_COMM_WORLD, 1, 0);
    for (int i = 1; i < SETS; i++) {
        sets_[i].comm = MPI_COMM_NULL;
        renew_set(i);
    }
    make_layouts();
    begin_reductions();
    for (step_ = 0; step_ < steps; step_++) {
        switch (alike(8)) {
        case 0:
            doing_ = "windows";
            windows();
            break;
        case 1:
            doing_ = "communicators and layouts";
            renew_set(1 + alike(SETS - 1));
            free_layouts();
            make_layouts();
            break;
        case 2:
        case 3:
            collectives(NULL);
            break;
        case 4:
            collectives(messages);
            break;
        default:
            messages();
        }
    }
    end_reductions();
    free_layouts();
    for (int i = 0; i < SETS; i++)
        free_set(&sets_[i]);
    int size;
    void *attached;
    OK(MPI_Buffer_detach(&attached, &size));
    free(buffer);
    int least;
    OK(MPI_Allreduce(&checks_, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (me_ == 0)
        printf("random: seed %llu, %d ranks, %d steps, all as it must be\n", seed, ranks_, steps);
    OK(MPI_Finalize());
    return least > 0 ? 0 : 1;
}
