//! QEMU's debug-exit device, by which a node ends its emulator.

use lwk_abi::exit::DEBUG_EXIT_PORT;

use super::{interrupts, ports};

/// Ends the emulator with a status made of `code`. A machine without the device stops this core for ever.
pub fn exit(code: u32) -> ! {
    // SAFETY: the device is nobody else's; a machine without it ignores the write.
    unsafe { ports::write_u32(DEBUG_EXIT_PORT, code) };
    interrupts::halt_for_ever()
}
