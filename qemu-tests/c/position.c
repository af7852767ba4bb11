/* A program that knows nothing of Margay, linked where other toolchains put theirs: position independent, or at another address. It has been relocated as
 * it should be, and finds itself and its peers. With the argument "crash" it dies, for the back trace. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int checks, failed;
#define THAT(what) (checks++, (what) ? 0 : (failed++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what)))

/* Relocated when the program starts: constants that are addresses, variables that are, and functions. */
static int variable = 42;
static int *volatile pointer = &variable;
static const char *const names[] = {"zero", "one", "two"};
static int twice(int number) { return 2 * number; }
static int thrice(int number) { return 3 * number; }
static int (*const functions[])(int) = {twice, thrice};
static _Thread_local int own = 7;

extern const char __ehdr_start[], _start[];

__attribute__((noinline)) static int deep_inside(volatile int *nowhere)
{
    return *nowhere + 1;
}

/* The program headers that the system names, where they say that they are. */
static void headers(void)
{
    const ElfW(Phdr) *header = (void *)getauxval(AT_PHDR);
    const ElfW(Ehdr) *file = (void *)__ehdr_start;
    THAT((const char *)header == __ehdr_start + file->e_phoff);
    THAT(getauxval(AT_PHNUM) == file->e_phnum);
    THAT(getauxval(AT_PHENT) == sizeof *header);
    THAT(getauxval(AT_ENTRY) == (uintptr_t)_start);
    THAT(getauxval(AT_BASE) == 0);
    uintptr_t bias = file->e_type == ET_DYN ? (uintptr_t)__ehdr_start : 0;
    int relro = 0;
    for (int index = 0; index < file->e_phnum; index++) {
        uintptr_t start = bias + header[index].p_vaddr, end = start + header[index].p_memsz;
        if (header[index].p_type == PT_LOAD && header[index].p_flags & PF_X) {
            THAT(start <= (uintptr_t)twice && (uintptr_t)twice < end);
            /* Code stays what it is. */
            THAT(mprotect((void *)(start & -4096l), 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
        }
        if (header[index].p_type == PT_GNU_RELRO) {
            relro = 1;
            void *page = (void *)(start & -4096l);
            /* What the C library asks for at the start, and again. */
            THAT(mprotect(page, (end & -4096l) - (uintptr_t)page, PROT_READ) == 0);
            THAT(start <= (uintptr_t)names && (uintptr_t)names < end);
        }
    }
    THAT(relro || file->e_type == ET_EXEC);
}

int main(int count, char **words)
{
    THAT(*pointer == 42 && pointer == &variable);
    for (int index = 0; index < 3; index++)
        THAT(strlen(names[index]) == (size_t)(index == 0 ? 4 : 3));
    THAT(functions[count > 99](21) == 42);
    THAT(own == 7 && ++own == 8);
    headers();

    /* The same address in every rank: the variable as peers would see it. */
    int rank = getpid() - 1;
    volatile int *through_slot = (void *)((uintptr_t)&variable | (uintptr_t)(rank + 1) << 39);
    *through_slot = 43;
    THAT(*pointer == 43);

    struct timespec before, after;
    THAT(clock_gettime(CLOCK_MONOTONIC, &before) == 0 && clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    THAT(after.tv_sec > before.tv_sec || (after.tv_sec == before.tv_sec && after.tv_nsec >= before.tv_nsec));
    THAT(clock_gettime(CLOCK_REALTIME, &before) == 0 && before.tv_sec > 1700000000);

    printf("code at %p\n", (void *)_start);
    printf("position: %d checks, %d failed\n", checks, failed);
    fflush(stdout);
    if (count > 1 && strcmp(words[1], "crash") == 0)
        return deep_inside((void *)(uintptr_t)(count - 2));
    return failed != 0;
}
