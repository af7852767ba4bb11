//! The entry point and the `syscall` instruction of the test programs.

use core::arch::{asm, global_asm};

global_asm!(".globl _start", "_start:", "mov rdi, rsp", "xor ebp, ebp", "and rsp, -16", "call begin", "ud2",);

/// A system call.
///
/// # Safety
/// Whatever the call does with the memory its arguments name must be sound.
pub unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    let result;
    // SAFETY: what the call does with memory is sound (this function's contract); the clobbers are Linux's.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as i64 => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}

/// The FS base, which the loader's libc must not have left behind.
pub fn thread_word() -> u64 {
    let mut base = 1u64;
    // SAFETY: `arch_prctl(ARCH_GET_FS)` writes one word, into this variable.
    unsafe { call(158, [0x1003, &raw mut base as u64, 0, 0, 0, 0]) };
    base
}

// What compiled code and `core` call of a C library, and the unwinder's hook that nothing calls.
global_asm!(
    ".globl memset, memcpy, memcmp, rust_eh_personality",
    "memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    "memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    "memcmp:",
    "xor eax, eax",
    "mov rcx, rdx",
    "cmp rcx, rcx",
    "repe cmpsb",
    "setne al",
    "ret",
    "rust_eh_personality:",
    "ud2",
);
