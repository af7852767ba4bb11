/* Waiting for and testing objects: every routine for every type (the standard, 9.11). The previous PE changes them. */
#include "check.h"

#define ALL(N, T)                                                                                                   \
    static void waits_##N(void)                                                                                     \
    {                                                                                                               \
        static T objects[4];                                                                                        \
        T values[4] = {(T)11, (T)12, (T)13, (T)14};                                                                 \
        const int none[4] = {1, 1, 1, 1}, odd[4] = {1, 0, 1, 0};                                                    \
        size_t indices[4];                                                                                          \
        CHECK(shmem_##N##_test(&objects[0], SHMEM_CMP_EQ, (T)0) && !shmem_##N##_test(&objects[0], SHMEM_CMP_EQ, (T)1)); \
        CHECK(shmem_##N##_test(&objects[0], SHMEM_CMP_NE, (T)1) && !shmem_##N##_test(&objects[0], SHMEM_CMP_NE, (T)0)); \
        CHECK(shmem_##N##_test(&objects[0], SHMEM_CMP_LT, (T)1) && !shmem_##N##_test(&objects[0], SHMEM_CMP_LT, (T)0)); \
        CHECK(shmem_##N##_test(&objects[0], SHMEM_CMP_LE, (T)0) && shmem_##N##_test(&objects[0], SHMEM_CMP_GE, (T)0)); \
        CHECK(!shmem_##N##_test(&objects[0], SHMEM_CMP_GT, (T)0) && !shmem_##N##_test(&objects[0], SHMEM_CMP_GE, (T)1)); \
        CHECK(!shmem_##N##_test_all(objects, 4, NULL, SHMEM_CMP_NE, (T)0));                                         \
        CHECK(shmem_##N##_test_any(objects, 4, NULL, SHMEM_CMP_NE, (T)0) == SIZE_MAX);                              \
        CHECK(shmem_##N##_test_some(objects, 4, indices, NULL, SHMEM_CMP_NE, (T)0) == 0);                           \
        shmem_barrier_all();                                                                                        \
        shmem_##N##_p(&objects[0], (T)11, next);                                                                    \
        shmem_##N##_wait_until(&objects[0], SHMEM_CMP_EQ, (T)11);                                                   \
        CHECK(objects[0] == (T)11);                                                                                 \
        shmem_##N##_p(&objects[2], (T)13, next);                                                                    \
        const int last[4] = {1, 0, 0, 0};                                                                           \
        CHECK(shmem_##N##_wait_until_any(objects, 4, last, SHMEM_CMP_GT, (T)10) == 2);                              \
        CHECK(shmem_##N##_test_any(objects, 4, last, SHMEM_CMP_GT, (T)10) == 2);                                    \
        CHECK(shmem_##N##_wait_until_any_vector(objects, 4, last, SHMEM_CMP_EQ, values) == 2);                      \
        CHECK(shmem_##N##_test_any_vector(objects, 4, last, SHMEM_CMP_EQ, values) == 2);                            \
        CHECK(shmem_##N##_wait_until_some(objects, 4, indices, last, SHMEM_CMP_GT, (T)10) == 1 && indices[0] == 2); \
        CHECK(shmem_##N##_wait_until_some_vector(objects, 4, indices, NULL, SHMEM_CMP_EQ, values) == 2);            \
        CHECK(indices[0] == 0 && indices[1] == 2);                                                                  \
        shmem_barrier_all();                                                                                        \
        shmem_##N##_p(&objects[1], (T)12, next);                                                                    \
        shmem_##N##_p(&objects[3], (T)14, next);                                                                    \
        shmem_##N##_wait_until_all(objects, 4, odd, SHMEM_CMP_GE, (T)12);                                           \
        CHECK(objects[1] == (T)12 && objects[3] == (T)14);                                                          \
        shmem_##N##_wait_until_all_vector(objects, 4, NULL, SHMEM_CMP_EQ, values);                                  \
        CHECK(shmem_##N##_test_all(objects, 4, odd, SHMEM_CMP_GE, (T)12));                                          \
        CHECK(!shmem_##N##_test_all(objects, 4, NULL, SHMEM_CMP_GE, (T)12));                                        \
        CHECK(shmem_##N##_test_all_vector(objects, 4, NULL, SHMEM_CMP_EQ, values));                                 \
        CHECK(shmem_##N##_test_some(objects, 4, indices, odd, SHMEM_CMP_LE, (T)14) == 2 && indices[1] == 3);        \
        CHECK(shmem_##N##_test_some_vector(objects, 4, indices, NULL, SHMEM_CMP_EQ, values) == 4);                  \
        /* With nothing to wait for, all are done at once. */                                                       \
        shmem_##N##_wait_until_all(objects, 4, none, SHMEM_CMP_EQ, (T)0);                                           \
        shmem_##N##_wait_until_all(objects, 0, NULL, SHMEM_CMP_EQ, (T)0);                                           \
        CHECK(shmem_##N##_wait_until_any(objects, 4, none, SHMEM_CMP_EQ, (T)0) == SIZE_MAX);                        \
        CHECK(shmem_##N##_wait_until_some(objects, 4, indices, none, SHMEM_CMP_EQ, (T)0) == 0);                     \
        CHECK(shmem_##N##_test_all(objects, 0, NULL, SHMEM_CMP_EQ, (T)0));                                          \
        /* The greatest number of an unsigned type, -1 of a signed one. */                                          \
        shmem_##N##_p(&objects[0], (T)-1, me);                                                                      \
        CHECK(shmem_##N##_test(&objects[0], SHMEM_CMP_GT, (T)0) == ((T)-1 > (T)0));                                 \
        shmem_barrier_all();                                                                                        \
    }
WAIT_TYPES(ALL)

int main(void)
{
    begin();
#define CALL(N, T) waits_##N();
    WAIT_TYPES(CALL)
    return finish("shmem-waits");
}
