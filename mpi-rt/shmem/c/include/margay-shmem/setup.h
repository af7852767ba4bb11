/* Set-up, end and queries (9.1, 9.2), order (9.12), locks (9.13), profiling (10), and the cache routines (9.14, deprecated). */

void SHMEM_NAME(init)(void);
int SHMEM_NAME(init_thread)(int requested, int *provided);
void SHMEM_NAME(query_thread)(int *provided);
void SHMEM_NAME(finalize)(void);
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void SHMEM_NAME(global_exit)(int status);
int SHMEM_NAME(my_pe)(void);
int SHMEM_NAME(n_pes)(void);
void SHMEM_NAME(info_get_version)(int *major, int *minor);
void SHMEM_NAME(info_get_name)(char *name);

void SHMEM_NAME(fence)(void);
void SHMEM_NAME(quiet)(void);
void SHMEM_NAME(ctx_fence)(shmem_ctx_t ctx);
void SHMEM_NAME(ctx_quiet)(shmem_ctx_t ctx);

void SHMEM_NAME(set_lock)(long *lock);
void SHMEM_NAME(clear_lock)(long *lock);
int SHMEM_NAME(test_lock)(long *lock);

void SHMEM_NAME(pcontrol)(int level, ...);

void SHMEM_OLD_NAME(start_pes)(int npes);
int SHMEM_OLD_NAME(_my_pe)(void);
int SHMEM_OLD_NAME(_num_pes)(void);

void SHMEM_NAME(set_cache_inv)(void);
void SHMEM_NAME(clear_cache_inv)(void);
void SHMEM_NAME(udcflush)(void);
void SHMEM_NAME(set_cache_line_inv)(void *dest);
void SHMEM_NAME(clear_cache_line_inv)(void *dest);
void SHMEM_NAME(udcflush_line)(void *dest);
