/* Atomics (9.9), and their old names. */

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    T SHMEM_NAME(N##_atomic_fetch)(const T *source, int pe);                                                        \
    T SHMEM_NAME(ctx_##N##_atomic_fetch)(shmem_ctx_t ctx, const T *source, int pe);                                 \
    void SHMEM_NAME(N##_atomic_set)(T *dest, T value, int pe);                                                      \
    void SHMEM_NAME(ctx_##N##_atomic_set)(shmem_ctx_t ctx, T *dest, T value, int pe);                               \
    T SHMEM_NAME(N##_atomic_swap)(T *dest, T value, int pe);                                                        \
    T SHMEM_NAME(ctx_##N##_atomic_swap)(shmem_ctx_t ctx, T *dest, T value, int pe);                                 \
    void SHMEM_NAME(N##_atomic_fetch_nbi)(T *fetch, const T *source, int pe);                                       \
    void SHMEM_NAME(ctx_##N##_atomic_fetch_nbi)(shmem_ctx_t ctx, T *fetch, const T *source, int pe);                \
    void SHMEM_NAME(N##_atomic_swap_nbi)(T *fetch, T *dest, T value, int pe);                                       \
    void SHMEM_NAME(ctx_##N##_atomic_swap_nbi)(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe);
SHMEM_EXTENDED_AMO_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    T SHMEM_NAME(N##_atomic_compare_swap)(T *dest, T cond, T value, int pe);                                        \
    T SHMEM_NAME(ctx_##N##_atomic_compare_swap)(shmem_ctx_t ctx, T *dest, T cond, T value, int pe);                 \
    T SHMEM_NAME(N##_atomic_fetch_inc)(T *dest, int pe);                                                            \
    T SHMEM_NAME(ctx_##N##_atomic_fetch_inc)(shmem_ctx_t ctx, T *dest, int pe);                                     \
    void SHMEM_NAME(N##_atomic_inc)(T *dest, int pe);                                                               \
    void SHMEM_NAME(ctx_##N##_atomic_inc)(shmem_ctx_t ctx, T *dest, int pe);                                        \
    T SHMEM_NAME(N##_atomic_fetch_add)(T *dest, T value, int pe);                                                   \
    T SHMEM_NAME(ctx_##N##_atomic_fetch_add)(shmem_ctx_t ctx, T *dest, T value, int pe);                            \
    void SHMEM_NAME(N##_atomic_add)(T *dest, T value, int pe);                                                      \
    void SHMEM_NAME(ctx_##N##_atomic_add)(shmem_ctx_t ctx, T *dest, T value, int pe);                               \
    void SHMEM_NAME(N##_atomic_compare_swap_nbi)(T *fetch, T *dest, T cond, T value, int pe);                       \
    void SHMEM_NAME(ctx_##N##_atomic_compare_swap_nbi)(                                                             \
        shmem_ctx_t ctx, T *fetch, T *dest, T cond, T value, int pe);                                               \
    void SHMEM_NAME(N##_atomic_fetch_inc_nbi)(T *fetch, T *dest, int pe);                                           \
    void SHMEM_NAME(ctx_##N##_atomic_fetch_inc_nbi)(shmem_ctx_t ctx, T *fetch, T *dest, int pe);                    \
    void SHMEM_NAME(N##_atomic_fetch_add_nbi)(T *fetch, T *dest, T value, int pe);                                  \
    void SHMEM_NAME(ctx_##N##_atomic_fetch_add_nbi)(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe);
SHMEM_STANDARD_AMO_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    T SHMEM_NAME(N##_atomic_fetch_##A)(T *dest, T value, int pe);                                                   \
    T SHMEM_NAME(ctx_##N##_atomic_fetch_##A)(shmem_ctx_t ctx, T *dest, T value, int pe);                            \
    void SHMEM_NAME(N##_atomic_##A)(T *dest, T value, int pe);                                                      \
    void SHMEM_NAME(ctx_##N##_atomic_##A)(shmem_ctx_t ctx, T *dest, T value, int pe);                               \
    void SHMEM_NAME(N##_atomic_fetch_##A##_nbi)(T *fetch, T *dest, T value, int pe);                                \
    void SHMEM_NAME(ctx_##N##_atomic_fetch_##A##_nbi)(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe);
SHMEM_BITWISE_AMO_TYPES(SHMEM_DECLARE, and)
SHMEM_BITWISE_AMO_TYPES(SHMEM_DECLARE, or)
SHMEM_BITWISE_AMO_TYPES(SHMEM_DECLARE, xor)
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    T SHMEM_NAME(N##_fetch)(const T *source, int pe);                                                               \
    void SHMEM_NAME(N##_set)(T *dest, T value, int pe);                                                             \
    T SHMEM_NAME(N##_swap)(T *dest, T value, int pe);
SHMEM_SIGNED_C_TYPES(SHMEM_DECLARE, )
SHMEM_REAL_C_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    T SHMEM_NAME(N##_cswap)(T *dest, T cond, T value, int pe);                                                      \
    T SHMEM_NAME(N##_finc)(T *dest, int pe);                                                                        \
    void SHMEM_NAME(N##_inc)(T *dest, int pe);                                                                      \
    T SHMEM_NAME(N##_fadd)(T *dest, T value, int pe);                                                               \
    void SHMEM_NAME(N##_add)(T *dest, T value, int pe);
SHMEM_SIGNED_C_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE
