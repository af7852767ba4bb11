/* Signals that a program raises itself: faults with siginfo and context, the alternate stack, longjmp, masks, kill */
#define _GNU_SOURCE
#include "check.h"
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int seen, seen_code;
static void *volatile seen_address;
static char stack_memory[65536];
static volatile int on_stack;

static void remember(int number, siginfo_t *info, void *context)
{
    char here;
    seen = number;
    seen_code = info->si_code;
    seen_address = info->si_addr;
    on_stack = &here >= stack_memory && &here < stack_memory + sizeof stack_memory;
    (void)context;
    siglongjmp(back, 1);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    THAT(sigaction(number, &action, NULL) == 0);
}

/* Runs the statement, which faults, and checks the signal, its code and, if it matters, its address. */
#define FAULTS(statement, number, code)                                                                   \
    do {                                                                                                  \
        seen = 0;                                                                                         \
        if (sigsetjmp(back, 1) == 0) {                                                                    \
            statement;                                                                                    \
        }                                                                                                 \
        THAT(seen == (number));                                                                           \
        THAT(seen_code == (code));                                                                        \
    } while (0)

static const int constant = 7;

/* An address that the compiler does not know to be bad. */
static volatile int *volatile nowhere = (volatile int *)16;

static void faults(void)
{
    for (int number = 1; number < 32; number++) {
        if (number == SIGSEGV || number == SIGFPE || number == SIGILL || number == SIGBUS || number == SIGTRAP)
            handle(number, remember, SA_ONSTACK);
    }
    volatile int zero = 0;
    volatile int one = 1;
    FAULTS(*nowhere = 1, SIGSEGV, SEGV_MAPERR);
    THAT(seen_address == (void *)16);
    FAULTS(*(volatile int *)&constant = 1, SIGSEGV, SEGV_ACCERR);
    THAT(seen_address == (const void *)&constant);
    FAULTS(*(volatile int *)0xdead000000000000 = 1, SIGSEGV, SI_KERNEL);
    FAULTS(zero = one / zero, SIGFPE, FPE_INTDIV);
    FAULTS(__asm__ volatile("ud2"), SIGILL, ILL_ILLOPN);
    FAULTS(__asm__ volatile("int3"), SIGTRAP, SI_KERNEL);
    FAULTS(__asm__ volatile("cli"), SIGSEGV, SI_KERNEL);
    /* Division by zero is not masked. By the x87 unit, because QEMU does not emulate the vector unit's exceptions. */
    uint16_t control = 0x037f & ~4;
    FAULTS(__asm__ volatile("fldcw %0\n\tfld1\n\tfldz\n\tfdivrp\n\tfwait" : : "m"(control) : "st"), SIGFPE,
           FPE_FLTDIV);
    __asm__ volatile("fninit");
}

static volatile int depth;

static volatile int endless = 1;

static int run_off(int level)
{
    if (!endless)
        return level;
    volatile char much[4096];
    much[0] = (char)level;
    depth = level;
    return run_off(level + 1) + much[0];
}

static void alternate_stack(void)
{
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory}, old;
    FAILS(sigaltstack(&(stack_t){.ss_sp = stack_memory, .ss_size = 100}, NULL), ENOMEM);
    THAT(sigaltstack(&stack, NULL) == 0);
    THAT(sigaltstack(NULL, &old) == 0 && old.ss_sp == stack_memory && old.ss_flags == 0);
    handle(SIGSEGV, remember, SA_ONSTACK);
    FAULTS(depth = run_off(0), SIGSEGV, SEGV_MAPERR);
    THAT(on_stack && depth > 100);
    handle(SIGSEGV, remember, 0);
    FAULTS(*nowhere = 1, SIGSEGV, SEGV_MAPERR);
    THAT(!on_stack);
}

