//! The extended (floating-point and vector) state of a rank. The kernel is soft-float, so this state stays in the
//! registers through every system call and is saved only when ranks that share a core take turns.

use core::arch::asm;

use super::features::features;

/// Largest state the kernel keeps: x87, SSE, AVX and AVX-512 in the standard format.
pub const STATE_BYTES: usize = 2752;
/// `MXCSR` of a new program: all exceptions masked, round to nearest (System V ABI, x86-64, section 3.4.1).
const MXCSR_DEFAULT: u32 = 0x1f80;
/// x87 control word of a new program: all exceptions masked, extended precision.
const X87_CONTROL_DEFAULT: u16 = 0x037f;

/// Room for one rank's extended state, in XSAVE's standard format.
#[repr(C, align(64))]
pub struct ExtendedState {
    bytes: [u8; STATE_BYTES],
}

impl ExtendedState {
    /// Room that [`Self::reset`] makes a state.
    pub const fn empty() -> ExtendedState {
        ExtendedState { bytes: [0; STATE_BYTES] }
    }

    /// Makes zeroed memory the state of a program that has not run: everything initial.
    pub fn reset(&mut self) {
        assert!(features().state_bytes <= STATE_BYTES, "the processor's extended state fits the room for it");
        self.bytes.fill(0);
        self.bytes[0..2].copy_from_slice(&X87_CONTROL_DEFAULT.to_le_bytes());
        self.bytes[24..28].copy_from_slice(&MXCSR_DEFAULT.to_le_bytes());
    }

    /// Saves this core's state.
    pub fn save(&mut self) {
        let area = self.bytes.as_mut_ptr();
        // SAFETY: the area is aligned to 64 bytes and, as `reset` checked, large enough for the enabled components.
        unsafe {
            if features().xsave {
                asm!("xsave64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack));
            } else {
                asm!("fxsave64 [{}]", in(reg) area, options(nostack));
            }
        }
    }

    /// Loads this state into the core.
    pub fn load(&self) {
        let area = self.bytes.as_ptr();
        // SAFETY: the area holds what `reset` or `save` put there, so every reserved bit is zero.
        unsafe {
            if features().xsave {
                asm!("xrstor64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack));
            } else {
                asm!("fxrstor64 [{}]", in(reg) area, options(nostack));
            }
        }
    }
}
