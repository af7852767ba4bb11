/* Collectives over teams (9.10). */

void SHMEM_NAME(barrier_all)(void);
void SHMEM_NAME(sync_all)(void);
int SHMEM_NAME(team_sync)(shmem_team_t team);

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    int SHMEM_NAME(N##_broadcast)(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root);         \
    int SHMEM_NAME(N##_collect)(shmem_team_t team, T *dest, const T *source, size_t nelems);                        \
    int SHMEM_NAME(N##_fcollect)(shmem_team_t team, T *dest, const T *source, size_t nelems);                       \
    int SHMEM_NAME(N##_alltoall)(shmem_team_t team, T *dest, const T *source, size_t nelems);                       \
    int SHMEM_NAME(N##_alltoalls)(                                                                                  \
        shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
SHMEM_RMA_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

int SHMEM_NAME(broadcastmem)(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);
int SHMEM_NAME(collectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_NAME(fcollectmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_NAME(alltoallmem)(shmem_team_t team, void *dest, const void *source, size_t nelems);
int SHMEM_NAME(alltoallsmem)(
    shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);

#define SHMEM_DECLARE(N, T, A) \
    int SHMEM_NAME(N##_##A##_reduce)(shmem_team_t team, T *dest, const T *source, size_t nreduce);
SHMEM_BITWISE_REDUCTION_TYPES(SHMEM_DECLARE, and)
SHMEM_BITWISE_REDUCTION_TYPES(SHMEM_DECLARE, or)
SHMEM_BITWISE_REDUCTION_TYPES(SHMEM_DECLARE, xor)
SHMEM_ORDERED_REDUCTION_TYPES(SHMEM_DECLARE, max)
SHMEM_ORDERED_REDUCTION_TYPES(SHMEM_DECLARE, min)
SHMEM_ARITHMETIC_REDUCTION_TYPES(SHMEM_DECLARE, sum)
SHMEM_ARITHMETIC_REDUCTION_TYPES(SHMEM_DECLARE, prod)
#undef SHMEM_DECLARE
