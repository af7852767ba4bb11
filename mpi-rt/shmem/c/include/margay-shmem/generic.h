/* Type-generic names (C11 _Generic). The type of the first pointer decides; a context in front makes it the second argument. A type
 * that has no such routine is an error of the compiler: either no association fits, or a number is called. */
#ifndef MARGAY_SHMEM_GENERIC_H
#define MARGAY_SHMEM_GENERIC_H

#define SHMEM_FIRST(...) SHMEM_FIRST_OF(__VA_ARGS__, 0)
#define SHMEM_FIRST_OF(first, ...) first
#define SHMEM_SECOND(...) SHMEM_SECOND_OF(__VA_ARGS__, 0, 0)
#define SHMEM_SECOND_OF(first, second, ...) second

#define SHMEM_CASE(N, T, A) T *: shmem_##N##_##A, const T *: shmem_##N##_##A,
#define SHMEM_CASE_CTX(N, T, A) T *: shmem_ctx_##N##_##A, const T *: shmem_ctx_##N##_##A,

/* The routine for the second argument's type, `default` where that is none; behind a context or a team. */
#define SHMEM_BY_SECOND(CASE, TYPES, routine, ...) \
    _Generic((SHMEM_SECOND(__VA_ARGS__)), TYPES(CASE, routine) default: 0)
/* The routine of a family that takes no context. */
#define SHMEM_BY_FIRST(TYPES, routine, ...) \
    _Generic((SHMEM_FIRST(__VA_ARGS__)), TYPES(SHMEM_CASE, routine) struct margay_shmem_nothing *: 0)(__VA_ARGS__)
/* The routine of a family that may take a context in front. */
#define SHMEM_BY_FIRST_OR_CTX(TYPES, routine, ...)                                                                  \
    _Generic((SHMEM_FIRST(__VA_ARGS__)),                                                                            \
        TYPES(SHMEM_CASE, routine)                                                                                  \
        shmem_ctx_t: SHMEM_BY_SECOND(SHMEM_CASE_CTX, TYPES, routine, __VA_ARGS__))(__VA_ARGS__)
/* The routine of a family that takes a team in front. */
#define SHMEM_BY_TEAM(TYPES, routine, ...) SHMEM_BY_SECOND(SHMEM_CASE, TYPES, routine, __VA_ARGS__)(__VA_ARGS__)

struct margay_shmem_nothing;

#define SHMEM_GENERIC_WORD_TYPES(X, A) SHMEM_INTEGER_C_TYPES(X, A) SHMEM_REAL_C_TYPES(X, A)
#define SHMEM_GENERIC_BIT_TYPES(X, A) \
    SHMEM_UNSIGNED_C_TYPES(X, A) X(int32, int32_t, A) X(int64, int64_t, A)
#define SHMEM_GENERIC_WAIT_TYPES(X, A) SHMEM_INTEGER_C_TYPES(X, A) SHMEM_SHORT_C_TYPES(X, A)
#define SHMEM_GENERIC_BIT_REDUCTION_TYPES(X, A)                                                                     \
    X(uchar, unsigned char, A) X(ushort, unsigned short, A) SHMEM_UNSIGNED_C_TYPES(X, A) X(int8, int8_t, A)         \
    X(int16, int16_t, A) X(int32, int32_t, A) X(int64, int64_t, A)
#define SHMEM_GENERIC_ARITHMETIC_TYPES(X, A) SHMEM_C_TYPES(X, A) SHMEM_COMPLEX_TYPES(X, A)
#define SHMEM_GENERIC_OLD_WORD_TYPES(X, A) SHMEM_SIGNED_C_TYPES(X, A) SHMEM_REAL_C_TYPES(X, A)

/* Remote memory access and signals. */
#define shmem_put(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, put, __VA_ARGS__)
#define shmem_get(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, get, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, get_nbi, __VA_ARGS__)
#define shmem_p(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, p, __VA_ARGS__)
#define shmem_g(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, g, __VA_ARGS__)
#define shmem_iput(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, iput, __VA_ARGS__)
#define shmem_iget(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, iget, __VA_ARGS__)
#define shmem_put_signal(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_C_TYPES, put_signal_nbi, __VA_ARGS__)

/* Atomics. */
#define shmem_atomic_fetch(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_WORD_TYPES, atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_WORD_TYPES, atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_WORD_TYPES, atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_WORD_TYPES, atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_WORD_TYPES, atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_INTEGER_C_TYPES, atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
    SHMEM_BY_FIRST_OR_CTX(SHMEM_GENERIC_BIT_TYPES, atomic_fetch_xor_nbi, __VA_ARGS__)

/* Point-to-point synchronisation. */
#define shmem_wait_until(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test, __VA_ARGS__)
#define shmem_test_all(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_BY_FIRST(SHMEM_GENERIC_WAIT_TYPES, test_some_vector, __VA_ARGS__)

/* Collectives. With an active set, `shmem_sync` is the function of that name. */
#define shmem_sync(...) _Generic((SHMEM_FIRST(__VA_ARGS__)), shmem_team_t: shmem_team_sync, int: shmem_sync)(__VA_ARGS__)
#define shmem_broadcast(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, broadcast, __VA_ARGS__)
#define shmem_collect(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, fcollect, __VA_ARGS__)
#define shmem_alltoall(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_BY_TEAM(SHMEM_GENERIC_BIT_REDUCTION_TYPES, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM_BY_TEAM(SHMEM_GENERIC_BIT_REDUCTION_TYPES, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_BY_TEAM(SHMEM_GENERIC_BIT_REDUCTION_TYPES, xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM_BY_TEAM(SHMEM_C_TYPES, min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM_BY_TEAM(SHMEM_GENERIC_ARITHMETIC_TYPES, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM_BY_TEAM(SHMEM_GENERIC_ARITHMETIC_TYPES, prod_reduce, __VA_ARGS__)

/* Deprecated. */
#define shmem_fetch(...) SHMEM_BY_FIRST(SHMEM_GENERIC_OLD_WORD_TYPES, fetch, __VA_ARGS__)
#define shmem_set(...) SHMEM_BY_FIRST(SHMEM_GENERIC_OLD_WORD_TYPES, set, __VA_ARGS__)
#define shmem_swap(...) SHMEM_BY_FIRST(SHMEM_GENERIC_OLD_WORD_TYPES, swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_BY_FIRST(SHMEM_SIGNED_C_TYPES, cswap, __VA_ARGS__)
#define shmem_finc(...) SHMEM_BY_FIRST(SHMEM_SIGNED_C_TYPES, finc, __VA_ARGS__)
#define shmem_inc(...) SHMEM_BY_FIRST(SHMEM_SIGNED_C_TYPES, inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEM_BY_FIRST(SHMEM_SIGNED_C_TYPES, fadd, __VA_ARGS__)
#define shmem_add(...) SHMEM_BY_FIRST(SHMEM_SIGNED_C_TYPES, add, __VA_ARGS__)

#endif
