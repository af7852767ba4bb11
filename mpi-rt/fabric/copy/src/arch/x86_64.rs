//! x86-64: copy loops, one for each length of vectors, and the string instruction; what the processor and its home allow.
//!
//! Each loop takes four vectors a turn, loads before stores; what is left is copied by vectors that overlap what is done already, so there
//! are no loops over single bytes.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, __cpuid_count, _mm_loadu_si128, _mm_storeu_si128, _mm256_zeroupper};

/// Vectors that both the processor has and the home saves (the state components in XCR0), by length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Vectors {
    /// 16 bytes: every x86-64 processor.
    Sse2,
    /// 32 bytes: AVX and AVX2.
    Avx,
    /// 64 bytes: AVX-512 F, BW, DQ and VL, and all above.
    Avx512,
}

/// Asks the processor (Intel SDM, volume 1, sections 14.3 and 15.2).
pub fn vectors() -> Vectors {
    const OSXSAVE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    const AVX2: u32 = 1 << 5;
    const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
    const AVX_STATE: u32 = 0b110;
    const AVX512_STATE: u32 = 0b1110_0110;
    let features = __cpuid(1).ecx;
    if features & OSXSAVE == 0 || features & AVX == 0 || __cpuid(0).eax < 7 {
        return Vectors::Sse2;
    }
    let state: u32;
    // SAFETY: the instruction exists where OSXSAVE is set; it reads XCR0 and touches no memory.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") state, out("edx") _, options(nomem, nostack, preserves_flags))
    };
    let extended = __cpuid_count(7, 0).ebx;
    if state & AVX_STATE != AVX_STATE || extended & AVX2 == 0 {
        return Vectors::Sse2;
    }
    let wide = extended & AVX512 == AVX512 && state & AVX512_STATE == AVX512_STATE;
    if wide { Vectors::Avx512 } else { Vectors::Avx }
}

/// Whether the string instruction is quick ("enhanced REP MOVSB/STOSB", Intel SDM, volume 1, section 7.3.9.3). Without, it moves a few bytes a cycle: Intel's
/// before 2012, AMD's before Zen 3, and emulators that walk it byte by byte.
pub fn has_fast_string() -> bool {
    const ERMS: u32 = 1 << 9;
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & ERMS != 0
}

/// Whether the first-level cache is looked up by a hash of the linear address: on AMD's processors (CPUID leaf 0: "AuthenticAMD").
pub fn is_looked_up_by_linear_address() -> bool {
    let vendor = __cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
}

macro_rules! vector_copy {
    ($name:ident, $feature:literal, $register:ident, $width:literal, $move:literal, $end:stmt) => {
        /// Copies by vectors of that length. Content that somebody writes meanwhile is copied as whatever it is then.
        ///
        /// # Safety
        /// As for `core::ptr::copy_nonoverlapping`, but for that; at least one vector long; the processor has the feature.
        #[target_feature(enable = $feature)]
        pub unsafe fn $name(source: *const u8, target: *mut u8, bytes: usize) {
            const WIDTH: usize = $width;
            // SAFETY: one vector is readable at `from` and writable at `to`, apart, in all calls below. Instructions, so that a
            // value is read once, whoever writes meanwhile.
            let one = |from: *const u8, to: *mut u8| unsafe {
                asm!(
                    concat!($move, " {vector}, [{from}]"),
                    concat!($move, " [{to}], {vector}"),
                    from = in(reg) from, to = in(reg) to, vector = out($register) _,
                    options(nostack, preserves_flags),
                );
            };
            let mut done = 0;
            // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's
            // contract); no access goes beyond them, as there is at least one vector.
            unsafe {
                while done + 4 * WIDTH <= bytes {
                    asm!(
                        concat!($move, " {a}, [{from}]"),
                        concat!($move, " {b}, [{from} + ", $width, "]"),
                        concat!($move, " {c}, [{from} + 2 * ", $width, "]"),
                        concat!($move, " {d}, [{from} + 3 * ", $width, "]"),
                        concat!($move, " [{to}], {a}"),
                        concat!($move, " [{to} + ", $width, "], {b}"),
                        concat!($move, " [{to} + 2 * ", $width, "], {c}"),
                        concat!($move, " [{to} + 3 * ", $width, "], {d}"),
                        from = in(reg) source.add(done), to = in(reg) target.add(done),
                        a = out($register) _, b = out($register) _, c = out($register) _, d = out($register) _,
                        options(nostack, preserves_flags),
                    );
                    done += 4 * WIDTH;
                }
                while done + WIDTH <= bytes {
                    one(source.add(done), target.add(done));
                    done += WIDTH;
                }
                if done < bytes {
                    let last = bytes - WIDTH;
                    one(source.add(last), target.add(last));
                }
            }
            $end
        }
    };
}

// The compiler does not see the vectors: without the end, instructions of SSE that follow wait for their upper halves.
vector_copy!(copy_sse2, "sse2", xmm_reg, 16, "movdqu", {});
vector_copy!(copy_avx, "avx", ymm_reg, 32, "vmovdqu", _mm256_zeroupper());
vector_copy!(copy_avx512, "avx512f", zmm_reg, 64, "vmovdqu64", _mm256_zeroupper());

/// Copies 64 bytes, without a loop.
///
/// # Safety
/// As for `core::ptr::copy_nonoverlapping` of 64 bytes.
#[inline(always)]
pub unsafe fn copy_64_bytes(source: *const u8, target: *mut u8) {
    // SAFETY: 64 bytes are readable at `source`, writable at `target`, and apart (this function's contract).
    // SSE2 is part of x86-64, and the accesses need no alignment.
    unsafe {
        let parts = [0, 16, 32, 48].map(|at| _mm_loadu_si128(source.add(at).cast()));
        for (part, at) in parts.into_iter().zip([0, 16, 32, 48]) {
            _mm_storeu_si128(target.add(at).cast(), part);
        }
    }
}

/// Copies by the processor's string instruction.
///
/// # Safety
/// As for `core::ptr::copy_nonoverlapping`.
pub unsafe fn copy_string(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's contract);
    // the direction flag is clear by the ABI.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rsi") source => _,
            inout("rdi") target => _,
            options(nostack, preserves_flags),
        );
    }
}
