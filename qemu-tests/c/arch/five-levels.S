/* A program for UEFI that switches five-level paging on, as some firmware leaves it, and returns to the firmware. */
    .intel_syntax noprefix
    .text
    .code64
    .globl start
/* (handle in rcx, system table in rdx) -> status in rax, by Microsoft's convention. */
start:
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
