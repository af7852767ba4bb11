/* A program for UEFI that switches five-level paging on, as some firmware leaves it, and returns to the firmware. A flat file: the headers are those of
 * a PE32+ file with one section, for a firmware's loader (Microsoft PE format; UEFI 2.10, section 2.1.1). */
    .intel_syntax noprefix
    .text
    .globl _start
_start:
    .ascii "MZ"
    .zero 58
    .long headers - _start
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
    .long code_end - code, 0, 0, code - _start, code - _start
    .quad 0
    /* Alignment of sections and of the file. */
    .long 0x1000, 0x200
    .word 0, 0, 0, 0, 0, 0
    .long 0, code_end - _start, code - _start, 0
    /* An application for UEFI. */
    .word 10, 0
    .quad 0, 0, 0, 0
    .long 0, 6
    .quad 0, 0, 0, 0, 0, 0
section:
    .ascii ".text\0\0\0"
    .long code_end - code, code - _start, code_end - code, code - _start, 0, 0, 0
    /* Code, to be read, written and executed. */
    .long 0xe0000020

    .balign 0x1000
    .code64
/* (handle in rcx, system table in rdx) -> status in rax, by Microsoft's convention. */
code:
    push rbx
    push rsi
    push rdi
    push rbp
    mov rbp, rsp
    sub rsp, 0x60
    and rsp, -16
    /* A page below 4 GiB that stays: boot services' AllocatePages(AllocateMaxAddress, EfiBootServicesData, 1, address). */
    mov eax, 0xffffffff
    mov [rsp + 0x28], rax
    mov rax, [rdx + 0x60]
    mov ecx, 1
    mov edx, 4
    mov r8d, 1
    lea r9, [rsp + 0x28]
    call [rax + 0x28]
    test rax, rax
    jnz 9f
    /* It becomes the fifth level, with one entry: the fourth as it is. */
    mov rbx, [rsp + 0x28]
    mov rdi, rbx
    xor eax, eax
    mov ecx, 512
    cld
    rep stosq
    mov rax, cr3
    or rax, 3
    mov [rbx], rax
    cli
    sgdt [rsp + 0x30]
    mov esi, cs
    mov edi, ss
    mov word ptr [rsp + 0x40], table_end - table - 1
    lea rax, [rip + table]
    mov [rsp + 0x42], rax
    lgdt [rsp + 0x40]
    /* The levels change while paging is off, which is in 32-bit mode only (Intel SDM volume 3, section 4.1.2). */
    push 0x08
    lea rax, [rip + narrow]
    push rax
    retfq
    .code32
narrow:
    mov eax, 0x18
    mov ds, eax
    mov ss, eax
    mov eax, cr0
    and eax, 0x7fffffff
    mov cr0, eax
    mov eax, cr4
    or eax, 0x1000
    mov cr4, eax
    mov cr3, ebx
    mov eax, cr0
    or eax, 0x80000000
    mov cr0, eax
    push 0x10
    call 1f
1:  pop eax
    add eax, wide - 1b
    push eax
    retf
    .code64
wide:
    mov esp, esp
    mov ebp, ebp
    lgdt [rsp + 0x30]
    mov ds, edi
    mov ss, edi
    mov esi, esi
    push rsi
    lea rax, [rip + back]
    push rax
    retfq
back:
    sti
    xor eax, eax
9:  mov rsp, rbp
    pop rbp
    pop rdi
    pop rsi
    pop rbx
    ret

    .balign 8
/* Flat: nothing, code of 32 bits, code of 64 bits, data. */
table:
    .quad 0, 0x00cf9b000000ffff, 0x00af9b000000ffff, 0x00cf93000000ffff
table_end:
    .balign 0x200
code_end:
