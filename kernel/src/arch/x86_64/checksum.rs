//! CRC-32C (Castagnoli) over memory that may change meanwhile, by the processor's instruction where it has it.

use core::arch::asm;

use super::copy;
use super::features::features;

/// Bytes that are copied at a time where tables do the work.
const PIECE_BYTES: usize = 256;

/// Continues the checksum `seed` (0: of nothing) over `bytes` bytes at `start`.
///
/// # Safety
/// The bytes are mapped for the kernel.
pub unsafe fn crc32c(seed: u32, start: *const u8, bytes: usize) -> u32 {
    if features().crc32 {
        // SAFETY: the bytes are mapped (this function's contract), and the processor has the instruction.
        return unsafe { by_instruction(seed, start, bytes) };
    }
    let mut piece = [0; PIECE_BYTES];
    let mut sum = seed;
    for at in (0..bytes).step_by(PIECE_BYTES) {
        let length = PIECE_BYTES.min(bytes - at);
        // SAFETY: within the bytes that are mapped; the piece is this function's own.
        unsafe { copy::copy(piece.as_mut_ptr(), start.wrapping_add(at), length) };
        sum = lwk_frames::checksum::append(sum, &piece[..length]);
    }
    sum
}

/// See [`crc32c`].
///
/// # Safety
/// As there, and the processor has SSE4.2.
unsafe fn by_instruction(seed: u32, start: *const u8, bytes: usize) -> u32 {
    let mut sum = u64::from(!seed);
    // SAFETY: reads the bytes that are mapped (this function's contract), eight at a time and then one.
    unsafe {
        asm!(
            "jmp 3f",
            "2:",
            "crc32 {sum}, qword ptr [{start}]",
            "add {start}, 8",
            "sub {left}, 8",
            "3:",
            "cmp {left}, 8",
            "jae 2b",
            "jmp 5f",
            "4:",
            "crc32 {sum:e}, byte ptr [{start}]",
            "inc {start}",
            "dec {left}",
            "5:",
            "test {left}, {left}",
            "jnz 4b",
            sum = inout(reg) sum,
            start = inout(reg) start => _,
            left = inout(reg) bytes => _,
            options(nostack, readonly),
        );
    }
    !(sum as u32)
}
