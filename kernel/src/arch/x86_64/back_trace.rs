//! Where the kernel is, for the back trace of a panic. Kernel and programs are built with frame pointers.

use core::arch::asm;

use lwk_failure::Position;

/// The registers of the function that calls this: its body takes this one in, so no frame of its own comes first.
#[inline(always)]
pub fn here() -> Position {
    let (rip, rsp, rbp): (u64, u64, u64);
    // SAFETY: reads registers only.
    unsafe {
        asm!(
            "lea {}, [rip]",
            "mov {}, rsp",
            "mov {}, rbp",
            out(reg) rip,
            out(reg) rsp,
            out(reg) rbp,
            options(nomem, nostack, preserves_flags),
        );
    }
    Position { rip, rsp, rbp }
}
