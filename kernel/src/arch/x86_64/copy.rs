//! Copying between kernel memory and user memory, as seen through the linear map. User memory changes under the kernel's
//! hands at any time (a peer may write it), so no Rust reference to it ever exists; the loops are assembly, which the
//! compiler takes for an access by someone else.

use core::arch::asm;
use core::arch::x86_64::_mm_sfence;

use lwk_abi::address::PAGE_BYTES;

use super::features::features;

/// Copies `bytes` bytes from `source` to `target`. Eight bytes go at a time, then four, two and one: an aligned word that is copied alone
/// is read and written by one access, so that nobody sees half of it (futex words).
///
/// # Safety
/// Both ranges are mapped for the kernel, `target` writable. A range in kernel memory is the caller's own; of two in user memory that
/// overlap, any mixture may come out.
pub unsafe fn copy(target: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: both ranges are mapped, the target writable, and what of them the kernel owns is the caller's (this function's contract).
    // String instructions are avoided because they are very slow in emulation.
    unsafe {
        asm!(
            "jmp 3f",
            "2:",
            "mov {word}, [{source}]",
            "mov [{target}], {word}",
            "add {source}, 8",
            "add {target}, 8",
            "sub {left}, 8",
            "3:",
            "cmp {left}, 8",
            "jae 2b",
            "test {left}, 4",
            "jz 4f",
            "mov {word:e}, [{source}]",
            "mov [{target}], {word:e}",
            "add {source}, 4",
            "add {target}, 4",
            "4:",
            "test {left}, 2",
            "jz 5f",
            "mov {word:x}, [{source}]",
            "mov [{target}], {word:x}",
            "add {source}, 2",
            "add {target}, 2",
            "5:",
            "test {left}, 1",
            "jz 6f",
            "mov {byte}, [{source}]",
            "mov [{target}], {byte}",
            "6:",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            left = inout(reg) bytes => _,
            word = out(reg) _,
            byte = out(reg_byte) _,
            options(nostack),
        );
    }
}

/// From this size on [`copy_long`] takes the string instruction where it is quick: below it, its start costs more than it saves (measured with
/// `lwk_user::copy`, which has the same bound).
const STRING_FROM: usize = 4096;

/// As [`copy`], for memory of a message's size: cache lines go at a time, by words or by a string instruction that is quick. No access is
/// promised to be one.
///
/// # Safety
/// As for [`copy`].
pub unsafe fn copy_long(target: *mut u8, source: *const u8, bytes: usize) {
    if bytes >= STRING_FROM && features().fast_string {
        // SAFETY: both ranges are mapped, the target writable (this function's contract). The direction flag is clear in the kernel.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") bytes => _,
                inout("rsi") source => _,
                inout("rdi") target => _,
                options(nostack, preserves_flags),
            );
        }
        return;
    }
    let lines = bytes - bytes % LINE_BYTES as usize;
    if lines > 0 {
        // SAFETY: both ranges are mapped, the target writable (this function's contract); `lines` bytes are some of the `bytes`.
        unsafe {
            asm!(
                "2:",
                "mov {a}, [{source}]",
                "mov {b}, [{source} + 8]",
                "mov {c}, [{source} + 16]",
                "mov {d}, [{source} + 24]",
                "mov [{target}], {a}",
                "mov [{target} + 8], {b}",
                "mov [{target} + 16], {c}",
                "mov [{target} + 24], {d}",
                "mov {a}, [{source} + 32]",
                "mov {b}, [{source} + 40]",
                "mov {c}, [{source} + 48]",
                "mov {d}, [{source} + 56]",
                "mov [{target} + 32], {a}",
                "mov [{target} + 40], {b}",
                "mov [{target} + 48], {c}",
                "mov [{target} + 56], {d}",
                "add {source}, 64",
                "add {target}, 64",
                "sub {left}, 64",
                "jnz 2b",
                source = inout(reg) source => _,
                target = inout(reg) target => _,
                left = inout(reg) lines => _,
                a = out(reg) _,
                b = out(reg) _,
                c = out(reg) _,
                d = out(reg) _,
                options(nostack),
            );
        }
    }
    // SAFETY: what is left of both ranges.
    unsafe { copy(target.add(lines), source.add(lines), bytes - lines) };
}

