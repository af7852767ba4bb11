/* Point-to-point synchronisation (9.11), and the old wait. */

#define SHMEM_DECLARE(N, T, A)                                                                                      \
    void SHMEM_NAME(N##_wait_until)(T *ivar, int cmp, T cmp_value);                                                 \
    void SHMEM_NAME(N##_wait_until_all)(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);          \
    size_t SHMEM_NAME(N##_wait_until_any)(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);        \
    size_t SHMEM_NAME(N##_wait_until_some)(                                                                         \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value);                         \
    void SHMEM_NAME(N##_wait_until_all_vector)(                                                                     \
        T *ivars, size_t nelems, const int *status, int cmp, T *cmp_values);                                        \
    size_t SHMEM_NAME(N##_wait_until_any_vector)(                                                                   \
        T *ivars, size_t nelems, const int *status, int cmp, T *cmp_values);                                        \
    size_t SHMEM_NAME(N##_wait_until_some_vector)(                                                                  \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T *cmp_values);                       \
    int SHMEM_NAME(N##_test)(T *ivar, int cmp, T cmp_value);                                                        \
    int SHMEM_NAME(N##_test_all)(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);                 \
    size_t SHMEM_NAME(N##_test_any)(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);              \
    size_t SHMEM_NAME(N##_test_some)(                                                                               \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value);                         \
    int SHMEM_NAME(N##_test_all_vector)(T *ivars, size_t nelems, const int *status, int cmp, T *cmp_values);        \
    size_t SHMEM_NAME(N##_test_any_vector)(T *ivars, size_t nelems, const int *status, int cmp, T *cmp_values);     \
    size_t SHMEM_NAME(N##_test_some_vector)(                                                                        \
        T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T *cmp_values);
SHMEM_WAIT_TYPES(SHMEM_DECLARE, )
#undef SHMEM_DECLARE

#define SHMEM_DECLARE(N, T, A) void SHMEM_NAME(N##_wait)(T *ivar, T cmp_value);
SHMEM_SIGNED_C_TYPES(SHMEM_DECLARE, )
SHMEM_DECLARE(short, short, )
#undef SHMEM_DECLARE

void SHMEM_NAME(wait)(long *ivar, long cmp_value);
void SHMEM_NAME(wait_until)(long *ivar, int cmp, long cmp_value);
