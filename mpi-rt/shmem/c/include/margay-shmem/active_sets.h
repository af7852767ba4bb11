/* Collectives over active sets (9.10, deprecated). */

void SHMEM_NAME(barrier)(int PE_start, int logPE_stride, int PE_size, long *pSync);
void SHMEM_NAME(sync)(int PE_start, int logPE_stride, int PE_size, long *pSync);

#define SHMEM_DECLARE(SIZE)                                                                                         \
    void SHMEM_NAME(broadcast##SIZE)(                                                                               \
        void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size,    \
        long *pSync);                                                                                               \
    void SHMEM_NAME(collect##SIZE)(                                                                                 \
        void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);   \
    void SHMEM_NAME(fcollect##SIZE)(                                                                                \
        void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);   \
    void SHMEM_NAME(alltoall##SIZE)(                                                                                \
        void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);   \
    void SHMEM_NAME(alltoalls##SIZE)(                                                                               \
        void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start,                  \
        int logPE_stride, int PE_size, long *pSync);
SHMEM_DECLARE(32)
SHMEM_DECLARE(64)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    void SHMEM_NAME(N##_##A##_to_all)(                                                                              \
        T *dest, const T *source, int nreduce, int PE_start, int logPE_stride, int PE_size, T *pWrk, long *pSync);
SHMEM_OLD_BITWISE_TYPES(SHMEM_DECLARE, and)
SHMEM_OLD_BITWISE_TYPES(SHMEM_DECLARE, or)
SHMEM_OLD_BITWISE_TYPES(SHMEM_DECLARE, xor)
SHMEM_OLD_ORDERED_TYPES(SHMEM_DECLARE, max)
SHMEM_OLD_ORDERED_TYPES(SHMEM_DECLARE, min)
SHMEM_OLD_ARITHMETIC_TYPES(SHMEM_DECLARE, sum)
SHMEM_OLD_ARITHMETIC_TYPES(SHMEM_DECLARE, prod)
#undef SHMEM_DECLARE
