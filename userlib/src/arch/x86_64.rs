//! x86-64: the entry point, the `syscall` instruction, the time stamp counter, `pause` and the copy loops.

use core::arch::asm;
use core::arch::x86_64::{_mm_lfence, _mm_pause, _rdtsc};

/// The ELF entry point. Both homes start a rank here with the Linux x86-64 initial stack at `rsp` (System V ABI,
/// AMD64 supplement, section 3.4.1); `rbp` is cleared so that a back trace ends here.
///
/// # Safety
/// For homes only, once, with that stack: it is read as such, and nothing returns.
#[cfg(all(target_os = "none", not(feature = "c-program")))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    core::arch::naked_asm!(
        "xor ebp, ebp",
        "mov rdi, rsp",
        "call {begin}",
        "ud2",
        begin = sym crate::start::begin,
    )
}

/// One system call: number and six arguments, as Linux takes them. The result is the kernel's, errors negated.
///
/// # Safety
/// Whatever the call does with the memory its arguments name must be sound.
#[inline(always)]
pub(crate) unsafe fn syscall(number: u64, arguments: [u64; 6]) -> i64 {
    let [a0, a1, a2, a3, a4, a5] = arguments;
    let result: i64;
    // SAFETY: the instruction changes rax, rcx and r11 only; what the call does with memory is sound (this
    // function's contract); nothing is pushed on this stack.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as i64 => result,
            in("rdi") a0,
            in("rsi") a1,
            in("rdx") a2,
            in("r10") a3,
            in("r8") a4,
            in("r9") a5,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Calls a home's function for a yield ([`lwk_abi::job_page::JobPage::yield_code`]).
///
/// # Safety
/// `code` is the address that the home gives in its job page, not 0.
#[inline(always)]
pub(crate) unsafe fn call_yield(code: u64) {
    // SAFETY: the function changes rax, rcx and r11 only; the stack below this frame is free for the return address, as without `nostack`
    // the compiler sees to.
    unsafe { asm!("call {code}", code = in(reg) code, out("rax") _, out("rcx") _, out("r11") _) };
}

/// Makes a system call by a home's function ([`lwk_abi::job_page::JobPage::call_code`]).
///
/// # Safety
/// `code` is the address that the home gives in its job page, not 0; what the call does with memory must be sound.
pub(crate) unsafe fn call_home(code: u64, number: u64, arguments: [u64; 4]) -> i64 {
    let [a, b, c, d] = arguments;
    let result: i64;
    // SAFETY: the function keeps to the C calling convention, all of whose registers are given up, and does with memory what the call does (this
    // function's contract).
    unsafe {
        asm!(
            "call rax",
            inlateout("rax") code as i64 => result,
            in("rdi") number,
            in("rsi") a,
            in("rdx") b,
            in("rcx") c,
            in("r8") d,
            clobber_abi("C"),
        );
    }
    result
}

/// The time stamp counter, read whenever the processor finds the time for it: for loops that read it back to back.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and both homes allow it (CR4.TSD is clear).
    unsafe { _rdtsc() }
}

