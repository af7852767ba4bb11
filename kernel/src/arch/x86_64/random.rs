//! Random numbers from the processor.

use core::arch::asm;

use super::features::features;

/// Attempts before giving up on the generator, as Intel advises (SDM volume 1, section 7.3.17.1).
const ATTEMPTS: u32 = 10;

/// Eight random bytes (RDRAND), or nothing if the processor has no generator or [`ATTEMPTS`] in a row found it exhausted.
pub fn random() -> Option<u64> {
    if !features().random {
        return None;
    }
    (0..ATTEMPTS).find_map(|_| {
        let value: u64;
        let valid: u8;
        // SAFETY: the processor has the instruction, as was just asked; it changes a register and the flags only.
        unsafe { asm!("rdrand {}", "setc {}", out(reg) value, out(reg_byte) valid, options(nomem, nostack)) };
        (valid == 1).then_some(value)
    })
}
