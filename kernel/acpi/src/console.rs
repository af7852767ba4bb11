//! Where the firmware says that the console is: the table SPCR (Microsoft's "Serial Port Console Redirection Table", revisions 1 to 4).

use crate::Table;
use crate::bytes::{u32_at, u64_at};

const INTERFACE: usize = 36;
const SPACE: usize = 40;
const BIT_WIDTH: usize = 41;
const ACCESS_SIZE: usize = 43;
const ADDRESS: usize = 44;
const BAUD_RATE: usize = 58;
/// From revision 4 on.
const PRECISE_BAUD_RATE: usize = 80;
const PRECISE_REVISION: u8 = 4;
const REVISION: usize = 8;
/// Interfaces that are a 16550 or like one ("Debug Port Table 2", table 3): full 16550, its subset, 16550 whose registers the generic address describes.
const INTERFACES: [u8; 3] = [0, 1, 0x12];
/// Of a generic address (ACPI specification 6.5, section 5.2.3.2): memory, I/O ports.
const SPACE_MEMORY: u8 = 0;
const SPACE_PORTS: u8 = 1;
/// A device has registers of a byte in a place of so many.
const NARROW: u8 = 1;
const WIDE: u8 = 4;
/// Ports above 65535 are none, and the device has eight.
const LAST_PORT: u64 = 0xfff8;

/// A serial port of the kind 16550.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialConsole {
    pub place: SerialPlace,
    /// None: as the firmware has left it.
    pub baud_rate: Option<u32>,
}

/// Where its eight registers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SerialPlace {
    /// From this I/O port on.
    Ports(u16),
    /// From this physical address on, so many bytes apart.
    Memory { address: u64, stride: u8 },
}

/// The console, if it is a 16550.
pub fn serial_console(spcr: &Table<'_>) -> Option<SerialConsole> {
    let bytes = spcr.bytes();
    let interface = bytes.get(INTERFACE).filter(|interface| INTERFACES.contains(interface))?;
    let address = u64_at(bytes, ADDRESS).filter(|address| *address != 0)?;
    let place = match *bytes.get(SPACE)? {
        SPACE_PORTS if address <= LAST_PORT => SerialPlace::Ports(address as u16),
        SPACE_MEMORY => SerialPlace::Memory { address, stride: stride(*interface, bytes)? },
        _ => return None,
    };
    Some(SerialConsole { place, baud_rate: baud_rate(bytes) })
}

/// Registers that the address calls 32 bits wide, or that are accessed so, are four bytes apart. Others are as in the device itself.
fn stride(interface: u8, bytes: &[u8]) -> Option<u8> {
    const DOUBLE_WORD: u8 = 3;
    let (width, access) = (*bytes.get(BIT_WIDTH)?, *bytes.get(ACCESS_SIZE)?);
    let described = interface == 0x12 && width == 32;
    Some(if described || access == DOUBLE_WORD { WIDE } else { NARROW })
}

fn baud_rate(bytes: &[u8]) -> Option<u32> {
    let precise = bytes.get(REVISION).filter(|revision| **revision >= PRECISE_REVISION);
    let precise = precise.and_then(|_| u32_at(bytes, PRECISE_BAUD_RATE)).filter(|rate| *rate != 0);
    precise.or(match bytes.get(BAUD_RATE) {
        Some(3) => Some(9_600),
        Some(4) => Some(19_200),
        Some(6) => Some(57_600),
        Some(7) => Some(115_200),
        _ => None,
    })
}
