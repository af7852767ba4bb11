/* Handles, and the standard's tables of types: each table calls X(name, type, extra) for its rows. */
#ifndef MARGAY_SHMEM_TYPES_H
#define MARGAY_SHMEM_TYPES_H

/* Handles are numbers plus one: zero, what a static variable holds at first, is the invalid one. */
typedef struct margay_shmem_ctx *shmem_ctx_t;
typedef struct margay_shmem_team *shmem_team_t;

#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)

typedef struct {
    int num_contexts;
} shmem_team_config_t;

/* Types of C that differ from one another: what a type-generic macro can tell apart. */
#define SHMEM_SIGNED_C_TYPES(X, A) X(int, int, A) X(long, long, A) X(longlong, long long, A)
#define SHMEM_UNSIGNED_C_TYPES(X, A) \
    X(uint, unsigned int, A) X(ulong, unsigned long, A) X(ulonglong, unsigned long long, A)
#define SHMEM_INTEGER_C_TYPES(X, A) SHMEM_SIGNED_C_TYPES(X, A) SHMEM_UNSIGNED_C_TYPES(X, A)
#define SHMEM_SHORT_C_TYPES(X, A) X(short, short, A) X(ushort, unsigned short, A)
#define SHMEM_CHAR_C_TYPES(X, A) X(char, char, A) X(schar, signed char, A) X(uchar, unsigned char, A)
#define SHMEM_REAL_C_TYPES(X, A) X(float, float, A) X(double, double, A)
#define SHMEM_C_TYPES(X, A)                                                                    \
    SHMEM_INTEGER_C_TYPES(X, A) SHMEM_SHORT_C_TYPES(X, A) SHMEM_CHAR_C_TYPES(X, A)             \
    SHMEM_REAL_C_TYPES(X, A) X(longdouble, long double, A)

/* Names of types that C knows under other names already. */
#define SHMEM_WORD_ALIASES(X, A) \
    X(int32, int32_t, A) X(int64, int64_t, A) X(uint32, uint32_t, A) X(uint64, uint64_t, A)
#define SHMEM_SIZE_ALIASES(X, A) X(size, size_t, A) X(ptrdiff, ptrdiff_t, A)
#define SHMEM_BYTE_ALIASES(X, A) \
    X(int8, int8_t, A) X(int16, int16_t, A) X(uint8, uint8_t, A) X(uint16, uint16_t, A)

/* Table 3. */
#define SHMEM_RMA_TYPES(X, A) \
    SHMEM_C_TYPES(X, A) SHMEM_BYTE_ALIASES(X, A) SHMEM_WORD_ALIASES(X, A) SHMEM_SIZE_ALIASES(X, A)
/* Tables 5, 6 and 7. */
#define SHMEM_STANDARD_AMO_TYPES(X, A) \
    SHMEM_INTEGER_C_TYPES(X, A) SHMEM_WORD_ALIASES(X, A) SHMEM_SIZE_ALIASES(X, A)
#define SHMEM_EXTENDED_AMO_TYPES(X, A) SHMEM_STANDARD_AMO_TYPES(X, A) SHMEM_REAL_C_TYPES(X, A)
#define SHMEM_BITWISE_AMO_TYPES(X, A) SHMEM_UNSIGNED_C_TYPES(X, A) SHMEM_WORD_ALIASES(X, A)
/* Point-to-point synchronisation types. */
#define SHMEM_WAIT_TYPES(X, A) SHMEM_STANDARD_AMO_TYPES(X, A) SHMEM_SHORT_C_TYPES(X, A)
/* Table 10, by operation. */
#define SHMEM_BITWISE_REDUCTION_TYPES(X, A)                                                    \
    X(uchar, unsigned char, A) X(ushort, unsigned short, A) SHMEM_UNSIGNED_C_TYPES(X, A)       \
    SHMEM_BYTE_ALIASES(X, A) SHMEM_WORD_ALIASES(X, A) X(size, size_t, A)
#define SHMEM_ORDERED_REDUCTION_TYPES(X, A) SHMEM_RMA_TYPES(X, A)
#define SHMEM_COMPLEX_TYPES(X, A) X(complexd, double _Complex, A) X(complexf, float _Complex, A)
#define SHMEM_ARITHMETIC_REDUCTION_TYPES(X, A) SHMEM_RMA_TYPES(X, A) SHMEM_COMPLEX_TYPES(X, A)
/* Reductions over active sets, by operation. */
#define SHMEM_OLD_BITWISE_TYPES(X, A) X(short, short, A) SHMEM_SIGNED_C_TYPES(X, A)
#define SHMEM_OLD_ORDERED_TYPES(X, A) \
    SHMEM_OLD_BITWISE_TYPES(X, A) SHMEM_REAL_C_TYPES(X, A) X(longdouble, long double, A)
#define SHMEM_OLD_ARITHMETIC_TYPES(X, A) SHMEM_OLD_ORDERED_TYPES(X, A) SHMEM_COMPLEX_TYPES(X, A)

/* Sizes in function names. */
#define SHMEM_SIZES(X, A) X(8, void, A) X(16, void, A) X(32, void, A) X(64, void, A) X(128, void, A)

#endif
