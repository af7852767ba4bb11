//! Off and reset, as the hardware wants them.

use lwk_acpi::{PowerOff, Reset};
use lwk_mm::address::PhysAddr;

use super::linear_map::linear;
use super::{clock, interrupts, ports};

/// Bit of the control register: the hardware is the operating system's, not the firmware's (ACPI specification 6.5, section 4.8.3.2.1).
const IS_HANDED_OVER: u16 = 1;
/// The value that means "off", and the bit that makes it so.
const SLEEP_TYPE_SHIFT: u32 = 10;
const SLEEP_TYPE_MASK: u16 = 0b111 << SLEEP_TYPE_SHIFT;
const SLEEP_NOW: u16 = 1 << 13;
/// Microseconds that hardware gets to hand over and to switch off.
const PATIENCE: u64 = 3_000_000;
/// Microseconds that a reset gets.
const RESET_PATIENCE: u64 = 100_000;

/// Switches the machine off; returns if it is still on after some seconds.
pub fn switch_off(how: &PowerOff) {
    let (first, _) = how.first;
    if let Some((port, value)) = how.enable {
        // SAFETY: the firmware's tables name the ports for this use, and nobody else in the kernel uses them.
        let is_handed_over = || unsafe { ports::read_u16(first) } & IS_HANDED_OVER != 0;
        if !is_handed_over() {
            // SAFETY: the firmware's tables name the port for this value.
            unsafe { ports::write_u8(port, value) };
            clock::wait_until(is_handed_over, PATIENCE);
        }
    }
    for (port, sleep_type) in [Some(how.first), how.second].into_iter().flatten() {
        // SAFETY: the firmware's tables name the ports for this use. The machine loses its memory, which nobody needs any more.
        unsafe {
            let kept = ports::read_u16(port) & !(SLEEP_TYPE_MASK | SLEEP_NOW);
            let wanted = kept | u16::from(sleep_type) << SLEEP_TYPE_SHIFT;
            ports::write_u16(port, wanted);
            ports::write_u16(port, wanted | SLEEP_NOW);
        }
    }
    clock::wait_until(|| false, PATIENCE);
}

/// Resets the machine: as the firmware's tables say, else as most chipsets do it, else as the first machines did.
pub fn reset(how: Option<Reset>) -> ! {
    const CHIPSET: u16 = 0xcf9;
    const FULL_RESET: u8 = 0b110;
    const KEYBOARD_CONTROLLER: u16 = 0x64;
    const PULSE_RESET: u8 = 0xfe;
    match how {
        // SAFETY: the firmware's tables name the register for this use.
        Some(Reset::Port(port, value)) => unsafe { ports::write_u8(port, value) },
        // SAFETY: the firmware's tables name the register for this use; the linear map covers the first 4 GiB at least, where devices' registers are.
        Some(Reset::Memory(address, value)) if address < 1 << 32 => unsafe {
            linear(PhysAddr::new(address)).write_volatile(value);
        },
        _ => {}
    }
    clock::wait_until(|| false, RESET_PATIENCE);
    for (port, value) in [(CHIPSET, FULL_RESET), (KEYBOARD_CONTROLLER, PULSE_RESET)] {
        // SAFETY: the node has ended, so nobody else uses any device; a machine without this one ignores the write.
        unsafe { ports::write_u8(port, value) };
        clock::wait_until(|| false, RESET_PATIENCE);
    }
    interrupts::shut_down()
}