/* Steps over the faulting instruction by the context, and looks at registers on the way. */
static void step_over(int number, siginfo_t *info, void *context)
{
    ucontext_t *where = context;
    unsigned char *code = (unsigned char *)where->uc_mcontext.gregs[REG_RIP];
    seen = number;
    THAT(code[0] == 0x0f && code[1] == 0x0b);
    THAT(where->uc_mcontext.gregs[REG_R12] == 0x1234567);
    where->uc_mcontext.gregs[REG_RIP] += 2;
    where->uc_mcontext.gregs[REG_R13] = 0x7654321;
    (void)info;
    /* Spoil what a return must bring back. */
    __asm__ volatile("pxor %%xmm5, %%xmm5\n\tpxor %%xmm15, %%xmm15" : : : "xmm5", "xmm15");
}

static void context(void)
{
    handle(SIGILL, step_over, 0);
    uint64_t twelve = 0x1234567, thirteen = 1, flags = 0, fifteen = 0;
    __asm__ volatile("mov %[in], %%r12\n\t"
                     "movq %%r12, %%xmm15\n\t"
                     "xor %%r13d, %%r13d\n\t"
                     "stc\n\t"
                     "ud2\n\t"
                     "pushfq\n\t"
                     "pop %[flags]\n\t"
                     "movq %%xmm15, %[fifteen]\n\t"
                     "mov %%r13, %[out]\n\t"
                     : [out] "=r"(thirteen), [flags] "=r"(flags), [fifteen] "=r"(fifteen)
                     : [in] "r"(twelve)
                     : "r12", "r13", "xmm15", "memory");
    THAT(seen == SIGILL);
    THAT(thirteen == 0x7654321);
    THAT((flags & 1) == 1);
    THAT(fifteen == 0x1234567);
}

static volatile int counts[65];
static volatile int sender;

static void count(int number, siginfo_t *info, void *context)
{
    counts[number]++;
    sender = info->si_pid;
    seen_code = info->si_code;
    (void)context;
}

static void raised(void)
{
    sigset_t set, old, pending;
    handle(SIGUSR1, count, 0);
    handle(SIGUSR2, count, SA_RESETHAND);
    THAT(kill(getpid(), SIGUSR1) == 0);
    THAT(counts[SIGUSR1] == 1 && sender == getpid() && seen_code == SI_USER);
    THAT(raise(SIGUSR1) == 0);
    THAT(counts[SIGUSR1] == 2 && seen_code == SI_TKILL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    THAT(sigprocmask(SIG_BLOCK, &set, &old) == 0);
    THAT(raise(SIGUSR1) == 0 && counts[SIGUSR1] == 2);
    THAT(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
    THAT(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    THAT(counts[SIGUSR1] == 3);
    THAT(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 0);
    THAT(raise(SIGUSR2) == 0 && counts[SIGUSR2] == 1);
    struct sigaction now;
    THAT(sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    THAT(signal(SIGUSR2, SIG_IGN) != SIG_ERR && raise(SIGUSR2) == 0);
    THAT(raise(SIGCHLD) == 0 && raise(SIGWINCH) == 0);
    THAT(kill(getpid(), 0) == 0);
    FAILS(kill(getpid() + 1000, 0), ESRCH);
    FAILS(kill(getpid(), 65), EINVAL);
    FAILS(sigaction(SIGKILL, &now, NULL), EINVAL);
    FAILS(syscall(SYS_rt_sigaction, 0, NULL, NULL, 8), EINVAL);
    FAILS(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 16), EINVAL);
    FAILS(syscall(SYS_rt_sigprocmask, 9, &set, NULL, 8), EINVAL);
    FAILS(syscall(SYS_rt_sigprocmask, 0, (void *)16, NULL, 8), EFAULT);
    FAILS(syscall(SYS_rt_sigaction, SIGUSR1, (void *)16, NULL, 8), EFAULT);
    FAILS(syscall(SYS_tgkill, getpid(), getpid() + 1000, 0), ESRCH);
    FAILS(syscall(SYS_tgkill, getpid(), -1, 0), EINVAL);
}

int main(void)
{
    faults();
    alternate_stack();
    context();
    raised();
    return report("signals");
}
