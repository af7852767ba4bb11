/* The head of a program for UEFI, a flat file (uefi.ld): that of a PE32+ file with one section, for a firmware's loader (Microsoft PE format; UEFI 2.10,
 * section 2.1.1). The program begins at `start`. */
#ifndef SUBSYSTEM
/* An application. A boot service driver, 11, stays when it has returned. */
#define SUBSYSTEM 10
#endif
    .intel_syntax noprefix
    .section .head, "ax"
    .globl head
head:
    .ascii "MZ"
    .zero 58
    .long headers - head
headers:
    .ascii "PE\0\0"
    .word 0x8664, 1
    .long 0, 0, 0
    .word section - optional
    /* Executable; lines and debug information are not there. */
    .word 0x0206
optional:
    .word 0x020b
    .byte 2, 20
    .long end - code, 0, 0, code - head, code - head
    .quad 0
    /* Alignment of sections and of the file. */
    .long 0x1000, 0x200
    .word 0, 0, 0, 0, 0, 0
    .long 0, end - head, code - head, 0
    .word SUBSYSTEM, 0
    .quad 0, 0, 0, 0
    .long 0, 6
    .quad 0, 0, 0, 0, 0, 0
section:
    .ascii ".text\0\0\0"
    .long end - code, code - head, end - code, code - head, 0, 0, 0
    /* Code, to be read, written and executed. */
    .long 0xe0000020

    .balign 0x1000
    .code64
code:
    jmp start
