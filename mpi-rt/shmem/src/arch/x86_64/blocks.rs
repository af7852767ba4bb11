//! Copy loops, one for each vector length, and the string instruction.
//!
//! Each loop takes four vectors a turn, loads before stores; what is left is copied by vectors that overlap what is done
//! already, so there are no loops over single bytes.

use core::arch::asm;
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256,
    _mm512_loadu_si512, _mm512_storeu_si512,
};

/// The most bytes of [`copy_few`].
pub(crate) const FEW_BYTES: usize = 128;

/// Copies up to [`FEW_BYTES`] bytes by words or vectors from both ends, which overlap in the middle; no loop.
///
/// # Safety
/// As for `copy_nonoverlapping`; `bytes` is at most [`FEW_BYTES`].
#[inline(always)]
pub(crate) unsafe fn copy_few(source: *const u8, target: *mut u8, bytes: usize) {
    /// # Safety
    /// `bytes` is at least the size of `T`; as for `copy_nonoverlapping`.
    #[inline(always)]
    unsafe fn ends<T: Copy>(source: *const u8, target: *mut u8, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: both words lie within `bytes` bytes.
        unsafe {
            let first = source.cast::<T>().read_unaligned();
            let end = source.add(last).cast::<T>().read_unaligned();
            target.cast::<T>().write_unaligned(first);
            target.add(last).cast::<T>().write_unaligned(end);
        }
    }
    /// # Safety
    /// Each offset is that of 16 bytes that may be copied.
    #[inline(always)]
    unsafe fn vectors(source: *const u8, target: *mut u8, [a, b, c, d]: [usize; 4]) {
        // SAFETY: the caller's promise; SSE2 is part of x86-64.
        unsafe {
            let first = _mm_loadu_si128(source.add(a).cast());
            let second = _mm_loadu_si128(source.add(b).cast());
            let third = _mm_loadu_si128(source.add(c).cast());
            let fourth = _mm_loadu_si128(source.add(d).cast());
            _mm_storeu_si128(target.add(a).cast(), first);
            _mm_storeu_si128(target.add(b).cast(), second);
            _mm_storeu_si128(target.add(c).cast(), third);
            _mm_storeu_si128(target.add(d).cast(), fourth);
        }
    }
    // SAFETY: each arm covers the sizes its words do.
    unsafe {
        match bytes {
            0 => {}
            1 => target.write(source.read()),
            2..=3 => ends::<u16>(source, target, bytes),
            4..=7 => ends::<u32>(source, target, bytes),
            8..=15 => ends::<u64>(source, target, bytes),
            16..=32 => ends::<__m128i>(source, target, bytes),
            33..=64 => vectors(source, target, [0, 16, bytes - 32, bytes - 16]),
            _ => {
                let end = bytes - 64;
                vectors(source, target, [0, 16, 32, 48]);
                vectors(source, target, [end, end + 16, end + 32, end + 48]);
            }
        }
    }
}

macro_rules! vector_loop {
    ($name:ident, $feature:literal, $vector:ty, $load:ident, $store:ident) => {
        /// Copies by vectors of that length.
        ///
        /// # Safety
        /// As for `copy_nonoverlapping`; at least one vector's bytes; the processor must have the vectors, enabled.
        #[target_feature(enable = $feature)]
        pub(crate) unsafe fn $name(source: *const u8, target: *mut u8, bytes: usize) {
            const VECTOR: usize = size_of::<$vector>();
            let mut done = 0;
            // SAFETY: every offset is at most `bytes` less the bytes of what is loaded there.
            unsafe {
                while bytes - done >= 4 * VECTOR {
                    let (from, to) = (source.add(done), target.add(done));
                    let a = $load(from.cast());
                    let b = $load(from.add(VECTOR).cast());
                    let c = $load(from.add(2 * VECTOR).cast());
                    let d = $load(from.add(3 * VECTOR).cast());
                    $store(to.cast(), a);
                    $store(to.add(VECTOR).cast(), b);
                    $store(to.add(2 * VECTOR).cast(), c);
                    $store(to.add(3 * VECTOR).cast(), d);
                    done += 4 * VECTOR;
                }
                while bytes - done >= VECTOR {
                    $store(target.add(done).cast(), $load(source.add(done).cast()));
                    done += VECTOR;
                }
                if done < bytes {
                    let last = bytes - VECTOR;
                    $store(target.add(last).cast(), $load(source.add(last).cast()));
                }
            }
        }
    };
}

vector_loop!(copy_16, "sse2", __m128i, _mm_loadu_si128, _mm_storeu_si128);
vector_loop!(copy_32, "avx", __m256i, _mm256_loadu_si256, _mm256_storeu_si256);
vector_loop!(copy_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512);

/// Copies with the string instruction, which the processor does in whole lines.
///
/// # Safety
/// As for `copy_nonoverlapping`.
pub(crate) unsafe fn copy_string(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; the direction flag is clear, as the ABI has it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::features::{Level, level};

    fn check(copier: impl Fn(*const u8, *mut u8, usize), lengths: impl Iterator<Item = usize>) {
        let source: Vec<u8> = (0..2000).map(|i| (i * 7 + i / 256 + 3) as u8).collect();
        for length in lengths {
            for offset in 0..3 {
                let mut target = vec![0xa5u8; 2000];
                copier(source[offset..].as_ptr(), target[offset..].as_mut_ptr(), length);
                assert_eq!(&target[offset..offset + length], &source[offset..offset + length], "{length}");
                assert!(target[..offset].iter().chain(&target[offset + length..]).all(|byte| *byte == 0xa5));
            }
        }
    }

    #[test]
    fn every_loop_copies_every_length_and_nothing_beside_it() {
        // SAFETY: the lengths are those the loop is for, and the processor has its vectors.
        check(|s, t, n| unsafe { copy_few(s, t, n) }, 0..=FEW_BYTES);
        // SAFETY: as above.
        check(|s, t, n| unsafe { copy_16(s, t, n) }, 16..1000);
        // SAFETY: as above.
        check(|s, t, n| unsafe { copy_string(s, t, n) }, 0..1000);
        if level() >= Level::Avx2 {
            // SAFETY: as above.
            check(|s, t, n| unsafe { copy_32(s, t, n) }, 32..1000);
        }
        if level() >= Level::Avx512 {
            // SAFETY: as above.
            check(|s, t, n| unsafe { copy_64(s, t, n) }, 64..1500);
        }
    }
}
