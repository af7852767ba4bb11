//! Switching the machine off and resetting it: registers of the fixed ACPI description table (ACPI specification 6.5, sections 4.8.3.2.1, 4.8.3.6
//! and 5.2.9), and the value that means "off", which only the byte code's object `\_S5` tells (section 7.4.2).

use crate::bytes::{u32_at, u64_at};
use crate::{Memory, Table, Tables};

const SHORT_BYTE_CODE: usize = 40;
const COMMAND_PORT: usize = 48;
const ENABLE_COMMAND: usize = 52;
const CONTROL_BLOCKS: [usize; 2] = [64, 68];
const FLAGS: usize = 112;
const RESET_REGISTER: usize = 116;
const RESET_VALUE: usize = 128;
const LONG_BYTE_CODE: usize = 140;
const LATER_CONTROL_BLOCKS: [usize; 2] = [172, 184];
/// Flag: there is a reset register.
const HAS_RESET: u32 = 1 << 10;
/// Of a generic address (section 5.2.3.2): memory, I/O ports.
const SPACE_MEMORY: u8 = 0;
const SPACE_PORTS: u8 = 1;

/// How the machine is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerOff {
    /// I/O port of the power management control register, and what goes into its bits 10 to 12; of the first block and, if there is one, the second.
    pub first: (u16, u8),
    pub second: Option<(u16, u8)>,
    /// Port and byte that hand the hardware over from the firmware, if that is how it is done: bit 0 of the control register tells when it
    /// has happened.
    pub enable: Option<(u16, u8)>,
}

/// How the machine is reset: a byte, and where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    Port(u16, u8),
    Memory(u64, u8),
}

/// How to switch off, if the tables say it.
pub fn power_off<'m>(tables: &Tables<'m, impl Memory<'m>>) -> Option<PowerOff> {
    let fadt = tables.find(b"FACP")?;
    let bytes = fadt.bytes();
    let control = |block: usize| {
        let later = generic(bytes, LATER_CONTROL_BLOCKS[block]);
        let address = match later {
            Some((SPACE_PORTS, address)) => address,
            Some(_) => return None,
            None => u32_at(bytes, CONTROL_BLOCKS[block])?.into(),
        };
        u16::try_from(address).ok().filter(|port| *port != 0)
    };
    let long = u64_at(bytes, LONG_BYTE_CODE).filter(|address| *address != 0);
    let short = u32_at(bytes, SHORT_BYTE_CODE).map(u64::from);
    let main = long.or(short).and_then(|address| tables.at(address, b"DSDT"));
    let [first, second] = main.into_iter().chain(tables.all(b"SSDT")).find_map(|code| sleep_types(&code))?;
    let command = u32_at(bytes, COMMAND_PORT).and_then(|port| u16::try_from(port).ok());
    let enable = command.zip(bytes.get(ENABLE_COMMAND).copied());
    Some(PowerOff {
        first: (control(0)?, first),
        second: control(1).map(|port| (port, second)),
        enable: enable.filter(|(port, value)| *port != 0 && *value != 0),
    })
}

/// How to reset, if the fixed table says it.
pub fn reset(fadt: &Table<'_>) -> Option<Reset> {
    let bytes = fadt.bytes();
    if u32_at(bytes, FLAGS)? & HAS_RESET == 0 {
        return None;
    }
    let value = *bytes.get(RESET_VALUE)?;
    match generic(bytes, RESET_REGISTER)? {
        (SPACE_PORTS, port) => u16::try_from(port).ok().map(|port| Reset::Port(port, value)),
        (SPACE_MEMORY, address) => Some(Reset::Memory(address, value)),
        _ => None,
    }
}

/// Space and address of a generic address, if it is there and not zero.
fn generic(bytes: &[u8], offset: usize) -> Option<(u8, u64)> {
    let address = u64_at(bytes, offset + 4).filter(|address| *address != 0)?;
    Some((*bytes.get(offset)?, address))
}

/// The first two numbers of the package that byte code gives the name `_S5_` (sections 20.2.5.1 and 20.2.5.4). Names of constants are not
/// encoded in any other way, so the bytes are looked for; nothing is interpreted.
fn sleep_types(code: &Table<'_>) -> Option<[u8; 2]> {
    const NAME: u8 = 0x08;
    const PACKAGE: u8 = 0x12;
    let bytes = code.bytes();
    let is_named = |at: usize| {
        let before = bytes.get(..at)?;
        (before.ends_with(&[NAME]) || before.ends_with(&[NAME, b'\\'])).then_some(())
    };
    (0..bytes.len()).find_map(|at| {
        let rest = bytes.get(at..)?.strip_prefix(b"_S5_")?.strip_prefix(&[PACKAGE])?;
        is_named(at)?;
        // The package's length: the first byte's upper bits say how many more there are. Then how many elements it has.
        let more = usize::from(rest.first()? >> 6);
        let (count, elements) = rest.get(1 + more..)?.split_first()?;
        let (first, later) = small_number(elements)?;
        let second = if *count > 1 { small_number(later)?.0 } else { first };
        Some([first, second])
    })
}

/// A constant of three bits (section 20.2.3), and what follows it.
fn small_number(bytes: &[u8]) -> Option<(u8, &[u8])> {
    const BYTE_FOLLOWS: u8 = 0x0a;
    let (value, rest) = match bytes {
        [value @ (0 | 1), rest @ ..] | [BYTE_FOLLOWS, value, rest @ ..] => (*value, rest),
        _ => return None,
    };
    (value < 8).then_some((value, rest))
}
