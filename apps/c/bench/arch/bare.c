/* A guest in which nothing but the loops of noise.h runs, with interrupts off: what it sees is the emulator's own and the host's.
 *
 * QEMU starts it by the Multiboot protocol (version 0.6.96) in 32-bit mode; its command line is the number of processors. Those besides the first are
 * started as every system does it (Intel SDM volume 3A, section 10.4.4). It prints the lines of noise.c on the first serial port, in hexadecimal, and ends by
 * QEMU's debug exit device. */
#include "../noise.h"

enum { CORES = 8, STACK = 16 << 10, COM1 = 0x3f8, EXIT = 0xf4 };
/* More than any counter does in 10 ms. */
static const uint64_t MOMENT = 100000000;
/* A second, within the limits of what counters do. */
static const uint64_t DURATION = 2500000000;

__asm__(
    /* The header is looked for in the first 8 KiB of the file. */
    ".text\n"
    ".balign 4\n"
    ".long 0x1badb002, 0, -0x1badb002\n"
    ".global _start\n"
    "_start:\n"
    "    cli\n"
    "    mov $stacks + 16384, %esp\n"
    "    push %ebx\n"
    "    call first\n"
    "1:  hlt\n"
    "    jmp 1b\n"
    /* Copied to 0x8000, where the other processors begin in 16-bit mode. */
    ".code16\n"
    ".global trampoline, trampoline_end\n"
    "trampoline:\n"
    "    cli\n"
    "    xor %ax, %ax\n"
    "    mov %ax, %ds\n"
    "    lgdtl 0x8000 + (descriptor - trampoline)\n"
    "    mov %cr0, %eax\n"
    "    or $1, %al\n"
    "    mov %eax, %cr0\n"
    "    ljmpl $8, $other\n"
    ".balign 8\n"
    "descriptors: .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff\n"
    "descriptor: .word 23\n"
    "    .long 0x8000 + (descriptors - trampoline)\n"
    "trampoline_end:\n"
    ".code32\n"
    "other:\n"
    "    mov $16, %ax\n"
    "    mov %ax, %ds\n"
    "    mov %ax, %es\n"
    "    mov %ax, %ss\n"
    "    mov $1, %eax\n"
    "    lock xadd %eax, started\n"
    "    inc %eax\n"
    "    mov %eax, %ecx\n"
    "    inc %ecx\n"
    "    shl $14, %ecx\n"
    "    lea stacks(%ecx), %esp\n"
    "    push %eax\n"
    "    call run\n"
    "2:  hlt\n"
    "    jmp 2b\n");

extern const char trampoline[], trampoline_end[];
char stacks[CORES][STACK] __attribute__((aligned(16)));
/* Processors besides the first that have begun, and those that have measured. */
volatile uint32_t started;
static uint32_t measured, go;
static struct noise seen[CORES];

static void out(uint16_t port, uint8_t byte)
{
    __asm__ volatile("outb %0, %1" : : "a"(byte), "Nd"(port));
}

static uint8_t in(uint16_t port)
{
    uint8_t byte;
    __asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
    return byte;
}

static void say(const char *text)
{
    for (; *text; text++) {
        while (!(in(COM1 + 5) & 0x20))
            ;
        out(COM1, *text);
    }
}

static void number(uint64_t value)
{
    char text[20];
    char *first = text + sizeof text;
    *--first = 0;
    do
        *--first = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    say(" 0x");
    say(first);
}

static void samples(const char *name, uint32_t core, const uint64_t *values)
{
    for (int i = 0; i < SAMPLES; i++) {
        if (i % IN_A_LINE == 0) {
            say(i ? "\n" : "");
            say(name);
            number(core);
        }
        number(values[i]);
    }
    say("\n");
}

static void wait_ticks(uint64_t duration)
{
    for (uint64_t start = ticks(); ticks() - start < duration;)
        ;
}

/* Release and acquire: what a core has seen is there when it has counted itself. */
void run(int core)
{
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
    measure_noise(&seen[core], DURATION);
    __atomic_fetch_add(&measured, 1, __ATOMIC_RELEASE);
}

static void start_others(void)
{
    volatile uint32_t *command = (volatile uint32_t *)0xfee00300;
    char *low = (char *)0x8000;
    __asm__("" : "+r"(low));
    for (const char *byte = trampoline; byte < trampoline_end; byte++)
        *low++ = *byte;
    *command = 0x000c4500;
    wait_ticks(MOMENT);
    *command = 0x000c4608;
    wait_ticks(MOMENT);
}

void first(const uint32_t *boot)
{
    const char *words = (const char *)boot[4];
    uint32_t cores = 1;
    /* The command line begins with the file's name. */
    while (*words && *words != ' ')
        words++;
    if (*words == ' ' && words[1] > '0' && words[1] <= '0' + CORES)
        cores = words[1] - '0';
    if (cores > 1)
        start_others();
    while (started < cores - 1)
        __builtin_ia32_pause();
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    run(0);
    while (__atomic_load_n(&measured, __ATOMIC_ACQUIRE) < cores)
        __builtin_ia32_pause();
    for (uint32_t core = 0; core < cores; core++) {
        const struct noise *its = &seen[core];
        const uint64_t all[] = {core, its->shortest, its->gaps, its->elapsed, its->detours};
        say("core");
        for (int i = 0; i < 5; i++)
            number(all[i]);
        say("\n");
        for (uint64_t i = 0; i < its->detours && i < DETOURS; i++) {
            say("detour");
            number(core);
            number(its->detour[i].start);
            number(its->detour[i].length);
            say("\n");
        }
        samples("work", core, its->work);
        samples("time", core, its->time);
    }
    say("@done 1\n");
    while (!(in(COM1 + 5) & 0x40))
        ;
    out(EXIT, 0);
}
