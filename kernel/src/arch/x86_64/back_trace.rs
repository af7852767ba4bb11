//! Walking frame pointers. Kernel and programs are built with them; a program that was not gets a shorter trace.

use core::arch::asm;

/// Most frames a trace shows: a runaway recursion is recognisable and the report stays readable.
pub const FRAMES_MAX: usize = 32;

/// The frame pointer of the function that calls this.
#[inline(always)]
pub fn frame_pointer() -> u64 {
    let pointer;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Calls `visit` with each return address from frame pointer `frame` outwards. `read` fetches the eight bytes at an
/// address, or says that they cannot be read, which ends the trace, as do a null frame pointer and one that does not grow.
pub fn walk(mut frame: u64, read: impl Fn(u64) -> Option<u64>, mut visit: impl FnMut(u64)) {
    for _ in 0..FRAMES_MAX {
        if frame == 0 || !frame.is_multiple_of(8) {
            return;
        }
        let Some(next) = read(frame) else { return };
        let Some(return_address) = frame.checked_add(8).and_then(&read) else { return };
        if return_address == 0 {
            return;
        }
        visit(return_address);
        if next <= frame {
            return;
        }
        frame = next;
    }
}
