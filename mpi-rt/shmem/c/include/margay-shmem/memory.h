/* The symmetric heap (9.3), what can be reached directly (9.2), and old names of the heap's routines. */

void *SHMEM_NAME(malloc)(size_t size);
void *SHMEM_NAME(calloc)(size_t count, size_t size);
void *SHMEM_NAME(align)(size_t alignment, size_t size);
void *SHMEM_NAME(realloc)(void *ptr, size_t size);
void SHMEM_NAME(free)(void *ptr);
void *SHMEM_NAME(malloc_with_hints)(size_t size, long hints);

void *SHMEM_NAME(ptr)(const void *dest, int pe);
int SHMEM_NAME(pe_accessible)(int pe);
int SHMEM_NAME(addr_accessible)(const void *addr, int pe);

void *SHMEM_OLD_NAME(shmalloc)(size_t size);
void *SHMEM_OLD_NAME(shmemalign)(size_t alignment, size_t size);
void *SHMEM_OLD_NAME(shrealloc)(void *ptr, size_t size);
void SHMEM_OLD_NAME(shfree)(void *ptr);
