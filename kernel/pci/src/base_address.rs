//! Base addresses: where a function's registers are (PCI 3.0, section 6.2.5).

use crate::{Command, Configuration, Function, register};

/// Memory that a function answers at, as the firmware has placed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseAddress {
    /// Physical.
    pub address: u64,
    /// A power of two, at least 16.
    pub bytes: u64,
}

const PORTS: u32 = 1;
const WIDE: u32 = 0b10 << 1;
const WIDTH: u32 = 0b11 << 1;
const ADDRESS: u32 = !0xf;

/// Memory of base address `number`, below 6. None if it is I/O ports, not there, or not placed. While it is measured the function answers
/// nowhere.
pub fn memory(configuration: &mut impl Configuration, function: Function, number: u8) -> Option<BaseAddress> {
    if number >= 6 {
        return None;
    }
    let at = register::BASE_ADDRESS + 4 * number;
    let low = configuration.read(function, at);
    let wide = low & WIDTH == WIDE;
    if low & PORTS != 0 || (wide && number == 5) || (low & WIDTH != 0 && !wide) {
        return None;
    }
    let command = configuration.read(function, register::COMMAND) & 0xffff;
    let answers = Command::PORTS | Command::MEMORY;
    configuration.write(function, register::COMMAND, command & !answers.bits());
    let mut size = |at: u8| {
        let before = configuration.read(function, at);
        configuration.write(function, at, u32::MAX);
        let size = configuration.read(function, at);
        configuration.write(function, at, before);
        (before, size)
    };
    let (low, low_size) = size(at);
    let (high, high_size) = if wide { size(at + 4) } else { (0, u32::MAX) };
    configuration.write(function, register::COMMAND, command);
    let address = u64::from(high) << 32 | u64::from(low & ADDRESS);
    let mask = u64::from(high_size) << 32 | u64::from(low_size & ADDRESS);
    let bytes = mask.wrapping_neg();
    let sound = bytes.is_power_of_two()
        && bytes >= 16
        && address != 0
        && address.is_multiple_of(bytes)
        && address.checked_add(bytes).is_some();
    sound.then_some(BaseAddress { address, bytes })
}
