//! What the processor has, and the system lets programs use.

use core::arch::x86_64::{__cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// Vector instructions, by length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Level {
    /// 16 bytes: every x86-64 processor.
    Sse2 = 1,
    /// 32 bytes.
    Avx2 = 2,
    /// 64 bytes (F, BW, DQ and VL).
    Avx512 = 3,
}

/// The longest vectors. The processor is asked once.
#[inline]
pub(crate) fn level() -> Level {
    /// 0: not asked yet. Relaxed: all answers are equal.
    static LEVEL: AtomicU8 = AtomicU8::new(0);
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Sse2,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => {
            let level = ask();
            LEVEL.store(level as u8, Ordering::Relaxed);
            level
        }
    }
}

/// Intel SDM, volume 1, sections 14.3 and 15.2: the processor must have the instructions, and the system must have enabled the
/// registers.
#[cold]
fn ask() -> Level {
    const OSXSAVE: u32 = 1 << 27;
    const AVX2: u32 = 1 << 5;
    const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    const YMM_STATE: u64 = 0b110;
    const ZMM_STATE: u64 = 0b1110_0110;
    if __cpuid_count(0, 0).eax < 7 || __cpuid_count(1, 0).ecx & OSXSAVE == 0 {
        return Level::Sse2;
    }
    // SAFETY: the system has enabled the instruction: OSXSAVE says so.
    let enabled = unsafe { xcr0() };
    let features = __cpuid_count(7, 0).ebx;
    if features & AVX512 == AVX512 && enabled & ZMM_STATE == ZMM_STATE {
        Level::Avx512
    } else if features & AVX2 != 0 && enabled & YMM_STATE == YMM_STATE {
        Level::Avx2
    } else {
        Level::Sse2
    }
}

/// # Safety
/// The processor must have XSAVE, enabled.
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: the caller's promise; register 0 always exists.
    unsafe { _xgetbv(0) }
}