/// The time stamp counter, read after everything before it has completed and before anything after it has begun.
#[inline(always)]
pub(crate) fn ticks_ordered() -> u64 {
    // SAFETY: every x86-64 processor has `rdtsc`, which both homes allow (CR4.TSD is clear), and, with SSE2,
    // `lfence`.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// Tells the processor (or the emulator) that this is a wait loop.
#[inline(always)]
pub(crate) fn pause() {
    _mm_pause();
}

/// Sleeps until the counter reads `deadline`, or an interrupt; the lighter of two kinds of sleep. Only where the processor has WAITPKG.
#[inline(always)]
pub(crate) fn tpause(deadline: u64) {
    // SAFETY: it changes flags only, and both homes allow it (CR4.TSD is clear).
    unsafe {
        asm!(
            "tpause ecx",
            in("ecx") 1,
            in("eax") deadline as u32,
            in("edx") (deadline >> 32) as u32,
            options(nomem, nostack),
        );
    }
}

/// Sleeps for so many ticks of the counter, or until an interrupt. Only where the processor has MONITORX.
#[inline(always)]
pub(crate) fn mwaitx(ticks: u32) {
    /// The sleep ends when `ebx` ticks have passed; the lightest kind (AMD64 volume 3, MWAITX).
    const BY_TIMER: u32 = 1 << 1;
    const LIGHTEST: u32 = 0xf0;
    // A line that nobody else stores to.
    let line = 0u64;
    // SAFETY: both only read; `rbx`, which the compiler keeps for itself, is as it was.
    unsafe {
        asm!(
            "xor ecx, ecx",
            "xor edx, edx",
            "monitorx",
            "xchg rbx, {ticks}",
            "mov eax, {lightest:e}",
            "mov ecx, {by_timer:e}",
            "mwaitx",
            "xchg rbx, {ticks}",
            ticks = inout(reg) u64::from(ticks) => _,
            lightest = in(reg) LIGHTEST,
            by_timer = in(reg) BY_TIMER,
            inout("rax") &line => _,
            out("rcx") _,
            out("rdx") _,
            options(nostack),
        );
    }
}

/// Copies `bytes` bytes by unrolled 16-byte loads, then stores; the tail by words, then single bytes.
///
/// For small copies on silicon, where string instructions take long to begin.
///
/// # Safety
/// As for `core::ptr::copy_nonoverlapping`.
#[inline]
pub(crate) unsafe fn copy_unrolled(source: *const u8, target: *mut u8, bytes: usize) {
    let lines = bytes / 64;
    let tail = bytes % 64;
    // SAFETY: `source` is readable and `target` writable for `bytes` bytes, disjoint (this function's
    // contract). The first loop moves `lines * 64` of them, the others the `bytes % 64` after. The direction
    // of the loops does not use the direction flag.
    unsafe {
        asm!(
            "test {lines}, {lines}",
            "jz 3f",
            "2:",
            "movdqu {x0}, [{source}]",
            "movdqu {x1}, [{source} + 16]",
            "movdqu {x2}, [{source} + 32]",
            "movdqu {x3}, [{source} + 48]",
            "movdqu [{target}], {x0}",
            "movdqu [{target} + 16], {x1}",
            "movdqu [{target} + 32], {x2}",
            "movdqu [{target} + 48], {x3}",
            "add {source}, 64",
            "add {target}, 64",
            "dec {lines}",
            "jnz 2b",
            "3:",
            "4:",
            "sub {tail}, 8",
            "jb 5f",
            "mov {word}, [{source}]",
            "mov [{target}], {word}",
            "add {source}, 8",
            "add {target}, 8",
            "jmp 4b",
            "5:",
            "add {tail}, 8",
            "jz 7f",
            "6:",
            "mov {word:l}, byte ptr [{source}]",
            "mov byte ptr [{target}], {word:l}",
            "inc {source}",
            "inc {target}",
            "dec {tail}",
            "jnz 6b",
            "7:",
            lines = inout(reg) lines => _,
            tail = inout(reg) tail => _,
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            word = out(reg) _,
            x0 = out(xmm_reg) _,
            x1 = out(xmm_reg) _,
            x2 = out(xmm_reg) _,
            x3 = out(xmm_reg) _,
            options(nostack),
        );
    }
}

/// As [`copy_unrolled`], with general registers: an emulator keeps those in the host's registers, but vector registers in memory.
///
/// # Safety
/// As for `core::ptr::copy_nonoverlapping`.
#[inline]
pub(crate) unsafe fn copy_words(source: *const u8, target: *mut u8, bytes: usize) {
    let lines = bytes / 64;
    // SAFETY: `source` is readable and `target` writable for `bytes` bytes, disjoint (this function's
    // contract); the loop moves the first `lines * 64` of them.
    unsafe {
        asm!(
            "test {lines}, {lines}",
            "jz 3f",
            "2:",
            "mov {w0}, [{source}]",
            "mov {w1}, [{source} + 8]",
            "mov {w2}, [{source} + 16]",
            "mov {w3}, [{source} + 24]",
            "mov {w4}, [{source} + 32]",
            "mov {w5}, [{source} + 40]",
            "mov {w6}, [{source} + 48]",
            "mov {w7}, [{source} + 56]",
            "mov [{target}], {w0}",
            "mov [{target} + 8], {w1}",
            "mov [{target} + 16], {w2}",
            "mov [{target} + 24], {w3}",
            "mov [{target} + 32], {w4}",
            "mov [{target} + 40], {w5}",
            "mov [{target} + 48], {w6}",
            "mov [{target} + 56], {w7}",
            "add {source}, 64",
            "add {target}, 64",
            "dec {lines}",
            "jnz 2b",
            "3:",
            lines = inout(reg) lines => _,
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            w0 = out(reg) _,
            w1 = out(reg) _,
            w2 = out(reg) _,
            w3 = out(reg) _,
            w4 = out(reg) _,
            w5 = out(reg) _,
            w6 = out(reg) _,
            w7 = out(reg) _,
            options(nostack),
        );
        copy_unrolled(source.add(bytes & !63), target.add(bytes & !63), bytes % 64);
    }
}
