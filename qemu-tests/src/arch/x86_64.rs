//! Registers that a system call must leave as they are.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count};

use lwk_abi::syscall::linux;

const ARCH_SET_FS: u64 = 0x1002;
const ARCH_GET_FS: u64 = 0x1003;

/// Words of all vector registers: 16 of 256 bits.
pub const VECTOR_WORDS: usize = 64;

/// Whether the system lets programs use 256-bit vector registers.
pub fn has_avx() -> bool {
    const OSXSAVE_AND_AVX: u32 = 1 << 27 | 1 << 28;
    __cpuid(1).ecx & OSXSAVE_AND_AVX == OSXSAVE_AND_AVX
}

/// Fills the vector registers with `words` (without AVX, their lower halves), yields the core, and stores what they hold
/// then in `words`.
pub fn yield_with_vectors(words: &mut [u64; VECTOR_WORDS]) {
    let memory = words.as_mut_ptr();
    macro_rules! all {
        ($load:literal, $store:literal, $register:literal) => {
            // SAFETY: reads and writes `words` only, with instructions the processor has; every vector register is declared
            // lost, and the system call loses rcx and r11.
            unsafe {
                asm!(
                    concat!($load, " ", $register, "0, [{words}]"),
                    concat!($load, " ", $register, "1, [{words} + 32]"),
                    concat!($load, " ", $register, "2, [{words} + 64]"),
                    concat!($load, " ", $register, "3, [{words} + 96]"),
                    concat!($load, " ", $register, "4, [{words} + 128]"),
                    concat!($load, " ", $register, "5, [{words} + 160]"),
                    concat!($load, " ", $register, "6, [{words} + 192]"),
                    concat!($load, " ", $register, "7, [{words} + 224]"),
                    concat!($load, " ", $register, "8, [{words} + 256]"),
                    concat!($load, " ", $register, "9, [{words} + 288]"),
                    concat!($load, " ", $register, "10, [{words} + 320]"),
                    concat!($load, " ", $register, "11, [{words} + 352]"),
                    concat!($load, " ", $register, "12, [{words} + 384]"),
                    concat!($load, " ", $register, "13, [{words} + 416]"),
                    concat!($load, " ", $register, "14, [{words} + 448]"),
                    concat!($load, " ", $register, "15, [{words} + 480]"),
                    "syscall",
                    concat!($store, " [{words}], ", $register, "0"),
                    concat!($store, " [{words} + 32], ", $register, "1"),
                    concat!($store, " [{words} + 64], ", $register, "2"),
                    concat!($store, " [{words} + 96], ", $register, "3"),
                    concat!($store, " [{words} + 128], ", $register, "4"),
                    concat!($store, " [{words} + 160], ", $register, "5"),
                    concat!($store, " [{words} + 192], ", $register, "6"),
                    concat!($store, " [{words} + 224], ", $register, "7"),
                    concat!($store, " [{words} + 256], ", $register, "8"),
                    concat!($store, " [{words} + 288], ", $register, "9"),
                    concat!($store, " [{words} + 320], ", $register, "10"),
                    concat!($store, " [{words} + 352], ", $register, "11"),
                    concat!($store, " [{words} + 384], ", $register, "12"),
                    concat!($store, " [{words} + 416], ", $register, "13"),
                    concat!($store, " [{words} + 448], ", $register, "14"),
                    concat!($store, " [{words} + 480], ", $register, "15"),
                    words = in(reg) memory,
                    inlateout("rax") linux::SCHED_YIELD => _,
                    out("rcx") _,
                    out("r11") _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nostack),
                );
            }
        };
    }
    if has_avx() {
        all!("vmovdqu", "vmovdqu", "ymm");
    } else {
        all!("movdqu", "movdqu", "xmm");
    }
}

/// Sets the rounding modes of SSE and x87 and the thread pointer, yields the core, and returns the three afterwards. The
/// rounding modes are set back.
pub fn yield_with_modes(mxcsr: u32, x87_control: u16, thread_pointer: u64) -> (u32, u16, u64) {
    let (mut sse, mut x87) = (mxcsr, x87_control);
    let (mut old_sse, mut old_x87) = (0u32, 0u16);
    let mut found = 0u64;
    let prctl = |code: u64, argument: u64| {
        // SAFETY: programs in Rust do not use the thread pointer; reading it back writes eight bytes of `found`.
        let answer = unsafe { lwk_user::syscall::raw(linux::ARCH_PRCTL, [code, argument, 0, 0, 0, 0]) };
        assert_eq!(answer, 0, "arch_prctl of {code:#x} succeeds");
    };
    prctl(ARCH_SET_FS, thread_pointer);
    // SAFETY: reads and writes the four variables; the modes are those of the caller again at the end.
    unsafe {
        asm!(
            "stmxcsr [{old_sse}]",
            "fnstcw [{old_x87}]",
            "ldmxcsr [{sse}]",
            "fldcw [{x87}]",
            "syscall",
            "stmxcsr [{sse}]",
            "fnstcw [{x87}]",
            "ldmxcsr [{old_sse}]",
            "fldcw [{old_x87}]",
            sse = in(reg) &mut sse,
            x87 = in(reg) &mut x87,
            old_sse = in(reg) &mut old_sse,
            old_x87 = in(reg) &mut old_x87,
            inlateout("rax") linux::SCHED_YIELD => _,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    prctl(ARCH_GET_FS, (&raw mut found).expose_provenance() as u64);
    prctl(ARCH_SET_FS, 0);
    (sse, x87, found)
}

/// The thread pointers that instructions of programs set: `FS` or `GS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Fs,
    Gs,
}

/// Sets a thread pointer by the instruction for it, asks the system for it (`arch_prctl`), yields the core, and returns what the system has said and
/// what the register holds then. It is set back to 0. Only where [`has_base_instructions`].
pub fn set_and_yield(base: Base, value: u64) -> (u64, u64) {
    const ARCH_GET_GS: u64 = 0x1004;
    let (mut told, mut held) = (0u64, 0u64);
    macro_rules! run {
        ($write:literal, $read:literal, $get:expr) => {
            // SAFETY: programs in Rust do not use the thread pointers; the first call writes `told`, and both lose rcx and r11.
            unsafe {
                asm!(
                    concat!($write, " {value}"),
                    "syscall",
                    "mov eax, {yield_number}",
                    "syscall",
                    concat!($read, " {held}"),
                    "xor eax, eax",
                    concat!($write, " rax"),
                    value = in(reg) value,
                    held = out(reg) held,
                    yield_number = const linux::SCHED_YIELD,
                    inlateout("rax") linux::ARCH_PRCTL => _,
                    in("rdi") $get,
                    in("rsi") &raw mut told,
                    out("rcx") _,
                    out("r11") _,
                    options(nostack),
                );
            }
        };
    }
    match base {
        Base::Fs => run!("wrfsbase", "rdfsbase", ARCH_GET_FS),
        Base::Gs => run!("wrgsbase", "rdgsbase", ARCH_GET_GS),
    }
    (told, held)
}

/// Whether the processor has these instructions.
pub fn has_base_instructions() -> bool {
    const FSGSBASE: u32 = 1 << 0;
    __cpuid_count(7, 0).ebx & FSGSBASE != 0
}
