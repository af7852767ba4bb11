//! Copying: the loop is chosen by size, by the processor's vectors and by the home.
//!
//! In emulation vectors and string instructions are slow, and addresses that are equal modulo the slot size collide, so there
//! [`lwk_user::copy`] does it.

use crate::arch::{self, Vectors};
use crate::threshold::{FEW, STRING_FROM, TWO_STRETCHES};
use lwk_primitive::own::Own;

/// The vectors to use, as [`Loop`]; found at the first use.
static LOOP: Own<u8> = Own::<u8>::new(Loop::Unknown as u8);
/// Whether the string instruction is quick; found with [`LOOP`].
static HAS_STRING: Own<bool> = Own::<bool>::new(false);

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Loop {
    Unknown,
    Emulated,
    Sse2,
    Avx,
    Avx512,
}

#[cold]
fn find_loop() -> u8 {
    let found = if cfg!(target_os = "none") && lwk_user::job().is_emulated() {
        Loop::Emulated
    } else {
        match arch::vectors() {
            Vectors::Sse2 => Loop::Sse2,
            Vectors::Avx => Loop::Avx,
            Vectors::Avx512 => Loop::Avx512,
        }
    };
    HAS_STRING.set(arch::has_fast_string());
    LOOP.set(found as u8);
    found as u8
}

/// The vectors to compute with: the narrow ones in emulation.
#[inline]
pub fn vectors() -> Vectors {
    const AVX: u8 = Loop::Avx as u8;
    const AVX512: u8 = Loop::Avx512 as u8;
    match chosen() {
        AVX => Vectors::Avx,
        AVX512 => Vectors::Avx512,
        _ => Vectors::Sse2,
    }
}

#[inline(always)]
fn chosen() -> u8 {
    let chosen = LOOP.get();
    if chosen == Loop::Unknown as u8 { find_loop() } else { chosen }
}

/// Copies `bytes` bytes; either end may be in a peer's slot.
///
/// # Safety
/// `source` must be readable and `target` writable for `bytes` bytes, and not overlap, not even through
/// another slot; nobody else may write either or read `target` meanwhile.
#[inline]
pub unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
    if bytes <= FEW {
        // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's
        // contract); at most `FEW`.
        unsafe { few(source, target, bytes) }
    } else {
        // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's
        // contract); more than `FEW`.
        unsafe { many(source, target, bytes) }
    }
}

/// # Safety
/// As for [`copy`]; more than [`FEW`] bytes.
unsafe fn many(source: *const u8, target: *mut u8, bytes: usize) {
    const EMULATED: u8 = Loop::Emulated as u8;
    const AVX: u8 = Loop::Avx as u8;
    const AVX512: u8 = Loop::Avx512 as u8;
    // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's contract).
    // They are longer than any vector, and the processor has the vectors (`chosen` has asked).
    unsafe {
        match chosen() {
            EMULATED => lwk_user::copy::copy(source, target, bytes),
            _ if bytes <= TWO_STRETCHES => {
                let last = bytes - FEW;
                arch::copy_64_bytes(source, target);
                arch::copy_64_bytes(source.add(last), target.add(last));
            }
            _ if bytes >= STRING_FROM && HAS_STRING.get() => arch::copy_string(source, target, bytes),
            AVX512 => arch::copy_avx512(source, target, bytes),
            AVX => arch::copy_avx(source, target, bytes),
            _ => arch::copy_sse2(source, target, bytes),
        }
    }
}

/// Up to 64 bytes by words that overlap where they meet: no loop, at most four loads and four stores.
///
/// # Safety
/// As for [`copy`]; at most [`FEW`] bytes.
#[inline(always)]
pub unsafe fn few(source: *const u8, target: *mut u8, bytes: usize) {
    /// # Safety
    /// Both ends hold `bytes` bytes, at least one `W` and at most two: readable at `source`, writable at
    /// `target`, and apart.
    #[inline(always)]
    unsafe fn two<W>(source: *const u8, target: *mut u8, bytes: usize) {
        let last = bytes - size_of::<W>();
        // SAFETY: the first and the last `W` of the `bytes` bytes at either end (this function's contract),
        // at any alignment.
        unsafe {
            let (head, tail) =
                (source.cast::<W>().read_unaligned(), source.add(last).cast::<W>().read_unaligned());
            target.cast::<W>().write_unaligned(head);
            target.add(last).cast::<W>().write_unaligned(tail);
        }
    }
    // SAFETY: `bytes` are readable at `source`, writable at `target`, and apart (this function's contract).
    // Each branch stays inside: a pair of words covers one to two words.
    unsafe {
        if bytes == size_of::<u64>() {
            return target.cast::<u64>().write_unaligned(source.cast::<u64>().read_unaligned());
        }
        match bytes {
            0 => {}
            1 => *target = *source,
            2..=3 => two::<u16>(source, target, bytes),
            4..=7 => two::<u32>(source, target, bytes),
            9..=16 => two::<u64>(source, target, bytes),
            17..=32 => two::<u128>(source, target, bytes),
            _ => {
                let half = bytes / 2;
                two::<u128>(source, target, half.max(16));
                two::<u128>(source.add(half), target.add(half), bytes - half);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// Every length, at several offsets; nothing beside it changes.
    fn copies(loop_: Loop, lengths: core::ops::RangeInclusive<usize>) {
        let source: Vec<u8> = (0..ROOM).map(|i| (i * 7 + 3) as u8).collect();
        for length in lengths {
            for offset in [0, 1, 5, 32] {
                let mut target = vec![0xa5u8; ROOM];
                // SAFETY: both vectors hold `offset + length` bytes and are distinct; the processor has the vectors.
                unsafe { loop_(source.as_ptr().add(offset), target.as_mut_ptr().add(offset), length) };
                assert_eq!(&target[offset..offset + length], &source[offset..offset + length], "{length}");
                assert!(target[..offset].iter().chain(&target[offset + length..]).all(|byte| *byte == 0xa5));
            }
        }
    }

    /// Bytes of a buffer.
    const ROOM: usize = STRING_FROM + 100;

    type Loop = unsafe fn(*const u8, *mut u8, usize);

    #[test]
    fn strings_are_for_processors_that_are_made_for_them() {
        let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        assert_eq!(arch::has_fast_string(), flags.split_whitespace().any(|flag| flag == "erms"));
    }

    #[test]
    fn every_loop_copies_every_length_and_nothing_beside_it() {
        let (sse2, avx, avx512): (Loop, Loop, Loop) = (arch::copy_sse2, arch::copy_avx, arch::copy_avx512);
        copies(few, 0..=FEW);
        copies(arch::copy_string, 0..=300);
        copies(copy, 0..=600);
        copies(copy, STRING_FROM - 1..=STRING_FROM + 1);
        let loops = [(Vectors::Sse2, sse2), (Vectors::Avx, avx), (Vectors::Avx512, avx512)];
        for (_, loop_) in loops.into_iter().filter(|(needed, _)| *needed <= arch::vectors()) {
            copies(loop_, FEW + 1..=600);
        }
    }
}
