//! Copying between kernel memory and user memory, as seen through the linear map. User memory changes under the kernel's
//! hands at any time (a peer may write it), so no Rust reference to it ever exists; the loops are assembly, which the
//! compiler takes for an access by someone else.

use core::arch::asm;

/// Copies `bytes` bytes from `source` to `target`.
///
/// # Safety
/// Both ranges are mapped for the kernel, `target` writable, and they do not overlap; the range in kernel memory is the
/// caller's own.
pub unsafe fn copy(target: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: the caller's promise. Eight bytes at a time, then the rest one by one; string instructions are avoided
    // because they are very slow in emulation.
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
            "test {left}, {left}",
            "jz 5f",
            "4:",
            "mov {byte}, [{source}]",
            "mov [{target}], {byte}",
            "inc {source}",
            "inc {target}",
            "dec {left}",
            "jnz 4b",
            "5:",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            left = inout(reg) bytes => _,
            word = out(reg) _,
            byte = out(reg_byte) _,
            options(nostack),
        );
    }
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
    // SAFETY: the caller's promise; a line at a time.
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
