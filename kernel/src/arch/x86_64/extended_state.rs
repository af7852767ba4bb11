//! The extended (floating-point and vector) state of a rank. The kernel is soft-float, so this state stays in the
//! registers through every system call and is saved only when ranks that share a core take turns.

use core::arch::asm;
use core::ops::Range;

use super::features::features;

/// Bytes of the largest state the kernel keeps: x87, SSE, AVX and AVX-512 in the standard format.
pub const STATE_BYTES: usize = 2752;
/// `MXCSR` of a new program: all exceptions masked, round to nearest (System V ABI, x86-64, section 3.4.1).
const MXCSR_DEFAULT: u32 = 0x1f80;
/// x87 control word of a new program: all exceptions masked, extended precision.
const X87_CONTROL_DEFAULT: u16 = 0x037f;

/// Bits of `MXCSR` that every processor has.
const MXCSR_MASK_DEFAULT: u32 = 0xffbf;
/// Where parts of the state lie (Intel SDM volume 1, table 10-2): control and status word of the x87 unit, control and status register of
/// the vector unit and the bits of it that the processor has.
const X87_CONTROL: Range<usize> = 0..2;
const X87_STATUS: Range<usize> = 2..4;
const MXCSR: Range<usize> = 24..28;
const MXCSR_MASK: Range<usize> = 28..32;
/// Flags of exceptions, in either status; and where those begin that mask them in `MXCSR`.
const EXCEPTIONS: u32 = 0x3f;
const MXCSR_MASKS_SHIFT: u32 = 7;
/// Offset and bytes of XSAVE's header: a word of components, the rest reserved or of formats that are not used here.
const HEADER: usize = 512;
const HEADER_BYTES: usize = 64;

/// Exceptions that the x87 unit of this core has flagged and not masked: the low six bits of its status word (Intel SDM volume 1,
/// section 8.1.3), by which the kernel, being soft-float, sees the state of the program that it interrupted.
pub fn x87_exceptions() -> u32 {
    let mut state = ExtendedState::empty();
    state.save();
    state.number(X87_STATUS) & !state.number(X87_CONTROL) & EXCEPTIONS
}

/// As [`x87_exceptions`] for the vector unit: the low six bits of `MXCSR` (Intel SDM volume 1, section 10.2.3).
pub fn simd_exceptions() -> u32 {
    let mut state = ExtendedState::empty();
    state.save();
    let control = state.number(MXCSR);
    control & !(control >> MXCSR_MASKS_SHIFT) & EXCEPTIONS
}

/// Room for one rank's extended state, in XSAVE's standard format.
#[repr(C, align(64))]
pub struct ExtendedState {
    bytes: [u8; STATE_BYTES],
}

impl ExtendedState {
    /// Zeroed room: [`Self::reset`] makes it the state of a new program, [`Self::save`] that of this core.
    pub const fn empty() -> ExtendedState {
        ExtendedState { bytes: [0; STATE_BYTES] }
    }

    /// Makes zeroed memory the state of a program that has not run: everything initial.
    pub fn reset(&mut self) {
        self.bytes.fill(0);
        self.bytes[X87_CONTROL].copy_from_slice(&X87_CONTROL_DEFAULT.to_le_bytes());
        self.bytes[MXCSR].copy_from_slice(&MXCSR_DEFAULT.to_le_bytes());
    }

    /// The little-endian number of up to four bytes at that place.
    fn number(&self, place: Range<usize>) -> u32 {
        self.bytes[place].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
    }

    /// The part of it that this processor uses: [`Features::state_bytes`](super::features::Features::state_bytes) bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..features().state_bytes.min(STATE_BYTES)]
    }

    /// Has `fill` change [`Self::bytes`] as it likes, and makes a valid state of the outcome. Errors: those of `fill`.
    pub fn fill<E>(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
        let filled = fill(&mut self.bytes[..features().state_bytes.min(STATE_BYTES)]);
        self.make_valid();
        filled
    }

    /// Clears what the processor would refuse of bytes that a program has written: reserved bits of the control and status
    /// register and of the header (Intel SDM volume 1, sections 10.5.1.2 and 13.4.2).
    fn make_valid(&mut self) {
        // What the processor implements is in the image it saves; 0 stands for the oldest set.
        let mut own = ExtendedState::empty();
        own.save();
        let mask = match own.number(MXCSR_MASK) {
            0 => MXCSR_MASK_DEFAULT,
            mask => mask,
        };
        let control = self.number(MXCSR) & mask;
        self.bytes[MXCSR].copy_from_slice(&control.to_le_bytes());
        if features().xsave {
            let (components, rest) = self.bytes[HEADER..HEADER + HEADER_BYTES].split_at_mut(8);
            for (byte, allowed) in components.iter_mut().zip(features().state_components.to_le_bytes()) {
                *byte &= allowed;
            }
            rest.fill(0);
        }
    }

    /// Saves this core's state: all components that are switched on.
    pub fn save(&mut self) {
        let area = self.bytes.as_mut_ptr();
        // SAFETY: the area is aligned to 64 bytes and large enough for the enabled components, as `features` has checked; until the next
        // call nobody else has it, since it is borrowed exclusively.
        unsafe {
            if features().xsave {
                asm!("xsave64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack));
            } else {
                asm!("fxsave64 [{}]", in(reg) area, options(nostack));
            }
        }
    }

    /// Loads this state into the core, in the place of whatever program's it was.
    pub fn load(&self) {
        let area = self.bytes.as_ptr();
        // SAFETY: the area holds what `reset` or `save` put there, or what `fill` has left of a program's bytes, so every reserved bit
        // is zero.
        unsafe {
            if features().xsave {
                asm!("xrstor64 [{}]", in(reg) area, in("eax") u32::MAX, in("edx") u32::MAX, options(nostack));
            } else {
                asm!("fxrstor64 [{}]", in(reg) area, options(nostack));
            }
        }
    }
}