/// Bytes of what [`zero_lines`] works in: a cache line.
pub const LINE_BYTES: u64 = 64;

/// Sets `bytes` bytes at `target` to zero; both are multiples of [`LINE_BYTES`].
///
/// # Safety
/// As for the target of [`copy`].
pub unsafe fn zero_lines(target: *mut u8, bytes: usize) {
    debug_assert!(bytes.is_multiple_of(64) && target.addr().is_multiple_of(64));
    if bytes == 0 {
        return;
    }
    // SAFETY: the range is mapped and writable (this function's contract), and whole lines; a line at a time.
    unsafe {
        asm!(
            "2:",
            "mov qword ptr [{target}], 0",
            "mov qword ptr [{target} + 8], 0",
            "mov qword ptr [{target} + 16], 0",
            "mov qword ptr [{target} + 24], 0",
            "mov qword ptr [{target} + 32], 0",
            "mov qword ptr [{target} + 40], 0",
            "mov qword ptr [{target} + 48], 0",
            "mov qword ptr [{target} + 56], 0",
            "add {target}, 64",
            "sub {left}, 64",
            "jnz 2b",
            target = inout(reg) target => _,
            left = inout(reg) bytes => _,
            options(nostack),
        );
    }
}

/// Sets `bytes` bytes at `target` to zero; both are multiples of [`LINE_BYTES`]. Pages that are zero are only read. The others are stored
/// to past the caches: the memory is far larger than those, and a line that is stored to in whole is not read first (Intel SDM volume 1,
/// section 10.4.6.2). So memory that a virtual machine has never used stays unused, and the rest costs less than a `memset`.
///
/// # Safety
/// As for the target of [`copy`].
pub unsafe fn clear(target: *mut u8, bytes: usize) {
    for offset in (0..bytes).step_by(PAGE_BYTES as usize) {
        let piece = (bytes - offset).min(PAGE_BYTES as usize);
        // SAFETY: the piece lies in the range, which is mapped and writable (this function's contract), and begins and ends at a line.
        unsafe {
            let page = target.add(offset);
            if !is_zero(page, piece) {
                store_zero_lines(page, piece);
            }
        }
    }
    // SAFETY: orders the stores above before whatever shows others that the memory is clear; no other effect.
    unsafe { _mm_sfence() };
}

/// Whether all of `bytes` bytes, whole lines and at least one, are zero.
///
/// # Safety
/// The range is mapped for the kernel.
unsafe fn is_zero(start: *const u8, bytes: usize) -> bool {
    let found: u64;
    // SAFETY: reads the range only, which is mapped (this function's contract); a line at a time, up to one that is not zero.
    unsafe {
        asm!(
            "2:",
            "mov {found}, [{at}]",
            "or {found}, [{at} + 8]",
            "or {found}, [{at} + 16]",
            "or {found}, [{at} + 24]",
            "or {found}, [{at} + 32]",
            "or {found}, [{at} + 40]",
            "or {found}, [{at} + 48]",
            "or {found}, [{at} + 56]",
            "jnz 3f",
            "add {at}, 64",
            "sub {left}, 64",
            "jnz 2b",
            "3:",
            found = out(reg) found,
            at = inout(reg) start => _,
            left = inout(reg) bytes => _,
            options(nostack, readonly),
        );
    }
    found == 0
}

/// Sets whole lines, at least one, to zero with stores that pass the caches by; a fence must follow.
///
/// # Safety
/// As for the target of [`copy`].
unsafe fn store_zero_lines(target: *mut u8, bytes: usize) {
    // SAFETY: writes the range only, which is mapped and writable (this function's contract).
    unsafe {
        asm!(
            "2:",
            "movnti [{target}], {zero}",
            "movnti [{target} + 8], {zero}",
            "movnti [{target} + 16], {zero}",
            "movnti [{target} + 24], {zero}",
            "movnti [{target} + 32], {zero}",
            "movnti [{target} + 40], {zero}",
            "movnti [{target} + 48], {zero}",
            "movnti [{target} + 56], {zero}",
            "add {target}, 64",
            "sub {left}, 64",
            "jnz 2b",
            zero = in(reg) 0u64,
            target = inout(reg) target => _,
            left = inout(reg) bytes => _,
            options(nostack),
        );
    }
}
