/* Remote memory access (9.6, 9.7) and signals (9.8). */

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    void SHMEM_NAME(N##_put)(T *dest, const T *source, size_t nelems, int pe);                                      \
    void SHMEM_NAME(ctx_##N##_put)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);               \
    void SHMEM_NAME(N##_get)(T *dest, const T *source, size_t nelems, int pe);                                      \
    void SHMEM_NAME(ctx_##N##_get)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);               \
    void SHMEM_NAME(N##_put_nbi)(T *dest, const T *source, size_t nelems, int pe);                                  \
    void SHMEM_NAME(ctx_##N##_put_nbi)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);           \
    void SHMEM_NAME(N##_get_nbi)(T *dest, const T *source, size_t nelems, int pe);                                  \
    void SHMEM_NAME(ctx_##N##_get_nbi)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);           \
    void SHMEM_NAME(N##_p)(T *dest, T value, int pe);                                                               \
    void SHMEM_NAME(ctx_##N##_p)(shmem_ctx_t ctx, T *dest, T value, int pe);                                        \
    T SHMEM_NAME(N##_g)(const T *source, int pe);                                                                   \
    T SHMEM_NAME(ctx_##N##_g)(shmem_ctx_t ctx, const T *source, int pe);                                            \
    void SHMEM_NAME(N##_iput)(                                                                                      \
        T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);                             \
    void SHMEM_NAME(ctx_##N##_iput)(                                                                                \
        shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);            \
    void SHMEM_NAME(N##_iget)(                                                                                      \
        T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);                             \
    void SHMEM_NAME(ctx_##N##_iget)(                                                                                \
        shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);            \
    void SHMEM_NAME(N##_put_signal)(                                                                                \
        T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);          \
    void SHMEM_NAME(ctx_##N##_put_signal)(                                                                          \
        shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,  \
        int pe);                                                                                                    \
    void SHMEM_NAME(N##_put_signal_nbi)(                                                                            \
        T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);          \
    void SHMEM_NAME(ctx_##N##_put_signal_nbi)(                                                                      \
        shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,  \
        int pe);
SHMEM_RMA_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

/* SIZE is a number of bits, or `mem`, which counts bytes. */
#define SHMEM_DECLARE(SIZE, T, A)                                                                                   \
    void SHMEM_NAME(put##SIZE)(T *dest, const T *source, size_t nelems, int pe);                                    \
    void SHMEM_NAME(ctx_put##SIZE)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);               \
    void SHMEM_NAME(get##SIZE)(T *dest, const T *source, size_t nelems, int pe);                                    \
    void SHMEM_NAME(ctx_get##SIZE)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);               \
    void SHMEM_NAME(put##SIZE##_nbi)(T *dest, const T *source, size_t nelems, int pe);                              \
    void SHMEM_NAME(ctx_put##SIZE##_nbi)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);         \
    void SHMEM_NAME(get##SIZE##_nbi)(T *dest, const T *source, size_t nelems, int pe);                              \
    void SHMEM_NAME(ctx_get##SIZE##_nbi)(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe);         \
    void SHMEM_NAME(put##SIZE##_signal)(                                                                            \
        T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);          \
    void SHMEM_NAME(ctx_put##SIZE##_signal)(                                                                        \
        shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,  \
        int pe);                                                                                                    \
    void SHMEM_NAME(put##SIZE##_signal_nbi)(                                                                        \
        T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);          \
    void SHMEM_NAME(ctx_put##SIZE##_signal_nbi)(                                                                    \
        shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,  \
        int pe);
SHMEM_SIZES(SHMEM_DECLARE, )
SHMEM_DECLARE(mem, void, )
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(SIZE, T, A)                                                                                   \
    void SHMEM_NAME(iput##SIZE)(                                                                                    \
        T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);                             \
    void SHMEM_NAME(ctx_iput##SIZE)(                                                                                \
        shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);            \
    void SHMEM_NAME(iget##SIZE)(                                                                                    \
        T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);                             \
    void SHMEM_NAME(ctx_iget##SIZE)(                                                                                \
        shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
SHMEM_SIZES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

uint64_t SHMEM_NAME(signal_fetch)(const uint64_t *sig_addr);
uint64_t SHMEM_NAME(signal_wait_until)(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
